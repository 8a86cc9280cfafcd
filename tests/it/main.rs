//! Tests of luzia from outside its rooms, in one binary.
#![allow(clippy::disallowed_methods, reason = "tests look at real files and processes")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agent_packaging;
mod agent_setup;
mod agent_text;
mod agents;
mod backfill;
mod bad_input;
mod bare_words;
mod beyond;
mod budget;
mod bulk;
mod capacity;
mod completion;
mod config_docs;
mod context;
mod copies;
mod cron;
mod cycles;
mod demo;
mod doctor;
mod documents;
mod documents_golden;
mod doors;
mod environment;
mod estimates;
mod event_log;
mod events;
mod face;
mod fair;
mod family;
mod freed;
mod gate;
mod generated;
mod grants;
mod guard;
mod harness;
mod hints;
mod hooks;
mod jobs;
mod lane_rules;
mod lanes;
mod line;
mod loans;
mod logs;
mod manual;
mod mcp;
mod metrics;
mod mutants;
mod names;
mod other_versions;
mod packaging;
mod patience;
mod prose;
mod read_again;
mod regressions;
mod release;
mod retention;
mod rows_locks;
mod rows_queue;
mod rows_shown;
mod sandboxes;
mod schemas;
mod sessions;
mod shims;
mod sim;
mod simulate;
mod six;
mod slots;
mod snapshots;
mod spoken;
mod states;
mod stats;
mod steps;
mod store_contract;
mod support;
mod sweep_capacity;
mod sweep_cron;
mod sweep_lanes;
mod sweep_numbers;
mod sweep_pause;
mod sweep_scenes;
mod sweep_steps;
mod sweep_waits;
mod sweep_words;
mod terminal;
mod threats;
mod tidy;
mod tidy_citations;
mod timeline;
mod top;
mod turnover;
mod wait_warnings;
mod ways_in;
mod who;

/// Tests that need the machine for themselves: after the others, one at a time (`support/alone.rs`). The name has to be the last
/// one of all modules.
#[path = "."]
mod z_alone {
    use super::{harness, support, sweep_scenes, sweep_words};

    mod agent_sweep;
    mod contention;
    mod groups;
    mod kill;
    mod namespaces;
    mod pause;
    mod pause_running;
    mod power;
    mod power_cut;
    mod preempt;
    mod real_work;
    mod sandbox_numbers;
    mod storm;
    mod sweep;
}
