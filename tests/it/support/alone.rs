//! Tests that start many processes, or stop and kill them, disturb each other on a busy machine. They stand in the module
//! `z_alone` of `main.rs`: tests run in the order of their names, so these run after the others, and one at a time.

use std::cell::RefCell;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

static TURN: Mutex<()> = Mutex::new(());

thread_local! {
    static HELD: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
}

/// Waits until no other test of `z_alone` runs. The turn lasts as long as the thread, which is that of one test. Places and
/// worlds take it when they are made; a test without them calls this first.
pub fn take_turn() {
    let thread = std::thread::current();
    if thread.name().is_some_and(|name| name.starts_with("z_alone::")) {
        // A test that failed in its turn has ended it.
        let turn = || TURN.lock().unwrap_or_else(PoisonError::into_inner);
        HELD.with_borrow_mut(|held| {
            held.get_or_insert_with(turn);
        });
    }
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
