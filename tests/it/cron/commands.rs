//! `cron` on the command line: what it says, refuses and makes.

use crate::support::{Place, until};
use serde_json::{Value, json};

#[test]
fn a_task_of_a_schedule_is_what_enqueue_would_have_made() {
    let place = Place::new();
    place.ok(&[
        "cron",
        "add",
        "x",
        "0 9 * * *",
        "-u",
        "a",
        "-l",
        "build",
        "--priority",
        "2",
        "--label",
        "note",
        "--env",
        "A=b",
        "--timeout",
        "1h",
        "--retries",
        "2",
        "--start-within",
        "1h",
        "--tz",
        "UTC",
        "--",
        "sh",
        "-c",
        "echo $A",
    ]);
    let made = place.ok(&["cron", "run", "x"]).line();
    let own = place.enqueue(&[
        "-u",
        "a",
        "-l",
        "build",
        "--priority",
        "2",
        "--label",
        "note",
        "--env",
        "A=b",
        "--timeout",
        "1h",
        "--retries",
        "2",
        "--start-within",
        "1h",
        "--",
        "sh",
        "-c",
        "echo $A",
    ]);
    let (mut made, mut own) = (record(&place, &made), record(&place, &own));
    assert_eq!(made["schedule"], json!("x"));
    assert!(made["start_by"].is_string());
    for task in [&mut made, &mut own] {
        for member in ["id", "created_at", "created_by_pid", "start_by", "schedule", "slot", "asked_by"] {
            task.as_object_mut().unwrap().remove(member);
        }
    }
    assert_eq!(made, own);
}

fn record(place: &Place, id: &str) -> Value {
    let number = id.trim_start_matches("task_");
    let find = |path: &std::path::PathBuf| {
        path.file_name().is_some_and(|name| name.to_str() == Some(&format!("{number}.json")))
    };
    let path = crate::harness::files_below(&place.state().join("spool/pending")).into_iter().find(find).unwrap();
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn schedules_are_added_listed_told_and_removed() {
    let place = Place::new();
    let added =
        place.json(&["cron", "add", "standup", "0 9 * * mon-fri", "--tz", "europe/berlin", "-u", "a", "--", "true"]);
    assert_eq!(
        (&added["schema"], &added["tz"], &added["overlap"]),
        (&json!("luzia.cron/v1"), &json!("Europe/Berlin"), &json!("skip"))
    );
    let file = place.state().join("spool/schedules/standup.json");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let listed = place.ok(&["cron"]).out;
    assert!(
        listed.contains("standup") && listed.contains("(Europe/Berlin)") && listed.contains("0 9 * * mon-fri"),
        "{listed}"
    );
    assert_eq!(place.ok(&["cron", "list", "-o", "name"]).out, "standup\n");
    let next = place.json(&["cron", "next", "standup", "-n", "3"]);
    assert_eq!(next["items"].as_array().unwrap().len(), 3);
    assert!(next["items"][0]["local"].as_str().unwrap().contains(" 09:00 +0"), "{next}");
    assert_eq!(next["items"][0]["slot"], added["next_at"]);
    place.ok(&["cron", "add", "noon", "@daily", "--tz", "UTC", "-u", "a", "--", "true"]);
    assert_eq!(place.json(&["cron", "next", "-n", "4"])["items"].as_array().unwrap().len(), 4);
    let id = place.ok(&["cron", "run", "standup"]).line();
    place.drain();
    let row = place.json(&["cron", "list"])["items"][1].clone();
    assert_eq!((&row["last_task"], &row["last_status"]), (&json!(id), &json!("completed")));
    assert_eq!(place.show(&id)["schedule"], json!("standup"));
    assert!(place.ok(&["cron", "rm", "standup"]).err.contains("is removed"));
    assert_eq!(place.ok(&["cron", "list", "-o", "name"]).out, "noon\n");
    assert_eq!(place.status(&id), "completed");
    assert_eq!(place.ok(&["cron", "ls", "-o", "name"]).out, "noon\n");
    place.ok(&["cron", "remove", "noon"]);
    let timers = crate::harness::files_below(&place.state().join("spool/timers"));
    assert_eq!(timers, Vec::<std::path::PathBuf>::new());
}

#[test]
fn bad_input_says_what_is_wrong_and_changes_nothing() {
    let place = Place::new();
    place.ok(&["cron", "add", "standup", "0 9 * * *", "-u", "a", "--", "true"]);
    place.ok(&["list"]);
    let before = place.snapshot();
    for (args, code, said) in [
        (vec!["cron", "add", "x", "0 0 30 2 *", "--", "true"], 2, "no such day"),
        (vec!["cron", "add", "x", "61 * * * *", "--", "true"], 2, "61"),
        (vec!["cron", "add", "x", "hello", "--", "true"], 2, "1 fields"),
        (vec!["cron", "add", "x", "@reboot", "--", "true"], 2, "@hourly"),
        (vec!["cron", "add", "x", "@daily", "--tz", "Berlin", "--", "true"], 2, "Europe/Berlin"),
        (vec!["cron", "add", "standup", "@daily", "--", "true"], 2, "--replace"),
        (vec!["cron", "add", "x", "@daily", "--in", "1h", "--", "true"], 2, "--in"),
        (vec!["cron", "add", "x", "@daily", "--key", "k", "--", "true"], 2, "--key"),
        (vec!["cron", "add", "x", "@daily", "--fill", "0", "--", "true"], 2, "--fill"),
        (vec!["cron", "add", "x", "@daily", "--fill", "1h", "--overlap", "skip", "--", "true"], 2, "--overlap"),
        (vec!["cron", "add", "x", "@daily", "--overlap", "maybe", "--", "true"], 2, "skip"),
        (vec!["cron", "add", "x", "@daily", "--", "no-such-program-here"], 2, "no-such-program-here"),
        (vec!["cron", "add", "", "@daily", "--", "true"], 2, "name"),
        (
            vec!["cron", "add", "bad name/..", "@daily", "--", "true"],
            2,
            "\"bad name/..\" cannot be a name of a schedule",
        ),
        (vec!["cron", "add", "0 9 * * *", "true", "now"], 2, "a name comes before the line"),
        (vec!["cron", "add", "..", "@daily", "--", "true"], 2, "letters, digits"),
        (vec!["cron", "add", "a\u{1b}[1m", "@daily", "--", "true"], 2, "name"),
        (vec!["cron", "add", &"n".repeat(65), "@daily", "--", "true"], 2, "64 bytes"),
        (vec!["cron", "add", "x", "@daily", "--fill", "9999d", "--", "true"], 2, "--fill is 31d at most"),
        (vec!["cron", "add", "x", "* * * * *", "--fill", "7d", "--", "true"], 2, "--fill makes 5000 tasks at most"),
        (vec!["cron", "add", "x", "@daily"], 2, "CMD"),
        (vec!["cron", "next", "-n", "0"], 2, "1000"),
        (vec!["cron", "add", "health", "@daily", "--", "true"], 2, "built in"),
        (vec!["cron", "rm", "health"], 2, "built in"),
        (vec!["cron", "run", "standpu"], 66, "did you mean standup?"),
        (vec!["cron", "rm", "standpu"], 66, "did you mean standup?"),
        (vec!["cron", "next", "nothing"], 66, "there is no schedule"),
    ] {
        let ran = place.luzia(&args).coded(code);
        assert!(ran.err.contains(said), "{args:?}: {}", ran.err);
        assert!(!ran.err.contains("cron rm standup"), "no command that takes away is offered: {}", ran.err);
        place.assert_unchanged(&before, &format!("{args:?}"));
    }
}

#[test]
fn a_daemon_makes_each_slot_on_time() {
    let place = Place::new();
    place.ok(&["cron", "add", "tick", "* * * * * *", "-u", "a", "--", "sh", "-c", "date +%s%3N >>$PLACE/log"]);
    let daemon = place.start(&["daemon", "--poll", "1h"]);
    let lines = until("three slots", || {
        let text = std::fs::read_to_string(place.path("log")).unwrap_or_default();
        (text.lines().count() >= 3).then_some(text)
    });
    drop(daemon);
    let seconds: Vec<u64> = lines.lines().map(|line| line.parse::<u64>().unwrap() / 1000).collect();
    assert!(seconds.windows(2).all(|pair| pair[0] < pair[1]), "one a slot: {lines}");
    let made = place.events_named("enqueued");
    assert!(made.iter().all(|event| event["data"]["schedule"] == "tick" || event["schedule"] == "tick"), "{made:?}");
}

#[test]
fn the_zone_of_the_caller_is_kept_by_its_name() {
    let place = Place::new();
    let zone = |tz: Option<&str>, name: &str| {
        let mut command = place.command(&["cron", "add", name, "@daily", "-u", "a", "--json", "--", "true"]);
        if let Some(tz) = tz {
            command.env("TZ", tz);
        }
        place.spawn(&mut command).end().coded(0).json()["tz"].as_str().unwrap().to_owned()
    };
    assert_eq!(zone(Some("America/New_York"), "a"), "America/New_York");
    assert_eq!(zone(Some(":Asia/Kolkata"), "b"), "Asia/Kolkata");
    assert_eq!(zone(Some("/usr/share/zoneinfo/Europe/Paris"), "c"), "Europe/Paris");
    assert_eq!(zone(Some("CET-1CEST,M3.5.0,M10.5.0/3"), "d"), "CET-1CEST,M3.5.0,M10.5.0/3");
    assert_eq!(zone(Some(""), "e"), "UTC");
    assert_eq!(zone(Some("Nowhere/At_all"), "f"), "UTC");
    assert!(!zone(None, "g").is_empty());
}

#[test]
fn doctor_names_a_schedule_that_would_make_nothing_and_mends_it() {
    let place = Place::new();
    place.ok(&["cron", "add", "x", "@yearly", "--tz", "UTC", "-u", "a", "--", "true"]);
    place.ok(&["cron", "add", "bad", "@yearly", "--tz", "UTC", "-u", "a", "--", "true"]);
    let check = || {
        let found = place.luzia(&["doctor", "--json"]).json();
        let of_it = |finding: &&Value| finding["check"] == "schedules";
        found["items"]
            .as_array()
            .or(found["findings"].as_array())
            .unwrap()
            .iter()
            .filter(of_it)
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(check()[0]["level"], json!("ok"), "{:?}", check());
    std::fs::remove_dir_all(place.state().join("spool/timers")).unwrap();
    std::fs::write(place.state().join("spool/schedules/bad.json"), "{}").unwrap();
    let told = check();
    assert!(told.iter().any(|finding| finding.to_string().contains("of the schedule \\\"x\\\"")), "{told:?}");
    assert!(told.iter().any(|finding| finding.to_string().contains("bad.json")), "{told:?}");
    place.luzia(&["doctor", "--fix", "-y"]);
    assert_eq!(check().len(), 1, "the bad one is left: {:?}", check());
    assert_eq!(crate::harness::files_below(&place.state().join("spool/timers")).len(), 1);
}

/// S2.15.

#[test]
fn the_look_for_dead_tasks_is_listed_as_a_schedule_that_is_built_in() {
    let place = Place::new();
    let listed = place.json(&["cron", "list"]);
    assert!(!place.state().exists(), "a look makes no state directory");
    assert_eq!((&listed["items"][0]["name"], &listed["items"][0]["built_in"]), (&json!("health"), &json!(true)));
    assert!(place.ok(&["cron"]).out.contains("no daemon makes one"));
    place.enqueue(&["-u", "a", "--", "true"]);
    let daemon = place.start(&["daemon"]);
    until("it is said", || place.ok(&["cron"]).out.contains("with each pass, every 1s").then_some(()));
    drop(daemon);
}

#[test]
fn a_daemon_at_work_learns_of_a_schedule_that_is_added() {
    let place = Place::new();
    place.enqueue(&["-u", "a", "--", "true"]);
    let daemon = place.start(&["daemon", "--poll", "1h"]);
    place.until_status("task_1", "completed");
    place.ok(&["cron", "add", "tick", "* * * * * *", "-u", "a", "--shell", "echo x >>$PLACE/log"]);
    until("a slot is made", || std::fs::read_to_string(place.path("log")).ok().filter(|text| text.lines().count() > 1));
    drop(daemon);
}

#[test]
fn each_task_of_a_schedule_that_holds_waits_for_resume() {
    let place = Place::new();
    place.ok(&["cron", "add", "x", "@yearly", "-u", "a", "--hold", "--start-within", "1h", "--", "true"]);
    let id = place.ok(&["cron", "run", "x"]).line();
    place.ok(&["dispatch", "--drain"]);
    assert_eq!(place.status(&id), "pending");
    place.ok(&["resume", &id]);
    place.drain();
    assert_eq!(place.status(&id), "completed");
}

/// The slots of all tasks, in seconds since 1970.
fn slots(place: &Place) -> Vec<i64> {
    let listed = place.json(&["list", "-a", "-n", "1000"]);
    let at = |task: &Value| luzia::model::Timestamp::parse(task["slot"].as_str()?).map(|at| at.unix_seconds());
    let mut slots: Vec<i64> = listed["items"].as_array().unwrap().iter().filter_map(at).collect();
    slots.sort_unstable();
    slots
}

#[test]
fn two_daemons_that_are_killed_again_and_again_make_one_task_a_slot_and_leave_none_out() {
    let place = Place::new();
    place.ok(&["cron", "add", "tick", "* * * * * *", "--fill", "1h", "-u", "a", "--", "true"]);
    let mut daemons: Vec<_> = (0..2).map(|_| place.start(&["daemon"])).collect();
    for round in 0..14 {
        // Not in step with the seconds.
        std::thread::sleep(std::time::Duration::from_millis(340 + 23 * round));
        let mut old = std::mem::replace(&mut daemons[usize::from(round % 2 == 0)], place.start(&["daemon"]));
        old.kill();
    }
    drop(daemons);
    place.ok(&["dispatch", "--drain"]);
    let slots = slots(&place);
    let all: Vec<i64> = (slots[0]..=slots[slots.len() - 1]).collect();
    assert_eq!(slots, all);
    assert!(slots.len() >= 6, "{slots:?}");
}
