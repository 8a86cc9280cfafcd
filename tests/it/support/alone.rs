//! Tests that start many processes, or stop and kill them, disturb the others on a busy machine. They are in the module
//! `z_alone` of `main.rs`: tests run in the order of their names, so these run after the others. They run one at a time, but
//! for those of [`PATIENT`].

use std::cell::RefCell;
use std::process::Command;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Modules of `z_alone` with patient tests: they wait for most of their time, and no busy machine makes them fail. Those of one
/// group run beside each other, three at once.
const PATIENT: [(&str, &str); 6] = [
    ("agent_day", "storms"),
    ("agent_sweep", "storms"),
    ("granted", "leases"),
    ("real_work", "storms"),
    ("storm", "storms"),
    ("sweep", "storms"),
];
const MOST_AT_ONCE: usize = 3;

/// The group of the tests that run now, and their number. A test that runs alone is a group of its own.
static RUNNING: Mutex<(String, usize)> = Mutex::new((String::new(), 0));
static ENDED: Condvar = Condvar::new();

thread_local! {
    static TURN: RefCell<Option<Turn>> = const { RefCell::new(None) };
}

struct Turn;

impl Drop for Turn {
    fn drop(&mut self) {
        running().1 -= 1;
        ENDED.notify_all();
    }
}

/// A test that failed has ended its turn.
fn running() -> MutexGuard<'static, (String, usize)> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the turn of this test of `z_alone`. The turn lasts as long as the thread, which is that of one test. Places and
/// worlds take it when they are made; a test without them calls this first.
pub fn take_turn() {
    let thread = std::thread::current();
    let Some(name) = thread.name().and_then(|name| name.strip_prefix("z_alone::")) else { return };
    let module = name.split("::").next().unwrap();
    let group = PATIENT.iter().find(|(patient, _)| *patient == module).map_or(name, |(_, group)| *group);
    TURN.with_borrow_mut(|turn| {
        turn.get_or_insert_with(|| {
            let must_wait = |now: &mut (String, usize)| now.1 > 0 && (now.0 != group || now.1 == MOST_AT_ONCE);
            let mut now = ENDED.wait_while(running(), must_wait).unwrap_or_else(PoisonError::into_inner);
            *now = (group.to_owned(), now.1 + 1);
            Turn
        });
    });
}

/// The variable that marks the second run of a test.
pub const INSIDE: &str = "LUZIA_TEST_INSIDE";

/// Runs a test again as the only one of a process, which `wrapper` starts. True in that second run. False in the first run, which has
/// nothing more to do.
pub fn is_own_process(test: &str, wrapper: &[&str]) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let own = std::env::current_exe().unwrap().into_os_string();
    let mut words = wrapper.iter().map(Into::into).chain([own]);
    let mut command = Command::new(words.next().unwrap());
    let status = command.args(words).args([test, "--exact", "--nocapture"]).env(INSIDE, "1").status().unwrap();
    assert!(status.success(), "{test} failed in a process of its own; its output is above");
    false
}
