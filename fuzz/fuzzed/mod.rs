//! The promises that hold for every input of every parser, as plain functions. Each takes any bytes, and panics if a promise is
//! broken. `fuzz/targets` calls them with inputs of libFuzzer, the tests of this folder with inputs of proptest.
//!
//! A module of the library in its tests and with the feature `fuzzing`; no program has it. It may name every room.

mod agents;
mod calendar;
mod capacity;
mod memory;
mod names;
mod numbers;
mod records;
mod words;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;

pub use agents::{hook, mcp, settings};
pub use calendar::{cron, said, schedule};
pub use capacity::{gate, slots};
pub use memory::{mail, step, vars, waits};
pub use names::{file_name, lane, name};
pub use numbers::{hooks, load, rate, tally};
pub use records::{cancel, control, counter, event, ledger, meta, pause, sidecar, started, task};
pub use words::{argv, batch, config, duration, moment, steps};

/// The check of the promises of one parser; panics if an input breaks one.
pub type Body = fn(&[u8]);

/// Every body with its name, which is also that of its target and of its seeds.
pub const BODIES: &[(&str, Body)] = &[
    ("argv", argv),
    ("batch", batch),
    ("cancel", cancel),
    ("config", config),
    ("control", control),
    ("counter", counter),
    ("cron", cron),
    ("duration", duration),
    ("event", event),
    ("file_name", file_name),
    ("gate", gate),
    ("hook", hook),
    ("hooks", hooks),
    ("lane", lane),
    ("ledger", ledger),
    ("load", load),
    ("mail", mail),
    ("mcp", mcp),
    ("meta", meta),
    ("moment", moment),
    ("name", name),
    ("pause", pause),
    ("rate", rate),
    ("said", said),
    ("schedule", schedule),
    ("settings", settings),
    ("sidecar", sidecar),
    ("slots", slots),
    ("started", started),
    ("step", step),
    ("steps", steps),
    ("tally", tally),
    ("task", task),
    ("vars", vars),
    ("waits", waits),
];

/// The input as text, for parsers of text; bytes that are not UTF-8 are replaced.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
