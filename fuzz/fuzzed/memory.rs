//! The memory of a task: a valid document reads back after it was written again.

use crate::app::waits::came::as_wait;
use crate::policy::steps::waits::{Phase, WaitEvent, next};
use crate::store::files::steps::{VarsFile, decode, encode};
use crate::store::{Mail, StepRecord, Waits};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn same_again<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(bytes: &[u8]) -> Option<T> {
    let read: T = decode("x", bytes).ok()?;
    let written = encode("x", &read).ok()?;
    assert_eq!(written.iter().filter(|byte| **byte == b'\n').count(), 1, "one line");
    assert_eq!(decode::<T>("x", &written).ok().as_ref(), Some(&read));
    Some(read)
}

/// `vars.json`.
pub fn vars(bytes: &[u8]) {
    same_again::<VarsFile>(bytes);
}

/// One event of a mailbox.
pub fn mail(bytes: &[u8]) {
    same_again::<Mail>(bytes);
}

/// A finished step, and the output that it keeps.
pub fn step(bytes: &[u8]) {
    if let Some(step) = same_again::<StepRecord>(bytes) {
        assert!(step.output().len() <= step.stdout.len());
    }
    let mut step = StepRecord::default();
    step.keep_output(bytes);
    assert_eq!(step.output(), bytes);
}

/// `waits.json`.
pub fn waits(bytes: &[u8]) {
    let Some(waits) = same_again::<Waits>(bytes) else { return };
    assert!(!waits.is_failed() || waits.open.is_none());
    let Some(open) = waits.open else { return };
    // Whatever stands in it gives a wait that ends by its time, at the latest after all that may be waited once more.
    let mut wait = as_wait(&open);
    for _ in 0..3 {
        if let Some((after, _)) = next(wait, WaitEvent::TimeUp) {
            assert!(after.timeouts > wait.timeouts || after.phase == Phase::Resumed);
            wait = after;
        }
    }
}
