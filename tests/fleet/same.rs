//! One history at random, over files and over the store: the same answers, but for the members of one table. The store is looked at
//! from a host that runs none of the tasks.

use crate::hosts::{Host, assert_whole};
use crate::server::Fleet;
use crate::storm::Dice;
use crate::support::{Place, Ran, Running, times, until};
use serde_json::{Value, json};

/// The members that differ, and why. Those whose names end in `_ms` are lengths of time.
const OTHER: [(&str, &str); 25] = [
    ("fence", "the database gives its own fences"),
    ("lock_id", "it has the number of the task and the second of the claim"),
    ("executionId", "the number of the task"),
    ("activeExecutionId", "the number of the task"),
    ("expires_at", "a task of a store has its lanes until the lease of its host ends, and renews that"),
    ("evidence", "kernel locks on files, leases in the store"),
    ("message", "a sentence with the evidence, or with a length of time"),
    ("host", "only locks of a store name it"),
    ("refreshed_at", "a task of a store is refreshed with its host"),
    ("executionLockedAt", "a task of a store is refreshed with its host"),
    ("supervisor_pid", "known to the host of the task"),
    ("acquired_by_pid", "known to the host of the task"),
    ("started", "known to the host of the task"),
    ("supervisor", "known to the host of the task"),
    ("estimate", "made of the events of one host"),
    ("last_hour", "ends on files, tasks that are over in the store"),
    ("folder", "known to the host of the task"),
    ("logs", "known to the host of the task"),
    ("lock_files", "known to the host of the task"),
    ("events", "known to the host of the task"),
    ("waited_for", "known to the host of the task"),
    ("known", "the store forgets no lane"),
    ("store", "the URL"),
    ("slots_from", "the hosts of the store"),
    ("state_dir", "that of the caller"),
];
/// Each host has these lanes for itself.
const OF_A_HOST: [&str; 4] = ["global", "main", "cron", "subagent"];
const USERS: [&str; 3] = ["alice", "bob", "carol"];

/// One state directory alone, and one of a host of the store.
struct Both<'a> {
    files: Place,
    _daemon: Running,
    fleet: &'a Fleet,
    host: Host<'a>,
    /// The tasks, as each of the two names them.
    ids: Vec<[String; 2]>,
}

impl<'a> Both<'a> {
    fn new(fleet: &'a Fleet) -> Self {
        let files = Place::configured(&json!({ "slots": { "max": 4 } }));
        let daemon = files.spawn(&mut files.command(&["daemon"]));
        Self { files, _daemon: daemon, fleet, host: Host::new(fleet, "one", None), ids: Vec::new() }
    }

    /// Calls both. `#3` is the fourth task.
    #[track_caller]
    fn call(&self, from: impl Fn(&[&str]) -> Ran, args: &[&str]) -> [Ran; 2] {
        let named = |world: usize| -> Vec<String> {
            let task = |word: &str| self.ids.get(word.strip_prefix('#')?.parse::<usize>().ok()?);
            args.iter().map(|word| task(word).map_or((*word).to_owned(), |ids| ids[world].clone())).collect()
        };
        let [files, store] = [0, 1].map(named);
        let of = |words: &[String], call: &dyn Fn(&[&str]) -> Ran| {
            call(&words.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let both = [of(&files, &|words| self.files.luzia(words)), of(&store, &from)];
        assert_eq!(both[0].code, both[1].code, "{args:?}: {both:#?}");
        both
    }

    /// Does the same in both.
    #[track_caller]
    fn act(&self, args: &[&str]) -> [Ran; 2] {
        self.call(|words| self.host.luzia(words), args)
    }

    #[track_caller]
    fn enqueue(&mut self, args: &[&str]) {
        let ids = self.act(&[&["enqueue"], args].concat()).map(|ran| ran.coded(0).line());
        self.ids.push(ids);
    }

    /// The answers are the same.
    #[track_caller]
    fn same(&self, args: &[&str]) {
        let args = [args, &["--json"]].concat();
        let both = self.call(|words| self.fleet.luzia(words), &args);
        let [files, store] = [0, 1].map(|world| self.plain(world, &both[world].json()));
        assert_eq!(files, store, "{args:?}");
    }

    /// All looks.
    #[track_caller]
    fn looks(&self) {
        for args in
            [&["list", "-a"][..], &["status"], &["status", "--capacity"], &["list-locks"], &["lanes"], &["explain"]]
        {
            self.same(args);
        }
        for user in USERS {
            self.same(&["explain", user]);
            self.same(&["check", user]);
        }
        for lane in ["lane:gpu", "user:alice", "lane:new"] {
            self.same(&["check", lane]);
            self.same(&["explain", lane]);
        }
        for at in 0..self.ids.len() {
            self.same(&["show", &format!("#{at}")]);
            self.same(&["explain", &format!("#{at}")]);
        }
    }

    /// A document without what differs by its nature.
    fn plain(&self, world: usize, value: &Value) -> Option<Value> {
        Some(match value {
            Value::Object(members) => {
                // The store counts the tasks before one, files those that would start before it.
                if members.get("reason").is_some_and(|reason| reason == "Priority") {
                    return None;
                }
                let lane = ["lane", "name"].iter().find_map(|member| members.get(*member)?.as_str());
                if lane.is_some_and(|lane| OF_A_HOST.contains(&lane)) {
                    return None;
                }
                let is_same = |name: &str| !name.ends_with("_ms") && OTHER.iter().all(|(other, _)| name != *other);
                let members = members.iter().filter(|(name, _)| is_same(name));
                members.filter_map(|(name, value)| Some((name.clone(), self.plain(world, value)?))).collect()
            }
            Value::Array(items) => {
                let mut items: Vec<Value> = items.iter().filter_map(|item| self.plain(world, item)).collect();
                // Locks of one moment have no order.
                items.sort_by_key(|item| item["lane"].as_str().map(str::to_owned));
                items.into()
            }
            Value::String(text) => self.text(world, text).into(),
            other => other.clone(),
        })
    }

    fn text(&self, world: usize, text: &str) -> String {
        if text.len() == 24 && text.ends_with('Z') {
            return "a moment".to_owned();
        }
        let place = if world == 0 { &self.files } else { &self.host.place };
        let text = text.replace(&place.text(""), "");
        // task_1 is a part of task_12.
        let ids = self.ids.iter().enumerate().rev();
        ids.fold(text, |text, (at, ids)| text.replace(&ids[world], &format!("#{at}")))
    }
}

/// A task at random.
fn queue(both: &mut Both, dice: &mut Dice) {
    let user = USERS[dice.below(3)];
    let mut args = vec!["-u", user, "--priority", ["2", "5", "8"][dice.below(3)]];
    args.extend(["-l", "gpu"].iter().take(2 * dice.below(2)));
    args.extend(["--label", "train"].iter().take(2 * dice.below(2)));
    args.extend(["--retries", "1", "--backoff", "100ms"].iter().take(4 * dice.below(2)));
    args.extend(["--in", "1h"].iter().take(2 * usize::from(dice.below(8) == 0)));
    args.extend(["--shell", ["true", "echo out; echo err >&2", "echo out; exit 3", "kill -9 $$"][dice.below(4)]]);
    both.enqueue(&args);
}

#[test]
fn a_history_at_random_has_the_same_answers_over_files_and_over_the_store() {
    let Some(fleet) = Fleet::new("a_history_at_random") else { return };
    let mut both = Both::new(&fleet);
    let mut dice = Dice(times("LUZIA_FLEET_SEED", 20_261) as u64 | 1);
    both.act(&["lanes", "set", "gpu", "--max", "2"]);
    for user in USERS {
        both.act(&["pause", "-u", user, "--reason", "not yet"]);
    }
    for _ in 0..10 {
        queue(&mut both, &mut dice);
    }
    both.looks();
    for _ in 0..2 {
        both.act(&["cancel", &format!("#{}", dice.below(10)), "--reason", "why", "--yes"]);
    }
    both.looks();
    for user in USERS {
        both.act(&["resume", "-u", user]);
    }
    let settled = |both: &Both| {
        until("all tasks are over", || {
            let open = both.call(|words| both.fleet.luzia(words), &["list", "--json"]).map(|ran| ran.json());
            let is_over =
                |list: &Value| list["items"].as_array().unwrap().iter().all(|task| task["reason"] == "Delayed");
            open.iter().all(is_over).then_some(())
        });
    };
    settled(&both);
    both.looks();
    for at in 0..10 {
        let id = format!("#{at}");
        if both.fleet.json(&["show", &both.ids[at][1]])["status"] == "failed" {
            both.act(&["retry", &id]);
        }
    }
    settled(&both);
    both.looks();
    for (at, ids) in both.ids.iter().enumerate() {
        // A host of a store keeps the output of the last attempt.
        if fleet.json(&["show", &ids[1]])["starts"] == 1 {
            let [files, store] = both.act(&["logs", &format!("#{at}")]);
            assert_eq!(files.out, store.out, "the output on the host of the task");
        }
    }
    // One that runs, and those that wait for it.
    both.enqueue(&["-u", "alice", "-l", "gpu", "--slots", "2", "--label", "long", "--", "sleep", "60"]);
    let last = both.ids.len() - 1;
    let running = format!("#{last}");
    until("it runs", || {
        let shown = both.act(&["show", &running, "--json"]).map(|ran| ran.json()["starts"].clone());
        shown.iter().all(|starts| *starts == 1).then_some(())
    });
    both.enqueue(&["-u", "alice", "--", "true"]);
    both.enqueue(&["-u", "bob", "-l", "gpu", "--", "true"]);
    both.enqueue(&["-u", "bob", "-l", "gpu", "--", "true"]);
    both.looks();
    both.act(&["cancel", &running, "--yes"]);
    settled(&both);
    both.looks();
    assert_whole(&fleet);
}
