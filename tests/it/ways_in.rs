//! Every way in follows what `lanes set` and `pause` say: limits, pauses, gates, values and budgets.

use super::mcp::Client;
use super::shims::Tools;
use crate::support::{Place, Ran, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;

/// The gate that is always shut, and its words.
const SHUT: &str = "mem<100%";

/// A way to run `make` in the lane `build`, or to hold that lane. Each gives what `make` said of its slot and of its job
/// server, or why it did not start; a way that only holds gives an empty text.
type Way = fn(&Tools) -> Result<String, String>;

const WAYS: [(&str, Way); 9] = [
    ("run", |tools| ran(tools, "$LUZIA run -l build --yield-after 400ms -- make")),
    ("lock", |tools| ran(tools, "$LUZIA lock -l build -w 400ms -- make")),
    ("shim", shim),
    ("enqueue", enqueued),
    ("cron", scheduled),
    ("acquire", |tools| held(tools, &["acquire", "lane:build", "--task", "me"], &["release", "lane:build", "me"])),
    ("acquire --session", |tools| {
        let pid = std::process::id().to_string();
        let take = ["acquire", "lane:build", "--session=s", "--pid", &pid];
        held(tools, &take, &["release", "lane:build", "--session=s"])
    }),
    ("mcp run", mcp_run),
    ("mcp acquire", mcp_acquire),
];

fn said(tools: &Tools) -> Option<String> {
    let path = tools.place.path("said");
    let text = std::fs::read_to_string(&path).ok()?;
    std::fs::remove_file(path).unwrap();
    Some(text)
}

fn ran(tools: &Tools, script: &str) -> Result<String, String> {
    let ran = tools.place.spawn(&mut tools.shell(script)).end();
    // What has yielded is queued still.
    tools.place.luzia(&["cancel", "--all", "--yes"]);
    said(tools).ok_or(ran.err)
}

fn shim(tools: &Tools) -> Result<String, String> {
    let mut make = tools.place.spawn(&mut tools.shell("exec make"));
    let told = until("make runs or says why it waits", || {
        (make.is_over() || make.err().contains("make waits")).then(|| make.err())
    });
    if !make.is_over() {
        signal(make.pid(), Signal::KILL);
    }
    make.end();
    said(tools).ok_or(told)
}

fn after_a_pass(tools: &Tools, id: &str) -> Result<String, String> {
    let why = tools.place.json(&["explain", id])["reasons"].to_string();
    tools.place.ok(&["dispatch"]);
    if tools.place.status(id) == "pending" {
        tools.place.ok(&["cancel", id]);
        return Err(why);
    }
    tools.place.until_status(id, "completed");
    Ok(said(tools).unwrap())
}

fn enqueued(tools: &Tools) -> Result<String, String> {
    let queued = tools.place.spawn(&mut tools.shell("$LUZIA enqueue -l build -- make")).end().coded(0);
    after_a_pass(tools, &queued.line())
}

fn scheduled(tools: &Tools) -> Result<String, String> {
    let path = tools.place.text("bin/make");
    tools.place.ok(&["cron", "add", "nightly", "0 3 * * *", "-l", "build", "--", &path]);
    let id = tools.place.ok(&["cron", "run", "nightly"]).line();
    tools.place.ok(&["cron", "rm", "nightly"]);
    after_a_pass(tools, &id)
}

fn held(tools: &Tools, take: &[&str], give: &[&str]) -> Result<String, String> {
    let taken = tools.place.luzia(take);
    if taken.code != 0 {
        return Err(taken.err);
    }
    tools.place.ok(give);
    Ok(String::new())
}

fn mcp_run(tools: &Tools) -> Result<String, String> {
    let mut client = Client::new(&tools.place);
    let argv = json!([tools.place.text("bin/make")]);
    let (document, _) = client.call("run", json!({ "argv": argv, "lane": "build", "wait_s": 0.4 }));
    if document["still_waiting"] == json!(true) {
        let id = document["task"].as_str().unwrap();
        tools.place.ok(&["cancel", id]);
        return Err(document.to_string());
    }
    said(tools).ok_or_else(|| document.to_string())
}

fn mcp_acquire(tools: &Tools) -> Result<String, String> {
    let mut client = Client::new(&tools.place);
    let (document, _) = client.call("acquire", json!({ "lane": "build", "ttl_s": 60 }));
    let Some(lock) = document["lock_id"].as_str() else { return Err(document.to_string()) };
    client.call("release", json!({ "lane": "build", "lock_id": lock }));
    Ok(String::new())
}

/// What the hook of an agent says of a call of `make`.
fn hook(tools: &Tools) -> String {
    let call = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": tools.place.text("work"),
        "tool_name": "Bash", "tool_input": { "command": "make" } });
    let script = format!("printf '%s' '{call}' | $LUZIA agent hook claude-code");
    tools.place.spawn(&mut tools.shell(&script)).end().coded(0).out
}

fn both(ran: &Ran) -> String {
    format!("{}{}", ran.out, ran.err)
}

fn tools() -> Tools {
    let tools = Tools::new(&["make"]);
    tools.place.configure(&json!({ "mcp": { "allow": ["*"] } }));
    tools.program("make", "echo \"slot=$LUZIA_SLOT_BUILD $MAKEFLAGS\" > $PLACE/said");
    tools
}

#[test]
fn every_way_in_takes_a_second_slot_where_lanes_set_gives_one() {
    let tools = tools();
    tools.place.gate("gate");
    let holder =
        tools.place.start(&["lock", "-l", "build", "--", "sh", "-c", "echo up > $PLACE/up; read _ < $PLACE/gate"]);
    tools.place.until_file("up");
    assert!(hook(&tools).contains("1 of 1 slots busy"), "{}", hook(&tools));
    for (name, way) in WAYS {
        let why = way(&tools).expect_err(name);
        assert!(why.contains("build"), "{name}: {why}");
    }
    tools.place.ok(&["lanes", "set", "build", "--max", "2"]);
    assert_eq!(hook(&tools), "");
    for (name, way) in WAYS {
        way(&tools).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    tools.place.open_gate("gate");
    holder.end().coded(0);
}

#[test]
fn no_way_in_gets_a_paused_lane_and_each_says_so() {
    let tools = tools();
    for (what, resumed) in [(&["lane:build"][..], &["lane:build"][..]), (&["--all"], &["--all"])] {
        tools.place.ok(&[&["pause"], what, &["--reason", "release week"]].concat());
        for (name, way) in WAYS {
            let why = way(&tools).expect_err(name);
            assert!(why.contains("paused") && why.contains("release week"), "{name}: {why}");
        }
        assert!(hook(&tools).contains("release week"), "{}", hook(&tools));
        for verb in ["check", "explain"] {
            let told = tools.place.luzia(&[verb, "lane:build"]).coded(if verb == "check" { 75 } else { 0 });
            assert!(both(&told).contains("release week") && !both(&told).contains("is free"), "{}", both(&told));
            let document = tools.place.luzia(&["--json", verb, "lane:build"]).json();
            assert_eq!(document["paused"]["why"], "release week", "{document}");
        }
        tools.place.ok(&[&["resume"], resumed].concat());
        tools.place.ok(&["check", "lane:build"]);
        for (name, way) in WAYS {
            way(&tools).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
}

#[test]
fn no_way_in_passes_a_shut_gate_and_each_names_it() {
    let tools = tools();
    tools.place.ok(&["lanes", "set", "build", "--hold-while", SHUT]);
    for (name, way) in WAYS {
        let why = way(&tools).expect_err(name);
        assert!(why.contains(SHUT), "{name}: {why}");
    }
    assert!(hook(&tools).contains(SHUT), "{}", hook(&tools));
    for verb in ["check", "explain"] {
        let told = tools.place.luzia(&[verb, "lane:build"]).coded(if verb == "check" { 75 } else { 0 });
        assert!(both(&told).contains(SHUT) && !both(&told).contains("is free"), "{}", both(&told));
        let document = tools.place.luzia(&["--json", verb, "lane:build"]).json();
        assert_eq!(document["gate"]["conditions"][0], SHUT, "{document}");
    }
}

#[test]
fn every_way_in_that_runs_a_command_gives_it_the_value_and_the_share_of_its_lane() {
    let tools = tools();
    tools.place.ok(&["lanes", "set", "build", "--values", "seven", "--cpu-budget", "2"]);
    for (name, way) in WAYS {
        let told = way(&tools).unwrap_or_else(|why| panic!("{name}: {why}"));
        let is_right = told.contains("slot=seven") && (told.contains("jobserver") || told.contains("-j"));
        assert!(is_right || name.contains("acquire"), "{name}: {told}");
    }
}

#[test]
fn what_a_holder_has_goes_on_in_a_paused_lane() {
    let place = Place::new();
    place.ok(&["acquire", "lane:build", "--task", "me"]);
    let script = "$LUZIA pause lane:build; $LUZIA pause lane:other; \
                  $LUZIA lock -l other -n -- echo inner && $LUZIA acquire lane:other --task self";
    let ran = place.spawn(&mut place.shell(&format!("$LUZIA run -l other -- sh -c '{script}'"))).end();
    assert_eq!((ran.code, ran.out.contains("inner")), (0, true), "{}", ran.err);
    place.ok(&["acquire", "lane:build", "--task", "me"]);
    let lock = place.json(&["list-locks"])["items"][0]["lock_id"].as_str().unwrap().to_owned();
    place.ok(&["renew", "lane:build", "--lock-id", &lock]);
    let refused = place.luzia(&["--json", "lock", "-n", "-l", "other", "--", "true"]).coded(75);
    let error: Value = serde_json::from_str(&refused.err).unwrap();
    assert_eq!(error["code"], "LANE_PAUSED", "{error}");
    assert_eq!(error["next"][0], "luzia explain lane:other", "{error}");
}

#[test]
fn a_lock_that_waits_for_a_pause_goes_on_when_it_is_over() {
    let place = Place::new();
    place.ok(&["pause", "lane:build", "--for", "1s"]);
    let ran = place.luzia(&["lock", "-l", "build", "--", "echo", "now"]).coded(0);
    assert!(ran.out == "now\n" && ran.err.contains("paused"), "{}", ran.err);
}

/// Every way in makes its use cases by `app_of`, which follows what was set at run time.
#[test]
fn there_is_one_entry_for_all() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli");
    let (mut found, mut left) = (Vec::new(), vec![root.clone()]);
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        for what in ["app_of(", "opened(", "App::new("] {
            let uses = text.matches(what).count() - text.matches(&format!("fn {what}")).count();
            if uses > 0 {
                found.push(format!("{name}: {what}{uses}"));
            }
        }
    }
    found.sort();
    // `opened` calls `app_of`. The second call in entry.rs is that of doctor, which reports invalid rules; App::new there is the
    // directory of the demo.
    let known = [
        "agent/hook.rs: app_of(1",
        "agent/hook.rs: opened(2",
        "agent/setup.rs: app_of(1",
        "context.rs: App::new(1",
        "context.rs: app_of(1",
        "context.rs: opened(1",
        "entry.rs: App::new(1",
        "entry.rs: app_of(2",
        "fleet/trial.rs: opened(1",
        "mcp_server.rs: app_of(1",
        "shim.rs: opened(1",
    ];
    assert_eq!(found, known);
}
