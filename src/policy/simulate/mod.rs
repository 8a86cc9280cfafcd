//! Simulation: runs a load on a virtual clock, through the functions by which dispatch decides. `simulate` runs a described
//! load; estimates run the waiting tasks, with observed durations. Pure: seeds decide the random numbers.

pub mod engine;
pub mod estimate;
pub mod history;
pub mod load;
pub mod plan;
pub mod report;
pub mod score;
#[cfg(test)]
mod tests;

use crate::model::Timestamp;
use crate::policy::fair::Ledger;
use engine::World;
use load::{Load, Random};
use report::Report;

/// Runs a load to its end.
pub fn simulate(load: &Load, ledger: Ledger, now: Timestamp, random: &mut Random) -> Report {
    let mut world = World::new(load, ledger, now, random).with_book();
    world.run(u64::MAX, random, &|_| false);
    let (times, book, end) = world.into_book();
    Report::of(load, &times, &book, end)
}
