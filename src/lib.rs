#![doc = include_str!("ARCHITECTURE.md")]

pub mod app;
pub mod cli;
#[cfg(feature = "fleet")]
pub mod fleet;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
#[path = "../fuzz/fuzzed/mod.rs"]
pub mod fuzzed;
pub mod model;
pub mod os;
pub mod policy;
pub mod request;
pub mod store;
pub mod supervise;
