//! The agent of a host: it joins, renews the lease, accepts the tasks that are assigned to the host, and posts their ends. What a
//! task does in between is local and needs no database.

pub(super) mod lease;
pub(super) mod left;
mod listener;
mod met;
mod room;

use super::duty::Duty;
use super::places::decline;
use super::tasks::{id_of, number_of, split, word_of};
use super::{Database, Given, sql};
use crate::app::fleet::FleetAgent;
use crate::app::fleet::places::lacks_directory;
use crate::app::granted::{
    accept_granted, cancel_granted, posted, prepare_host, renew_lease, start_watcher, unposted_ends,
};
use crate::app::{App, AppError, Code};
use crate::model::task::{FIRST_GRANTED, Granted, GrantedSlot, Word};
use crate::model::{Fence, LaneName, Status, Task, TaskId, Timestamp};
use crate::policy::outcome::{Happened, conclude};
use crate::store::{CancelRequest, Hold, Place, Taken, decode_task};
use lease::{Lease, Session};
use left::{BY, GIVEN_BACK, Left, bare, cancelled, given_back, is_cut_off, request_of, tail};
use listener::Listener;
use postgres::Row;
use room::room;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Time beyond a lease after which its host counts as lost, in milliseconds.
pub(super) const BEYOND_MS: u64 = 5_000;
/// Number of ends beyond which they are noted at once.
const MOST_LEFT: usize = 64;

/// A task of this host.
struct Known {
    token: Word,
    /// Whether the database was told that this host has it. Until then it counts there as assigned.
    is_told: bool,
    /// Number of starts in the record that was told last, once its claim was told: a claim is seen before its start.
    told_starts: Option<u32>,
    /// Whether the last look found its grants used up before a start.
    is_stale: bool,
}

/// The agent of a host.
pub(super) struct Agent<'a> {
    database: &'a Database,
    lease: Lease<'a>,
    /// The labels of this host, as places of tasks.
    labels: Vec<String>,
    /// Keeps other agents of this state directory away.
    lock: Option<Hold>,
    /// The beat of another session of this host, the moment since which it was seen, and the length of its lease.
    seen: Option<(i64, u64, u64)>,
    /// The moment of the last comparison with the database.
    compared_ms: u64,
    listener: Listener,
    tasks: BTreeMap<TaskId, Known>,
    /// The tasks whose ends the database knows, until that is noted here.
    left: Vec<(TaskId, Word)>,
    duty: Duty,
}

impl<'a> Agent<'a> {
    pub(super) fn new(database: &'a Database, lease_ms: u64, labels: Vec<String>) -> Self {
        Self {
            database,
            lease: Lease::new(database, lease_ms),
            labels,
            lock: None,
            seen: None,
            compared_ms: 0,
            listener: Listener::default(),
            tasks: BTreeMap::new(),
            left: Vec::new(),
            duty: Duty::new(lease_ms),
        }
    }
}

impl FleetAgent for Agent<'_> {
    fn step(&mut self, app: &App) -> Result<(), AppError> {
        if self.lock.is_none() {
            app.store.prepare()?;
            self.lock = app.store.take_agent_lock()?;
        }
        if self.lock.is_none() {
            return Ok(());
        }
        let done = match self.lease.session {
            Some(session) => self.work(app, session),
            None => self.join(app),
        };
        if let Some(session) = self.lease.session {
            self.listener.keep(app, self.database, session.host);
        }
        if done.is_err() {
            // An observation counts only while the database has answered all the time.
            self.duty.forget();
        }
        done
    }

    fn keep(&mut self, app: &App) -> Result<(), AppError> {
        Agent::keep(self, app).map(drop)
    }

    fn rest(&self, app: &App) -> Duration {
        let rest_ms = self.lease.session.map_or(u64::MAX, |_| self.lease.rest_ms(app));
        Duration::from_millis(rest_ms)
    }

    fn take_late(&mut self) -> Option<AppError> {
        self.lease.take_late()
    }

    fn has_joined(&self) -> bool {
        self.lease.renewed_ms > 0
    }
}

impl Agent<'_> {
    /// Joins with the session of the lease, if it is of this boot, else with a new one. Another session of this name must have
    /// been seen silent for longer than its lease.
    fn join(&mut self, app: &App) -> Result<(), AppError> {
        if self.lease.word.is_none() && !app.store.granted_in_flight()?.is_empty() && self.is_refused(app)? {
            // Tasks of the session that was refused still die.
            return Ok(());
        }
        prepare_host(app)?;
        self.lease.met.meet(app, self.database)?;
        let own = app.store.host_lease()?.filter(|lease| lease.boot == app.host.boot() && lease.end_ms > 0);
        let word = match self.lease.word.or(own.map(|lease| lease.session)) {
            Some(word) => word,
            None => self.database.word()?,
        };
        self.lease.word = Some(word);
        let sent_ms = app.host.boot_ms();
        let silent =
            self.seen.filter(|(_, since, lease)| sent_ms.saturating_sub(*since) > lease.saturating_add(BEYOND_MS));
        let (name, seen) = (self.database.name.clone(), silent.map_or(-1, |(beat, _, _)| beat));
        let (session, lease) = (word.to_string(), i64::try_from(self.lease.length_ms).unwrap_or(i64::MAX));
        let row = self
            .database
            .with(|client| client.query_one(sql::JOIN, &[&name, &session, &seen, &lease, &self.labels]))?;
        if !row.get::<_, bool>(3) {
            let beat = row.get(1);
            if self.seen.is_some_and(|(last, _, _)| last != beat) {
                return Err(AppError::new(
                    Code::HostTaken,
                    format!("another host with the name \"{name}\" is at work"),
                )
                .hint("LUZIA_HOST gives this one another name; a copied state directory needs one"));
            }
            self.seen.get_or_insert((beat, sent_ms, row.get::<_, i64>(2).unsigned_abs()));
            return Ok(());
        }
        let session = Session { host: row.get(0), word };
        self.lease.met.beat(app, row.get(1))?;
        renew_lease(app, word, sent_ms, self.lease.length_ms)?;
        start_watcher(app)?;
        (self.lease.session, self.seen, self.lease.renewed_ms) = (Some(session), None, sent_ms);
        self.remember(app)?;
        self.compare(app, session)
    }

    /// Whether the lease of this boot was refused.
    fn is_refused(&self, app: &App) -> Result<bool, AppError> {
        Ok(app.store.host_lease()?.is_some_and(|lease| lease.boot == app.host.boot() && lease.end_ms == 0))
    }

    /// Finds the granted tasks of the state directory whose ends the database does not know.
    fn remember(&mut self, app: &App) -> Result<(), AppError> {
        let pending = app.store.pending_tasks(None)?.filter_map(Result::ok);
        let started = app.store.started_tasks().filter_map(Result::ok);
        for task in pending.chain(started).chain(unposted_ends(app)?).filter(|task| task.id >= FIRST_GRANTED) {
            self.know(&task);
        }
        Ok(())
    }

    fn know(&mut self, task: &Task) {
        // A child of a granted task belongs to its parent.
        if let Some(granted) = task.terms.granted.as_ref().filter(|_| task.parent.is_none()) {
            self.tasks.entry(task.id).or_insert(Known {
                token: granted.token,
                is_told: false,
                told_starts: None,
                is_stale: false,
            });
        }
    }

    fn work(&mut self, app: &App, session: Session) -> Result<(), AppError> {
        if self.lease.is_due(app) {
            self.renew(app, session)?;
        }
        let now = app.host.boot_ms();
        if self.lease.session.is_some() && now.saturating_sub(self.compared_ms) >= self.lease.pause_ms() {
            self.compared_ms = now;
            self.compare(app, session)?;
        }
        // Ends come first, because other hosts wait for their lanes; then grants, and then those for this host.
        let has_ended = self.keep(app)? && self.tell(app, session)?;
        let free = room(&self.tasks, app)?;
        if self.lease.session.is_some() && self.lease.free != Some(free) {
            self.lease.renew(app, session, free)?;
        }
        if self.lease.session.is_none() {
            return Ok(());
        }
        let (lease, tasks) = (&mut self.lease, &self.tasks);
        self.duty.step(app, self.database, session, &mut || keep(lease, tasks, app).map(drop))?;
        let news = self.database.with(|client| client.query_one(sql::NEWS, &[&session.host]))?;
        let is_quiet = !has_ended && !news.get::<_, bool>(0);
        for (is_new, act) in [(news.get(0), Self::accept as fn(&mut _, _, _) -> _), (news.get(1), Self::carry_out)] {
            if is_new && self.keep(app)? {
                act(self, app, session)?;
            }
        }
        // The beat counts what was told: a database that has forgotten it has an older one. No other host waits for that.
        if self.lease.is_behind && self.keep(app)? {
            self.renew(app, session)?;
        }
        // To note it on the disk delays no end and no start.
        if is_quiet || self.left.len() >= MOST_LEFT {
            self.note_left(app)?;
        }
        Ok(())
    }

    fn renew(&mut self, app: &App, session: Session) -> Result<(), AppError> {
        let free = room(&self.tasks, app)?;
        self.lease.renew(app, session, free)
    }

    /// Notes that the database knows the ends of tasks.
    fn note_left(&mut self, app: &App) -> Result<(), AppError> {
        while let Some((id, token)) = self.left.last().copied() {
            posted(app, id, token)?;
            self.left.pop();
        }
        Ok(())
    }

    /// Renews the lease if that is due. Whether this host has its session.
    fn keep(&mut self, app: &App) -> Result<bool, AppError> {
        keep(&mut self.lease, &self.tasks, app)
    }

    /// Compares the tasks that the database counts on with those of the state directory, in both directions: a task without a
    /// record here is interrupted, and one that belongs to another assignment ends here.
    fn compare(&mut self, app: &App, session: Session) -> Result<(), AppError> {
        let word = session.word.to_string();
        let rows = self.database.with(|client| client.query(sql::HELD, &[&session.host, &word]))?;
        let mut counted = BTreeSet::new();
        for row in &rows {
            if !self.keep(app)? {
                return Ok(());
            }
            let (id, token) = (id_of(row.get(0)), word_of(row.get(1)));
            counted.insert((id, token));
            let is_here = self.tasks.get(&id).is_some_and(|known| known.token == token);
            if is_here || row.get::<_, &str>(2) == "a" {
                continue;
            }
            match app.find(id)?.filter(|(_, task)| token_in(task) == Some(token)) {
                Some((_, task)) => self.know(&task),
                None => {
                    let task = decode_task(&id.to_string(), row.get::<_, &str>(3).as_bytes(), None)?;
                    let why = Happened::Interrupted("its host has no record of it".to_owned());
                    let after = conclude(&task, &why, app.host.now(), None);
                    self.leave(session, token, (&after, None), None)?;
                    // The room of this host did not count it.
                    self.lease.free = None;
                }
            }
        }
        for (id, known) in self.tasks.iter_mut().filter(|(_, known)| known.told_starts.is_none()) {
            // A claim that came to no start has used the grants. One look may meet a claim under way, and the next does not.
            let waiting = app.find(*id)?.map(|(_, task)| task).filter(|task| task.status() == Status::Pending);
            let is_stale =
                waiting.is_some_and(|task| app.store.used_grants(&task).is_ok_and(|lanes| !lanes.is_empty()));
            if is_stale && known.is_stale {
                end_here(app, *id, known.token, GIVEN_BACK)?;
            }
            known.is_stale = is_stale;
        }
        let late: Vec<_> = self.tasks.iter().map(|(id, known)| (*id, known.token)).collect();
        for (id, token) in late.into_iter().filter(|one| !counted.contains(one)) {
            let is_over = app.find(id)?.is_none_or(|(_, task)| task.status().is_final());
            if !is_over {
                end_here(app, id, token, "the store has assigned it anew")?;
            }
        }
        Ok(())
    }

    /// Accepts what was assigned to this host.
    fn accept(&mut self, app: &App, session: Session) -> Result<(), AppError> {
        let word = session.word.to_string();
        for row in self.database.with(|client| client.query(sql::ASSIGNED, &[&session.host, &word]))? {
            if !self.keep(app)? {
                return Ok(());
            }
            let task = granted(app, session, &row)?;
            let token = word_of(row.get(1));
            if self.tasks.get(&task.id).is_some_and(|known| known.token == token) {
                continue;
            }
            self.lease.met.number(app, task.id.0)?;
            if self.left.iter().any(|(id, _)| *id == task.id) {
                self.note_left(app)?;
            }
            if lacks_directory(app, &task) {
                if decline(self.database, session, task.id, token)?.is_none() {
                    let over = cancelled(self.database, &task)?;
                    self.leave(session, token, (&over, Some(app.host.now())), None)?;
                }
                continue;
            }
            let taken = match accept_granted(app, &task)? {
                // The record of an earlier assignment, whose end the database knows.
                Taken::Other if app.store.forget_posted(task.id)? => accept_granted(app, &task)?,
                taken => taken,
            };
            // The next round tells the database, with the start if a pass has started it by then.
            if matches!(taken, Taken::New | Taken::Known(_)) {
                self.know(&task);
            }
        }
        Ok(())
    }

    /// Tells the database that this host has a task, with the record as it is now. One that belongs to another assignment ends here.
    fn running(&mut self, app: &App, session: Session, token: Word, task: &Task) -> Result<(), AppError> {
        let is_mine = self.tell_running(session, token, task)?;
        let Some(known) = self.tasks.get_mut(&task.id) else { return Ok(()) };
        match known.is_told {
            true => {}
            // It counted as assigned there.
            false if is_mine => self.lease.free = self.lease.free.map(|free| free.saturating_sub(1)),
            false => end_here(app, task.id, token, "the store has assigned it anew")?,
        }
        known.is_told = true;
        self.lease.is_behind = true;
        known.told_starts = (task.status() != Status::Pending).then_some(task.starts);
        Ok(())
    }

    fn tell_running(&self, session: Session, token: Word, task: &Task) -> Result<bool, AppError> {
        let (word, token, record) = (session.word.to_string(), token.to_string(), split(&bare(task))?.0);
        let id = number_of(task.id);
        let given = [&session.host as &Given, &word, &id, &token, &record];
        Ok(self.database.with(|client| client.query_one(sql::RUNNING, &given))?.get(0))
    }

    /// Carries out what callers on other hosts have asked for.
    fn carry_out(&mut self, app: &App, session: Session) -> Result<(), AppError> {
        let word = session.word.to_string();
        for row in self.database.with(|client| client.query(sql::WISHES, &[&session.host, &word]))? {
            if !self.keep(app)? {
                return Ok(());
            }
            let (id, token) = (id_of(row.get(1)), word_of(row.get(2)));
            let request = request_of(row.get(4));
            if row.get::<_, &str>(3) == "cancel" {
                asked(cancel_granted(app, id, token, &request))?;
            }
        }
        Ok(())
    }

    /// Tells the database what has become of the tasks: that they are here, their starts, their ends, and attempts that need new grants.
    /// Whether any has ended.
    fn tell(&mut self, app: &App, session: Session) -> Result<bool, AppError> {
        let ids: Vec<TaskId> = self.tasks.keys().copied().collect();
        let before = ids.len();
        for id in ids {
            if !self.keep(app)? {
                return Ok(false);
            }
            let Some(known) = self.tasks.get(&id) else { continue };
            let Some((place, task)) = app.find(id)? else { continue };
            let token = known.token;
            match task.status() {
                // Without new grants no process starts it.
                Status::Pending if known.told_starts.is_some() && place != Place::Running => {
                    end_here(app, id, token, GIVEN_BACK)?
                }
                Status::Pending if known.is_told => {}
                Status::Running | Status::Waiting if known.told_starts == Some(task.starts) => {}
                Status::Pending | Status::Running | Status::Waiting => self.running(app, session, token, &task)?,
                _ => {
                    let is_told = known.is_told;
                    let ended = task.outcome().map(|outcome| outcome.completed_at);
                    let after = settled(app, task);
                    let has_left = self.leave(session, token, (&after, ended), Some(&tail(app, &after)))?;
                    if has_left && is_told {
                        self.lease.free = self.lease.free.map(|free| free.saturating_add(1));
                    }
                    self.lease.is_behind = true;
                    self.left.push((id, token));
                    self.tasks.remove(&id);
                }
            }
        }
        let has_ended = self.tasks.len() < before;
        if has_ended && !self.duty.is_mine() {
            self.database.hint(&[]);
        }
        Ok(has_ended)
    }

    /// A task leaves this host after a run that ended at a moment. A word that comes too late changes nothing, and its record stays here.
    fn leave(
        &self,
        session: Session,
        token: Word,
        (after, ended): (&Task, Option<Timestamp>),
        tail: Option<&[u8]>,
    ) -> Result<bool, AppError> {
        let (word, token) = (session.word.to_string(), token.to_string());
        left::leave(self.database, after, ended, &mut |left: &Left| {
            let own: [&Given; 4] = [&session.host, &word, &left.id, &token];
            let values = [&own[..], &left.values(), &[&tail]].concat();
            Ok(self.database.with(|client| client.query_one(sql::LEAVE, &values))?.get(0))
        })
    }
}

/// Renews the lease if that is due. Whether this host has its session.
fn keep(lease: &mut Lease, tasks: &BTreeMap<TaskId, Known>, app: &App) -> Result<bool, AppError> {
    lease.keep(app, || room(tasks, app))?;
    Ok(lease.session.is_some())
}

fn token_in(task: &Task) -> Option<Word> {
    task.terms.granted.as_ref().map(|granted| granted.token)
}

/// The task of an assignment with its grants, for this host.
fn granted(app: &App, session: Session, row: &Row) -> Result<Task, AppError> {
    let damaged = |error: serde_json::Error| AppError::new(Code::RecordCorrupt, error.to_string());
    let mut members: Map<String, Value> = serde_json::from_str(row.get(2)).map_err(damaged)?;
    let spec: Map<String, Value> = serde_json::from_str(row.get(3)).map_err(damaged)?;
    members.extend(spec);
    let id = id_of(row.get(0));
    let mut task = decode_task(&id.to_string(), &serde_json::to_vec(&members).map_err(damaged)?, None)?;
    if !task.conductor_configured {
        task.conductor_dir = app.run_dir.default_conductor(task.project.as_ref().map(|project| project.as_str()));
    }
    let (lanes, slots, fences): (Vec<&str>, Vec<i32>, Vec<i64>) = (row.get(4), row.get(5), row.get(6));
    let values: Vec<Option<String>> = row.get(7);
    let slots = lanes.into_iter().zip(slots).zip(fences).zip(values).filter_map(|(((lane, slot), fence), value)| {
        let (lane, slot) = (LaneName::parse(lane).ok()?, u32::try_from(slot).ok()?);
        Some(GrantedSlot { lane, slot, fence: Fence(fence.unsigned_abs()), value })
    });
    let (slots, token) = (slots.collect(), word_of(row.get(1)));
    Ok(task.with_grants(Granted { session: session.word, token, slots, is_cut_off: false }))
}

/// A task that is over here: one that was given back waits again. One that the end of the lease has ended is interrupted, and its own
/// rules say whether it runs again.
fn settled(app: &App, task: Task) -> Task {
    if let Some(task) = given_back(&task) {
        return task;
    }
    if !is_cut_off(&task) {
        return task;
    }
    let why = Happened::Interrupted("the lease of the host ended (HostCutOff)".to_owned());
    // The end of the lease counted as a failure already.
    let before = Task { failures: task.failures.saturating_sub(1), ..task.clone() };
    let after = conclude(&before, &why, app.host.now(), None);
    if after.status().is_final() { task } else { after }
}

/// Ends a task on this host only.
fn end_here(app: &App, id: TaskId, token: Word, why: &str) -> Result<(), AppError> {
    asked(cancel_granted(app, id, token, &CancelRequest::by(BY, why)))
}

/// The answer to a request for an end: one that another process keeps from being made is made again with the next step, and a task
/// that is over or gone needs none.
fn asked(answer: Result<bool, AppError>) -> Result<(), AppError> {
    match answer {
        Err(error) if matches!(error.code(), Code::TaskOver | Code::TaskNotFound) => Ok(()),
        answer => answer.map(drop),
    }
}
