//! Tasks that a scheduler of several hosts grants to this host. The tests play its agent: they write the lease and accept the
//! tasks in process, and everything else is luzia as it is. At the end of the lease nothing of a granted task lives.

mod claims;
mod ends;
mod orphans;
mod words;

use crate::support::{Place, processes_in, until};
use luzia::app::granted::{accept_granted, end_lease, prepare_host, renew_lease};
use luzia::app::{App, Settings};
use luzia::model::task::{FIRST_GRANTED, Granted, GrantedSlot, Word};
use luzia::model::{Config, Fence, LaneName, Name, Task, TaskId, Timestamp};
use luzia::os::Clock;
use luzia::os::real::{RealClock, RealFiles, RealProcesses};
use luzia::store::{Spool, Taken};
use std::sync::Arc;
use std::time::Duration;

/// The session of the host with the scheduler.
const SESSION: Word = Word(7);
/// A lease that no test outlives, in milliseconds.
const LONG_MS: u64 = 600_000;

/// The agent of one host.
struct Agent {
    place: Place,
    app: App,
}

impl Agent {
    fn new() -> Self {
        Self::at(Place::new())
    }

    fn at(place: Place) -> Self {
        let files = RealFiles::open_at(place.state().to_str().unwrap(), true).unwrap().unwrap();
        let store = Spool::new(Arc::new(files), Arc::new(RealClock), Arc::new(RealProcesses));
        let app = App::new(store, Settings::fixed(Config::default()));
        prepare_host(&app).unwrap();
        Self { place, app }
    }

    /// Writes a lease that ends so many milliseconds from now, and returns its end.
    fn lease(&self, length_ms: u64) -> u64 {
        let now = RealClock.boot_ms();
        renew_lease(&self.app, SESSION, now, length_ms).unwrap();
        now + length_ms
    }

    /// A task of a user with a shell command, with a grant of its user's lane.
    fn task(&self, number: u64, user: &str, script: &str) -> Task {
        let (id, name) = (TaskId(FIRST_GRANTED.0 + number), Name::new(user).unwrap());
        let command = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        let path = |name: &str| (name.as_bytes().to_vec(), std::env::var(name).unwrap_or_default().into_bytes());
        let place = (b"PLACE".to_vec(), self.place.text("").into_bytes());
        let task = Task {
            env: vec![path("PATH"), place].into(),
            conductor_dir: self.app.run_dir.default_conductor(None),
            created_at: RealClock.now(),
            ..Task::plain(id, name.clone(), command, Timestamp(0))
        };
        let slots = vec![slot(&LaneName::user(&name), 0, fence_now())];
        task.with_grants(Granted { session: SESSION, token: Word(number.into()), slots, is_cut_off: false })
    }

    fn accept(&self, task: &Task) -> String {
        assert_eq!(accept_granted(&self.app, task).unwrap(), Taken::New);
        task.id.to_string()
    }

    /// Accepts a task with a shell command, starts it and waits until the command is there.
    fn run(&self, number: u64, user: &str, script: &str) -> String {
        let script = format!("echo >\"$PLACE/ready.{user}\"; {script}");
        let id = self.accept(&self.task(number, user, &script));
        self.place.ok(&["dispatch", "--once"]);
        self.place.until_file(&format!("ready.{user}"));
        id
    }

    /// Waits until no process of a task lives, and returns the boot clock then.
    fn until_dead(&self) -> u64 {
        until("every process of a task is dead", || self.alive().is_empty().then(|| RealClock.boot_ms()))
    }

    /// The living processes of tasks.
    fn alive(&self) -> Vec<u32> {
        let is_of_task = |pid: &u32| {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.windows(14).any(|bytes| bytes == b"LUZIA_TASK_ID=")
        };
        processes_in(&self.place.state()).into_iter().filter(is_of_task).collect()
    }

    fn summary(&self, id: &str) -> String {
        let shown = self.place.show(id);
        shown["result_summary"].as_str().unwrap_or_default().to_owned()
    }

    fn reasons(&self, id: &str) -> Vec<String> {
        let explained = self.place.json(&["explain", id]);
        let words = explained["reasons"].as_array().unwrap().iter().filter_map(|one| one["reason"].as_str());
        words.filter(|word| *word != "NoDispatcher").map(str::to_owned).collect()
    }
}

/// The fence that a scheduler gives now: microseconds of its clock.
fn fence_now() -> u64 {
    u64::try_from(RealClock.now().0).unwrap() * 1000
}

fn slot(lane: &LaneName, slot: u32, fence: u64) -> GrantedSlot {
    GrantedSlot { lane: lane.clone(), slot, fence: Fence(fence), value: None }
}

/// Waits until the boot clock is past a moment.
fn sleep_past(boot_ms: u64) {
    while RealClock.boot_ms() <= boot_ms {
        std::thread::sleep(Duration::from_millis(20));
    }
}
