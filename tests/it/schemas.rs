//! The documents of real commands are what `luzia schema` says.

use crate::documents_golden::{documents, words};
use crate::support::{Place, Ran};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Commands with every document checked, and the schemas that were met.
struct Checked {
    place: Place,
    met: RefCell<BTreeSet<String>>,
}

/// The schema that `luzia schema` prints.
fn validator(place: &Place, name: &str) -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(&place.ok(&["schema", name]).out).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

impl Checked {
    fn new(config: &Value) -> Self {
        Self { place: Place::configured(config), met: RefCell::default() }
    }

    /// Checks the documents of both streams against their schemas.
    fn check(&self, text: &str, what: &str) {
        for document in documents(text).filter(|document| document["schema"].is_string()) {
            let schema = document["schema"].as_str().unwrap();
            let name = schema.strip_prefix("luzia.").and_then(|name| name.strip_suffix("/v1")).expect(schema);
            let validator = validator(&self.place, name);
            let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{what}: {errors:#?}\n{document:#}");
            has_good_names(&document, what);
            self.met.borrow_mut().insert(name.to_owned());
        }
    }

    fn run(&self, args: &[&str]) -> Ran {
        let ran = self.place.luzia(&[&["--json"], args].concat());
        self.check(&ran.out, &format!("{args:?}"));
        self.check(&ran.err, &format!("{args:?}"));
        ran
    }

    fn all(&self, lines: &[&str]) {
        for line in lines {
            self.run(&words(line).iter().map(String::as_str).collect::<Vec<&str>>());
        }
    }
}

/// Members are snake_case, but for the older spellings that stay within v1, and `next` is a list.
fn has_good_names(value: &Value, what: &str) {
    const OLDER: [&str; 17] = [
        "waitingFor",
        "waitingUntil",
        "waitingData",
        "agentId",
        "parentExecutionId",
        "canInheritLock",
        "completedAt",
        "resultType",
        "resultSummary",
        "errorMessage",
        "failedActionId",
        "cancelledBy",
        "cancelReason",
        "threadId",
        "activeExecutionId",
        "executionLockedAt",
        "lockMinutes",
    ];
    match value {
        Value::Array(items) => items.iter().for_each(|item| has_good_names(item, what)),
        Value::Object(members) => {
            for (name, inner) in members {
                // What a task remembers, and rules by the names of lanes, have names of the user's choice.
                if ["vars", "variables", "data", "context", "by_user", "by_project", "projects", "lanes"]
                    .contains(&name.as_str())
                {
                    continue;
                }
                let is_snake = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
                assert!(is_snake || OLDER.contains(&name.as_str()), "{what}: {name}");
                assert!(name != "next" || inner.is_array(), "{what}: next is {inner}");
                has_good_names(inner, what);
            }
        }
        _ => {}
    }
}

/// Commands that fill a queue, and look at it.
const QUEUE: &[&str] = &[
    "config show",
    "config path",
    "config check",
    "enqueue -u alice --label l --key k -- sh -c true",
    "enqueue -u alice --key k --on-conflict skip -- true",
    "enqueue -u alice --priority 1 --in 1h -- false",
    "enqueue --dry-run -u bob -l gpu -- true",
    "enqueue -u carol --after task_1 --timeout 5 --start-within 1h -p p -- false",
    "explain 1",
    "explain 2",
    "explain alice",
    "explain lane:gpu",
    "explain",
    "list",
    "status",
    "show 1",
    "edit 2 --priority 2",
    "move 2 --first",
    "pause bob --reason why",
    "pause --all",
    "status",
    "explain 1",
    "resume --all",
    "resume bob",
    "resume carol",
    "dispatch",
];

/// The other commands.
const REST: &[&str] = &[
    "run -u z -- sh -c exit",
    "run -u z -- false",
    "run -u z --timeout 200ms -- sleep 60",
    "dispatch --once",
    "cancel 2 --reason r",
    "cancel 99",
    "list -a",
    "logs 1",
    "logs 1 2",
    "wait 1",
    "show 1",
    "show 2",
    "explain 2",
    "tree 1",
    "retry 2",
    "cancel 2",
    "dispatch --drain",
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
    "guard -- true",
    "cleanup-stale",
    "check-project p",
    "hook add task.completed -- true",
    "hook list",
    "hook rm task.completed",
    "cron add c 0\t3\t*\t*\t* -u ci -- true",
    "cron list",
    "cron next c",
    "cron run c",
    "cron rm c",
    "doctor",
    "events",
    "stats",
    "stats lanes",
    "stats tasks",
    "metrics",
    "timeline",
    "top",
    "name port 8080",
    "shim list",
    "shim doctor",
    "daemon --install",
    "agent setup codex --project --check",
    "nosuch",
];

#[test]
fn documents_of_real_commands_are_what_their_schemas_say() {
    let checked = Checked::new(&json!({ "projects": { "p": { "user": "pat" } }, "lanes": { "gpu": { "max": 2 } } }));
    checked.all(QUEUE);
    let from = checked.place.path("tasks.jsonl");
    fs::write(&from, "{\"user\":\"x\",\"command\":[\"true\"]}\n{\"user\":\"y\",\"command\":[\"false\"]}\n").unwrap();
    checked.run(&["enqueue", "--from", from.to_str().unwrap()]);
    checked.all(REST);
    let lease = checked.run(&["acquire", "dan", "--task", "j"]).json()["lock_id"].as_str().unwrap().to_owned();
    checked.run(&["renew", "dan", "--lock-id", &lease]);
    checked.run(&["install-docs", "--dry-run", "--prefix", "/nowhere"]);
    inside_a_task(&checked);
    let known: BTreeSet<String> = checked.place.ok(&["schema"]).out.lines().map(str::to_owned).collect();
    let met = checked.met.into_inner();
    // `tests/fleet` has the server for the others.
    let needs_server = |name: &String| {
        ["store-migrate", "store-recover", "store-status", "fleet-trial", "hosts"].contains(&name.as_str())
    };
    let missing: Vec<&String> = known.iter().filter(|name| !met.contains(*name) && !needs_server(name)).collect();
    assert!(missing.is_empty(), "no command of this test answers with {missing:?}");
}

/// The commands that a task calls.
fn inside_a_task(checked: &Checked) {
    let script = "luzia() { \"$LUZIA\" --json \"$@\"; }
        luzia set a=1 b=2; luzia get a; luzia get; luzia beat --note on; luzia step one -- true
        luzia emit HELLO --task self --data '{\"a\":1}'; luzia await event:HELLO --timeout 5s
        luzia show self; luzia tree self; luzia explain self; luzia guard -- true
        luzia finish --status completed --summary s --data '{\"x\":1}'";
    let luzia = format!("LUZIA={}", crate::support::LUZIA);
    let ran = checked.place.ok(&["run", "-u", "in", "--env", &luzia, "--", "sh", "-c", script]);
    checked.check(&ran.out, "inside a task");
    checked.check(&ran.err, "inside a task");
}

#[test]
fn a_document_without_a_required_member_or_with_another_type_is_noticed() {
    let place = Place::new();
    let validator = validator(&place, "list");
    place.enqueue(&["-u", "alice", "--", "true"]);
    let right = place.json(&["list"]);
    assert!(validator.is_valid(&right), "{:?}", validator.validate(&right));
    let mut without = right.clone();
    without["items"][0].as_object_mut().unwrap().remove("user");
    let mut wrong = right.clone();
    wrong["items"][0]["priority"] = json!("5");
    let mut more = right;
    more["items"][0]["later"] = json!(true);
    assert!(!validator.is_valid(&without) && !validator.is_valid(&wrong));
    assert!(validator.is_valid(&more), "documents are append-only");
}

#[test]
fn lines_have_a_kind_and_capacity_has_three_members() {
    let place = Place::configured(&json!({ "slots": { "max": 4 } }));
    place.enqueue(&["-u", "alice", "--", "true"]);
    place.ok(&["acquire", "bob", "--task", "job"]);
    for (args, kind) in [
        (vec!["list"], "task"),
        (vec!["events"], ""),
        (vec!["list-locks"], "lease"),
        (vec!["lanes"], "lane"),
        (vec!["show", "1"], "task"),
        (vec!["status"], "status"),
        (vec!["doctor"], "doctor"),
    ] {
        let out = place.luzia(&[&args[..], &["-o", "jsonl"]].concat()).out;
        assert!(!out.is_empty(), "{args:?}");
        for line in out.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let found = line["kind"].as_str().unwrap_or_else(|| panic!("{args:?}: {line}"));
            assert!(kind.is_empty() || found == kind, "{args:?}: {line}");
        }
    }
    let capacity = place.json(&["status", "--capacity"]);
    assert_eq!(capacity, json!({ "slots": { "max": 4, "used": 0, "available": 4 }, "by_project": {}, "by_user": {} }));
}

#[test]
fn a_name_without_a_document_is_refused_with_a_way_on() {
    let place = Place::new();
    let ran = place.luzia(&["schema", "lock"]).coded(66);
    assert!(ran.err.contains("there is no document \"lock\"") && ran.err.contains("luzia schema error"), "{}", ran.err);
    assert_eq!(place.ok(&["schema", "list_locks"]).out, place.ok(&["schema", "list-locks"]).out);
    assert_eq!(place.ok(&["schema", "config", "show"]).out, place.ok(&["schema", "config-show"]).out);
}

#[test]
fn documents_are_installed_below_a_prefix_and_again_without_harm() {
    let place = Place::new();
    let prefix = place.path("usr");
    let prefix = prefix.to_str().unwrap();
    let made = place.json(&["install-docs", "--prefix", prefix]);
    let paths: Vec<&str> = made["items"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    for wanted in [
        "man/man1/luzia.1",
        "man/man1/luzia-run.1",
        "man/man5/luzia-config.5",
        "man/man5/luzia-spool.5",
        "man/man7/luzia-agents.7",
        "bash-completion/completions/luzia",
        "zsh/site-functions/_luzia",
        "fish/vendor_completions.d/luzia.fish",
    ] {
        assert!(paths.contains(&format!("{prefix}/share/{wanted}").as_str()), "{wanted}: {paths:?}");
    }
    let page = |path: &str| fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let committed = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(
        page(&format!("{prefix}/share/man/man1/luzia-run.1")),
        fs::read_to_string(committed.join("man/luzia-run.1")).unwrap()
    );
    assert_eq!(
        page(&format!("{prefix}/share/zsh/site-functions/_luzia")),
        fs::read_to_string(committed.join("completions/_luzia")).unwrap()
    );
    assert!(paths.iter().all(|path| !page(path).is_empty()));
    fs::write(format!("{prefix}/share/man/man1/luzia.1"), "old").unwrap();
    place.ok(&["install-docs", "--prefix", prefix]);
    assert_eq!(
        page(&format!("{prefix}/share/man/man1/luzia.1")),
        fs::read_to_string(committed.join("man/luzia.1")).unwrap()
    );
    place.luzia(&["install-docs", "--prefix", "usr"]).coded(2);
    fs::write(place.path("file"), "").unwrap();
    let ran = place.luzia(&["install-docs", "--prefix", place.path("file").to_str().unwrap()]).coded(73);
    assert!(ran.err.contains("cannot write"), "{}", ran.err);
    let dry = place.path("dry");
    place.ok(&["install-docs", "-n", "--prefix", dry.to_str().unwrap()]);
    assert!(!dry.exists());
    // What is not luzia's stays, and so do its folders.
    fs::write(format!("{prefix}/share/man/man1/other.1"), "other").unwrap();
    let removed = place.json(&["install-docs", "--remove", "--prefix", prefix]);
    assert_eq!(removed["items"].as_array().unwrap().len(), paths.len());
    let left = fs::read_dir(format!("{prefix}/share")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["man"]);
    assert_eq!(fs::read_dir(format!("{prefix}/share/man/man1")).unwrap().count(), 1);
    assert_eq!(place.ok(&["install-docs", "--remove", "--prefix", prefix]).out, "");
}
