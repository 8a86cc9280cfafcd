//! The tables of a store, and every way in which a store cannot be used.

use crate::hosts::Host;
use crate::server::{Fleet, Server};
use std::os::unix::fs::PermissionsExt;

#[test]
fn the_tables_are_made_once_and_a_dry_run_makes_none() {
    let Some(fleet) = Fleet::empty("the_tables_are_made_once") else { return };
    let asked = fleet.json(&["store", "migrate", "--dry-run"]);
    assert_eq!((&asked["from"], &asked["changed"], &asked["dry_run"]), (&().into(), &false.into(), &true.into()));
    let said = fleet.refused(&fleet.url(), &["store", "status"], 78, "STORE_SCHEMA");
    assert!(said.contains("no tables of luzia") && said.contains("luzia store migrate"), "{said}");
    let made = fleet.json(&["store", "migrate"]);
    assert_eq!((&made["from"], &made["to"], &made["changed"]), (&().into(), &1.into(), &true.into()));
    let again = fleet.json(&["store", "migrate"]);
    assert_eq!((&again["from"], &again["changed"]), (&1.into(), &false.into()));
    let state = fleet.json(&["store", "status"]);
    assert_eq!((&state["schema_version"], &state["hosts"], &state["queued"]), (&1.into(), &0.into(), &0.into()));
    let text = fleet.luzia(&["store", "status"]).coded(0).out;
    assert!(text.contains("PostgreSQL 1") && text.contains("version 1"), "{text}");
}

#[test]
fn the_printed_statements_make_the_same_tables() {
    let Some(fleet) = Fleet::empty("the_printed_statements") else { return };
    let script = fleet.luzia(&["store", "migrate", "--sql"]).coded(0).out;
    fleet.sql(&format!("BEGIN; {script} COMMIT;"));
    assert_eq!(fleet.json(&["store", "migrate"])["changed"], false);
    fleet.json(&["store", "status"]);
}

#[test]
fn a_url_that_is_no_store_is_refused_and_no_password_is_repeated() {
    let Some(fleet) = Fleet::empty("a_url_that_is_no_store") else { return };
    let far = ["postgres://db.example.org/d?sslmode=disable", "postgres://db.example.org/d?sslmode=prefer"];
    for url in ["mysql://a/b", "postgres://", "postgres:///d?nosuch=1", "x"].into_iter().chain(far) {
        fleet.refused(url, &["store", "status"], 2, "USAGE");
    }
    for url in ["postgres://u:geheim@localhost/d", "postgres:///d?password=geheim"] {
        let said = fleet.refused(url, &["store", "status"], 2, "USAGE");
        assert!(said.contains("PGPASSFILE") && !said.contains("geheim"), "{said}");
    }
    let said = fleet.refused("local", &["store", "status"], 2, "USAGE");
    assert!(said.contains("no store"), "{said}");
}

#[test]
fn a_server_that_is_away_or_lets_nobody_in_is_told() {
    let Some(fleet) = Fleet::new("a_server_that_is_away") else { return };
    let away = "postgres:///d?host=/nowhere";
    for args in [&["store", "status"][..], &["store", "migrate"]] {
        fleet.refused(away, args, 69, "STORE_AWAY");
    }
    let folder = Server::shared("away").unwrap().folder();
    let absent = format!("postgres:///nosuch?host={}&user=luzia", folder.display());
    fleet.refused(&absent, &["store", "migrate"], 78, "STORE_SCHEMA");
    fleet.refused(&fleet.url_of("nobody_knows"), &["store", "status"], 77, "NO_PERMISSION");
    fleet.sql("CREATE ROLE guest LOGIN");
    fleet.refused(&fleet.url_of("guest"), &["store", "status"], 77, "NO_PERMISSION");
    let said = fleet.refused(&fleet.url_of("guest"), &["run", "-u", "a", "--", "true"], 77, "NO_PERMISSION");
    assert!(!said.contains("luzia lock"), "a lock needs the same rights: {said}");
    let empty = Fleet::empty("no rights to make tables").unwrap();
    empty.refused(&empty.url_of("guest"), &["store", "migrate"], 77, "NO_PERMISSION");
}

#[test]
fn tables_of_another_version_are_left_alone() {
    let Some(fleet) = Fleet::new("tables_of_another_version") else { return };
    for (version, word) in [(0, "luzia store migrate"), (2, "newer luzia")] {
        fleet.sql(&format!("UPDATE luzia.setting SET value = '{version}' WHERE name = 'schema'"));
        let said = fleet.refused(&fleet.url(), &["store", "status"], 78, "STORE_SCHEMA");
        assert!(said.contains(&format!("version {version}")) && said.contains(word), "{said}");
        fleet.refused(&fleet.url(), &["store", "migrate"], 78, "STORE_SCHEMA");
    }
}

#[test]
fn a_full_disk_of_the_server_and_a_busy_migration_are_told() {
    let Some(fleet) = Fleet::empty("a_full_disk_of_the_server") else { return };
    let mut other = fleet.client();
    let mut holds = other.transaction().unwrap();
    holds.batch_execute("SELECT pg_advisory_xact_lock(7858236391)").unwrap();
    fleet.refused(&fleet.url(), &["store", "migrate"], 69, "STORE_AWAY");
    holds.rollback().unwrap();
    fleet.json(&["store", "migrate"]);
    fleet.sql(
        "CREATE OR REPLACE FUNCTION luzia_1.version() RETURNS int LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$",
    );
    fleet.refused(&fleet.url(), &["store", "status"], 74, "DISK_FULL");
}

#[test]
fn the_password_comes_from_a_file_that_only_its_owner_reads() {
    let Some(fleet) = Fleet::new("the_password_comes_from_a_file") else { return };
    fleet.sql(
        "DO $$ BEGIN CREATE ROLE locked LOGIN SUPERUSER PASSWORD 'geheim'; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
    );
    let url = fleet.url_of("locked");
    let said = fleet.refused(&url, &["store", "status"], 77, "NO_PERMISSION");
    assert!(said.contains("wants a password") && said.contains("PGPASSFILE"), "{said}");
    let file = fleet.place.path("pass");
    std::fs::write(&file, "*:*:*:locked:geheim\n").unwrap();
    let status = |mode: u32| {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let mut command = fleet.place.command(&["store", "status", "--store", &url]);
        fleet.place.spawn(command.env("PGPASSFILE", &file)).end()
    };
    status(0o600).coded(0);
    let ran = status(0o644).coded(78);
    assert!(ran.err.contains("can be read by other accounts") && !ran.err.contains("geheim"), "{}", ran.err);
    let mut wrong = fleet.place.command(&["store", "status", "--store", &url]);
    fleet.place.spawn(wrong.env("PGPASSWORD", "falsch")).end().coded(77);
}

#[test]
fn a_verb_of_one_host_is_refused_with_the_way_to_it() {
    let Some(fleet) = Fleet::new("a_verb_of_one_host") else { return };
    for verb in [
        &["stats"][..],
        &["top"],
        &["events"],
        &["metrics"],
        &["cron", "list"],
        &["edit", "1"],
        &["emit", "X", "--task", "1"],
    ] {
        let said = fleet.refused(&fleet.url(), verb, 2, "LOCAL_ONLY");
        assert!(said.contains(&format!("luzia {} --store local", verb[0])), "{said}");
    }
    fleet.place.ok(&["stats", "--store", "local"]);
    fleet.luzia(&["stats", "--store", "local"]).coded(0);
    fleet.place.configure(&serde_json::json!({ "store": fleet.url() }));
    let ran = fleet.place.luzia(&["stats"]).coded(2);
    assert!(ran.err.contains("store in the configuration"), "{}", ran.err);
    fleet.place.ok(&["store", "status"]);
}

#[test]
fn doctor_looks_at_the_store_that_is_named() {
    let Some(fleet) = Fleet::new("doctor_looks_at_the_store") else { return };
    let seen = |fleet: &Fleet| -> Vec<(String, String)> {
        let ran = fleet.luzia(&["--json", "doctor"]).coded(1);
        let items = ran.json()["items"].as_array().unwrap().clone();
        let of_store = items.iter().filter(|item| item["check"] == "store");
        of_store.map(|item| (item["level"].as_str().unwrap().to_owned(), item["message"].to_string())).collect()
    };
    let has = |found: &[(String, String)], level: &str, words: &str| {
        found.iter().any(|(of, message)| of == level && message.contains(words))
    };
    // The server of the tests has fsync off.
    let alone = seen(&fleet);
    assert!(has(&alone, "problem", "before a commit is on its disk"), "{alone:?}");
    assert!(has(&alone, "problem", "no host has a lease") && !has(&alone, "warn", "notifications"), "{alone:?}");
    let host = Host::new(&fleet, "one", None);
    let from_elsewhere = seen(&fleet);
    assert!(has(&from_elsewhere, "warn", "this host has no lease"), "{from_elsewhere:?}");
    assert!(!host.luzia(&["--json", "doctor"]).coded(1).out.contains("no lease"));
    // As behind a pooler in transaction mode.
    fleet.sql("CREATE OR REPLACE FUNCTION luzia_1.hint(p_hosts int[]) RETURNS void LANGUAGE sql AS ''");
    let deaf = seen(&fleet);
    assert!(has(&deaf, "warn", "notifications"), "{deaf:?}");
    let away = fleet.with(&fleet.url_at(fleet.place.state().as_path()), &["doctor"]).coded(1);
    assert!(away.out.contains("store") && away.err.contains("does not answer"), "{away:?}");
}
