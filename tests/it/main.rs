//! Tests of luzia from outside its rooms, in one binary.
#![allow(clippy::disallowed_methods, reason = "tests look at real files and processes")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bad_input;
mod budget;
mod contention;
mod context;
mod cycles;
mod demo;
mod doctor;
mod environment;
mod event_log;
mod generated;
mod harness;
mod hints;
mod kill;
mod line;
mod logs;
mod mutants;
mod names;
mod namespaces;
mod packaging;
mod power;
mod power_cut;
mod read_again;
mod real_work;
mod regressions;
mod release;
mod retention;
mod rows_locks;
mod rows_queue;
mod shims;
mod sim;
mod six;
mod snapshots;
mod states;
mod storm;
mod support;
mod sweep;
mod sweep_scenes;
mod threats;
mod tidy;
mod turnover;
