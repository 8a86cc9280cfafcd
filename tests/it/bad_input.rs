//! Bad input (P8): it changes nothing, and gets one clear error, a hint and its own exit code.

mod arguments;
mod configuration;
mod lanes;
mod records;
mod streams;
mod surroundings;

use crate::support::{Place, Ran};
use serde_json::Value;

/// Every code that luzia-exit-codes(7) promises, beside those of commands.
const DOCUMENTED: [i32; 17] = [0, 1, 2, 65, 66, 69, 70, 73, 74, 75, 77, 78, 124, 125, 126, 127, 143];

/// Calls luzia with bad input, for people and for programs: the code is the expected one, nothing is changed, and the
/// error has its promised shape.
#[track_caller]
fn refused(place: &Place, args: &[&str], code: i32) -> Ran {
    let before = place.snapshot();
    let program = place.luzia(&[&["--json"], args].concat());
    assert_eq!(program.code, code, "{args:?} {program:#?}");
    check_json(&program, code);
    let ran = place.luzia(args);
    assert_eq!(ran.code, code, "{args:?} {ran:#?}");
    check_text(&ran);
    place.assert_unchanged(&before, &format!("{args:?}"));
    ran
}

#[track_caller]
fn check_text(ran: &Ran) {
    let errors = ran.err.lines().filter(|line| line.starts_with("luzia: ")).count();
    let helps = ran.err.lines().filter(|line| line.starts_with("hint: ") || line.starts_with("try: ")).count();
    assert!(errors == 1 && helps >= 1, "{ran:#?}");
    assert!(
        ran.err.lines().all(|line| ["luzia: ", "hint: ", "try: "].iter().any(|word| line.starts_with(word))),
        "{ran:#?}"
    );
    assert!(ran.err.chars().all(|c| c == '\n' || !c.is_control()), "{ran:#?}");
    check_quick(ran);
}

#[track_caller]
fn check_json(ran: &Ran, code: i32) {
    assert_eq!(ran.err.lines().count(), 1, "{ran:#?}");
    let error: Value = serde_json::from_str(&ran.err).unwrap_or_else(|why| panic!("{why}: {ran:#?}"));
    assert_eq!((error["schema"].as_str(), error["exit"].as_i64()), (Some("luzia.error/v1"), Some(code.into())));
    assert!(error["code"].as_str().is_some_and(|word| word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')));
    assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()) && error["next"].is_array(), "{error}");
    check_quick(ran);
}

/// What holds whatever the input: a documented code, no panic, no waiting.
#[track_caller]
fn check_quick(ran: &Ran) {
    assert!(DOCUMENTED.contains(&ran.code), "{ran:#?}");
    assert!(!ran.err.contains("panicked") && !ran.err.contains("RUST_BACKTRACE"), "{ran:#?}");
    ran.within(2);
}

/// A place with a state directory, a lock of alice and a pending task of bob.
fn lived_in() -> Place {
    let place = Place::new();
    place.ok(&["acquire", "alice", "--task", "t1"]);
    place.enqueue(&["-u", "bob", "--", "true"]);
    place
}
