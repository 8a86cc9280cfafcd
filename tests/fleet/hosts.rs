//! Tasks on hosts: each host is a state directory with a daemon, and all have one store.

use crate::server::Fleet;
use crate::support::{Place, Ran, Running, processes_in, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A host of a fleet.
pub struct Host<'a> {
    fleet: &'a Fleet,
    /// Its state directory.
    pub place: Place,
    name: String,
    /// The URL by which it reaches the store.
    url: String,
    daemon: Option<Running>,
}

impl<'a> Host<'a> {
    /// A host whose agent has a lease of so many seconds, or the usual one.
    pub fn new(fleet: &'a Fleet, name: &str, lease: Option<&str>) -> Self {
        Self::by(fleet, &fleet.url(), name, lease)
    }

    /// A host with labels.
    pub fn labelled(fleet: &'a Fleet, name: &str, labels: &[&str]) -> Self {
        let place = Place::configured(&json!({ "slots": { "max": 4 } }));
        let mut host = Self { fleet, place, name: name.to_owned(), url: fleet.url(), daemon: None };
        host.start_with(&labels.iter().flat_map(|label| ["--label", label]).collect::<Vec<_>>());
        host
    }

    /// A host with so many slots.
    pub fn slots(fleet: &'a Fleet, name: &str, slots: u32) -> Self {
        let place = Place::configured(&json!({ "slots": { "max": slots } }));
        let mut host = Self { fleet, place, name: name.to_owned(), url: fleet.url(), daemon: None };
        host.start(None);
        host
    }

    /// A host that reaches the store by another URL.
    pub fn by(fleet: &'a Fleet, url: &str, name: &str, lease: Option<&str>) -> Self {
        let place = Place::configured(&json!({ "slots": { "max": 4 } }));
        let mut host = Self { fleet, place, name: name.to_owned(), url: url.to_owned(), daemon: None };
        host.start(lease);
        host
    }

    /// Starts its daemon, and waits until it has joined.
    pub fn start(&mut self, lease: Option<&str>) {
        self.start_with(&lease.map_or_else(Vec::new, |lease| vec!["--lease", lease]));
    }

    fn start_with(&mut self, options: &[&str]) {
        self.start_alone(options);
        until(&format!("{} has joined", self.name), || self.row().filter(|row| row["alive"] == true));
    }

    /// Starts its daemon.
    pub fn start_alone(&mut self, options: &[&str]) {
        let mut command = self.place.command(&[&["daemon"], options].concat());
        command.env("LUZIA_STORE", &self.url).env("LUZIA_HOST", &self.name);
        self.daemon = Some(self.place.spawn(&mut command));
    }

    /// Gives it another name, for its next daemon.
    pub fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    /// Its row in the list of hosts.
    pub fn row(&self) -> Option<Value> {
        let hosts = self.fleet.json(&["hosts"]);
        hosts["items"].as_array().unwrap().iter().find(|host| host["name"] == self.name.as_str()).cloned()
    }

    /// Its daemon.
    pub fn daemon(&mut self) -> &mut Running {
        self.daemon.as_mut().unwrap()
    }

    /// Stops the agent of this host, once another host has the duty; its pid.
    pub fn stop_agent(&mut self, other: &Self) -> u32 {
        until("the other host has the duty", || {
            self.fleet.sql("UPDATE luzia.duty SET host_id = NULL, session = NULL");
            (other.row().unwrap()["duty"] == true).then_some(())
        });
        let pid = self.daemon().pid();
        signal(pid, Signal::STOP);
        pid
    }

    /// Waits until the store has given one task to this host.
    pub fn until_given(&self) {
        until("a task is given to the host", || (self.row().unwrap()["tasks"] == 1).then_some(()));
    }

    /// Calls luzia on this host.
    #[track_caller]
    pub fn luzia(&self, args: &[&str]) -> Ran {
        self.start_luzia(args).end()
    }

    /// Starts luzia on this host.
    pub fn start_luzia(&self, args: &[&str]) -> Running {
        let mut command = self.place.command(args);
        self.place.spawn(command.env("LUZIA_STORE", &self.url).env("LUZIA_HOST", &self.name))
    }

    /// Queues a shell line for this host; its id.
    #[track_caller]
    pub fn enqueue(&self, user: &str, script: &str, options: &[&str]) -> String {
        self.luzia(&[&["enqueue", "-u", user], options, &["--shell", script]].concat()).coded(0).line()
    }

    /// Kills every process of this host, as a power cut would.
    pub fn kill(&mut self) {
        for _ in 0..50 {
            let all = processes_in(&self.place.state());
            if all.is_empty() {
                break;
            }
            all.into_iter().for_each(|pid| signal(pid, Signal::KILL));
        }
        self.daemon = None;
    }
}

/// The state of a task, as the store has it.
pub fn status(fleet: &Fleet, id: &str) -> String {
    fleet.luzia(&["show", id, "--json"]).coded(0).json()["status"].as_str().unwrap().to_owned()
}

/// Waits until a task has a state.
#[track_caller]
pub fn until_status(fleet: &Fleet, id: &str, wanted: &str) {
    until(&format!("{id} is {wanted}"), || (status(fleet, id) == wanted).then_some(()));
}

/// Two attempts have written their fences to a file, and the second one is higher.
#[track_caller]
pub fn assert_two_fences_rise(file: &str) {
    let text = std::fs::read_to_string(file).unwrap();
    let fences: Vec<i64> = text.lines().map(|line| line.parse().unwrap()).collect();
    assert!(fences.len() == 2 && fences[0] < fences[1], "{fences:?}");
}

/// Nothing in the database contradicts itself.
#[track_caller]
pub fn assert_whole(fleet: &Fleet) {
    let broken = fleet.client().query("SELECT what, id FROM luzia_1.broken", &[]).unwrap();
    let broken: Vec<(String, i64)> = broken.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert!(broken.is_empty(), "{broken:?}");
}

/// The intervals that commands noted, by user, in the order of their begins. A command appends `begin` and `end` with the clock.
pub fn intervals(text: &str) -> BTreeMap<String, Vec<(u128, u128)>> {
    let mut open = BTreeMap::new();
    let mut found: BTreeMap<String, Vec<(u128, u128)>> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [what, user, run, at] = words[..] else { panic!("{line}") };
        let at: u128 = at.parse().unwrap();
        match what {
            "begin" => drop(open.insert(run.to_owned(), at)),
            _ => found.entry(user.to_owned()).or_default().push((open.remove(run).unwrap(), at)),
        }
    }
    found.values_mut().for_each(|all| all.sort_unstable());
    found
}

#[test]
fn a_task_runs_on_its_host_and_its_end_is_seen_everywhere() {
    let Some(fleet) = Fleet::new("a_task_runs_on_its_host") else { return };
    let host = Host::new(&fleet, "one", None);
    let id = host.enqueue("alice", "echo hello; echo oops >&2; echo $LUZIA_FENCE; exit 3", &[]);
    fleet.luzia(&["wait", &id]).coded(1);
    let task = fleet.json(&["show", &id]);
    assert_eq!(
        (&task["status"], &task["exit_code"], &task["starts"]),
        (&"failed".into(), &3.into(), &1.into()),
        "{task:#}"
    );
    let logs = fleet.luzia(&["logs", &id]).coded(0);
    assert!(logs.out.starts_with("hello\n"), "{logs:?}");
    let fence: i64 = logs.out.lines().nth(1).unwrap().parse().unwrap();
    let last: i64 = fleet.client().query_one("SELECT max(fence) FROM luzia.lane", &[]).unwrap().get(0);
    assert_eq!(fence, last, "the command sees the fence of the database");
    // On this host the task is one like any other.
    assert_eq!(host.place.show(&id)["status"], "failed");
    assert_whole(&fleet);
    let row = host.row().unwrap();
    assert_eq!((&row["duty"], &row["tasks"]), (&true.into(), &0.into()), "{row}");
}

#[test]
fn run_waits_prints_and_ends_as_the_task_does() {
    let Some(fleet) = Fleet::new("run_waits_prints") else { return };
    let host = Host::new(&fleet, "one", None);
    let ran = host.luzia(&["run", "-u", "alice", "--", "sh", "-c", "echo out; echo err >&2; exit 5"]).coded(5);
    assert!(ran.out == "out\n" && ran.err.contains("err"), "{ran:?}");
    host.luzia(&["run", "-u", "alice", "--", "true"]).coded(0);
    let running = host.start_luzia(&["run", "-u", "alice", "--", "sleep", "60"]);
    let id = until("it runs", || {
        let list = fleet.json(&["list", "--state", "running"]);
        list["items"][0]["id"].as_str().map(str::to_owned)
    });
    running.signal(Signal::INT);
    running.end().coded(130);
    assert_eq!(status(&fleet, &id), "cancelled");
    for option in [&["--stdin"][..], &["--pty"]] {
        host.luzia(&[&["run", "-u", "a"], option, &["--", "true"]].concat()).coded(2);
    }
}

#[test]
fn two_hosts_take_turns_in_a_lane_and_the_fences_rise() {
    let Some(fleet) = Fleet::new("two_hosts_take_turns") else { return };
    let hosts = [Host::new(&fleet, "one", None), Host::new(&fleet, "two", None)];
    let log = fleet.place.text("log");
    let script = format!(
        "echo begin $LUZIA_USER $LUZIA_TASK_ID $(date +%s%N) >>{log}; sleep 0.05; echo end $LUZIA_USER $LUZIA_TASK_ID $(date +%s%N) >>{log}"
    );
    let ids: Vec<String> = (0..12).map(|n| hosts[n % 2].enqueue(["a", "b"][n / 2 % 2], &script, &[])).collect();
    let all: Vec<&str> = ids.iter().map(String::as_str).collect();
    fleet.luzia(&[&["wait"], &all[..]].concat()).coded(0);
    let text = std::fs::read_to_string(&log).unwrap();
    for (user, runs) in intervals(&text) {
        assert_eq!(runs.len(), 6, "{user}: {text}");
        assert!(runs.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{user} runs twice at once: {text}");
    }
    assert_whole(&fleet);
}

#[test]
fn a_running_task_is_cancelled_from_another_host() {
    let Some(fleet) = Fleet::new("a_running_task_is_cancelled") else { return };
    let host = Host::new(&fleet, "one", None);
    let id = host.enqueue("alice", "sleep 60", &[]);
    until_status(&fleet, &id, "running");
    let behind = host.enqueue("alice", "true", &[]);
    until("it waits for the lane", || (fleet.json(&["show", &behind])["reason"] == "UserLockHeld").then_some(()));
    fleet.luzia(&["cancel", &id, "--by", "me", "--yes"]).coded(0);
    let task = fleet.json(&["show", &id]);
    assert_eq!((&task["status"], &task["cancelledBy"]), (&"cancelled".into(), &"me".into()));
    fleet.luzia(&["wait", &behind]).coded(0);
    assert_whole(&fleet);
}

#[test]
fn a_failed_attempt_is_followed_by_another_with_new_grants() {
    let Some(fleet) = Fleet::new("a_failed_attempt") else { return };
    let host = Host::new(&fleet, "one", None);
    let file = fleet.place.text("tries");
    let script = format!("echo $LUZIA_FENCE >>{file}; test $(wc -l <{file}) -ge 2");
    let id = host.enqueue("alice", &script, &["--retries", "1", "--backoff", "100ms"]);
    fleet.luzia(&["wait", &id, "--timeout", "25s"]).coded(0);
    assert_two_fences_rise(&file);
    assert_whole(&fleet);
}

#[test]
fn an_agent_that_is_killed_goes_on_with_its_session() {
    let Some(fleet) = Fleet::new("an_agent_that_is_killed") else { return };
    let mut host = Host::new(&fleet, "one", None);
    let id = host.enqueue("alice", "sleep 1; echo done", &[]);
    until_status(&fleet, &id, "running");
    let session = |fleet: &Fleet| -> String {
        fleet.client().query_one("SELECT session::text FROM luzia.host", &[]).unwrap().get(0)
    };
    let before = session(&fleet);
    host.daemon().kill();
    // The engine lives: the task ends without an agent, and a later one posts the end.
    until("the task is over here", || (host.place.status(&id) == "completed").then_some(()));
    assert_eq!(status(&fleet, &id), "running");
    host.start(None);
    until_status(&fleet, &id, "completed");
    assert_eq!(session(&fleet), before);
    // Its output was posted, too.
    let tail: Vec<u8> = fleet.client().query_one("SELECT body FROM luzia.tail", &[]).unwrap().get(0);
    assert_eq!(tail, b"done\n");
    assert_whole(&fleet);
}

#[test]
fn a_second_host_of_the_same_name_is_refused() {
    let Some(fleet) = Fleet::new("a_second_host_of_the_same_name") else { return };
    let _host = Host::new(&fleet, "one", Some("5s"));
    let other = Place::new();
    let mut command = other.command(&["daemon", "--lease", "5s", "--json"]);
    let ran = other.spawn(command.env("LUZIA_STORE", fleet.url()).env("LUZIA_HOST", "one")).end().coded(78);
    assert!(ran.err.contains("HOST_TAKEN") && ran.err.contains("LUZIA_HOST"), "{}", ran.err);
}

#[test]
fn a_lost_host_s_tasks_are_interrupted_and_run_again_with_higher_fences() {
    let Some(fleet) = Fleet::new("a_lost_host_s_tasks") else { return };
    let mut host = Host::new(&fleet, "one", Some("5s"));
    let _other = Host::new(&fleet, "two", Some("5s"));
    let file = fleet.place.text("fences");
    let again = host.enqueue(
        "alice",
        &format!("echo $LUZIA_FENCE >>{file}; test $(wc -l <{file}) -ge 2 || sleep 60"),
        &["--retries", "1", "--backoff", "100ms"],
    );
    let once = host.enqueue("bob", "sleep 60", &["--on-interrupt", "fail"]);
    until_status(&fleet, &again, "running");
    until_status(&fleet, &once, "running");
    host.kill();
    until_status(&fleet, &once, "failed");
    let task = fleet.json(&["show", &once]);
    assert!(task["result_summary"].as_str().unwrap().contains("its host is lost"), "{task:#}");
    assert_whole(&fleet);
    host.start(Some("5s"));
    fleet.luzia(&["wait", &again, "--timeout", "25s"]).coded(0);
    assert_two_fences_rise(&file);
    assert_whole(&fleet);
}

#[test]
fn a_refused_renewal_ends_the_tasks_at_once() {
    let Some(fleet) = Fleet::new("a_refused_renewal") else { return };
    let host = Host::new(&fleet, "one", Some("6s"));
    let id = host.enqueue("alice", "trap '' TERM; sleep 60", &["--on-interrupt", "fail"]);
    until_status(&fleet, &id, "running");
    // Another holder of the duty took the host for lost.
    fleet.sql("UPDATE luzia.host SET session = gen_random_uuid()");
    until("the task is dead", || (host.place.status(&id) == "failed").then_some(()));
    assert!(host.place.show(&id)["result_summary"].as_str().unwrap().contains("HostCutOff"));
}

#[test]
fn a_lease_is_renewed_between_the_pieces_of_a_long_round() {
    let Some(fleet) = Fleet::new("a_lease_is_renewed_between") else { return };
    let place = Place::configured(&json!({ "slots": { "max": 16 } }));
    let mut host = Host { fleet: &fleet, place, name: "one".to_owned(), url: fleet.url(), daemon: None };
    host.start(Some("12s"));
    let long = host.enqueue("long", "sleep 60", &["--on-interrupt", "fail"]);
    until_status(&fleet, &long, "running");
    // Tasks end 8 s after the last renewal, and the agent takes longer than that to tell of those that it accepts now.
    fleet.sql(
        "CREATE FUNCTION luzia.slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.6); RETURN NEW; END';
         CREATE TRIGGER slow BEFORE UPDATE ON luzia.record FOR EACH ROW EXECUTE FUNCTION luzia.slow()",
    );
    let user = |n: usize| format!("u{n}");
    let others: Vec<String> = (0..12).map(|n| host.enqueue(&user(n), "sleep 60", &[])).collect();
    until("all are told to run", || {
        let list = fleet.json(&["list", "--state", "running"]);
        let started = |task: &&Value| task["starts"] == 1;
        (list["items"].as_array().unwrap().iter().filter(started).count() > others.len()).then_some(())
    });
    assert_eq!(status(&fleet, &long), "running");
    let said = host.daemon().err();
    assert!(!said.contains("the lease of this host was renewed"), "{said}");
    // A frozen agent says afterwards that it was late.
    let pid = host.daemon().pid();
    signal(pid, Signal::STOP);
    until("the lease has ended it", || (host.place.status(&long) == "failed").then_some(()));
    signal(pid, Signal::CONT);
    until("it says so", || host.daemon().err().contains("the lease of this host was renewed").then_some(()));
    assert_whole(&fleet);
}

#[test]
fn tiers_and_users_share_the_hosts() {
    let Some(fleet) = Fleet::new("tiers_and_users") else { return };
    let log = fleet.place.text("order");
    // Everything waits before the only host joins, whose slots are one.
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let mut host = Host { fleet: &fleet, place, name: "one".to_owned(), url: fleet.url(), daemon: None };
    let mut ids = Vec::new();
    for (user, count, priority) in [("a", 3, "5"), ("b", 3, "5"), ("c", 1, "1")] {
        for _ in 0..count {
            ids.push(host.enqueue(user, &format!("echo {user} >>{log}"), &["--priority", priority]));
        }
    }
    host.start(None);
    let all: Vec<&str> = ids.iter().map(String::as_str).collect();
    fleet.luzia(&[&["wait"], &all[..]].concat()).coded(0);
    let order = std::fs::read_to_string(&log).unwrap().replace('\n', "");
    assert!(order.starts_with('c'), "the high tier comes first: {order}");
    assert!(order == "cababab" || order == "cbababa", "users take turns: {order}");
}
