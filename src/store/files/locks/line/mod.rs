//! The line of a lane: the processes that wait for it with `lock` or `acquire`, in the order of arrival. A place is a named pipe
//! `locks/.<lane>.line/<number>.<sandbox>.<process>.<note>` that its waiter holds open. So the kernel wakes the next one when
//! that waiter is gone, killed or not, in every pid namespace. The process that frees the lane calls the first. A waiter hears
//! its call and the end of the one before it, and nothing else.
//!
//! The line only orders: the lock itself excludes. A lost call costs time, because every waiter asks again by itself. Places are
//! taken and given up without the guard of the lane; only the first of the line enters the guard. It finds the lane held in the
//! guard, where the lane is freed as well, so it misses no call. Names are never used again, so a process that has seen that a
//! place belongs to a dead one may remove it at any time. The folder goes with its last place.

mod in_line;
pub(crate) mod turns;

pub use in_line::{InLine, LineWaiter};

use crate::model::lock::{Asker, LineFacts};
use crate::model::sorted::sort_by;
use crate::model::{LaneName, LockKind, SandboxId, TaskId};
use crate::os::{Entry, FileKind, Handle, Open, Pipe};
use crate::store::files::disk::lock_retry::FILE_WAIT_MS;
use crate::store::files::locks::line::turns::{TASKS_NEXT, TASKS_TURN, TASKS_WAIT};
use crate::store::{FreedBy, LockView, Result, Spool, StoreError, layout};
use std::time::Duration;

/// Time for which a newcomer tries to enter the guard before it takes a place in the line, in milliseconds.
const IN_PASSING_MS: u64 = 2;
/// Number of tries to take a place in a folder that other processes remove.
const JOINS: u32 = 100;

/// The first pause between two looks at the life of a holder; it doubles.
const FIRST_LOOK: Duration = Duration::from_millis(50);

/// A place in the line of a lane.
pub(in crate::store) struct Place {
    pipe: Box<dyn Pipe>,
    folder: String,
    number: u64,
    name: String,
    path: String,
    /// Number of waiters before this place.
    ahead: usize,
    /// The life of the holder of the lane, for the first of the line.
    holder: Option<Life>,
}

/// Evidence that a holder lives, without the guard: the kernel lock that lasts as long as the holder.
struct Life {
    kernel_lock: Box<dyn Handle>,
    lock_path: String,
    lock_ident: (u64, u64),
}

/// Content of the folder of a line.
pub(crate) struct Line {
    pub folder: String,
    /// In the order of arrival; of those that came at once, by name.
    pub tickets: Vec<Ticket>,
    pub has_waiting_tasks: bool,
    pub may_have_tasks: bool,
    pub is_tasks_turn: bool,
}

pub(crate) struct Ticket {
    number: u64,
    pub name: String,
}

impl Ticket {
    /// The sort key of places.
    fn key(&self) -> (u64, &str) {
        (self.number, &self.name)
    }

    fn sandbox(&self) -> Option<SandboxId> {
        self.name.split('.').nth(1).and_then(SandboxId::parse)
    }
}

impl Line {
    pub fn of(folder: &str, entries: &[Entry]) -> Self {
        let has = |name: &str| entries.iter().any(|entry| entry.name == name);
        let ticket = |entry: &Entry| {
            let number = entry.name.split('.').next().and_then(|number| number.parse().ok())?;
            (entry.kind != FileKind::Dir).then(|| Ticket { number, name: entry.name.to_string() })
        };
        let mut tickets: Vec<Ticket> = entries.iter().filter_map(ticket).collect();
        sort_by(&mut tickets, |one, other| one.key().cmp(&other.key()));
        Self {
            folder: folder.to_owned(),
            tickets,
            has_waiting_tasks: has(TASKS_WAIT),
            may_have_tasks: has(TASKS_NEXT),
            is_tasks_turn: has(TASKS_TURN),
        }
    }

    pub fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }
}

/// Time for which an asker tries to enter the guard of the lane. One that may wait in the line does not join the crowd there.
pub(crate) fn patience_ms(in_line: &InLine<'_>) -> u64 {
    let may_join = in_line.asker == Asker::Newcomer && in_line.place.is_none() && !in_line.cannot_stand;
    if may_join { IN_PASSING_MS } else { FILE_WAIT_MS }
}

impl Spool {
    /// Whether it is the asker's turn in a free lane; for a task that must give way this is noted in the line. The caller is
    /// in the guard. `locks` is a listing of all locks, which shows that most lanes have no line.
    pub(crate) fn has_turn(&self, stem: &str, locks: &[Entry], in_line: &InLine<'_>) -> Result<bool> {
        let folder = layout::line(stem);
        let name = layout::line_name(stem);
        if !locks.iter().any(|entry| entry.kind == FileKind::Dir && entry.name == name) {
            return Ok(true);
        }
        let line = self.read_line(&folder)?;
        let own = in_line.place.as_ref().filter(|place| place.folder == folder).map(|place| place.name.as_str());
        let first = self.first_living(&line, own)?;
        let asker = match (in_line.asker, own) {
            (asker @ (Asker::Task | Asker::Once), _) => asker,
            (_, Some(own)) if first.is_some_and(|first| first.name == own) => Asker::First,
            (_, Some(_)) => Asker::Behind,
            (asker, None) if !in_line.cannot_stand => asker,
            (_, None) => Asker::Behind,
        };
        let age_ms = |name: &str| -> Result<Option<i64>> {
            Ok(self.meta(&line.path(name))?.map(|meta| self.host.clock.now().ms_since(meta.modified)))
        };
        let facts = LineFacts {
            asker,
            called_ms: first.map_or(Ok(None), |first| age_ms(&first.name))?,
            tasks_called_ms: if line.is_tasks_turn { age_ms(TASKS_TURN)? } else { None },
            comes_again: asker == Asker::Task && self.comes_again(first, (in_line.sandbox)())?,
        };
        let has_turn = (in_line.turn)(&facts);
        if has_turn {
            let is_tasks = asker == Asker::Task;
            self.unmark(&line, TASKS_TURN, line.is_tasks_turn)?;
            self.unmark(&line, TASKS_WAIT, is_tasks && line.has_waiting_tasks)?;
            self.unmark(&line, TASKS_NEXT, is_tasks && line.may_have_tasks)?;
            if asker == Asker::Behind {
                self.remove_passed(&line, own)?;
            }
            if first.is_none() {
                self.remove_dir(&folder)?;
            }
        } else if asker == Asker::Task && !line.has_waiting_tasks {
            self.mark(&line.path(TASKS_WAIT))?;
        }
        Ok(has_turn)
    }

    /// Removes the places of waiters that were passed because they are stopped: each grant would wait for them again. When
    /// they go on they take new places.
    fn remove_passed(&self, line: &Line, own: Option<&str>) -> Result<()> {
        for passed in line.tickets.iter().take_while(|ticket| own.is_some_and(|own| ticket.name != own)) {
            self.unlink(&line.path(&passed.name))?;
        }
        Ok(())
    }

    /// Whether a process makes a pass for a task of this sandbox after the next one of the line: that process does so itself
    /// if it may start the task, and a dispatcher does anyway.
    fn comes_again(&self, first: Option<&Ticket>, sandbox: Option<SandboxId>) -> Result<bool> {
        let is_same = sandbox.is_some() && first.and_then(Ticket::sandbox) == sandbox;
        Ok(is_same || self.has_dispatcher(sandbox.as_ref())?)
    }

    pub(crate) fn read_line(&self, folder: &str) -> Result<Line> {
        Ok(Line::of(folder, &self.list(folder)?))
    }

    /// The first living waiter of a line; removes the places of the dead before it. `own` lives.
    fn first_living<'l>(&self, line: &'l Line, own: Option<&str>) -> Result<Option<&'l Ticket>> {
        for ticket in &line.tickets {
            if Some(ticket.name.as_str()) == own || self.is_waiter_alive(&line.path(&ticket.name))? {
                return Ok(Some(ticket));
            }
            self.unlink(&line.path(&ticket.name))?;
        }
        Ok(None)
    }

    fn is_waiter_alive(&self, path: &str) -> Result<bool> {
        self.vfs.is_pipe_alive(path).map_err(StoreError::io("look at", path))
    }

    /// Takes a place in the line of a lane, or keeps the present one, and watches the process before it. Needs no guard. If no
    /// place can be made, as on a full disk, the asker goes on without one.
    pub fn join_line(&self, lane: &LaneName, in_line: &mut InLine<'_>) {
        self.stand(&lane.stem(), in_line, None);
    }

    /// Like `join_line`, for a process that has found the lane held, or the turn not its own, in the guard in which it still
    /// is.
    pub(crate) fn stand(&self, stem: &str, in_line: &mut InLine<'_>, holder: Option<&LockView>) {
        if in_line.asker != Asker::Newcomer {
            return;
        }
        let folder = layout::line(stem);
        if in_line.place.as_ref().is_some_and(|place| place.folder != folder) {
            self.leave_line(in_line);
        }
        if in_line.place.is_none() {
            self.take_place(&folder, in_line);
        }
        let Some(place) = in_line.place.as_mut() else { return };
        match self.watch_before(place) {
            Ok(true) => {}
            // Other processes have passed it.
            Ok(false) => return self.take_place(&folder, in_line),
            // The waiter then finds the one before it by its own looks.
            Err(_) => place.pipe.watch_none(),
        }
        place.holder = holder.filter(|_| place.ahead == 0).and_then(|view| self.life_of(view).ok().flatten());
    }

    fn take_place(&self, folder: &str, in_line: &mut InLine<'_>) {
        in_line.place = self.join(folder, (in_line.sandbox)(), &in_line.note).ok();
        in_line.cannot_stand = in_line.place.is_none();
    }

    fn join(&self, folder: &str, sandbox: Option<SandboxId>, note: &str) -> Result<Place> {
        let sandbox = sandbox.map(|sandbox| sandbox.to_string()).unwrap_or_default();
        let process = format!("{}-{}-{}", self.host.me.pid, self.host.me.start, self.host.clock.boot_ms());
        let mut number = 0;
        let made = self.pipe_in(folder, &mut |again| {
            number = self.read_line(folder)?.tickets.last().map_or(1, |last| last.number.saturating_add(1));
            Ok(format!("{number}.{sandbox}.{process}-{again}.{note}"))
        })?;
        let (pipe, name) = made.ok_or_else(|| StoreError::io("make", folder)(crate::os::taken()))?;
        let path = format!("{folder}/{name}");
        Ok(Place { pipe, folder: folder.to_owned(), number, name, path, ahead: 0, holder: None })
    }

    /// Makes a named pipe in a folder. Other processes remove an empty folder at any time, so several tries are made, each with
    /// the name that `name` gives for it. A pipe of that name whose maker is dead is removed; `None` when the maker lives.
    pub(crate) fn pipe_in(
        &self,
        folder: &str,
        name: &mut dyn FnMut(u32) -> Result<String>,
    ) -> Result<Option<(Box<dyn Pipe>, String)>> {
        for again in 0..JOINS {
            self.make_dir(folder)?;
            let name = name(again)?;
            let path = format!("{folder}/{name}");
            match self.vfs.make_pipe(&path) {
                Ok(Some(pipe)) => return Ok(Some((pipe, name))),
                Ok(None) if self.is_waiter_alive(&path)? => return Ok(None),
                Ok(None) => drop(self.unlink(&path)?),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => {
                    self.remove_dir(folder)?;
                    return Err(StoreError::io("make", &path)(error));
                }
            }
        }
        Err(StoreError::io("make", folder)(crate::os::absent()))
    }

    /// Watches the last one of `paths` whose maker lives, and removes the pipes of dead makers behind it. Returns its place,
    /// from 1; 0 when no maker lives.
    pub(crate) fn watch_last(&self, pipe: &mut dyn Pipe, mut paths: Vec<String>) -> Result<usize> {
        while let Some(path) = paths.last() {
            if pipe.watch(path).map_err(StoreError::io("watch", path))? {
                break;
            }
            self.unlink(path)?;
            paths.pop();
        }
        Ok(paths.len())
    }

    /// Waits for a call, or for the end of the watched maker; false when `longest` has passed.
    pub(crate) fn wait_for_call(&self, pipe: &mut dyn Pipe, longest: Duration) -> bool {
        let woken = pipe.wait(longest);
        if woken.is_err() {
            self.host.clock.sleep(longest.min(FIRST_LOOK));
        }
        woken.unwrap_or(true)
    }

    /// Watches the nearest living waiter before a place; removes the places of the dead between them. False when the place
    /// itself was taken away.
    fn watch_before(&self, place: &mut Place) -> Result<bool> {
        let line = self.read_line(&place.folder)?;
        if line.tickets.iter().all(|ticket| ticket.name != place.name) {
            return Ok(false);
        }
        let own = (place.number, place.name.as_str());
        let before = line.tickets.iter().take_while(|ticket| ticket.key() < own);
        let before = before.map(|ticket| line.path(&ticket.name)).collect();
        place.pipe.watch_none();
        place.ahead = self.watch_last(place.pipe.as_mut(), before)?;
        Ok(true)
    }

    /// Evidence of a holder's life; `None` if no kernel lock gives any, or the lock is free and so proves nothing.
    fn life_of(&self, view: &LockView) -> Result<Option<Life>> {
        let lock_path = format!("{}/{}.lock", layout::LOCKS, view.stem);
        let Some(record) = view.record() else { return Ok(None) };
        let path = match record.kind {
            // A keeper shares the lock; only an exclusive try shows that it is free.
            LockKind::Process | LockKind::Session => lock_path.clone(),
            LockKind::Task => match record.task_id.as_deref().and_then(TaskId::parse) {
                Some(task) => layout::run_file(task, crate::store::run_dir::SUPERVISOR_LOCK),
                None => return Ok(None),
            },
            LockKind::Lease | LockKind::Wait | LockKind::Foreign => return Ok(None),
        };
        let Some(mut kernel_lock) = self.open(&path, Open::ReadOnly)? else { return Ok(None) };
        let Some(lock) = self.meta(&lock_path)? else { return Ok(None) };
        if is_free(kernel_lock.as_mut()) {
            return Ok(None);
        }
        Ok(Some(Life { kernel_lock, lock_path, lock_ident: lock.ident }))
    }

    /// Waits for the turn in the line, `longest` at most; false when that time has passed. The first of the line looks at the
    /// life of the holder, with pauses that grow to `life_look`. Returns `None` at once without a place.
    pub fn wait_in_line(&self, in_line: &mut InLine<'_>, longest: Duration, life_look: Duration) -> Option<bool> {
        let place = in_line.place.as_mut()?;
        let Some(holder) = &mut place.holder else {
            let pipe = place.pipe.as_mut();
            let has_watched = pipe.watches();
            let is_woken = self.wait_for_call(pipe, longest);
            // The one before it has gone, mostly because it has the lane now. Then its call says when the lane is free.
            if has_watched && !pipe.watches() {
                self.wait_for_call(pipe, longest.min(FIRST_LOOK));
            }
            return Some(is_woken);
        };
        let (mut pause, mut left) = (FIRST_LOOK, longest);
        while !left.is_zero() {
            let part = pause.min(left);
            match place.pipe.wait(part) {
                Ok(true) => return Some(true),
                Ok(false) => {}
                Err(_) => self.host.clock.sleep(part),
            }
            let is_there =
                self.meta(&holder.lock_path).ok().flatten().is_some_and(|lock| lock.ident == holder.lock_ident);
            if !is_there || is_free(holder.kernel_lock.as_mut()) {
                return Some(true);
            }
            left = left.saturating_sub(part);
            pause = pause.saturating_mul(2).min(life_look);
        }
        Some(false)
    }

    /// Gives a place in a line up, if there is one. The next process in the line notices it.
    pub fn leave_line(&self, in_line: &mut InLine<'_>) {
        if let Some(place) = in_line.place.as_ref() {
            let _ = self.vfs.unlink(&place.path);
            let _ = self.vfs.remove_dir(&place.folder);
            in_line.left = in_line.place.take();
        }
    }

    /// After a grant: gives the place up, and calls the next one if the lane may have further room.
    pub(crate) fn leave_with_lane(&self, in_line: &mut InLine<'_>, limit: u32) {
        let folder = in_line.place.as_ref().map(|place| place.folder.clone());
        self.leave_line(in_line);
        if let Some(folder) = folder.filter(|_| limit > 1) {
            self.call_first(&folder, FreedBy::Line);
        }
    }

    /// Removes a line without living waiters; with `dry_run`, only reports it. True when it is one. The caller is in the
    /// guard.
    pub(crate) fn clean_line(&self, stem: &str, dry_run: bool) -> Result<bool> {
        let line = self.read_line(&layout::line(stem))?;
        for ticket in &line.tickets {
            if self.is_waiter_alive(&line.path(&ticket.name))? {
                return Ok(false);
            }
        }
        if dry_run {
            return Ok(true);
        }
        for ticket in &line.tickets {
            self.unlink(&line.path(&ticket.name))?;
        }
        self.unmark(&line, TASKS_TURN, line.is_tasks_turn)?;
        self.unmark(&line, TASKS_WAIT, line.has_waiting_tasks)?;
        self.unmark(&line, TASKS_NEXT, line.may_have_tasks)?;
        self.remove_dir(&line.folder)
    }
}

/// Whether a kernel lock is free; it is shared for an instant, so that several lookers do not disturb each other.
fn is_free(lock: &mut dyn Handle) -> bool {
    let is_free = lock.try_lock(true).unwrap_or(true);
    if is_free {
        let _ = lock.unlock();
    }
    is_free
}
