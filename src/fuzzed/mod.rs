//! What holds for every input of every parser, as plain functions: each takes any bytes, and panics where a promise is
//! broken. `fuzz/` calls them with what libFuzzer makes up, the tests of this room with what proptest makes up.
//!
//! Only in tests and with the feature `fuzzing`; no program has it. It stands above every room and may name them all.

mod agents;
mod names;
mod records;
mod words;

#[cfg(test)]
mod tests;

pub use agents::{hook, mcp, settings};
pub use names::{file_name, lane, name};
pub use records::{cancel, counter, event, ledger, meta, sidecar, started, task};
pub use words::{argv, batch, config, duration, moment};

/// What holds for every input; panics where it does not.
pub type Body = fn(&[u8]);

/// Every body with its name, which is also that of its target and of its seeds below `fuzz/`.
pub const BODIES: [(&str, Body); 19] = [
    ("argv", argv),
    ("batch", batch),
    ("cancel", cancel),
    ("config", config),
    ("counter", counter),
    ("duration", duration),
    ("event", event),
    ("file_name", file_name),
    ("hook", hook),
    ("lane", lane),
    ("ledger", ledger),
    ("mcp", mcp),
    ("meta", meta),
    ("moment", moment),
    ("name", name),
    ("settings", settings),
    ("sidecar", sidecar),
    ("started", started),
    ("task", task),
];

/// The input as text, for parsers that are given text; bytes that are none are replaced.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
