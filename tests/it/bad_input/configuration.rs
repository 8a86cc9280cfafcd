//! Configurations with mistakes: refused with file, line and column; unknown keys warn with what was probably meant.

use super::{check_quick, check_text, lived_in, refused};
use crate::support::{Place, is_root, skip};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_wrong_type_or_value_is_78_with_file_line_and_column() {
    let place = lived_in();
    let path = place.path("config.json");
    for (text, place_of) in [
        ("", "line 1 column 1"),
        ("  \n ", "line 1 column 1"),
        ("\u{feff}{}", "line 1 column 1"),
        ("{", "line 1"),
        ("[]", "line 1"),
        ("null", "line 1"),
        ("{} {}", "line 1 column 4"),
        ("{\n  \"slots\": 4\n}", "line 2 column"),
        ("{\n  \"slots\": {\n    \"max\": \"four\"\n  }\n}", "line 3 column"),
        ("{\"slots\":{\"max\":0}}", "line 1 column"),
        ("{\"slots\":{\"max\":-1}}", "line 1 column"),
        ("{\"slots\":{\"max\":1.5}}", "line 1 column"),
        ("{\"slots\":{\"max\":99999999999999999999}}", "line 1 column"),
        ("{\"per_user_serialization\":{\"enabled\":\"yes\"}}", "line 1 column"),
        ("{\"per_user_serialization\":{\"lock_timeout_seconds\":0}}", "line 1 column"),
        ("{\"per_user_serialization\":{\"lock_timeout_seconds\":-1}}", "line 1 column"),
        ("{\"lanes\":{\"\":{\"max\":1}}}", "line 1 column"),
        ("{\"lanes\":{\"Thread:7\":{\"max\":1}}}", "line 1 column"),
        ("{\"lanes\":[]}", "line 1 column"),
        ("{\"projects\":{\"p\":{\"user\":\"\"}}}", "line 1 column"),
        ("{\"projects\":{\"p\":{\"agent\":\"claude -p\"}}}", "line 1 column"),
        ("{\"projects\":{\"p\":{\"agent\":[]}}}", "line 1 column"),
        ("{\"projects\":{\"p\":{\"conductor_dir\":\"relative\"}}}", "line 1 column"),
        ("{\"tier_shares\":{\"high\":0}}", "line 1 column"),
        ("{\"retention\":{\"days\":0}}", "line 1 column"),
        ("{\"poll_interval_seconds\":0}", "line 1 column"),
        ("{\"slots\":{\"max\":1},\n\"slots\":{\"max\":2}}", "line 2 column"),
        ("{\"v\":2}", "line 1 column"),
    ] {
        std::fs::write(&path, text).unwrap();
        for verb in [&["status"][..], &["enqueue", "-u", "a", "--", "true"], &["config", "check"], &["check", "alice"]]
        {
            let ran = refused(&place, verb, 78);
            let where_it_is = format!("\"{}\" {place_of}", path.display());
            assert!(ran.err.contains(&where_it_is), "{text}: {ran:#?}");
        }
    }
}

#[test]
fn a_configuration_needs_no_right_to_list_its_directory() {
    if !is_root() {
        return skip("a_configuration_needs_no_right_to_list_its_directory", "root");
    }
    let place = Place::new();
    let program = place.open_to_others();
    let chmod = |name: &str, mode| std::fs::set_permissions(place.path(name), Permissions::from_mode(mode)).unwrap();
    for folder in ["etc", "own"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    std::fs::write(place.path("etc/config.json"), "{\"slots\":{\"max\":9}}").unwrap();
    std::os::unix::fs::chown(place.path("own"), Some(65534), Some(65534)).unwrap();
    let show = || {
        let mut command = std::process::Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]).arg(&program);
        command.args(["config", "show", "--json"]).env_clear().current_dir("/");
        crate::support::at_home(&mut command, &place.path("home"));
        command.env("LUZIA_STATE_DIR", place.path("own/state"));
        command.env("LUZIA_CONFIG", place.path("etc/config.json"));
        place.spawn(&mut command).end()
    };
    chmod("etc/config.json", 0o644);
    for (mode, code) in [(0o711, 0), (0o755, 0), (0o700, 78)] {
        chmod("etc", mode);
        let ran = show().coded(code);
        assert_eq!(ran.out.contains("\"max\": 9"), code == 0, "{mode:o}: {ran:?}");
    }
    chmod("etc", 0o711);
    chmod("etc/config.json", 0o600);
    show().coded(78);
}

#[test]
fn what_runs_is_watched_and_ended_without_a_configuration_that_reads() {
    let place = lived_in();
    let id = place.enqueue(&["-u", "eve", "--shell", "echo up; exec sleep 1000"]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "running");
    let lease = place.ok(&["acquire", "dora", "--task", "deploy", "--ttl", "1h"]).line();
    std::fs::write(place.path("config.json"), "{").unwrap();
    place.luzia(&["list"]).coded(78);
    for verb in [&["renew", "dora", "--lock-id", &lease][..], &["release", "dora", "--lock-id", &lease]] {
        assert!(place.ok(verb).err.contains("works without it"));
    }
    for verb in [&["logs", &id][..], &["cancel", &id], &["wait", &id]] {
        let ran = place.luzia(verb);
        assert_eq!(ran.code, i32::from(verb[0] == "wait"), "{ran:#?}");
        assert!(ran.err.contains("warning: ") && ran.err.contains("works without it"), "{ran:#?}");
    }
}

#[test]
fn deep_or_endless_configurations_are_refused_quickly() {
    let place = lived_in();
    let path = place.path("config.json");
    std::fs::write(&path, "[".repeat(200_000)).unwrap();
    refused(&place, &["status"], 78);
    std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    refused(&place, &["status"], 78);
    std::fs::remove_file(&path).unwrap();
    place.gate("config.json");
    refused(&place, &["status"], 78);
}

#[test]
fn unknown_keys_warn_with_what_was_probably_meant() {
    let place = lived_in();
    for (text, key, meant) in [
        ("{\"slot\":{\"max\":2}}", "slot", "slots"),
        ("{\"per_user_serialization\":{\"enable\":true}}", "per_user_serialization.enable", "enabled"),
        ("{\"lanes\":{\"cron\":{\"mx\":2}}}", "lanes.cron.mx", "max"),
        ("{\"projects\":{\"p\":{\"usr\":\"a\"}}}", "projects.p.usr", "user"),
    ] {
        std::fs::write(place.path("config.json"), text).unwrap();
        let ran = place.ok(&["status"]);
        let warning = ran.err.lines().next().unwrap();
        assert!(warning.contains("warning") && warning.contains(&format!("\"{key}\"")), "{ran:#?}");
        assert!(warning.contains(&format!("did you mean \"{meant}\"?")), "{ran:#?}");
        place.ok(&["config", "check"]);
    }
    std::fs::write(place.path("config.json"), "{\"zzzzzzzz\":1}").unwrap();
    assert!(!place.ok(&["status"]).err.contains("did you mean"));
}

#[test]
fn a_configuration_that_others_can_change_is_refused() {
    let place = lived_in();
    place.configure(&serde_json::json!({}));
    let chmod = |mode: u32| {
        std::fs::set_permissions(place.path("config.json"), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for mode in [0o666, 0o662, 0o660] {
        chmod(mode);
        refused(&place, &["status"], 78);
    }
    chmod(0o644);
    place.ok(&["status"]);
}

#[test]
fn a_configuration_that_was_named_must_be_there() {
    let place = lived_in();
    refused(&place, &["--config", "/no/such/file", "status"], 78);
    refused(&place, &["--config", "/", "status"], 78);
    refused(&place, &["--config", "", "status"], 2);
    let mut command = place.command(&["status"]);
    let ran = place.spawn(command.env("LUZIA_CONFIG", "/no/such/file")).end().coded(78);
    check_text(&ran);
    // An empty variable is one that is not set.
    let mut command = place.command(&["status"]);
    check_quick(&place.spawn(command.env("LUZIA_CONFIG", "")).end().coded(0));
}

#[test]
fn what_config_shows_reads_back() {
    let place = lived_in();
    place.configure(&serde_json::json!({ "slots": { "max": 7 }, "lanes": { "gpu": { "max": 2 } } }));
    let shown = place.ok(&["config", "show"]).out;
    std::fs::write(place.path("config.json"), &shown).unwrap();
    assert_eq!(place.ok(&["config", "show"]).out, shown);
    let mut document = place.json(&["config", "show"]);
    assert_eq!(document.as_object_mut().unwrap().remove("schema"), Some("luzia.config-show/v1".into()));
    assert_eq!(document, serde_json::from_str::<serde_json::Value>(&shown).unwrap());
    assert_eq!(place.ok(&["config", "path"]).line(), place.text("config.json"));
}
