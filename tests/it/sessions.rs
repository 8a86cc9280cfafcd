//! Session leases from outside: they last exactly as long as the agent's process, and each is seen by everybody who looks.

mod agents;
mod namespaces;
mod wrong;

use crate::support::{Place, lives, processes_in, signal, until, with};
use agents::{AGENT_LIVES, keepers, only_keeper, start_agent};
use rustix::process::Signal;

#[test]
fn a_lease_of_a_session_is_free_at_once_when_the_agent_is_killed() {
    let place = Place::new();
    let script =
        format!("\"$LUZIA\" acquire tree:x --session; \"$LUZIA\" acquire alice --session --label edit; {AGENT_LIVES}");
    let mut agent = start_agent(&place, &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "abc")], &script);
    place.until_file("up");
    let busy = place.luzia(&["check", "tree:x"]).coded(75);
    assert!(busy.err.contains("claude-code (session abc)") && busy.err.contains("its session is alive"), "{busy:#?}");
    let locks = place.json(&["list-locks"]);
    let lock = with(&locks["items"], "lane", "user:alice")[0];
    for (member, value) in
        [("kind", "session"), ("state", "held"), ("agent", "claude-code"), ("session", "abc"), ("label", "edit")]
    {
        assert_eq!(lock[member], value, "{lock:#}");
    }
    assert_eq!(lock["acquired_by_pid"], agent.pid());
    assert_eq!(keepers(&place).len(), 1, "one keeper for both leases");
    agent.kill();
    until("the leases are free", || (!place.lock("tree_x.lock").exists()).then_some(()));
    until("the keeper has ended", || keepers(&place).is_empty().then_some(()));
    place.ok(&["lock", "-n", "-u", "alice", "--", "true"]);
    let ended = place.events_named("session_ended");
    assert_eq!((ended.len(), &ended[0]["data"]["why"]), (1, &"agent_ended".into()), "{ended:#?}");
    assert_eq!(ended[0]["data"]["lanes"].as_array().unwrap().len(), 2, "{ended:#?}");
    assert!(!place.lock(".sessions/abc").exists(), "nothing is left of the session");
}

#[test]
fn a_lease_whose_keeper_was_killed_is_stale_at_once_and_the_session_can_have_it_again() {
    let place = Place::new();
    let acquire = "\"$LUZIA\" acquire alice --session k";
    let script = format!(
        "{acquire}; {AGENT_LIVES}; while ! test -e $PLACE/again; do sleep 0.01; done; {acquire} > $PLACE/id; {AGENT_LIVES}"
    );
    let agent = start_agent(&place, &[], &script.replacen("; while :; do sleep 0.1; done", "", 1));
    place.until_file("up");
    let keeper = only_keeper(&place);
    signal(keeper, Signal::KILL);
    until("the keeper is gone", || (!lives(keeper)).then_some(()));
    let locks = place.json(&["list-locks"]);
    assert_eq!(locks["items"][0]["state"], "stale", "{locks:#}");
    assert!(locks["items"][0]["evidence"].as_str().unwrap().contains("keeper"), "{locks:#}");
    place.ok(&["check", "alice"]);
    place.ok(&["lock", "-n", "-u", "alice", "--", "true"]);
    assert!(lives(agent.pid()));
    std::fs::write(place.path("again"), "").unwrap();
    place.until_file("id");
    place.luzia(&["check", "alice"]).coded(75);
    assert_ne!(only_keeper(&place), keeper);
}

#[test]
fn a_new_keeper_brings_back_no_lease_that_the_old_one_lost() {
    let place = Place::new();
    let (one, two) = ("\"$LUZIA\" acquire alice --session k", "\"$LUZIA\" acquire bob --session k");
    let wait = "while ! test -e $PLACE/go; do sleep 0.01; done";
    let script = format!("{one}; echo first > $PLACE/first; {wait}; {two}; {AGENT_LIVES}");
    let _agent = start_agent(&place, &[], &script);
    place.until_file("first");
    signal(only_keeper(&place), Signal::KILL);
    until("the keeper is gone", || keepers(&place).is_empty().then_some(()));
    std::fs::write(place.path("go"), "").unwrap();
    place.until_file("up");
    place.luzia(&["check", "bob"]).coded(75);
    place.ok(&["check", "alice"]);
}

#[test]
fn sessions_and_subagents_exclude_each_other_and_a_session_has_its_own_lease_again() {
    let place = Place::new();
    let claude = |agent: &str| {
        let mut pairs = vec![("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "abc")];
        pairs.extend((!agent.is_empty()).then_some(("CLAUDE_CODE_AGENT_ID", agent)));
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect::<Vec<_>>()
    };
    let acquire = |agent: &str| {
        let mut command = place.command(&["--json", "acquire", "alice", "--session"]);
        place.spawn(command.envs(claude(agent))).end()
    };
    let first = acquire("a1").coded(0).json();
    assert_eq!((&first["session"], &first["refreshed"]), (&"abc/a1".into(), &false.into()));
    let again = acquire("a1").coded(0).json();
    assert_eq!((&again["lock_id"], &again["refreshed"]), (&first["lock_id"], &true.into()));
    for other in ["a2", ""] {
        let refused = acquire(other).coded(75);
        assert!(refused.err.contains("claude-code (session abc/a1)"), "{refused:#?}");
    }
    assert_eq!(keepers(&place).len(), 1);
    // The other one gets it when the first gives it back, and not before.
    let release =
        |agent: &str| place.spawn(place.command(&["release", "alice", "--session"]).envs(claude(agent))).end();
    release("a2").coded(1);
    place.luzia(&["check", "alice"]).coded(75);
    release("a1").coded(0);
    until("its keeper ends", || keepers(&place).is_empty().then_some(()));
    let second = acquire("a2").coded(0).json();
    assert!(second["fence"].as_u64() > first["fence"].as_u64(), "{second:#}");
}

#[test]
fn a_process_without_a_key_is_a_session_of_its_own() {
    let place = Place::new();
    let script = format!(
        "\"$LUZIA\" acquire alice --session; sh -c '\"$LUZIA\" acquire alice --session' > $PLACE/id; {AGENT_LIVES}"
    );
    let one = start_agent(&place, &[], &script);
    place.until_file("up");
    assert!(!place.until_file("id").is_empty(), "the same session");
    let other = start_agent(&place, &[], "\"$LUZIA\" acquire alice --session");
    assert!(other.end().coded(75).err.contains(&format!("session pid-{}-", one.pid())));
}

#[test]
fn many_leases_that_a_session_takes_at_once_have_one_keeper() {
    let place = Place::new();
    let script =
        format!("for n in 1 2 3 4 5 6 7 8; do \"$LUZIA\" acquire build:$n --session k & done; wait; {AGENT_LIVES}");
    let mut agent = start_agent(&place, &[], &script);
    place.until_file("up");
    let held = |state: &str| with(&place.json(&["list-locks"])["items"], "state", state).len();
    assert_eq!((held("held"), keepers(&place).len()), (8, 1));
    agent.kill();
    until("all are free", || (held("held") + held("stale") == 0).then_some(()));
}

#[test]
fn release_with_all_gives_every_lease_of_the_session_back_and_no_other() {
    let place = Place::new();
    for lane in ["alice", "bob"] {
        place.ok(&["acquire", lane, "--session", "mine"]);
    }
    place.ok(&["acquire", "carol", "--session", "other"]);
    let document = place.json(&["release", "--session", "mine", "--all"]);
    assert_eq!((&document["released"], document["locks"].as_array().unwrap().len()), (&2.into(), 2));
    for (lane, code) in [("alice", 0), ("bob", 0), ("carol", 75)] {
        place.luzia(&["check", lane]).coded(code);
    }
    place.ok(&["release", "--session", "mine", "--all"]);
    until("one keeper is left", || (keepers(&place).len() == 1).then_some(()));
}

#[test]
fn a_lease_of_a_session_taken_by_force_ends_neither_the_agent_nor_its_other_leases() {
    let place = Place::new();
    let script = format!("\"$LUZIA\" acquire alice --session k; \"$LUZIA\" acquire bob --session k; {AGENT_LIVES}");
    let mut agent = start_agent(&place, &[], &script);
    place.until_file("up");
    let keeper = only_keeper(&place);
    place.luzia(&["release", "alice"]).coded(1);
    place.ok(&["release", "alice", "--force", "--yes"]);
    place.ok(&["check", "alice"]);
    place.luzia(&["check", "bob"]).coded(75);
    assert!(!agent.is_over() && lives(keeper));
}

#[test]
fn a_time_to_live_ends_a_lease_while_the_agent_lives_and_a_refresh_prolongs_it() {
    let place = Place::new();
    place.ok(&["acquire", "alice", "--session", "k", "--ttl", "400ms"]);
    place.ok(&["acquire", "alice", "--session", "k", "--ttl", "1h"]);
    place.ok(&["acquire", "bob", "--session", "k", "--ttl", "100ms"]);
    until("bob is free", || (place.luzia(&["check", "bob"]).code == 0).then_some(()));
    std::thread::sleep(std::time::Duration::from_millis(500));
    place.luzia(&["check", "alice"]).coded(75);
    let events = place.events_named("lock_released");
    assert_eq!((events.len(), &events[0]["data"]["why"]), (1, &"ttl_passed".into()), "{events:#?}");
}

#[test]
fn who_would_wait_for_its_own_session_is_told_so_at_once() {
    let place = Place::new();
    let own = |args: &[&str]| place.spawn(place.command(args).env("LUZIA_SESSION", "k")).end();
    own(&["acquire", "alice", "--session"]).coded(0);
    let refused = own(&["lock", "-u", "alice", "--", "true"]).coded(1);
    assert!(refused.err.contains("held by the session in which this process runs"), "{refused:#?}");
    place.luzia(&["lock", "-n", "-u", "alice", "--", "true"]).coded(75);
    let refused = own(&["run", "-u", "alice", "--", "true"]).coded(1);
    assert!(refused.err.contains("held by the session in which this process runs"), "{refused:#?}");
    assert_eq!(place.json(&["list", "-a"])["items"].as_array().unwrap().len(), 0, "nothing was queued");
    own(&["run", "-u", "bob", "--", "true"]).coded(0);
    let refused = own(&["release", "alice"]).coded(1);
    assert!(refused.err.contains("of your own session: `luzia release user:alice --session`"), "{refused:#?}");
    own(&["release", "alice", "--session"]).coded(0);
    own(&["run", "-u", "alice", "--", "true"]).coded(0);
}

#[test]
fn a_wait_for_a_lane_that_a_session_without_a_name_has_leased_is_refused_at_once() {
    let two = serde_json::json!({ "lanes": { "gpu": { "max": 2 } } });
    let place = Place::configured(&two);
    // The process of these sessions is the shell's parent, so only the process tells the session.
    for (verb, code) in [
        ("run -u alice -- true", 1),
        ("enqueue --wait -u alice -- true", 1),
        ("enqueue --wait -u bob --after $($LUZIA enqueue -u alice -- true) -- true", 1),
        ("lock -u alice -- true", 1),
        ("wait $($LUZIA enqueue -u alice -- true)", 1),
        ("run -l gpu --slots 2 -- true", 1),
        ("run -l gpu -- true", 0),
        ("lock -l gpu -- true", 0),
    ] {
        let script = format!(
            "$LUZIA acquire alice --session >/dev/null; $LUZIA acquire lane:gpu --session > /dev/null
            $LUZIA {verb}; echo $? > $PLACE/code
            $LUZIA release --session > /dev/null; test $(cat $PLACE/code) = {code}"
        );
        let ran = place.spawn(&mut place.shell(&script)).end();
        assert_eq!(ran.code, 0, "{verb}: {ran:#?}");
        let is_told = ran.err.contains("held by the session in which this process runs");
        assert_eq!(is_told, code == 1, "{verb}: {ran:#?}");
        place.drain();
    }
    // Of two slots one is somebody else's, who may give it back: that wait may end.
    place.ok(&["acquire", "lane:gpu", "--session"]);
    place.ok(&["acquire", "lane:gpu", "--task", "other"]);
    let mut run = place.start(&["lock", "-l", "gpu", "--", "true"]);
    until("it waits", || (!place.events_named("lock_waiting").is_empty()).then_some(()));
    assert!(!run.is_over());
    place.ok(&["release", "lane:gpu", "other"]);
    run.end().coded(0);
}

#[test]
fn a_keeper_keeps_nothing_of_its_caller_open() {
    let place = Place::new();
    let mut caller = place.shell("x=$(\"$LUZIA\" acquire alice --session k --pid $PPID 9>&1 | cat); echo \"got $x\"");
    let ran = place.spawn(&mut caller).end().coded(0);
    assert!(ran.out.starts_with("got session-"), "{ran:#?}");
    let keeper = only_keeper(&place);
    let links = std::fs::read_dir(format!("/proc/{keeper}/fd")).unwrap();
    let files: Vec<String> =
        links.filter_map(|link| Some(std::fs::read_link(link.unwrap().path()).ok()?.to_str()?.to_owned())).collect();
    let (root, state) = (place.text(""), place.state());
    let foreign = |file: &&String| file.starts_with(&root) && !file.starts_with(state.to_str().unwrap());
    assert!(!files.iter().any(|file| foreign(&file) || file.starts_with("pipe:")), "{files:?}");
    let session = std::fs::read_to_string(format!("/proc/{keeper}/stat")).unwrap();
    let fields: Vec<&str> = session.rsplit_once(')').unwrap().1.split_whitespace().collect();
    assert_eq!(fields[3], keeper.to_string(), "a session of its own");
}

#[test]
fn a_keeper_that_is_told_to_end_gives_its_leases_back() {
    let place = Place::new();
    place.ok(&["acquire", "alice", "--session", "k"]);
    signal(only_keeper(&place), Signal::TERM);
    until("the lane is free", || (!place.lock("user_alice.lock").exists()).then_some(()));
    until("all have ended", || processes_in(&place.state()).is_empty().then_some(()));
    assert_eq!(place.events_named("session_ended")[0]["data"]["why"], "told_to_end");
}

#[test]
fn a_sidecar_that_was_lost_comes_back_with_the_name_of_its_session() {
    let place = Place::configured(&serde_json::json!({ "lanes": { "user:*": { "lock_timeout_seconds": 1 } } }));
    place.ok(&["acquire", "alice", "--session", "k"]);
    std::fs::remove_file(place.lock("user_alice.json")).unwrap();
    place.luzia(&["check", "alice"]).coded(75);
    until("the sidecar is back", || place.lock("user_alice.json").exists().then_some(()));
    std::thread::sleep(std::time::Duration::from_millis(1200));
    let lock = place.json(&["list-locks"])["items"][0].clone();
    assert_eq!(
        (&lock["session"], &lock["state"]),
        (&"k".into(), &"held".into()),
        "refreshed, and not overdue: {lock:#}"
    );
}

#[test]
fn the_name_of_a_task_on_a_session_lease_leads_nobody_to_wait_for_that_task() {
    let place = Place::new();
    place.ok(&["acquire", "alice", "--session", "k", "--task", "task_5"]);
    let refused = place.luzia(&["--json", "lock", "-n", "-u", "alice", "--", "true"]).coded(75);
    let error: serde_json::Value = serde_json::from_str(&refused.err).unwrap();
    assert!(!error["next"].to_string().contains("luzia wait"), "{error:#}");
}

#[test]
fn a_lease_of_another_session_is_somebody_elses_though_the_account_is_one() {
    let place = Place::new();
    let call = |session: &str, args: &[&str]| {
        let mut command = place.command(args);
        place.spawn(command.envs([("LUZIA_AGENT", "codex"), ("LUZIA_SESSION", session)])).end()
    };
    for lane in ["build:1", "build:2"] {
        call("one", &["acquire", lane, "--session"]).coded(0);
    }
    let refused = call("two", &["release", "build:1", "--force"]).coded(2);
    assert!(refused.err.contains("codex (session one)") && refused.err.contains("--yes"), "{refused:#?}");
    place.luzia(&["check", "build:1"]).coded(75);
    call("one", &["release", "build:1", "--force"]).coded(0);
    call("two", &["release", "build:2", "--force", "--yes"]).coded(0);
    // So it is with tasks that run.
    call("one", &["enqueue", "--", "sh", "-c", "echo up > $PLACE/up; exec sleep 600"]).coded(0);
    place.ok(&["dispatch"]);
    place.until_file("up");
    call("two", &["cancel", "task_1"]).coded(2);
    assert_eq!(place.status("task_1"), "running");
    call("one", &["cancel", "task_1", "--grace", "0"]).coded(0);
}
