//! Planted faults, each of which breaks one rule where it is kept, so that a test can show that it is noticed
//! (`tests/mutants.rs`). Not for use: an optimised build with one of them is refused.

/// Whether a planted fault is in force. `false` as a constant without the features, so nothing of it is in the program.
#[cfg(not(feature = "mutants"))]
macro_rules! mutant {
    ($feature:literal) => {
        cfg!(feature = $feature)
    };
}

/// Whether a planted fault is in force: by its feature, or chosen for this process.
#[cfg(feature = "mutants")]
macro_rules! mutant {
    ($feature:literal) => {
        cfg!(feature = $feature) || $crate::os::real::mutant::is_chosen($feature)
    };
}

#[cfg(all(
    not(debug_assertions),
    any(
        feature = "mutants",
        feature = "mutant-no-file-sync",
        feature = "mutant-no-dir-sync",
        feature = "mutant-early-answer",
        feature = "mutant-empty-lock",
        feature = "mutant-break-outside-guard",
        feature = "mutant-pid-only",
    )
))]
compile_error!("the features `mutant-…` plant faults for tests; no optimised luzia is built with them");
