//! What befalls the processes of luzia: SIGKILL, SIGSTOP for a while, SIGTERM. The commands of tasks are left alone.

use super::Storm;
use crate::harness::procs::{self, CONT, KILL, Process, STOP, TERM};
use crate::harness::rng::Rng;
use std::time::Duration;

/// Kills one or a few, whatever they are at.
pub fn kill(storm: &Storm, rng: &mut Rng) {
    for process in some(storm, rng, 3) {
        // Supervisors live longest and would get it all; some tasks are to come to their end.
        let is_spared = process.verb() == "supervise" && rng.below(4) > 0;
        if process.pid != storm.steady_daemon() && !is_spared {
            process.signal(KILL);
            storm.count(format!("kill {}", process.verb()));
            storm.count("kills".into());
        }
    }
}

/// Stops some for a while. Nobody may take this for their death.
pub fn stop(storm: &Storm, rng: &mut Rng) {
    let some = some(storm, rng, 4);
    some.iter().for_each(|process| process.signal(STOP));
    storm.count_many("stops", some.len());
    std::thread::sleep(Duration::from_millis(rng.below(800)));
    some.iter().for_each(|process| process.signal(CONT));
}

/// Tells one to end.
pub fn terminate(storm: &Storm, rng: &mut Rng) {
    for process in some(storm, rng, 1) {
        if process.pid != storm.steady_daemon() {
            process.signal(TERM);
            storm.count("terms".into());
        }
    }
}

fn some(storm: &Storm, rng: &mut Rng, most: u64) -> Vec<Process> {
    let mut all = procs::luzias(&storm.world);
    rng.shuffle(&mut all);
    all.truncate(usize::try_from(1 + rng.below(most)).unwrap());
    all
}
