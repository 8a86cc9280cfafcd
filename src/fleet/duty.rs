//! The scheduling duty: one agent at a time decides whose turn it is, by the rules of `policy`, for the tasks and hosts of the
//! database. The database decides who may: a proposal that is out of date is refused.

use super::agent::{BEYOND_MS, Session, left};
use super::tasks::{id_of, number_of, tier_of, word_of};
use super::{Database, Given, errors, sql};
use crate::app::config_reload::config;
use crate::app::{App, AppError};
use crate::model::{Name, Priority, TaskId};
use crate::policy::fair::Ledger;
use crate::policy::outcome::{Happened, conclude};
use crate::policy::schedule::{LaneHead, Round};
use crate::store::decode_task;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// Time after which a silent holder of the duty is replaced, in milliseconds.
const TAKE_OVER_MS: u64 = 10_000;
/// Time between two signs of the holder, in milliseconds.
const BEAT_MS: u64 = 2_000;
/// Number of tasks of a queue that are looked at in one pass.
const DEPTH: i32 = 4;
/// The answer of the database to a proposal that is out of date.
const NOT_NOW: &str = "LZ003";

/// The duty as this agent sees it.
pub(super) struct Duty {
    take_over_ms: u64,
    /// The beat of the duty, and the moment since which this process has seen it.
    seen: Option<(i64, u64)>,
    is_mine: bool,
    kept_ms: u64,
    snapshot: Option<String>,
    next_ms: Option<u64>,
    /// Whether a proposal was refused: the next step looks again.
    is_unsettled: bool,
    /// The room of the hosts as of the last look: a change is a reason for a pass.
    rooms: BTreeMap<i32, (i32, bool)>,
    /// By host: its beat, and the moment since which this process has seen it.
    beats: BTreeMap<i32, (i64, u64)>,
}

/// A host that takes tasks.
struct Room {
    name: String,
    session: String,
    free: i32,
}

/// A queue: the tasks of a user for one place, of one tier and one set of lanes.
struct Queue {
    place: Option<String>,
    lanes: Vec<i64>,
    tasks: VecDeque<(TaskId, Priority)>,
}

impl Duty {
    pub(super) fn new(lease_ms: u64) -> Self {
        Self {
            take_over_ms: TAKE_OVER_MS.min(lease_ms),
            seen: None,
            is_mine: false,
            kept_ms: 0,
            snapshot: None,
            next_ms: None,
            is_unsettled: false,
            rooms: BTreeMap::new(),
            beats: BTreeMap::new(),
        }
    }

    /// Forgets all observations, because the database did not answer.
    pub(super) fn forget(&mut self) {
        (self.seen, self.snapshot) = (None, None);
        self.beats.clear();
    }

    /// One round: keeps or takes the duty, looks after silent hosts, and makes a pass if anything has changed.
    pub(super) fn step(&mut self, app: &App, database: &Database, session: Session) -> Result<(), AppError> {
        let now = app.host.boot_ms();
        if !self.have(now, database, session)? {
            return Ok(());
        }
        self.look_after(app, database, session)?;
        let row = database.with(|client| client.query_one(sql::CHANGES, &[&self.snapshot]))?;
        let is_due = self.next_ms.is_some_and(|at| now >= at);
        self.snapshot = Some(row.get(0));
        self.next_ms = row.get::<_, Option<i64>>(2).map(|wait| now.saturating_add(wait.max(0).unsigned_abs()));
        if row.get(1) || is_due || self.is_unsettled {
            self.pass(app, database, session)?;
        }
        Ok(())
    }

    /// Whether this agent has the duty now. A holder that it has itself seen silent is replaced.
    fn have(&mut self, now: u64, database: &Database, session: Session) -> Result<bool, AppError> {
        if self.is_mine && now.saturating_sub(self.kept_ms) < BEAT_MS {
            return Ok(true);
        }
        let row = database.with(|client| client.query_one(sql::DUTY, &[]))?;
        let (holder, beat): (Option<&str>, i64) = (row.get(0), row.get(1));
        let word = session.word.to_string();
        self.is_mine = holder.is_some_and(|holder| word_of(holder) == session.word);
        if self.seen.is_none_or(|(last, _)| last != beat) {
            self.seen = Some((beat, now));
        }
        let is_silent = self.seen.is_some_and(|(_, since)| now.saturating_sub(since) >= self.take_over_ms);
        if self.is_mine || holder.is_none() || is_silent {
            let taken: bool =
                database.with(|client| client.query_one(sql::TAKE_DUTY, &[&session.host, &word, &beat]))?.get(0);
            if taken && !self.is_mine {
                self.forget();
            }
            (self.is_mine, self.kept_ms) = (taken, now);
        }
        Ok(self.is_mine)
    }

    /// Takes hosts for lost that this process has itself seen silent for longer than their leases, and their tasks from them. No
    /// clock of the server decides.
    fn look_after(&mut self, app: &App, database: &Database, session: Session) -> Result<(), AppError> {
        let now = app.host.boot_ms();
        let word = session.word.to_string();
        let rows = database.with(|client| client.query(sql::ROOMS, &[]))?;
        let rooms = rows.iter().map(|row| (row.get(0), (row.get(5), row.get(6)))).collect();
        self.is_unsettled |= rooms != self.rooms;
        self.rooms = rooms;
        for row in rows {
            let (host, beat): (i32, i64) = (row.get(0), row.get(3));
            let since = match self.beats.get(&host) {
                Some((last, since)) if *last == beat => *since,
                _ => {
                    self.beats.insert(host, (beat, now));
                    now
                }
            };
            let lease_ms = row.get::<_, i64>(4).unsigned_abs();
            let is_silent = now.saturating_sub(since) > lease_ms.saturating_add(BEYOND_MS);
            if host == session.host || !is_silent || !row.get::<_, bool>(7) {
                continue;
            }
            if database.with(|client| client.query_one(sql::LOSE, &[&word, &host, &beat]))?.get(0) {
                self.reap(app, database, &word, host)?;
            }
        }
        Ok(())
    }

    /// Takes the tasks of a lost host from it, one by one: each is interrupted, and its own rules say whether it runs again.
    fn reap(&self, app: &App, database: &Database, word: &str, host: i32) -> Result<(), AppError> {
        for row in database.with(|client| client.query(sql::LOST, &[&host]))? {
            let id = id_of(row.get(0));
            // A damaged record stops no other task.
            let Ok(task) = decode_task(&id.to_string(), row.get::<_, &str>(3).as_bytes(), None) else { continue };
            let why = Happened::Interrupted("its host is lost".to_owned());
            let after = conclude(&task, &why, app.host.now(), None);
            let (state, ending, record, due_ms) = left(&after)?;
            let token: String = row.get(1);
            database.with(|client| {
                let values = [&word as &Given, &number_of(id), &token, &state, &ending, &record, &due_ms];
                client.query_one(sql::REAP, &values)
            })?;
        }
        Ok(())
    }

    /// One pass over the queues, in the order of `policy`.
    fn pass(&mut self, app: &App, database: &Database, session: Session) -> Result<(), AppError> {
        let word = session.word.to_string();
        let (heads, mut queues) = queues(database)?;
        let (mut rooms, mut lanes) = (rooms(database)?, lanes(database)?);
        self.is_unsettled = false;
        let text: String = database.with(|client| client.query_one(sql::LEDGER, &[]))?.get(0);
        let mut ledger = Ledger::from_text(&text).unwrap_or_default();
        let (shares, mut granted) = (config(app).tier_shares, 0);
        let mut round = Round::new(&mut ledger, shares, heads, app.host.now());
        while let Some(candidate) = round.next() {
            let Some(queue) = queues.get_mut(&*candidate.queue) else { continue };
            let Some((task, _)) = queue.tasks.front().copied() else { continue };
            let is_full = |lane: &i64| lanes.get(lane).is_some_and(|left| *left == 0);
            if queue.lanes.iter().any(is_full) {
                continue;
            }
            let is_meant = |room: &Room| room.free > 0 && queue.place.as_ref().is_none_or(|place| *place == room.name);
            let best = rooms.iter_mut().filter(|(_, room)| is_meant(room)).max_by_key(|(_, room)| room.free);
            // A pass follows when a host has other room.
            let Some((host, room)) = best else { continue };
            match assign(database, &word, task, *host, &room.session)? {
                Answer::Granted => {
                    room.free -= 1;
                    granted += 1;
                    for lane in &queue.lanes {
                        let left = lanes.entry(*lane).or_insert(1);
                        *left = left.saturating_sub(1);
                    }
                    queue.tasks.pop_front();
                    let again = queue
                        .tasks
                        .front()
                        .map(|(_, priority)| LaneHead { priority: *priority, ..LaneHead::again(&candidate) });
                    let weight = config(app).weight(&candidate.user);
                    round.started(candidate, weight);
                    again.into_iter().for_each(|head| round.offer(head));
                }
                Answer::NotNow => self.is_unsettled = true,
                Answer::NoDuty => {
                    self.is_mine = false;
                    return Ok(());
                }
            }
        }
        drop(round);
        if granted > 0 {
            let text = ledger.to_text();
            database.with(|client| client.query_one(sql::KEEP_LEDGER, &[&word, &text]))?;
        }
        Ok(())
    }
}

/// The answer of the database to a proposal.
enum Answer {
    Granted,
    NotNow,
    NoDuty,
}

fn assign(database: &Database, duty: &str, task: TaskId, host: i32, session: &str) -> Result<Answer, AppError> {
    let id = number_of(task);
    let asked = database.ask(|client| client.query_one(sql::ASSIGN, &[&duty, &id, &host, &session]))?;
    match asked {
        Ok(row) => Ok(match row.get(0) {
            "" => Answer::Granted,
            "duty" => Answer::NoDuty,
            _ => Answer::NotNow,
        }),
        Err(error) if errors::has_code(&error, NOT_NOW) => Ok(Answer::NotNow),
        Err(error) => Err(database.refused(&error)),
    }
}

type Heads = (Vec<LaneHead>, HashMap<String, Queue>);

/// The queues with work, by their names, and what `policy` is offered of each.
fn queues(database: &Database) -> Result<Heads, AppError> {
    let (mut heads, mut queues) = (Vec::new(), HashMap::new());
    for row in database.with(|client| client.query(sql::HEADS, &[&DEPTH]))? {
        let (id, user, place): (i64, &str, Option<&str>) = (row.get(0), row.get(1), row.get(2));
        let (tier, priority, lanes): (i16, i16, Vec<i64>) = (row.get(3), row.get(4), row.get(5));
        let Ok(user) = Name::new(user) else { continue };
        let priority = u8::try_from(priority).ok().and_then(Priority::new).unwrap_or_default();
        let name = format!("{user}\0{}\0{tier}\0{lanes:?}", place.unwrap_or_default());
        let queue = queues.entry(name.clone()).or_insert_with(|| Queue {
            place: place.map(str::to_owned),
            lanes,
            tasks: VecDeque::new(),
        });
        if queue.tasks.is_empty() {
            let sequence = id_of(id).0;
            heads.push(LaneHead {
                user,
                queue: Arc::from(name),
                takes_user_lane: row.get(6),
                tier: tier_of(tier),
                priority,
                sequence: Some(sequence),
                turn: sequence,
            });
        }
        queue.tasks.push_back((id_of(id), priority));
    }
    Ok((heads, queues))
}

/// The hosts that take tasks.
fn rooms(database: &Database) -> Result<BTreeMap<i32, Room>, AppError> {
    let rows = database.with(|client| client.query(sql::ROOMS, &[]))?;
    let rows = rows.iter().filter(|row| !row.get::<_, bool>(6));
    Ok(rows.map(|row| (row.get(0), Room { name: row.get(1), session: row.get(2), free: row.get(5) })).collect())
}

/// The room that is left in the lanes that are held or have rules. Any other lane has room for one.
fn lanes(database: &Database) -> Result<HashMap<i64, u64>, AppError> {
    let rows = database.with(|client| client.query(sql::LANES_IN_USE, &[]))?;
    Ok(rows
        .iter()
        .map(|row| {
            let capacity = if row.get(3) { 0 } else { i64::from(row.get::<_, i32>(2)) };
            (row.get(0), capacity.saturating_sub(row.get(1)).max(0).unsigned_abs())
        })
        .collect())
}
