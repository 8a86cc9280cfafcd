//! What a request may say: keys, batches, prompts, projects (S0.21, S3.10, S3.40, X21).

use crate::support::{Place, lines};
use serde_json::json;

#[test]
fn enqueue_answers_with_id_and_position() {
    // S0.21, S3.10
    let place = Place::new();
    let answer = place.json(&["enqueue", "--project", "alice_project", "--priority", "5", "--", "true"]);
    for (member, value) in [
        ("success", json!(true)),
        ("queued", json!(true)),
        ("created", json!(true)),
        ("id", json!("task_1")),
        ("task_id", json!("task_1")),
        ("position", json!(0)),
        ("project", json!("alice_project")),
        ("status", json!("pending")),
        ("schema", json!("luzia.enqueue/v1")),
    ] {
        assert_eq!(answer[member], value, "{member}");
    }
    assert_eq!(place.ok(&["enqueue", "--", "true"]).out, "task_2\n");
    assert_eq!(place.json(&["add", "--", "true"])["position"], 2);
}

#[test]
fn a_key_is_one_unfinished_task() {
    let place = Place::new();
    let keyed = |on_conflict: &[&str]| {
        place.luzia(&[&["--json", "enqueue", "-u", "alice", "--key", "nightly"], on_conflict, &["--", "true"]].concat())
    };
    let first = keyed(&[]).coded(0).json();
    let same = keyed(&[]).coded(0).json();
    assert_eq!((&same["id"], &same["created"]), (&first["id"], &json!(false)));
    let refused = keyed(&["--on-conflict", "reject"]).coded(75);
    assert!(refused.err.contains("nightly"), "{}", refused.err);
    let queued = keyed(&["--on-conflict", "queue"]).coded(0).json();
    assert_eq!(queued["created"], true);
    let replaced = keyed(&["--on-conflict", "replace"]).coded(0).json();
    assert_eq!(replaced["created"], true);
    assert_eq!(place.status(queued["id"].as_str().unwrap()), "cancelled");
    assert_eq!(place.status(first["id"].as_str().unwrap()), "pending");
    // What runs is cancelled first: `jobs::conflicts` has all policies and states.
    let id = place.enqueue(&["-u", "bob", "--key", "job", "--", "sleep", "1000"]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "running");
    place.ok(&["enqueue", "-u", "bob", "--key", "job", "--on-conflict", "replace", "--", "true"]);
    assert_eq!(place.status(&id), "cancelled");
    place.drain();
    // Once it is over, the key is free again.
    assert_eq!(keyed(&["--on-conflict", "reject"]).coded(0).json()["created"], true);
}

#[test]
fn a_key_given_at_once_by_many_is_one_task() {
    let place = Place::new();
    let all: Vec<_> = (0..8).map(|_| place.start(&["enqueue", "-u", "a", "--key", "k", "--", "true"])).collect();
    let mut ids: Vec<String> = all.into_iter().map(|one| one.end().coded(0).line()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
}

#[test]
fn a_batch_is_accepted_whole_or_refused_by_its_line() {
    let place = Place::new();
    let from = |text: &str| {
        std::fs::write(place.path("lines"), text).unwrap();
        place.luzia(&["enqueue", "--from", &place.text("lines")])
    };
    let good = json!({ "user": "a", "lanes": ["cron"], "priority": 2, "env": { "A": "1" }, "command": ["sh", "-c", "echo $A"] });
    for bad in [
        "{",
        "[]",
        "5",
        "{\"user\":\"a\"}",
        "{\"command\":[]}",
        "{\"command\":[\"true\"],\"usr\":1}",
        "{\"command\":[\"true\"],\"priority\":10}",
        "{\"command\":[\"true\"],\"user\":\"\"}",
        "{\"command\":[\"true\"],\"after\":[\"task_99\"]}",
        "{\"command\":[\"true\"],\"timeout\":\"-5s\"}",
        "{\"command\":\"true\"}",
    ] {
        let refused = from(&format!("{good}\n\n{bad}\n{good}\n"));
        assert!([2, 66].contains(&refused.code), "{bad}: {refused:?}");
        // The empty line is passed over, and counts for the number of the line.
        assert!(refused.err.contains("line 3"), "{bad}: {}", refused.err);
        assert!(!refused.err.contains("after the options"), "{bad}: {}", refused.err);
        assert_eq!(place.json(&["list", "-a"])["items"], json!([]), "{bad}");
    }
    let ids = from(&format!("{good}\n{}\n", json!({ "user": "b", "command": ["true"] }))).coded(0).out;
    assert_eq!(ids.lines().count(), 2);
    let first = place.show(ids.lines().next().unwrap());
    assert_eq!((&first["lanes"], &first["priority"]), (&json!(["user:a", "cron"]), &json!(2)));
    place.drain();
    assert_eq!(place.ok(&["logs", ids.lines().next().unwrap()]).out, "1\n");
    assert_eq!(from("").coded(0).out, "");
}

#[test]
fn a_batch_comes_from_standard_input_too() {
    let place = Place::new();
    std::fs::write(
        place.path("lines"),
        "{\"user\":\"a\",\"command\":[\"true\"]}\r\n{\"user\":\"b\",\"shell\":\"exit 0\"}",
    )
    .unwrap();
    let mut command = place.command(&["--json", "enqueue", "--from", "-"]);
    let answer = place.spawn(command.stdin(std::fs::File::open(place.path("lines")).unwrap())).end().coded(0).json();
    assert_eq!(answer["items"].as_array().unwrap().len(), 2);
    place.drain();
    assert_eq!(place.status("2"), "completed");
}

#[test]
fn a_batch_stands_in_the_order_of_its_lines_whatever_stood_there_before() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--", "true"]);
    // A segment that is there already, one that comes whole, one that goes task by task, tasks that wait outside.
    let users = ["alice", "bob", "alice", "carol", "bob", "carol", "carol", "bob", "dave"];
    let line = |(at, user): (usize, &&str)| {
        let mut line = json!({ "user": user, "shell": format!("echo {user} >> $PLACE/ran") });
        match at {
            5 => line["lanes"] = json!(["thread:7"]),
            7 => line["in"] = json!("50ms"),
            8 => line["start_within"] = json!("2h"),
            _ => {}
        }
        format!("{line}\n")
    };
    std::fs::write(place.path("lines"), users.iter().enumerate().map(line).collect::<String>()).unwrap();
    let ids = place.ok(&["enqueue", "--from", &place.text("lines")]).out;
    assert_eq!(ids.lines().collect::<Vec<_>>(), (2..11).map(|id| format!("task_{id}")).collect::<Vec<_>>());
    let listed = place.json(&["list"])["items"].clone();
    let found: Vec<&str> = listed.as_array().unwrap().iter().map(|task| task["user"].as_str().unwrap()).collect();
    assert_eq!(found, [&["alice"][..], &users].concat());
    assert_eq!(std::fs::read_dir(place.state().join("spool/tmp")).unwrap().count(), 0);
    place.drain();
    let ran = std::fs::read_to_string(place.path("ran")).unwrap();
    assert_eq!(ran.lines().count(), users.len(), "{ran}");
    for user in ["alice", "bob", "carol"] {
        let of_user = listed.as_array().unwrap().iter().filter(|task| task["user"] == user);
        let starts: Vec<String> =
            of_user.map(|task| place.show(task["id"].as_str().unwrap())["started_at"].to_string()).collect();
        let mut sorted = starts.clone();
        sorted.sort();
        assert_eq!(starts, sorted, "{user}");
    }
}

#[test]
fn a_prompt_reaches_the_agent_of_its_project_byte_for_byte() {
    // S3.10: enqueue(project, prompt)
    let place = Place::new();
    let agent = |args: &[&str]| json!({ "projects": { "p": { "user": "alice", "agent": args } } });
    place.configure(&agent(&["sh", "-c", "printf %s \"$1\"; cat", "agent", "{prompt}"]));
    let prompt = "$(touch x) `id` ; && | > \" ' \\ \n{prompt} \u{202e}";
    assert_eq!(place.ok(&["run", "-p", "p", "--prompt", prompt]).out, prompt);
    assert_eq!(place.ok(&["run", "-p", "p", "--prompt", "--help"]).out, "--help");
    assert_eq!(place.show("1")["user"], "alice");
    // A long one travels by standard input.
    let long = "y".repeat(120_000);
    assert_eq!(place.ok(&["run", "-p", "p", "--prompt", &long]).out, long);
    // And where no argument has a place for it.
    place.configure(&agent(&["sh", "-c", "echo $#; cat"]));
    assert_eq!(place.ok(&["run", "-p", "p", "--prompt", "x"]).out, "0\nx");
    place.luzia(&["enqueue", "-u", "a", "--prompt", "x"]).coded(2);
    assert_eq!(place.ok(&["run", "-u", "a", "--prompt", "x", "--", "sh", "-c", "cat"]).out, "x");
}

#[test]
fn the_user_of_a_task_is_the_first_that_is_known() {
    // X21
    let place = Place::new();
    place.configure(&json!({ "projects": { "p": { "user": "alice" }, "q": {} } }));
    let user = |args: &[&str]| place.json(&[&["enqueue"], args, &["--", "true"]].concat())["user"].clone();
    assert_eq!(user(&["-p", "p"]), "alice");
    assert_eq!(user(&["-p", "p", "-u", "bob"]), "bob");
    let account = user(&[]);
    assert_eq!(user(&["-p", "q"]), account);
    place.luzia(&["enqueue", "-p", "unknown", "--", "true"]).coded(66);
    if crate::support::is_root() {
        assert_eq!(account, "root");
    }
}

#[test]
fn a_conductor_directory_is_where_the_project_says() {
    // S3.40, S3.25
    let place = Place::new();
    let template = place.text("home/{project}/conductor");
    place.configure(&json!({ "projects": { "web": { "user": "alice", "conductor_dir": template } } }));
    place.ok(&[
        "run",
        "-p",
        "web",
        "--",
        "sh",
        "-c",
        "echo $LUZIA_CONDUCTOR_DIR; test -f $LUZIA_CONDUCTOR_DIR/meta.json",
    ]);
    let done = place.path("home/web/conductor/done/task_1");
    assert!(done.join("meta.json").exists());
    let active = place.text("home/web/conductor/active/task_1");
    assert_eq!(lines(&done.join("stdout.log")), [active]);
    place.ok(&["run", "-u", "bob", "--", "true"]);
    assert!(place.state().join("conductor/_/done/task_2/meta.json").exists());
}

#[test]
fn environment_and_directory_are_those_of_the_moment_of_enqueue() {
    let place = Place::new();
    let mut command = place.command(&["enqueue", "-u", "a", "--", "sh", "-c", "echo $MINE $LD_PRELOAD; pwd; umask"]);
    command.env("MINE", "kept").env("LD_PRELOAD", "").env("BASH_ENV", "/x").current_dir(place.path("io"));
    let id = place.spawn(&mut command).end().coded(0).line();
    place.drain();
    let out = place.ok(&["logs", &id]).out;
    assert_eq!(out.lines().collect::<Vec<_>>()[..2], ["kept", place.path("io").to_str().unwrap()]);
    // The record with the environment is for its owner alone.
    use std::os::unix::fs::PermissionsExt;
    let later = place.enqueue(&["-u", "a", "--in", "1h", "--", "true"]);
    let number = later.strip_prefix("task_").unwrap();
    let record = place.state().join(format!("spool/parked/0/{number}.json"));
    assert_eq!(record.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn verbs_about_tasks_print_names_alone_when_asked_to() {
    let place = Place::new();
    let (one, two) = (place.enqueue(&["-u", "a", "--", "true"]), place.enqueue(&["-u", "b", "--", "true"]));
    for verb in ["cancel", "wait", "retry"] {
        let code = i32::from(verb == "wait");
        let said = place.luzia(&[verb, &one, &two, "-o", "name"]).coded(code);
        assert_eq!((said.out.as_str(), said.err.as_str()), ("task_1\ntask_2\n", ""), "{verb}");
    }
}

#[test]
fn a_batch_and_the_options_of_one_task_do_not_go_together() {
    let place = Place::new();
    std::fs::write(place.path("f"), "{\"user\":\"a\",\"command\":[\"true\"]}\n").unwrap();
    let from = place.text("f");
    for options in [&["-u", "bob"][..], &["--priority", "2"], &["--in", "1h"], &["--thread", "9"], &["--key", "k"]] {
        let refused = place.luzia(&[&["enqueue", "--from", &from], options].concat()).coded(2);
        assert!(refused.err.contains("--from"), "{refused:?}");
    }
    place.luzia(&["enqueue", "--from", &from, "--", "true"]).coded(2);
    assert_eq!(place.ok(&["list", "-a", "-o", "name"]).out, "");
    assert_eq!(place.ok(&["enqueue", "--from", &from]).line(), "task_1");
}

#[test]
fn a_run_that_joins_another_task_says_so() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--key", "k", "--", "echo", "other"]);
    let ran = place.ok(&["run", "-u", "alice", "--key", "k", "--", "echo", "mine"]);
    assert_eq!(ran.out, "other\n");
    assert!(ran.err.contains("task_1 has that key already"), "{ran:?}");
}

#[test]
fn a_run_that_may_not_wait_names_no_command_that_is_of_no_use() {
    let place = Place::new();
    let refused = place.luzia(&["run", "-u", "alice", "--in", "1h", "--no-wait", "--", "true"]).coded(75);
    assert!(!refused.err.contains("try:"), "{refused:?}");
    assert_eq!(place.status("1"), "cancelled");
}

#[test]
fn a_key_is_taken_as_long_as_any_task_that_has_it_is_unfinished() {
    let place = Place::new();
    let enqueue =
        |conflict: &str| place.luzia(&["enqueue", "-u", "k", "--key", "K", "--on-conflict", conflict, "--", "true"]);
    assert_eq!(
        (enqueue("skip").line(), enqueue("queue").line(), enqueue("queue").line()),
        ("task_1".into(), "task_2".into(), "task_3".into())
    );
    place.ok(&["cancel", "3"]);
    place.ok(&["cancel", "2"]);
    enqueue("reject").coded(75);
    assert_eq!(enqueue("skip").line(), "task_1");
    assert_eq!(enqueue("queue").line(), "task_4");
    assert_eq!(enqueue("replace").coded(0).line(), "task_5");
    assert_eq!((place.status("1"), place.status("4")), ("pending".into(), "cancelled".into()), "the last is replaced");
    place.drain();
    assert_eq!(place.status("5"), "completed");
    // A task that is retried has it again.
    place.ok(&["retry", "5"]);
    enqueue("reject").coded(75);
    place.drain();
    assert_eq!(enqueue("reject").coded(0).line(), "task_6");
    assert_eq!(place.ok(&["cleanup-stale"]).line(), "0");
    enqueue("reject").coded(75);
}

#[test]
fn a_batch_that_ends_at_a_taken_key_names_what_it_has_queued() {
    let place = Place::new();
    place.enqueue(&["-u", "k", "--key", "K", "--", "true"]);
    let line = |more: &str| format!("{{\"user\":\"a\",\"command\":[\"true\"]{more}}}\n");
    let taken = line(",\"key\":\"K\",\"on_conflict\":\"reject\"");
    std::fs::write(place.path("f"), [line(""), line(""), taken, line("")].concat()).unwrap();
    let refused = place.luzia(&["enqueue", "--from", &place.text("f")]).coded(75);
    for part in ["line 3: ", "task_1 has the key", "of the lines before it 2 are queued: task_2 to task_3"] {
        assert!(refused.err.contains(part), "{part}: {refused:?}");
    }
    assert_eq!(place.ok(&["list", "-o", "name"]).out, "task_1\ntask_2\ntask_3\n");
    std::fs::write(place.path("f"), line(",\"in\":\"1h\",\"at\":\"2030-01-01T00:00:00Z\"")).unwrap();
    place.luzia(&["enqueue", "--from", &place.text("f")]).coded(2);
}
