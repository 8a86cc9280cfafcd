//! A test that cannot run says so; where skips are refused it fails.

/// Tells that a test is skipped and what it would need. Panics when `LUZIA_TEST_SKIPS=refuse`.
pub fn skipped(test: &str, needs: &str) {
    eprintln!("SKIPPED: {test} needs {needs}");
    let is_refused = std::env::var("LUZIA_TEST_SKIPS").is_ok_and(|value| value == "refuse");
    assert!(!is_refused, "{test} was skipped, and LUZIA_TEST_SKIPS=refuse; it needs {needs}");
}
