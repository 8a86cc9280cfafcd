//! `logs`: the output of tasks, from their conductor directories, both streams in the order that their supervisors noted;
//! `-f` goes on until the tasks are over.

use crate::app::loans::{end_loans, heed_signals, lend_to};
use crate::app::query::cycles::await_in_locks;
pub use crate::app::waits::tail::Stream;
use crate::app::waits::tail::{Pace, Piece, Sink, Tail, unread};
use crate::app::{App, AppError, fleet};
use crate::model::sorted::sort_by;
use crate::model::{Task, TaskId, Timestamp};
use crate::store::{LogNotes, STDOUT_LOG};
use std::time::Duration;

/// The part of the logs that is wanted.
#[derive(Clone, Default, Debug)]
pub struct Wanted {
    /// One stream only.
    pub stream: Option<Stream>,
    /// The last lines of each stream only.
    pub last_lines: Option<usize>,
    /// One attempt only, from 1.
    pub attempt: Option<u32>,
    /// Only what was written after this moment.
    pub since: Option<Timestamp>,
}

/// The logs of one task, read as they grow.
struct Reading {
    id: TaskId,
    tails: Vec<Tail>,
    notes: LogNotes,
    attempt: u32,
    wanted: Wanted,
    is_begun: bool,
}

impl Reading {
    fn new(id: TaskId, wanted: &Wanted) -> Self {
        let streams = [Stream::Out, Stream::Err].into_iter();
        let tails = streams.filter(|stream| wanted.stream.is_none_or(|only| only == *stream)).map(Tail::new).collect();
        Self { id, tails, notes: LogNotes::default(), attempt: 1, wanted: wanted.clone(), is_begun: false }
    }

    /// Gives the output since the last call. False if the sink wants no more.
    fn go_on(&mut self, app: &App, task: &Task, sink: &mut Sink<'_>) -> Result<bool, AppError> {
        for tail in &mut self.tails {
            tail.open(&app.run_dir, task)?;
        }
        // The lengths are read before the notes, so that the bytes up to them belong to no attempt that begins later.
        let looks = self.tails.iter().map(Tail::look).collect::<std::io::Result<Vec<_>>>().map_err(unread(task))?;
        let notes = match app.run_dir.conductor(&task.conductor_dir, false)? {
            Some(conductor) if looks.iter().any(Option::is_some) => self.notes.more(&conductor, task.id)?,
            _ => Vec::new(),
        };
        if !self.is_begun && looks.iter().any(Option::is_some) {
            self.is_begun = true;
            for (tail, look) in self.tails.iter_mut().zip(&looks) {
                let Some(lines) = self.wanted.last_lines else { continue };
                let is_later = |attempt: u32| self.wanted.attempt.is_some_and(|wanted| attempt > wanted);
                let later = notes.iter().find(|note| note.attempt.is_some_and(is_later));
                let end = later.map(|note| note.ends[tail.stream.index()]).or(look.map(|(size, _)| size));
                tail.skip_to_last(lines, end.unwrap_or(0)).map_err(unread(task))?;
            }
        }
        for note in &notes {
            let ends: Vec<_> = self.tails.iter().map(|tail| (note.ends[tail.stream.index()], note.at)).collect();
            if !self.give(task, &ends, sink)? {
                return Ok(false);
            }
            if let Some(attempt) = note.attempt {
                let is_another = self.attempt != attempt;
                self.attempt = attempt;
                let told = Piece::Attempt { attempt, at: note.at };
                if is_another && self.is_wanted(note.at) && !sink(told) {
                    return Ok(false);
                }
            }
        }
        let now = app.host.now();
        let end = |look: &Option<(u64, Timestamp)>| match look {
            Some((size, modified)) if task.status().is_final() => (*size, *modified),
            Some((size, modified)) => (*size, now.min(*modified)),
            None => (0, now),
        };
        let ends: Vec<_> = looks.iter().map(end).collect();
        self.give(task, &ends, sink)
    }

    fn is_wanted(&self, at: Timestamp) -> bool {
        self.wanted.attempt.is_none_or(|attempt| attempt == self.attempt)
            && self.wanted.since.is_none_or(|since| at >= since)
    }

    fn give(&mut self, task: &Task, ends: &[(u64, Timestamp)], sink: &mut Sink<'_>) -> Result<bool, AppError> {
        for (n, (end, at)) in ends.iter().copied().enumerate() {
            let is_wanted = self.is_wanted(at);
            let Some(tail) = self.tails.get_mut(n) else { break };
            if !is_wanted {
                tail.skip_to(end);
            } else if !tail.copy(end, self.attempt, at, sink).map_err(unread(task))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_open(&self) -> bool {
        self.tails.iter().any(Tail::is_open)
    }

    /// Number of bytes that were read.
    fn read(&self) -> u64 {
        self.tails.iter().map(Tail::at).sum()
    }
}

/// Gives the output since the last call to `sink`, which returns whether to continue. False if it does not.
pub fn copy_logs(app: &App, task: &Task, tails: &mut [Tail], sink: &mut Sink<'_>) -> Result<bool, AppError> {
    for tail in tails.iter_mut() {
        tail.open(&app.run_dir, task)?;
        // Up to its present length: a command may write faster than this reads.
        let Some((size, at)) = tail.look().map_err(unread(task))? else { continue };
        if !tail.copy(size, task.attempt(), at, sink).map_err(unread(task))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Prints the logs of tasks, one after another; with `follow`, all at the same time, waiting for those that have not
/// started and going on until all are over.
pub fn logs(
    app: &App,
    ids: &[TaskId],
    wanted: &Wanted,
    follow: bool,
    sink: &mut dyn FnMut(TaskId, Piece<'_>) -> bool,
) -> Result<(), AppError> {
    let mut readings: Vec<Reading> = ids.iter().map(|id| Reading::new(*id, wanted)).collect();
    let (mut changes, mut pace) = (follow.then(|| app.store.watch()), Pace::new(app.host.boot_ms()));
    for id in ids {
        app.existing(*id)?;
    }
    let _awaited = if follow { await_in_locks(app, ids)? } else { Vec::new() };
    let mut lent = if follow { lend_to(app, ids.iter().copied())? } else { Vec::new() };
    while !readings.is_empty() {
        let mut unfinished = Vec::new();
        for mut reading in readings {
            let id = reading.id;
            // The state is read before the log, so that the log then has all output of a finished task.
            let task = app.existing(id)?;
            if !reading.go_on(app, &task, &mut |piece| sink(id, piece))? {
                // The reader has gone.
                return end_loans(app, lent, false, None);
            }
            if !task.status().is_final() {
                unfinished.push(reading);
            }
        }
        readings = unfinished;
        let Some(changes) = changes.as_mut().filter(|_| !readings.is_empty()) else { break };
        heed_signals(app, &mut lent)?;
        let paced = pace.pause_ms(readings.iter().map(Reading::read).sum(), app.host.boot_ms());
        changes.wait(Duration::from_millis(if readings.iter().any(Reading::is_open) { paced } else { 500 }));
    }
    end_loans(app, lent, true, None)
}

/// Whether the logs of a task are on this host.
pub fn has_output_here(app: &App, task: &Task) -> bool {
    let conductor = app.run_dir.conductor(&task.conductor_dir, false).ok().flatten();
    conductor.is_some_and(|conductor| matches!(conductor.read_log(task.id, STDOUT_LOG), Ok(Some(_))))
}

/// The tasks of several hosts whose output is not on this host, each with the part of it that was posted.
pub fn elsewhere(app: &App, ids: &[TaskId]) -> Result<Vec<(TaskId, fleet::Tail)>, AppError> {
    let mut found = Vec::new();
    for (id, store) in ids.iter().filter_map(|id| Some((*id, app.fleet.as_ref()?))) {
        let task = app.existing(id)?;
        if task.starts > 0 && !has_output_here(app, &task) {
            found.push((id, store.tail(id)?));
        }
    }
    Ok(found)
}

/// The newest task that is there; inside a task, the newest of its user.
pub(crate) fn last_task(app: &App) -> Result<Option<TaskId>, AppError> {
    newest_task(app, app.inside.as_ref().and_then(|inside| inside.user.as_deref()))
}

/// The newest task that is there, of a user where one is given.
pub fn newest_task(app: &App, user: Option<&str>) -> Result<Option<TaskId>, AppError> {
    if let Some(fleet) = &app.fleet {
        return fleet.newest(user);
    }
    let mut ids = Vec::new();
    app.store.visit_ids(&mut |_, id| ids.push(id))?;
    sort_by(&mut ids, |a, b| b.cmp(a));
    for id in ids {
        let task = app.find(id)?.map(|(_, task)| task);
        if task.is_some_and(|task| user.is_none_or(|user| task.user.as_str() == user)) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}
