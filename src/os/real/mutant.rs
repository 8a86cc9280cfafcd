//! Which planted fault this process was started with, for the tests that show that each is noticed (`src/mutant.rs`).

use std::sync::OnceLock;

/// Whether `LUZIA_MUTANT` names this fault.
pub fn is_chosen(feature: &str) -> bool {
    static CHOSEN: OnceLock<Option<String>> = OnceLock::new();
    CHOSEN.get_or_init(|| std::env::var("LUZIA_MUTANT").ok()).as_deref() == Some(feature)
}
