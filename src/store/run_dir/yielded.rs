//! `run/<id>/yield.json`: earlier versions wrote it beside a paused task whose slots they gave to other tasks. The tree beside it
//! is stopped and may not run, so recovery ends it without a signal that continues it. No version writes it any more.

use crate::model::TaskId;
use crate::store::{Result, RunDir, StoreError, json_object, layout};
use serde::Deserialize;

#[derive(Deserialize)]
struct Yielded {
    /// Reason why the task kept its slots.
    refused: Option<String>,
}

/// Whether the file says that slots were given to other tasks. A damaged file counts.
fn says_so(bytes: &[u8]) -> bool {
    json_object::read::<Yielded>(bytes).map_or(true, |file| file.refused.is_none())
}

impl RunDir {
    /// Whether an earlier version gave slots of a task to other tasks while it was stopped.
    pub fn has_yielded(&self, id: TaskId) -> Result<bool> {
        match self.read(&layout::run_file(id, "yield.json")) {
            Ok(bytes) => Ok(bytes.is_some_and(|bytes| says_so(&bytes))),
            Err(StoreError::Corrupt { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_says_that_the_slots_were_kept() {
        assert!(!says_so(br#"{"since":"2026-11-24T07:00:00.000Z","lanes":[],"kept":[],"refused":"it is luzia"}"#));
        for slots_gone in
            [r#"{"lanes":["build"],"kept":["user:alice"],"waits":true}"#, "{}", "", "[]", r#"{"refused":7}"#]
        {
            assert!(says_so(slots_gone.as_bytes()), "{slots_gone}");
        }
    }
}
