//! The signals that stop a long-running command.

use crate::os::real::{self, term};

/// The signals that have asked a command to stop.
#[derive(Clone, Copy, Default)]
pub struct Interrupts {
    /// Number of signals that came.
    pub count: u32,
    /// Whether one of the signals was Ctrl-C.
    pub is_from_keyboard: bool,
    /// The number of the first one (signal(7)); 0 where none came.
    pub first: i32,
}

/// The signals that stop a program.
pub(super) const STOPS: [real::Caught; 3] = [real::Caught::Interrupt, real::Caught::Terminate, real::Caught::Hangup];

/// Counts the signals of `ending` from now on. The other signals of [`STOPS`] are caught too, but only wake the program.
pub(super) fn interrupts(ending: &'static [real::Caught]) -> impl FnMut() -> Interrupts {
    let _ = real::catch(&STOPS);
    let mut seen = Interrupts::default();
    move || {
        for signal in STOPS {
            if real::take(signal) && ending.contains(&signal) {
                seen.count += 1;
                seen.is_from_keyboard |= signal == real::Caught::Interrupt;
                if seen.first == 0 {
                    seen.first = number(signal);
                }
            }
        }
        seen
    }
}

/// Whether a signal has asked this command to end.
pub(super) fn ended() -> impl FnMut() -> bool {
    let mut count = interrupts(&STOPS);
    move || count().count > 0
}

/// [`ended`] for a daemon. SIGHUP ends it only on a terminal; without one it means that the configuration has changed.
pub(super) fn daemon_ended() -> impl FnMut() -> bool {
    let has_terminal = term::can_ask() || term::is_terminal(term::Stream::Err);
    let mut count = interrupts(if has_terminal { &STOPS } else { &STOPS[..2] });
    move || count().count > 0
}

fn number(signal: real::Caught) -> i32 {
    match signal {
        real::Caught::Interrupt => 2,
        real::Caught::Terminate => 15,
        real::Caught::Hangup => 1,
        _ => 0,
    }
}
