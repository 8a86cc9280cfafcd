//! What comes from outside (events, variables, results, labels) is text: never a script, an option, or too much for a start.

use crate::support::{Place, Ran, until};
use serde_json::{Value, json};
use std::fs;

/// What an event may say.
const EVIL: &str = "x; touch $PLACE/hit; $(touch $PLACE/hit) `touch $PLACE/hit` ' \" \\ {{x}}";

/// A command line for each shell and interpreter whose words come in by an entry.
const SCRIPTS: [&[&str]; 5] = [
    &["sh", "-c", "echo {{x}}"],
    &["env", "A=b", "bash", "-euo", "pipefail", "-c", "echo {{ x }}"],
    &["python3", "-c", "print('{{x}}')"],
    &["awk", "BEGIN{print \"{{x}}\"}"],
    &["echo", "--{{x}}=1"],
];

#[track_caller]
fn assert_refused(ran: &Ran, what: &str) {
    assert_eq!(ran.code, 2, "{what}: {ran:#?}");
    assert!(ran.err.contains("{{x}}") || ran.err.contains("{{ x }}"), "{what}: {ran:#?}");
    assert!(ran.err.contains("hint: "), "{what}: {ran:#?}");
}

/// A place with a pending task, `task_1`, that has the variable x.
fn with_variable() -> Place {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--in", "1h", "--", "true"]);
    place.ok(&["set", "--task", "1", &format!("x={EVIL}")]);
    place
}

#[test]
fn no_entry_takes_a_command_that_would_run_a_value() {
    let place = with_variable();
    let before = place.snapshot();
    let (lines, steps) = (place.text("lines"), place.text("steps"));
    for script in SCRIPTS {
        for head in [
            &["enqueue", "-u", "alice", "--"][..],
            &["enqueue", "--dry-run", "-u", "alice", "--"],
            &["enqueue", "--stepwise", "-u", "alice", "--"],
            &["run", "-u", "alice", "--"],
            &["cron", "add", "nightly", "0 9 * * *", "--"],
            &["edit", "1", "--"],
        ] {
            assert_refused(&place.luzia(&[head, script].concat()), &format!("{head:?} {script:?}"));
        }
        fs::write(
            &lines,
            format!("{}\n{}\n", json!({ "user": "a", "command": ["true"] }), json!({ "user": "a", "command": script })),
        )
        .unwrap();
        assert_refused(&place.luzia(&["enqueue", "--from", &lines]), &format!("--from {script:?}"));
        fs::write(&steps, json!([["true"], { "command": script }]).to_string()).unwrap();
        assert_refused(&place.luzia(&["enqueue", "-u", "alice", "--steps", &steps]), &format!("--steps {script:?}"));
    }
    for args in [
        &["enqueue", "--shell", "echo {{x}}"][..],
        &["run", "--shell", "echo {{x}}"],
        &["cron", "add", "nightly", "0 9 * * *", "--shell", "echo {{x}}"],
        &["enqueue", "--on-finish", "echo {{x}}", "--", "true"],
    ] {
        assert_refused(&place.luzia(args), &format!("{args:?}"));
    }
    fs::write(&lines, json!({ "shell": "echo {{x}}" }).to_string()).unwrap();
    assert_refused(&place.luzia(&["enqueue", "--from", &lines]), "--from with a line for the shell");
    fs::write(&steps, json!({ "actions": [{ "command": "echo {{x}}" }] }).to_string()).unwrap();
    assert_refused(&place.luzia(&["enqueue", "--steps", &steps]), "--steps with a line for the shell");
    place.assert_unchanged(&before, "a refused request");
    let ran = place.luzia(&["enqueue", "--shell", "echo {{x}}"]);
    assert!(ran.err.contains("\"$LUZIA_VAR_x\""), "it says what to write: {ran:#?}");
}

#[test]
fn what_an_event_says_is_data_for_every_script() {
    let place = Place::new();
    let text = "a=$(\"$LUZIA\" await response --park --timeout-do 'echo late'); printf '%s\\n%s\\n%s\\n' \"$a\" \"$LUZIA_VAR_lastResponse\" \"$1\"";
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-ec", text, "sh", "<{{lastResponse}}>"]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    place.ok(&["emit", "MESSAGE_RECEIVED", "--task", &id, "--data", &json!({ "text": EVIL }).to_string()]);
    place.until_status(&id, "completed");
    assert_eq!(place.ok(&["logs", &id, "--stdout"]).out, format!("{EVIL}\n{EVIL}\n<{EVIL}>\n"));
    assert!(!place.path("hit").exists());
}

/// Replaces a word of the record of a pending task, as if an earlier version had accepted it.
fn rewrite(place: &Place, from: &str, to: &str) {
    let mut found = 0;
    for folder in ["spool/pending", "spool/parked"] {
        let mut open = vec![place.state().join(folder)];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            } else if let Some(text) = fs::read_to_string(&path).ok().filter(|text| text.contains(from)) {
                fs::write(&path, text.replace(from, to)).unwrap();
                found += 1;
            }
        }
    }
    assert_eq!(found, 1, "one record has {from}");
}

#[test]
fn a_record_of_an_earlier_version_is_not_filled_in_and_fails_before_its_start() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--retries", "3", "--shell", "touch $PLACE/ran; echo PLACEHOLDER"]);
    rewrite(&place, "PLACEHOLDER", "{{x}}");
    place.ok(&["set", "--task", &id, &format!("x={EVIL}")]);
    place.drain();
    let shown = place.show(&id);
    assert_eq!((&shown["status"], &shown["exit_code"], &shown["starts"]), (&json!("failed"), &json!(125), &json!(0)));
    let error = shown["resultSummary"].as_str().unwrap();
    assert!(error.contains("\"{{x}}\"") && error.contains("\"$LUZIA_VAR_x\""), "{error}");
    assert!(!place.path("ran").exists() && !place.path("hit").exists());
    assert_eq!(place.events_named("finished").len(), 1, "one attempt");
    assert_refused(&place.luzia(&["retry", &id]), "retry");
    assert_eq!(place.status(&id), "failed");
    // A later step is judged before its own start.
    let steps = place.text("steps");
    fs::write(&steps, json!([["touch", place.text("first")], { "command": "echo PLACEHOLDER" }]).to_string()).unwrap();
    let id = place.enqueue(&["-u", "alice", "--steps", &steps]);
    rewrite(&place, "PLACEHOLDER", "{{x}}");
    place.drain();
    assert!(place.path("first").exists());
    assert!(place.show(&id)["resultSummary"].as_str().unwrap().contains("\"{{x}}\""), "{:#}", place.show(&id));
}

/// A task with a variable and a command; how it ended.
fn filled(place: &Place, value: &str, command: &[&str]) -> Value {
    let id = place.enqueue(&[&["-u", "alice", "--retries", "3", "--"], command].concat());
    place.ok(&["set", "--task", &id, &format!("x={value}")]);
    place.drain();
    place.show(&id)
}

#[test]
fn a_value_is_never_an_option() {
    let place = Place::new();
    for (value, command) in [
        ("-n", &["echo", "{{x}}"][..]),
        ("--version", &["ls", "{{x}}"]),
        ("-rf", &["env", "--", "echo", "{{x}}"]),
        ("-c", &["sh", "-c", "true", "sh", "{{x}}"]),
    ] {
        let shown = filled(&place, value, command);
        assert_eq!((&shown["status"], &shown["starts"]), (&json!("failed"), &json!(0)), "{shown:#}");
        let error = shown["resultSummary"].as_str().unwrap();
        assert!(error.contains("the value of \"x\" begins with \"-\"") && error.contains("write --"), "{error}");
    }
    for (value, command, said) in [
        ("-n", &["printf", "%s", "--", "{{x}}"][..], "---n"),
        ("-n", &["printf", "%s", "a={{x}}"], "a=-n"),
        ("n", &["printf", "%s", "{{x}}"], "n"),
    ] {
        let shown = filled(&place, value, command);
        assert_eq!(shown["status"], "completed", "{shown:#}");
        assert_eq!(place.ok(&["logs", shown["id"].as_str().unwrap(), "--stdout"]).out, said);
    }
    // A value that is the name of a shell makes no script of the word behind it.
    let shown = filled(&place, "sh", &["env", "{{x}}", "-c", "{{x}}"]);
    assert!(shown["resultSummary"].as_str().unwrap().contains("would stand in text that a program runs"), "{shown:#}");
}

#[test]
fn a_place_without_a_value_stays_and_explain_and_the_events_say_so() {
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--", "printf", "%s %s", "{{known}}", "{{unknown}}"]);
    place.ok(&["set", "--task", &id, "known=yes"]);
    let told = place.ok(&["explain", &id]).out;
    assert!(told.contains("\"{{unknown}}\" in its command has no value, and stays as it is written"), "{told}");
    assert!(!told.contains("{{known}}"), "{told}");
    assert_eq!(place.json(&["explain", &id])["unset"], json!(["unknown"]));
    place.drain();
    assert_eq!(place.ok(&["logs", &id, "--stdout"]).out, "yes {{unknown}}");
    let events = place.events_named("vars_unset");
    assert_eq!((events.len(), &events[0]["data"]["names"]), (1, &json!(["unknown"])), "{events:#?}");
}

#[test]
fn the_prompt_of_a_request_stands_in_no_script() {
    let agent = |words: &[&str]| json!({ "projects": { "p": { "user": "a", "agent": words } } });
    let place = Place::configured(&agent(&["sh", "-c", "echo '{prompt}'"]));
    let ran = place.luzia(&["enqueue", "-p", "p", "--prompt", "'; touch $PLACE/hit; '"]).coded(2);
    assert!(ran.err.contains("\"{prompt}\" stands in text that sh runs"), "{ran:#?}");
    place.configure(&agent(&["sh", "-c", "printf %s \"$1\"", "agent", "{prompt}"]));
    let id = place.enqueue(&["-p", "p", "--prompt", "'; touch $PLACE/hit; '"]);
    place.drain();
    assert_eq!(place.ok(&["logs", &id, "--stdout"]).out, "'; touch $PLACE/hit; '");
    assert!(!place.path("hit").exists());
}

#[test]
fn hooks_and_other_commands_get_what_was_said_as_data() {
    let place = Place::new();
    let evil = "$(touch $PLACE/hit)`touch $PLACE/hit`; touch $PLACE/hit";
    place.ok(&["hook", "add", "finished", "--", "sh", "-c", "cat >> $PLACE/hook; echo \"$LUZIA_USER\" >> $PLACE/hook"]);
    place.ok(&["hook", "add", "before", "--", "sh", "-c", "cat >> $PLACE/before"]);
    let last = format!("cat >> {}; echo \"$LUZIA_STATUS\" >> {0}", place.text("last"));
    let script = "\"$LUZIA\" await response --timeout 100ms --on-timeout continue --timeout-do 'echo \"$LUZIA_VAR_v\" >> $PLACE/late'; \
                  \"$LUZIA\" finish --summary \"$LUZIA_VAR_v\" --data \"$DATA\"";
    let data = json!({ "said": evil }).to_string();
    let id = place.enqueue(&[
        "-u",
        evil,
        "--label",
        evil,
        "--goal",
        evil,
        "--env",
        &format!("DATA={data}"),
        "--on-finish",
        &last,
        "--",
        "sh",
        "-c",
        script,
    ]);
    place.ok(&["set", "--task", &id, &format!("v={evil}")]);
    place.drain();
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap_or_default();
    until("the last command has run", || read("last").ends_with("completed\n").then_some(()));
    until("the hook has run", || read("hook").ends_with(&format!("{evil}\n")).then_some(()));
    for name in ["hook", "before", "last", "late"] {
        assert!(read(name).contains("touch"), "{name}: {}", read(name));
    }
    assert_eq!(place.show(&id)["resultSummary"], evil);
    assert!(!place.path("hit").exists());
    // The lines of such commands are never filled in, so one with a place is refused.
    let script = "open='{{'; \"$LUZIA\" await response --timeout-do \"echo ${open}v}}\"";
    let id = place.enqueue(&["-u", "bob", "--", "sh", "-c", script]);
    place.drain();
    assert_eq!(place.show(&id)["exit_code"], 2);
}
