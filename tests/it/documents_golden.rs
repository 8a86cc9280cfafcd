//! The JSON documents of the verbs, member by member in their order, so that a change of how documents are made is
//! seen.
//!
//! `INSTA_UPDATE=always cargo test --test it documents_golden` rewrites them. Only what is the same in every run is kept: moments,
//! lengths of time, processes and paths are replaced, and verbs that tell of the host are left out.

use crate::support::Place;
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Commands whose documents do not depend on how fast the machine is. A blank within a word is written as a tab.
const COMMANDS: &[&str] = &[
    "config path",
    "config check",
    "enqueue -u alice --label l --key k -l gpu -- sh -c true",
    "enqueue -u alice --key k --on-conflict skip -- true",
    "enqueue -u alice --priority 1 --in 1h --retries 2 -- false",
    "enqueue --dry-run -u bob -l gpu -- true",
    "enqueue -u carol --after task_1 --timeout 5 --start-within 1h -p p -- false",
    "enqueue -u alice --hold --group docs -- true",
    "list",
    "list -u carol",
    "show 1",
    "show 3",
    "explain 1",
    "explain 2",
    "explain 3",
    "explain alice",
    "explain",
    "explain nobody",
    "edit 2 --priority 2",
    "move 2 --first",
    "pause bob --reason why",
    "pause --all",
    "explain 1",
    "status",
    "resume --all",
    "resume bob",
    "cancel 2 --reason r",
    "cancel 99",
    "show 2",
    "retry 2",
    "cancel 2",
    "run -u z -- sh -c exit",
    "run -u z -- false",
    "run -u z --timeout 200ms -- sleep 60",
    "acquire bob --task job --ttl 1h --label x",
    "acquire bob --task other",
    "acquire thread:7 --task 100",
    "check bob",
    "check nobody",
    "check thread:7",
    "list-locks",
    "explain bob",
    "release thread:7 100",
    "release thread:7",
    "release bob --force --yes",
    "lanes",
    "lanes set gpu --max 3 --weight 2",
    "lanes show gpu",
    "lanes rm gpu",
    "cleanup-stale",
    "check-project p",
    "hook add task.completed -- true",
    "hook list",
    "hook rm task.completed",
    "cron add c 0\t3\t*\t*\t* -u ci -- true",
    "cron list",
    "cron rm c",
    "name port 8080",
    "wait 2",
    "logs 1",
    "nosuch",
];

/// Members whose values are of one run only.
fn is_of_a_run(name: &str) -> bool {
    const ENDINGS: [&str; 14] = [
        "_ms",
        "_seconds",
        "_local",
        "pid",
        "boot_id",
        "host",
        "version",
        "next",
        "namespace",
        "sandbox",
        "free",
        "fence",
        "traceparent",
        "tz",
    ];
    name == "work" || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// A document with a word in the place of each value that another run would not have.
fn normal(place: &Place, value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| normal(place, item)),
        Value::Object(members) => {
            for (name, inner) in members.iter_mut() {
                match inner {
                    Value::Number(_) | Value::String(_) if is_of_a_run(name) => *inner = json!("OF A RUN"),
                    Value::Number(number) if number.as_f64().is_some_and(|number| number > 1e9) => {
                        *inner = json!("OF A RUN");
                    }
                    other => normal(place, other),
                }
            }
        }
        Value::String(text) => *text = of_text(place, text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn of_text(place: &Place, text: &str) -> String {
    let text =
        text.replace(place.state().to_str().unwrap(), "STATE_DIR").replace(place.path("").to_str().unwrap(), "PLACE/");
    text.split(' ').map(of_word).collect::<Vec<_>>().join(" ")
}

/// A word of a sentence; moments, lengths of time and ids with a moment in them are replaced.
fn of_word(word: &str) -> String {
    let inner = word.trim_matches(|c: char| "(),;:.\"".contains(c));
    let is_time = inner.len() >= 20 && inner.starts_with("20") && inner.ends_with('Z');
    let is_age = inner.starts_with(|c: char| c.is_ascii_digit())
        && inner.ends_with(|c: char| "dhms".contains(c))
        && inner.chars().all(|c| c.is_ascii_digit() || "dhms".contains(c));
    let (name, moment) = inner.rsplit_once('_').unwrap_or((inner, ""));
    let is_lock_id = moment.len() == 10 && moment.bytes().all(|byte| byte.is_ascii_digit());
    if !inner.is_empty() && inner == account() {
        return word.replace(inner, "ACCOUNT");
    }
    match (is_time, is_age, is_lock_id) {
        (true, ..) => word.replace(inner, "TIME"),
        (_, true, _) => word.replace(inner, "AGE"),
        (.., true) => word.replace(inner, &format!("{name}_SECONDS")),
        _ => word.to_owned(),
    }
}

/// The account of this process, as luzia names it.
fn account() -> String {
    let user = nix::unistd::User::from_uid(nix::unistd::geteuid()).ok().flatten();
    user.map_or_else(String::new, |user| user.name)
}

/// The words of a command; a blank within a word is written as a tab.
pub fn words(line: &str) -> Vec<String> {
    line.split(' ').map(|word| word.replace('\t', " ")).collect()
}

/// The documents that a command has written.
pub fn documents(text: &str) -> impl Iterator<Item = Value> {
    serde_json::Deserializer::from_str(text).into_iter::<Value>().map_while(Result::ok)
}

#[test]
fn golden_documents_have_the_same_members_in_the_same_order() {
    let config =
        json!({ "slots": { "max": 4 }, "projects": { "p": { "user": "pat" } }, "lanes": { "gpu": { "max": 2 } } });
    let place = Place::configured(&config);
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut take = |what: &str, text: &str| {
        for mut document in documents(text).filter(|document| document["schema"].is_string()) {
            let schema = document["schema"].as_str().unwrap().trim_start_matches("luzia.").replace("/v1", "");
            normal(&place, &mut document);
            *found.entry(schema).or_default() += &format!("$ luzia {what}\n{document:#}\n\n");
        }
    };
    for line in COMMANDS {
        let words = words(line);
        let args: Vec<&str> = ["--json"].into_iter().chain(words.iter().map(String::as_str)).collect();
        let ran = place.luzia(&args);
        take(line, &ran.out);
        take(line, &ran.err);
    }
    let script = "luzia() { \"$LUZIA\" --json \"$@\"; }
        luzia set a=1 b=2; luzia get a; luzia get; luzia beat --note on; luzia step one -- true
        luzia emit HELLO --task self --data '{\"a\":1}'; luzia await event:HELLO --timeout 5s
        luzia finish --status completed --summary s --data '{\"x\":1}'";
    let luzia = format!("LUZIA={}", crate::support::LUZIA);
    let ran = place.ok(&["run", "-u", "in", "--env", &luzia, "--", "sh", "-c", script]);
    take("(in a task)", &ran.out);
    assert!(found.len() > 30, "{:?}", found.keys());
    for (schema, text) in found {
        assert_snapshot!(format!("document_{schema}"), text.trim_end());
    }
}

#[test]
fn words_that_differ_between_two_runs_are_replaced_and_no_others() {
    for (word, expected) in [
        ("2026-01-31T08:00:00.000Z.", "TIME."),
        ("1h30m,", "AGE,"),
        ("job_1768005905", "job_SECONDS"),
        ("task_12", "task_12"),
        ("60", "60"),
        ("days", "days"),
    ] {
        assert_eq!(of_word(word), expected);
    }
}
