//! Capacity of a lane beyond its places: a value for each slot, a condition of the host, and a share of its processors.

pub mod budget;
pub mod gate;
pub mod rules;
pub mod values;

pub use budget::Budget;
pub use gate::{Condition, Gate, Gauge, Readings};
pub use rules::CpuRule;
pub use values::{Choice, Occupied, SlotValues};
