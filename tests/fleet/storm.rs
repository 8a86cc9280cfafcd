//! A short storm: three hosts as three state directories, whose agents are killed and frozen, whose connections are cut, and which
//! lose all their processes. Then everything is judged.

use crate::hosts::{Host, assert_whole};
use crate::server::Fleet;
use crate::support::{fault, lives, signal, times};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const LEASE: &str = "5s";
const USERS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Numbers that look random and are the same for one seed (xorshift).
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap()
    }
}

/// One fault, and its repair.
fn strike(fleet: &Fleet, hosts: &mut [Host], dice: &mut Dice) {
    let host = dice.below(hosts.len());
    match dice.below(6) {
        // The agent alone.
        0 | 1 => {
            hosts[host].daemon().kill();
            hosts[host].start(Some(LEASE));
        }
        // The agent is frozen, perhaps for longer than the lease: the tasks of the host end by their own clock.
        2 => {
            let pid = hosts[host].daemon().pid();
            signal(pid, Signal::STOP);
            std::thread::sleep(Duration::from_millis(500 + dice.below(6000) as u64));
            signal(pid, Signal::CONT);
        }
        // All connections.
        3 | 4 => fleet.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
        ),
        // The whole host.
        _ => {
            hosts[host].kill();
            std::thread::sleep(Duration::from_millis(dice.below(3000) as u64));
            hosts[host].start(Some(LEASE));
        }
    }
}

#[test]
fn a_storm_of_three_hosts_runs_each_task_once_and_no_user_twice_at_once() {
    let Some(fleet) = Fleet::new("a_storm_of_three_hosts") else { return };
    assert!(fault().is_none(), "planted faults are those of `rules`");
    let mut hosts: Vec<Host> = ["one", "two", "three"].map(|name| Host::new(&fleet, name, Some(LEASE))).into();
    let seed = times("LUZIA_FLEET_SEED", 20_261) as u64;
    let mut dice = Dice(seed | 1);
    let folder = fleet.place.text("judge");
    std::fs::create_dir(&folder).unwrap();
    // The kernel lock of its user is free, unless another task of the user lives.
    let script = format!(
        "cd {folder}; exec 9>>lock.$LUZIA_USER; flock -n 9 || echo twice $LUZIA_TASK_ID $LUZIA_USER 0 >>log; \
         echo begin $LUZIA_TASK_ID $LUZIA_USER $LUZIA_FENCE >>log; sleep $((LUZIA_FENCE % 3)).$((LUZIA_FENCE % 7)); \
         echo end $LUZIA_TASK_ID $LUZIA_USER $LUZIA_FENCE >>log"
    );
    let mut ids = Vec::new();
    for _ in 0..times("LUZIA_FLEET_ROUNDS", 15) {
        for _ in 0..5 {
            let (host, user) = (&hosts[dice.below(3)], USERS[dice.below(USERS.len())]);
            let is_once = dice.below(2) == 0;
            let options: &[&str] =
                if is_once { &["--on-interrupt", "fail"] } else { &["--retries", "5", "--backoff", "100ms"] };
            // A cut connection is made again within the verb, or it says so.
            let ran = host.luzia(&[&["enqueue", "-u", user], options, &["--shell", &script]].concat());
            assert!([0, 69].contains(&ran.code), "{ran:?}");
            ids.extend((ran.code == 0).then(|| (ran.line(), is_once)));
        }
        strike(&fleet, &mut hosts, &mut dice);
    }
    judge(&fleet, &ids, &folder, seed);
    hosts
        .iter_mut()
        .for_each(|host| assert!(lives(host.daemon().pid()), "a daemon has ended: {}", host.daemon().err()));
}

/// Waits until all tasks are over, and looks at what they did.
fn judge(fleet: &Fleet, ids: &[(String, bool)], folder: &str, seed: u64) {
    // After a long storm many tasks wait for the lanes of few users. As long as tasks end, the rest is waited for.
    let (mut end, mut least) = (Instant::now(), usize::MAX);
    loop {
        let open = fleet.json(&["list"]);
        let open = open["items"].as_array().unwrap();
        if open.is_empty() {
            break;
        }
        if open.len() < least {
            (end, least) = (Instant::now() + Duration::from_secs(120), open.len());
        }
        assert!(Instant::now() < end, "seed {seed}: these never end: {open:#?}");
        std::thread::sleep(Duration::from_millis(300));
    }
    let log = std::fs::read_to_string(format!("{folder}/log")).unwrap_or_default();
    assert!(!log.contains("twice"), "seed {seed}: two tasks of a user at once:\n{log}");
    let (mut begins, mut ends, mut fences) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for line in log.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let (of, fence): (_, i64) =
            (if words[0] == "begin" { &mut begins } else { &mut ends }, words[3].parse().unwrap());
        *of.entry(words[1].to_owned()).or_insert(0) += 1;
        if words[0] == "begin" {
            let last = fences.insert(words[2].to_owned(), fence).unwrap_or(0);
            assert!(last < fence, "seed {seed}: the fences of {} fall or repeat:\n{log}", words[2]);
        }
    }
    let all = fleet.json(&["list", "-a"]);
    let all: BTreeMap<&str, &str> = all["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| (task["id"].as_str().unwrap(), task["status"].as_str().unwrap()))
        .collect();
    let mut completed = 0;
    for (id, is_once) in ids {
        let (begins, ends) = (begins.get(id).copied().unwrap_or(0), ends.get(id).copied().unwrap_or(0));
        let what = format!("seed {seed}: {id} began {begins} times, ended {ends} times, is {:?}", all.get(id.as_str()));
        match all.get(id.as_str()) {
            Some(&"completed") => {
                completed += 1;
                assert!(ends >= 1, "{what}");
            }
            Some(&"failed") => {}
            _ => panic!("{what}"),
        }
        assert!(!is_once || (begins <= 1 && ends <= 1), "{what}");
    }
    // A task whose answer was lost for good is there as well, once.
    assert!(
        all.len() >= ids.len() && completed * 2 > ids.len(),
        "seed {seed}: {completed} of {} are completed",
        ids.len()
    );
    assert_whole(fleet);
    eprintln!("storm, seed {seed}: {} tasks, {completed} completed", ids.len());
}
