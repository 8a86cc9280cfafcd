//! Keeps the logs of a running task within their limit, and notes in which order its two streams grow. The command writes to
//! the files itself, so its output survives the death of its supervisor; a look costs two system calls.

use crate::model::{Task, TaskId};
use crate::os::{Child, Handle, Woken};
use crate::policy::retention::{Extent, cuts, note_pause_ms};
use crate::store::{Conductor, Event, LogNote, Site};
use serde_json::json;
use std::io;
use std::time::Duration;

/// Looks at the logs of one attempt.
pub(super) struct LogKeeper<'a> {
    site: &'a Site,
    task: &'a Task,
    limit: u64,
    open: Option<Open>,
}

/// Files that are open once the command has written any output.
struct Open {
    conductor: Conductor,
    logs: [Box<dyn Handle>; 2],
    cut: [u64; 2],
    /// Whether the file system cannot free a part of a file.
    is_uncuttable: bool,
    notes: Option<Box<dyn Handle>>,
    /// Number of notes that were made, and the time and the lengths of the last one.
    noted: (u32, u64, [u64; 2]),
}

impl<'a> LogKeeper<'a> {
    pub(super) fn new(site: &'a Site, task: &'a Task, limit: u64) -> Self {
        Self { site, task, limit, open: None }
    }

    /// Waits for the child as [`Child::wait`] does, and looks after its logs meanwhile.
    pub(super) fn wait(&mut self, child: &mut dyn Child, time: Duration) -> io::Result<Woken> {
        let begin = self.site.host.boot_ms();
        loop {
            let passed = Duration::from_millis(self.site.host.boot_ms().saturating_sub(begin));
            match child.wait(Some(time.saturating_sub(passed)))? {
                Woken::Wrote => self.look(),
                woken => return Ok(woken),
            }
        }
    }

    /// Looks at the logs. A failure is tried again at the next look, and never ends the task: its output is in its logs all
    /// the same.
    fn look(&mut self) {
        if self.open.is_none() {
            self.open = open(self.site, self.task);
        }
        if let Some(open) = &mut self.open {
            open.look(self.site, self.task, self.limit, false);
        }
    }

    /// The last look, when no process writes any more.
    pub(super) fn finish(mut self) {
        if let Some(open) = &mut self.open {
            open.look(self.site, self.task, self.limit, true);
        }
    }
}

fn open(site: &Site, task: &Task) -> Option<Open> {
    let conductor = site.run_dir.conductor(&task.conductor_dir, false).ok()??;
    let logs = conductor.logs_of_running(task.id).ok()??;
    let cut = [logs[0].first_data().ok()?, logs[1].first_data().ok()?];
    // An empty file, or one that another attempt has filled, has nothing new.
    let ends = [logs[0].meta().ok()?.size, logs[1].meta().ok()?.size];
    let cut = [cut[0].min(ends[0]), cut[1].min(ends[1])];
    Some(Open { conductor, logs, cut, is_uncuttable: false, notes: None, noted: (0, 0, [0, 0]) })
}

impl Open {
    fn look(&mut self, site: &Site, task: &Task, limit: u64, is_last: bool) {
        let [Ok(out), Ok(err)] = [self.logs[0].meta(), self.logs[1].meta()] else { return };
        let ends = [out.size, err.size];
        let now_ms = site.host.boot_ms();
        let (count, noted_ms, noted) = self.noted;
        let is_due = is_last || now_ms.saturating_sub(noted_ms) >= note_pause_ms(count);
        if ends != noted && is_due {
            self.noted = (count.saturating_add(1), now_ms, ends);
            self.note(site, task.id, ends);
        }
        let extent = |n: usize| Extent { cut: self.cut[n], end: ends[n] };
        if let Some(cut) = cuts(limit, [extent(0), extent(1)]).filter(|_| !self.is_uncuttable) {
            self.cut_at(site, task, cut);
        }
    }

    fn note(&mut self, site: &Site, id: TaskId, ends: [u64; 2]) {
        if self.notes.is_none() {
            self.notes = self.conductor.open_notes(id).ok();
        }
        let note = LogNote { at: site.host.now(), ends, attempt: None };
        if let Some(notes) = &mut self.notes {
            // On a full disk the order is lost, and nothing else.
            let _ = notes.write_all(note.to_line().as_bytes());
        }
    }

    fn cut_at(&mut self, site: &Site, task: &Task, cut: [u64; 2]) {
        let is_first = self.cut == [0, 0];
        for (n, to) in cut.into_iter().enumerate() {
            if to == self.cut[n] {
                continue;
            }
            if let Err(error) = self.logs[n].free_front(to) {
                self.is_uncuttable = matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput);
                if self.is_uncuttable {
                    let told = format!("its logs grow beyond logs.max_bytes: {error}");
                    site.store.note(&Event::of("logs_not_cut", task).saying(told));
                }
                return;
            }
            self.cut[n] = to;
        }
        if is_first {
            let told = "its logs reached logs.max_bytes, and their oldest part is dropped from now on";
            site.store
                .note(&Event::of("logs_cut", task).saying(told.to_owned()).with(json!({ "attempt": task.attempt() })));
        }
    }
}
