//! The target of the output of a watched task: `run`, `attach` and `wait --stream`.

use crate::app::query::logs::Stream;
use crate::app::queue::run::{Audience, InQueue, Wish};
use crate::app::{AppError, Obstacle};
use crate::cli::commands::look::logs::dropped_text;
use crate::cli::output::console::{Console, Repeated, Stop};
use crate::cli::output::escape::Pieces;
use crate::cli::output::live::bar;
use crate::cli::output::live::waiting::{Pulse, live_text};
use crate::cli::output::task::progress;
use crate::cli::signals::Interrupts;
use crate::model::{Status, Task};
use std::collections::VecDeque;
use std::time::Duration;

/// Functions that `run` needs of its terminal.
pub struct Terminal<'a> {
    /// The signals that the user has sent to the process.
    pub interrupts: &'a mut dyn FnMut() -> Interrupts,
    /// Waits for so long, or for ever, until a stream takes a piece; false when the time is over or its user interrupts.
    pub has_room: &'a dyn Fn(Stream, Option<Duration>) -> bool,
    /// Number of bytes of a piece.
    pub piece: usize,
    /// The time, in milliseconds since the host was started.
    pub now_ms: &'a dyn Fn() -> u64,
    /// Properties of the caller and its standard input.
    pub caller: Around,
    /// Whether standard input is a pipe with unread data.
    pub has_unread_input: &'a dyn Fn() -> bool,
    /// True passes the keys of the user on unprocessed; false restores the terminal.
    pub raw: &'a mut dyn FnMut(bool),
}

/// The terminal as the audience of a run.
pub struct Room<'a, 'b, 'c> {
    /// The target of the output of the run.
    pub console: &'a mut Console<'b>,
    terminal: &'a mut Terminal<'c>,
    /// The wish when the reader of the output has gone.
    pub unread: Wish,
    /// The wish at the first Ctrl-C, SIGTERM or SIGHUP.
    pub interrupted: Wish,
    /// Time that the task may wait for its start, or for its end.
    pub patience: Patience,
    /// Whether a task that waits is left in the queue at SIGTERM and SIGHUP.
    pub leaves_waiting: bool,
    /// Whether the command has a terminal of its own, to which the keys of the user go.
    pub passes_keys_on: bool,
    /// The failure by which the output could not be written.
    pub closed: Option<Stop>,
    /// Output that the reader has not taken yet.
    rest: VecDeque<(Stream, Vec<u8>)>,
    /// Whether the task has not started, by the last report.
    is_pending: bool,
    /// The time of the last reported reason.
    told_ms: Option<u64>,
    /// Whether the task was reported at all; the first report follows the first pass.
    is_told: bool,
    begin_ms: u64,
    pulse: Pulse,
    /// Standard output and standard error as an onlooker sees them, where they are terminals.
    shown: Option<[Pieces; 2]>,
}

/// Shortest interval between two reported reasons, in milliseconds.
const TELL_MS: u64 = 60_000;

/// Surroundings of a caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Around {
    /// Whether the variables of an agent are set.
    pub is_agent: bool,
    /// Whether standard input is a terminal.
    pub has_terminal: bool,
}

/// Time that a caller waits, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Patience {
    /// For the start of the task (`--yield-after`).
    pub start_ms: Option<u64>,
    /// Time that a `wait` may wait for the end of the task (`--timeout`).
    pub end_ms: Option<u64>,
}

impl<'a, 'b, 'c> Room<'a, 'b, 'c> {
    /// The audience of a task that this very caller has queued.
    pub fn new(console: &'a mut Console<'b>, terminal: &'a mut Terminal<'c>) -> Self {
        let begin_ms = (terminal.now_ms)();
        Self {
            console,
            terminal,
            unread: Wish::Unread,
            interrupted: Wish::Cancel,
            patience: Patience::default(),
            leaves_waiting: false,
            passes_keys_on: false,
            closed: None,
            rest: VecDeque::new(),
            is_pending: true,
            told_ms: None,
            is_told: false,
            begin_ms,
            pulse: Pulse::default(),
            shown: None,
        }
    }

    /// The audience of a task that another caller may have queued: neither a signal nor a closed output here ends the task.
    pub fn onlooker(console: &'a mut Console<'b>, terminal: &'a mut Terminal<'c>) -> Self {
        // The log may be that of any caller's task, so it gets no terminal to act on.
        let shown = Some(<[Pieces; 2]>::default());
        Self { unread: Wish::Leave, interrupted: Wish::Leave, shown, ..Self::new(console, terminal) }
    }

    /// Whether the time for the end is over, or for a start that has not come.
    pub fn is_out_of_time(&self) -> bool {
        let passed = (self.terminal.now_ms)().saturating_sub(self.begin_ms);
        let is_over = |limit: Option<u64>| limit.is_some_and(|ms| self.is_told && passed >= ms);
        is_over(self.patience.end_ms) || self.is_pending && is_over(self.patience.start_ms)
    }

    /// Notes the state of the task.
    pub fn saw(&mut self, task: &Task) {
        self.is_pending = task.status() == Status::Pending;
        self.is_told = true;
        if self.passes_keys_on {
            (self.terminal.raw)(task.status() == Status::Running);
        }
    }

    /// Gives the keys of the terminal back to the user.
    pub fn take_keys_back(&mut self) {
        (self.terminal.raw)(false);
    }

    /// The signals that have arrived.
    pub fn interrupts(&mut self) -> Interrupts {
        (self.terminal.interrupts)()
    }
}

impl Room<'_, '_, '_> {
    /// A piece as it is written: text for an onlooker on a terminal, unchanged for all others.
    fn as_shown(&mut self, stream: Stream, bytes: &[u8]) -> Vec<u8> {
        let streams = &self.console.streams;
        let is_terminal = [streams.is_out_terminal, streams.is_err_terminal][stream.index()];
        match self.shown.as_mut().filter(|_| is_terminal) {
            Some(shown) => shown[stream.index()].take(bytes),
            None => bytes.to_vec(),
        }
    }

    /// Writes the held-back rest of the last pieces of a task.
    pub fn show_rest(&mut self) {
        let Some([out, err]) = &mut self.shown else { return };
        let rests = [(Stream::Out, out.end()), (Stream::Err, err.end())];
        for (stream, rest) in rests.into_iter().filter(|(_, rest)| !rest.is_empty()) {
            self.pass_on(stream, &rest);
        }
    }

    /// Passes bytes on to the reader. Returns the number of bytes that were passed on before the user interrupted.
    fn pass_on(&mut self, stream: Stream, bytes: &[u8]) -> usize {
        // After the second interruption, do not wait for a reader that has paused.
        let patience = ((self.terminal.interrupts)().count > 1).then_some(Duration::ZERO);
        let mut done = 0;
        for piece in bytes.chunks(self.terminal.piece) {
            if self.closed.is_none() {
                if !(self.terminal.has_room)(stream, patience) {
                    break;
                }
                // The task goes on if this cannot be written: its log has all of it.
                let passed = match stream {
                    Stream::Out => self.console.out_bytes(piece),
                    Stream::Err => self.console.pass_err_on(piece),
                };
                self.closed = passed.err();
            }
            done += piece.len();
        }
        done
    }
}

impl Audience for Room<'_, '_, '_> {
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        let shown = self.as_shown(stream, bytes);
        self.rest.push_back((stream, shown));
        while let Some((stream, bytes)) = self.rest.pop_front() {
            let done = self.pass_on(stream, &bytes);
            if done < bytes.len() {
                self.rest.push_front((stream, bytes[done..].to_vec()));
                return false;
            }
        }
        true
    }

    fn dropped(&mut self, stream: Stream, bytes: u64) {
        self.console.say(&format!("luzia: {}", dropped_text(stream, bytes)));
    }

    fn progress(&mut self, task: &Task, obstacle: Option<&Obstacle>, place: Option<&InQueue>) {
        self.saw(task);
        let now = (self.terminal.now_ms)();
        self.console.end_live();
        if let (true, true, Some(obstacle)) = (self.console.is_live(), self.is_pending, obstacle) {
            // Of several tasks the line has their number alone.
            if let Some(place) = place {
                let waited_ms = now.saturating_sub(self.begin_ms);
                let at = self.console.now.plus_ms(i64::try_from(waited_ms).unwrap_or(i64::MAX));
                self.console.live(&live_text(task, obstacle, place, waited_ms, at));
                self.pulse.shown((self.terminal.now_ms)());
            }
            return;
        }
        // The first reason at once, later ones at most once a minute.
        if !self.console.verbose
            && obstacle.is_some()
            && self.told_ms.is_some_and(|told| now.saturating_sub(told) < TELL_MS)
        {
            return;
        }
        self.told_ms = obstacle.map(|_| now).or(self.told_ms);
        progress(task, obstacle, place, self.console);
    }

    fn failed(&mut self, error: &AppError) {
        self.console.trouble(Repeated::Pass, error);
    }

    fn again(&mut self) -> Option<Duration> {
        let is_wanted = self.console.is_live() && self.is_pending && self.is_told;
        is_wanted.then(|| self.pulse.left((self.terminal.now_ms)()))
    }

    fn over(&mut self, over: usize, all: usize) {
        self.console.live(&format!("luzia: {} tasks are over", bar(over as u64, all as u64)));
    }

    fn wish(&mut self) -> Wish {
        let seen = self.interrupts();
        let leaves = self.leaves_waiting && self.is_pending && !seen.is_from_keyboard;
        match seen.count {
            0 if matches!(self.closed, Some(Stop::Closed)) => self.unread,
            0 if self.is_out_of_time() => Wish::Leave,
            0 => Wish::GoOn,
            1 if leaves => Wish::Leave,
            1 => self.interrupted,
            _ if self.interrupted == Wish::Leave => Wish::Leave,
            _ => Wish::Kill,
        }
    }
}
