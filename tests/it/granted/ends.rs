//! The end of the lease: before it, every process of a granted task is dead.

use super::*;
use crate::support::{kill_all, lives, signal};
use luzia::app::granted::cancel_granted;
use luzia::store::CancelRequest;
use rustix::process::Signal;
use serde_json::json;

/// A script that notes SIGTERM in a file and goes on.
fn stubborn(name: &str) -> String {
    format!("trap 'echo >>\"$PLACE/term.{name}\"' TERM; sleep 600 & while :; do sleep 600 & wait $!; done")
}

fn assert_cut_off(agent: &Agent, id: &str) {
    agent.place.until_status(id, "failed");
    assert!(agent.summary(id).ends_with("(HostCutOff)"), "{}", agent.summary(id));
    let finished = agent.place.events_named("finished");
    assert!(
        finished.iter().any(|event| event["task"] == json!(id) && event["data"]["reason"] == "HostCutOff"),
        "{finished:?}"
    );
}

#[test]
fn forty_trees_that_ignore_sigterm_are_dead_at_the_end_of_the_lease() {
    let agent = Agent::at(Place::configured(&json!({ "slots": { "max": 64 } })));
    agent.lease(LONG_MS);
    let ids: Vec<String> = (0..40)
        .map(|n| {
            let user = format!("user{n}");
            let script = format!("echo >\"$PLACE/ready.{user}\"; {}", stubborn(&user));
            agent.accept(&agent.task(n, &user, &script))
        })
        .collect();
    agent.place.ok(&["dispatch", "--once"]);
    (0..40).for_each(|n| drop(agent.place.until_file(&format!("ready.user{n}"))));
    let end = agent.lease(12_000);
    let dead = agent.until_dead();
    assert!(dead <= end, "{} ms after the end", dead - end);
    ids.iter().for_each(|id| assert_cut_off(&agent, id));
    assert!((0..40).all(|n| agent.place.path(&format!("term.user{n}")).exists()), "each one got SIGTERM first");
}

#[test]
fn a_renewed_lease_lets_the_command_run_and_a_refused_one_kills_it_at_once() {
    let agent = Agent::new();
    agent.lease(LONG_MS);
    let id = agent.run(1, "alice", &stubborn("alice"));
    let end = agent.lease(6000);
    std::thread::sleep(Duration::from_millis(1500));
    agent.lease(LONG_MS);
    sleep_past(end + 500);
    assert_eq!(agent.place.status(&id), "running");
    end_lease(&agent.app, SESSION).unwrap();
    agent.until_dead();
    assert_cut_off(&agent, &id);
    assert!(!agent.place.path("term.alice").exists(), "SIGKILL without grace");
}

#[test]
fn the_lease_of_another_session_is_none() {
    let agent = Agent::new();
    agent.lease(LONG_MS);
    let id = agent.run(1, "alice", "sleep 600");
    renew_lease(&agent.app, Word(8), RealClock.boot_ms(), LONG_MS).unwrap();
    agent.until_dead();
    assert_cut_off(&agent, &id);
}

#[test]
fn hooks_that_run_past_the_lease_are_dead_at_its_end() {
    for event in ["before", "after"] {
        let agent = Agent::new();
        agent.lease(LONG_MS);
        let script = "trap '' TERM; echo >\"$PLACE/hooked\"; sleep 600 & sleep 600";
        agent.place.ok(&["hook", "add", event, "--", "sh", "-c", script]);
        let id = agent.accept(&agent.task(1, "alice", "true"));
        agent.place.ok(&["dispatch", "--once"]);
        agent.place.until_file("hooked");
        let end = agent.lease(6000);
        let dead = agent.until_dead();
        assert!(dead <= end, "{event}: {} ms after the end", dead - end);
        let status = if event == "after" { "completed" } else { "failed" };
        agent.place.until_status(&id, status);
    }
}

#[test]
fn the_command_after_a_task_is_over_before_the_lease_that_holds_when_it_begins() {
    let agent = Agent::new();
    agent.lease(LONG_MS);
    let mut task = agent.task(1, "alice", "until [ -e \"$PLACE/go\" ]; do sleep 0.02; done");
    let script = "trap '' TERM; echo $$ >\"$PLACE/pid.t\"; mv \"$PLACE/pid.t\" \"$PLACE/pid\"; sleep 600 & sleep 600";
    task.terms.on_finish = Some(script.to_owned());
    agent.accept(&task);
    agent.place.ok(&["dispatch", "--once"]);
    let end = agent.lease(8000);
    std::fs::write(agent.place.path("go"), "").unwrap();
    let pid: u32 = agent.place.until_file("pid").trim().parse().unwrap();
    until("the command is dead", || (!lives(pid)).then_some(()));
    assert!(RealClock.boot_ms() <= end);
}

#[test]
fn a_host_that_was_suspended_past_the_lease_kills_at_its_first_instant() {
    let agent = Agent::new();
    agent.lease(LONG_MS);
    let id = agent.run(1, "alice", &stubborn("alice"));
    let supervisor = agent.place.supervisor(&id);
    let tree = agent.alive();
    let end = agent.lease(5000);
    // Time goes on while nothing runs, as for a host that sleeps.
    for pid in tree.iter().chain([&supervisor]) {
        signal(*pid, Signal::STOP);
    }
    sleep_past(end);
    let began = RealClock.boot_ms();
    signal(supervisor, Signal::CONT);
    let dead = agent.until_dead();
    assert!(dead - began < 5000, "{} ms after the host woke", dead - began);
    assert_cut_off(&agent, &id);
    assert!(!agent.place.path("term.alice").exists(), "it did not run for an instant");
}

#[test]
fn an_orphan_is_recovered_within_the_lease_and_its_task_is_cut_off_after_it() {
    for is_over in [false, true] {
        let agent = Agent::new();
        agent.lease(LONG_MS);
        let id = agent.run(1, "alice", &stubborn("alice"));
        let supervisor = agent.place.supervisor(&id);
        signal(supervisor, Signal::KILL);
        until("the supervisor is dead", || (!lives(supervisor)).then_some(()));
        if is_over {
            renew_lease(&agent.app, SESSION, RealClock.boot_ms() - 9000, 10_000).unwrap();
        } else {
            agent.lease(20_000);
        }
        agent.place.ok(&["dispatch", "--once"]);
        agent.until_dead();
        agent.place.until_status(&id, "failed");
        assert_eq!(agent.summary(&id).ends_with("(HostCutOff)"), is_over, "{}", agent.summary(&id));
    }
}

#[test]
fn a_task_whose_lease_is_nearly_over_is_not_started() {
    let agent = Agent::new();
    agent.lease(2500);
    let id = agent.accept(&agent.task(1, "alice", "echo >\"$PLACE/ran\""));
    std::thread::sleep(Duration::from_millis(600));
    agent.place.ok(&["dispatch", "--once"]);
    assert_eq!((agent.place.status(&id), agent.reasons(&id)), ("pending".into(), vec!["NoGrant".into()]));
    let request = CancelRequest::by("the scheduler", "it runs elsewhere");
    assert!(cancel_granted(&agent.app, TaskId::parse(&id).unwrap(), Word(9), &request).is_err(), "an old token");
    assert!(cancel_granted(&agent.app, TaskId::parse(&id).unwrap(), Word(1), &request).unwrap());
    assert_eq!(agent.place.status(&id), "cancelled");
    assert!(!agent.place.path("ran").exists());
}

#[test]
fn a_full_disk_changes_nothing_of_the_lease() {
    let place = Place::new();
    let on = place.state();
    std::fs::create_dir_all(&on).unwrap();
    let mut mount = std::process::Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=2m,mode=700", "luzia-test"]).arg(&on);
    if !mount.output().is_ok_and(|output| output.status.success()) {
        crate::support::skip("a_full_disk_changes_nothing_of_the_lease", "the right to mount a tmpfs");
        return;
    }
    let agent = Agent::at(place);
    agent.lease(LONG_MS);
    let id = agent.run(1, "alice", "sleep 600");
    let filler = on.join("filler");
    let mut file = std::fs::File::create(&filler).unwrap();
    while std::io::Write::write_all(&mut file, &[1; 1024]).is_ok() {}
    let end = agent.lease(7000);
    std::thread::sleep(Duration::from_millis(1500));
    let later = agent.lease(9000);
    assert!(later > end);
    sleep_past(end);
    assert_eq!(agent.place.status(&id), "running", "it was renewed on a full disk");
    let dead = agent.until_dead();
    assert!(dead <= later, "{} ms after the end", dead - later);
    drop(file);
    std::fs::remove_file(&filler).unwrap();
    agent.place.until_status(&id, "failed");
    assert!(agent.summary(&id).ends_with("(HostCutOff)"), "{}", agent.summary(&id));
    kill_all(&agent.place);
    drop(agent);
    let _ = std::process::Command::new("umount").args(["-l"]).arg(&on).output();
}
