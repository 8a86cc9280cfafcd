//! Tests that cannot be made everywhere. `tests/os` takes this from here.

/// Says that a test cannot be made here; a failure where the variable LUZIA_TEST_SKIPS is `refuse`.
pub fn skip(test: &str, needs: &str) {
    let is_refused = std::env::var("LUZIA_TEST_SKIPS").is_ok_and(|word| word == "refuse");
    assert!(!is_refused, "SKIPPED: {test} needs {needs}, and skips are refused");
    eprintln!("SKIPPED: {test} needs {needs}");
}
