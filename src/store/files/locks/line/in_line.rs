//! A request for a lane and its place in the line (`InLine`), and the waiters in the line for commands that show them.
//!
//! The name of a place describes its waiter (`LineWaiter`): the process, the start of the wait, and the note of its agent and its
//! label. `waiters` reads these names and changes nothing.

use super::Place;
use crate::model::lock::{Asker, LineJudge};
use crate::model::name::{from_hex, hex};
use crate::model::who::clean;
use crate::model::{LaneName, SandboxId, Timestamp, Who};
use crate::os::FileKind;
use crate::store::{Result, Spool, layout};

/// A request for a lane, and its place in the line, once it has one.
pub struct InLine<'a> {
    /// The judge of the turns.
    pub(in crate::store) turn: LineJudge,
    /// The kind of the asker.
    pub(in crate::store) asker: Asker,
    /// The sandbox of the waiter or of the task.
    pub(in crate::store) sandbox: Box<dyn Fn() -> Option<SandboxId> + 'a>,
    /// The agent and the label of the waiter, which other processes read beside its process.
    pub(in crate::store) note: String,
    pub(in crate::store) place: Option<Place>,
    /// The place that was given up in a guard. It ends outside of the guard, because its end lets the next one into the guard.
    pub(in crate::store) left: Option<Place>,
    /// Whether no place could be made.
    pub(in crate::store) cannot_stand: bool,
}

impl<'a> InLine<'a> {
    /// The request of a waiter, which takes a place in the line when the lane cannot be had at once.
    pub fn waiting(turn: LineJudge, sandbox: impl Fn() -> Option<SandboxId> + 'a) -> Self {
        Self::of(turn, Asker::Newcomer, sandbox)
    }

    /// The request of an asker that does not wait.
    pub fn once(turn: LineJudge) -> Self {
        Self::of(turn, Asker::Once, || None)
    }

    /// The request of a dispatcher, for a task that was queued in a sandbox.
    pub(crate) fn of_task(turn: LineJudge, sandbox: impl Fn() -> Option<SandboxId> + 'a) -> Self {
        Self::of(turn, Asker::Task, sandbox)
    }

    fn of(turn: LineJudge, asker: Asker, sandbox: impl Fn() -> Option<SandboxId> + 'a) -> Self {
        let note = note(None, None);
        Self { turn, asker, sandbox: Box::new(sandbox), note, place: None, left: None, cannot_stand: false }
    }

    /// Adds the note on the waiter for other processes.
    #[must_use]
    pub fn shown_as(self, who: &Who) -> Self {
        Self { note: note(who.agent.as_deref(), who.label.as_deref()), ..self }
    }

    /// Number of waiters before this one in the line, as of the last try; `None` without a place.
    pub fn position(&self) -> Option<usize> {
        self.place.as_ref().map(|place| place.ahead)
    }

    /// Whether the request has a place in the line of a lane.
    pub fn stands_in(&self, lane: &LaneName) -> bool {
        self.place.as_ref().is_some_and(|place| place.folder == layout::line(&lane.stem()))
    }

    /// Whether the first of the line notices the end of the holder.
    pub fn sees_life(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.holder.is_some())
    }
}

/// Number of bytes of an agent's name and of a label that are shown: a file's name has 255.
const MOST_AGENT_BYTES: usize = 16;
const MOST_LABEL_BYTES: usize = 40;

/// A waiter in the line of a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineWaiter {
    /// The place of the waiter, from 1.
    pub position: usize,
    /// The process of the waiter.
    pub pid: u32,
    /// The start of the waiter's wait.
    pub since: Timestamp,
    /// The agent of the waiter.
    pub agent: Option<String>,
    /// The note of the waiter for people.
    pub label: Option<String>,
}

/// The agent and the label of a waiter as a part of a file name, without a dot.
pub(crate) fn note(agent: Option<&str>, label: Option<&str>) -> String {
    let part = |text: Option<&str>, most| hex(text.and_then(|text| clean(text, most)).unwrap_or_default().as_bytes());
    format!("{}-{}", part(agent, MOST_AGENT_BYTES), part(label, MOST_LABEL_BYTES))
}

fn unhex(digits: &str) -> Option<String> {
    clean(&String::from_utf8(from_hex(digits)?).ok()?, MOST_LABEL_BYTES)
}

/// The waiter that the name of a place describes: `<number>.<sandbox>.<pid>-<start>-<boot ms>-<again>.<agent>-<label>`.
fn waiter_of(name: &str, boot_ms: u64, now: Timestamp) -> Option<LineWaiter> {
    let mut parts = name.split('.').skip(2);
    let mut process = parts.next()?.split('-');
    let pid = process.next()?.parse().ok()?;
    let since_ms: u64 = process.nth(1)?.parse().ok()?;
    let waited = i64::try_from(boot_ms.saturating_sub(since_ms)).unwrap_or(0);
    let (agent, label) = parts.next().and_then(|note| note.split_once('-')).unwrap_or_default();
    Some(LineWaiter { position: 0, pid, since: now.plus_ms(-waited), agent: unhex(agent), label: unhex(label) })
}

impl Spool {
    /// The living waiters in the line of a lane, in their order.
    pub fn waiters(&self, lane: &LaneName) -> Result<Vec<LineWaiter>> {
        let line = self.read_line(&layout::line(&lane.stem()))?;
        let mut waiters = Vec::new();
        for ticket in &line.tickets {
            // A place that cannot be looked at is shown: to leave it out would say that there is no waiter.
            let lives = self.vfs.is_pipe_alive(&line.path(&ticket.name)).unwrap_or(true);
            let found = waiter_of(&ticket.name, self.host.clock.boot_ms(), self.host.clock.now()).filter(|_| lives);
            waiters.extend(found.map(|waiter| LineWaiter { position: waiters.len() + 1, ..waiter }));
        }
        Ok(waiters)
    }

    /// The lanes that have a line.
    pub fn lanes_with_line(&self) -> Result<Vec<LaneName>> {
        let line = |name: &str| LaneName::from_stem(name.strip_prefix('.')?.strip_suffix(".line")?);
        let folders = self.list(layout::LOCKS)?.into_iter().filter(|entry| entry.kind == FileKind::Dir);
        let mut lanes: Vec<LaneName> = folders.filter_map(|entry| line(&entry.name)).collect();
        lanes.sort_unstable();
        Ok(lanes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_place_tells_its_waiter() {
        let name = format!("7.4026531836-1.77-500-9000-0.{}", note(Some("codex"), Some("Ann's déploy.s")));
        let waiter = waiter_of(&name, 12_000, Timestamp(100_000)).expect("a waiter");
        assert_eq!((waiter.pid, waiter.since), (77, Timestamp(97_000)));
        assert_eq!((waiter.agent.as_deref(), waiter.label.as_deref()), (Some("codex"), Some("Ann's déploy.s")));
        let plain = waiter_of("1..42-5-11000-3", 12_000, Timestamp(100_000)).expect("one of an earlier version");
        assert_eq!((plain.pid, plain.agent, plain.label), (42, None, None));
        assert_eq!(waiter_of("1..x", 0, Timestamp(0)), None);
    }

    #[test]
    fn a_note_is_short_enough_for_a_file_name() {
        let long = "\u{1f600}".repeat(100);
        assert!(note(Some(&long), Some(&long)).len() <= 2 * (MOST_AGENT_BYTES + MOST_LABEL_BYTES) + 1);
        assert_eq!(note(None, None), "-");
    }
}
