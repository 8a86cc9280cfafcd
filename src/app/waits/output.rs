//! `await output`: a wait for the output of another task. Its logs are read from the end of the last such wait of this task, else
//! from their beginning; the offset is a part of the checkpoint.

use crate::app::waits::tail::{Piece, Stream, Tail, unread};
use crate::app::{App, AppError};
use crate::model::name::shortened;
use crate::model::time::format_duration;
use crate::model::{Task, TaskId, Timestamp};
use crate::policy::steps::output::{Lines, Part, STILL_MS, kept, look_again_ms};
use crate::policy::steps::waits::{OutputSeen, WaitEvent};
use crate::store::{OutputEnd, OutputWatch, Waits};
use regex_lite::Regex;

/// Number of bytes of a stream that are read in one look.
const MOST_READ: u64 = 16 * 1024 * 1024;
/// Number of bytes without a match after which the place is made durable.
const NOTED: u64 = 1024 * 1024;
/// The longest pattern.
const MOST_PATTERN_BYTES: usize = 1024;
/// A pause where the logs cannot be looked at now, in milliseconds.
const PAUSE_MS: u64 = 10_000;

/// The output that is waited for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputOrder {
    /// The task.
    pub task: TaskId,
    /// A line that matches this.
    pub pattern: Option<String>,
    /// The output must be silent for so long, in milliseconds.
    pub idle_ms: Option<u64>,
}

/// Checks a pattern.
pub fn check_pattern(text: &str) -> Result<(), AppError> {
    if text.len() > MOST_PATTERN_BYTES {
        let message = format!("the pattern of --match has {} bytes, and {MOST_PATTERN_BYTES} are the most", text.len());
        return Err(AppError::usage(message).hint("match a shorter part of the line"));
    }
    Regex::new(text).map(drop).map_err(|error| {
        AppError::usage(format!("\"--match {}\" is not a regular expression: {error}", shortened(text)))
            .hint("write a \\ before a character that is meant literally, e.g. --match 'done \\(3\\)'")
    })
}

impl OutputOrder {
    /// The name of the wait where an event has its name. No event of this name can be sent.
    pub fn name(&self) -> String {
        match (&self.pattern, self.idle_ms) {
            (Some(pattern), _) => format!("output of {} that matches /{pattern}/", self.task),
            (None, Some(ms)) => format!("silence of {} for {}", self.task, format_duration(ms)),
            (None, None) => format!("output of {}", self.task),
        }
    }

    /// The wait as it is stored: it goes on where the last one for this task has ended.
    pub(crate) fn watch(&self, waits: &Waits) -> OutputWatch {
        let before = waits.done.iter().rev().filter_map(|done| done.output.as_ref());
        let from = before.into_iter().find(|end| end.task == self.task.0).map_or([0, 0], |end| end.to);
        OutputWatch { task: self.task.0, pattern: self.pattern.clone(), idle_ms: self.idle_ms, from }
    }
}

/// The result of a look at the output.
pub(crate) enum Looked {
    /// The wait is over.
    Over(WaitEvent, OutputEnd),
    /// The wait goes on; look again in so many milliseconds at the latest.
    Again(u64),
}

/// The output of one task, read as it grows.
pub(crate) struct OutputReader {
    watch: OutputWatch,
    pattern: Option<Regex>,
    tails: [Tail; 2],
    lines: [Lines; 2],
}

impl OutputReader {
    /// Reads from the place of the wait. An error if its pattern is invalid.
    pub(crate) fn new(watch: &OutputWatch) -> Result<Self, String> {
        let pattern = watch.pattern.as_deref().map(Regex::new).transpose().map_err(|error| error.to_string())?;
        let tails = [Stream::Out, Stream::Err].map(|stream| {
            let mut tail = Tail::new(stream);
            tail.skip_to(watch.from[stream.index()]);
            tail
        });
        Ok(Self { watch: watch.clone(), pattern, tails, lines: watch.from.map(Lines::from) })
    }

    /// The offsets up to which was read without a match, if they are worth being made durable.
    pub(crate) fn progress(&mut self) -> Option<[u64; 2]> {
        let at = [0, 1].map(|n| self.lines[n].begins());
        let is_far = (0..2).any(|n| at[n].saturating_sub(self.watch.from[n]) >= NOTED);
        if is_far {
            self.watch.from = at;
        }
        is_far.then_some(at)
    }

    /// Looks at the output. Output that cannot be read now is looked at later.
    pub(crate) fn look(&mut self, app: &App) -> Looked {
        // The state is read before the logs, so that they then have all output of a finished task.
        match app.find(TaskId(self.watch.task)) {
            Ok(Some((_, task))) => self.look_at(app, &task).unwrap_or(Looked::Again(PAUSE_MS)),
            Ok(None) => self.over(OutputSeen::Ended, None),
            Err(_) => Looked::Again(PAUSE_MS),
        }
    }

    fn look_at(&mut self, app: &App, task: &Task) -> Result<Looked, AppError> {
        let (now, mut is_whole) = (app.host.now(), true);
        let mut last = task.last_start.as_ref().map(|start| start.at);
        let mut still = [0_u64; 2];
        for (n, still_ms) in still.iter_mut().enumerate() {
            self.tails[n].open(&app.run_dir, task)?;
            let Some((size, modified)) = self.tails[n].look().map_err(unread(task))? else { continue };
            *still_ms = now.saturating_ms_since(modified);
            last = last.max(Some(modified).filter(|_| size > 0));
            // From the end of the last read: the lines may end long before it, if the log was cut.
            let to = size.min(self.tails[n].at().saturating_add(MOST_READ));
            is_whole &= to == size;
            if let Some(line) = self.read(n, to, task)? {
                return Ok(self.over(OutputSeen::Matched, Some(line)));
            }
        }
        if !is_whole {
            return Ok(Looked::Again(1));
        }
        for (n, still_ms) in still.into_iter().enumerate() {
            let is_still = task.status().is_final() || still_ms >= STILL_MS;
            if let Some(pattern) = self.pattern.as_ref().filter(|_| is_still)
                && let Some(line) = self.lines[n].take_rest(&mut |part| matching(pattern, part))
            {
                return Ok(self.over(OutputSeen::Matched, Some(line)));
            }
        }
        if task.status().is_final() {
            return Ok(self.over(OutputSeen::Ended, None));
        }
        Ok(self.rest(now, last))
    }

    /// Nothing new has been seen of a task that is not over.
    fn rest(&self, now: Timestamp, last: Option<Timestamp>) -> Looked {
        let Some(last) = last else { return Looked::Again(look_again_ms(0, None)) };
        let still_ms = now.saturating_ms_since(last);
        match self.watch.idle_ms {
            Some(idle_ms) if still_ms >= idle_ms => self.over(OutputSeen::Silent, None),
            idle_ms => Looked::Again(look_again_ms(still_ms, idle_ms.map(|idle_ms| idle_ms - still_ms))),
        }
    }

    /// Reads a stream up to an offset; returns the first line that matches.
    fn read(&mut self, n: usize, to: u64, task: &Task) -> Result<Option<String>, AppError> {
        let (lines, pattern, mut found) = (&mut self.lines[n], self.pattern.as_ref(), None);
        let mut sink = |piece: Piece<'_>| {
            match piece {
                Piece::Dropped { bytes, .. } => lines.drop_bytes(bytes),
                Piece::Bytes { bytes, .. } => {
                    found = lines.take(bytes, &mut |part| pattern.and_then(|pattern| matching(pattern, part)));
                }
                Piece::Attempt { .. } => {}
            }
            found.is_none()
        };
        self.tails[n].copy(to, task.attempt(), Timestamp::FIRST, &mut sink).map_err(unread(task))?;
        Ok(found)
    }

    fn over(&self, seen: OutputSeen, line: Option<String>) -> Looked {
        let end = OutputEnd {
            task: self.watch.task,
            outcome: seen.word().to_owned(),
            line,
            to: [0, 1].map(|n| self.lines[n].begins()),
        };
        Looked::Over(seen.means(self.watch.pattern.is_none()), end)
    }
}

/// The part of a matching line that is kept. In a part of a longer line, `^` and `$` match at the ends of the line only.
fn matching(pattern: &Regex, part: Part<'_>) -> Option<String> {
    let text = String::from_utf8_lossy(part.bytes);
    let first = text.chars().next().map_or(0, char::len_utf8);
    let found = pattern.find_at(&text, if part.is_begin { 0 } else { first })?;
    // With a character behind the part, a pattern that needs the end of the line does not match any more.
    if !part.is_end && pattern.find_at(&format!("{text}-"), found.start()).is_none() {
        return None;
    }
    Some(kept(&text, found.range()))
}
