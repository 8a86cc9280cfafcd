//! `run/<id>/away`: the lanes whose slots other holders may have while a process of the task waits for an event. The supervisor
//! writes it before the first lock goes and removes it after all locks exist again; the waiting process returns no earlier. It
//! needs no sync: after a power cut the processes of the task are dead.

use crate::model::{LaneName, TaskId};
use crate::os::Open;
use crate::store::{Changes, Result, RunDir, StoreError, layout};

const AWAY: &str = "away";

fn encode(start: u32, lanes: &[LaneName]) -> String {
    let lines = lanes.iter().map(|lane| format!("{lane}\n"));
    format!("{start}\n{}", lines.collect::<String>())
}

/// Parses a mark; `None` for a mark that an earlier start of the task left.
fn decode(text: &str, start: u32) -> Option<Vec<LaneName>> {
    let (first, lanes) = text.split_once('\n')?;
    (first.parse() == Ok(start)).then(|| lanes.lines().filter_map(|line| LaneName::parse(line).ok()).collect())
}

impl RunDir {
    /// Records the lanes that a task gives up. The caller holds the task's `supervisor.lock`.
    pub fn note_away(&self, id: TaskId, start: u32, lanes: &[LaneName]) -> Result<()> {
        let (tmp, path) = (layout::run_file(id, "away.new"), layout::run_file(id, AWAY));
        self.write_whole(&tmp, Open::Truncate(0o600), encode(start, lanes).as_bytes())?;
        self.rename(&tmp, &path)?.then_some(()).ok_or_else(|| StoreError::Absent { thing: path.into() })
    }

    /// The lanes that a task has given up in a start.
    pub fn away(&self, id: TaskId, start: u32) -> Result<Option<Vec<LaneName>>> {
        let bytes = self.read(&layout::run_file(id, AWAY))?;
        Ok(bytes.and_then(|bytes| decode(&String::from_utf8_lossy(&bytes), start)))
    }

    /// Records that a task has all its lanes. The caller holds the task's `supervisor.lock`.
    pub fn end_away(&self, id: TaskId) -> Result<()> {
        self.unlink(&layout::run_file(id, AWAY)).map(drop)
    }

    /// Watches the signs of the supervisor of a task.
    pub fn watch(&self, id: TaskId) -> Changes {
        Changes::of(self.vfs.watch(&[&layout::run_dir(id)]).ok(), &self.host.clock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_of_its_start_alone() {
        let lanes = vec![LaneName::parse("build").expect("a lane"), LaneName::global()];
        let text = encode(3, &lanes);
        assert_eq!(decode(&text, 3), Some(lanes));
        assert_eq!(decode(&text, 4), None);
        assert_eq!(decode("", 3), None);
        assert_eq!(decode("3\n\u{1}\n", 3), Some(Vec::new()), "a lane that does not read");
    }
}
