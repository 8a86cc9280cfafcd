//! The scheduling duty: one agent at a time decides whose turn it is, by the rules of `policy`, for the tasks and hosts of the
//! database. The database decides who may: a proposal that is out of date is refused.

use super::agent::BEYOND_MS;
use super::agent::lease::{RENEW_MS, Session};
use super::agent::left::{self, Left};
use super::memory::{Memory, Proposal, Room, Rooms, Terms, Waiting};
use super::tasks::{id_of, tier_of, word_of};
use super::{Database, Given, sql};
use crate::app::config_reload::config;
use crate::app::{App, AppError};
use crate::model::{Name, Priority};
use crate::policy::fair::Ledger;
use crate::policy::outcome::{Happened, conclude};
use crate::store::decode_task;
use postgres::Row;
use std::collections::{BTreeMap, BTreeSet};

/// Time after which a silent holder of the duty is replaced, in milliseconds.
const TAKE_OVER_MS: u64 = 10_000;
/// Time between two signs of the holder, in milliseconds.
const BEAT_MS: u64 = 2_000;
/// Numbers of tasks of a queue that are remembered from a look at all queues, and from a later look at one that ran out.
const DEPTH: i32 = 2;
const MORE: i32 = 16;
/// Time between two records of the use of users, in milliseconds.
const LEDGER_MS: u64 = 1_000;
/// Silence after which a host that renews every 10 s has missed three renewals, in milliseconds.
const MISSED_MS: u64 = 3 * RENEW_MS;
/// Number of passes with refused proposals in a row after which the memory is made anew.
const MOST_REFUSED: u32 = 50;

/// Renews the lease of this host if that is due: before each piece of work.
type Keep<'a> = &'a mut dyn FnMut() -> Result<(), AppError>;

/// The duty as this agent sees it.
pub(super) struct Duty {
    take_over_ms: u64,
    /// The beat of the duty, and the moment since which this process has seen it.
    seen: Option<(i64, u64)>,
    is_mine: bool,
    kept_ms: u64,
    /// The memory of the holder; nothing before the first look, and after a fault.
    memory: Option<Known>,
    next_ms: Option<u64>,
    /// Whether a change or a refused proposal asks for a pass.
    is_unsettled: bool,
    /// Number of passes in a row with refused proposals.
    refused: u32,
    /// The hosts that take tasks, as of the last look: a change is a reason for a pass.
    rooms: Rooms,
    /// By host: its beat, and the moment since which this process has seen it.
    beats: BTreeMap<i32, (i64, u64)>,
}

/// The memory with the state of the database that it stands for.
struct Known {
    memory: Memory,
    snapshot: String,
    at_us: i64,
    /// The process of the server. A snapshot is good for one connection.
    server: i32,
    kept_ledger_ms: u64,
    is_ledger_new: bool,
}

impl Duty {
    pub(super) fn new(lease_ms: u64) -> Self {
        Self {
            take_over_ms: TAKE_OVER_MS.min(lease_ms),
            seen: None,
            is_mine: false,
            kept_ms: 0,
            memory: None,
            next_ms: None,
            is_unsettled: false,
            refused: 0,
            rooms: Rooms::new(),
            beats: BTreeMap::new(),
        }
    }

    /// Whether this agent has the duty, as far as it knows.
    pub(super) fn is_mine(&self) -> bool {
        self.is_mine
    }

    /// Forgets all observations, because the database did not answer.
    pub(super) fn forget(&mut self) {
        (self.seen, self.memory) = (None, None);
        self.beats.clear();
    }

    /// One round: keeps or takes the duty, looks after silent hosts, and makes a pass if anything has changed. `keep` renews the lease
    /// of this host if that is due.
    pub(super) fn step(
        &mut self,
        app: &App,
        database: &Database,
        session: Session,
        keep: Keep,
    ) -> Result<(), AppError> {
        let now = app.host.boot_ms();
        if !self.have(now, database, session)? {
            self.memory = None;
            return Ok(());
        }
        self.look_after(app, database, session, keep)?;
        self.follow(now, database)?;
        keep()?;
        let is_due = self.next_ms.is_some_and(|at| now >= at);
        if is_due || self.is_unsettled {
            self.pass(app, database, session, keep)?;
        }
        self.keep_ledger(now, database, session)
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
    fn look_after(&mut self, app: &App, database: &Database, session: Session, keep: Keep) -> Result<(), AppError> {
        let now = app.host.boot_ms();
        let word = session.word.to_string();
        let rows = database.with(|client| client.query(sql::ROOMS, &[]))?;
        let mut rooms = Rooms::new();
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
            let silent_ms = now.saturating_sub(since);
            // A host that has missed renewals is given nothing: it may be gone. `luzia_1.taker` is the same rule for looks.
            if silent_ms <= MISSED_MS.min(lease_ms / 2) && !row.get::<_, bool>(6) {
                rooms
                    .insert(host, Room { name: row.get(1), labels: row.get(8), session: row.get(2), free: row.get(5) });
            }
            let is_silent = silent_ms > lease_ms.saturating_add(BEYOND_MS);
            if host == session.host || !is_silent || !row.get::<_, bool>(7) {
                continue;
            }
            if database.with(|client| client.query_one(sql::LOSE, &[&word, &host, &beat]))?.get(0) {
                self.reap(app, database, (&word, host), keep)?;
            }
        }
        self.is_unsettled |= rooms != self.rooms;
        self.rooms = rooms;
        Ok(())
    }

    /// Takes the tasks of a lost host from it, one by one: each is interrupted, and its own rules say whether it runs again.
    fn reap(&self, app: &App, database: &Database, (word, host): (&str, i32), keep: Keep) -> Result<(), AppError> {
        for row in database.with(|client| client.query(sql::LOST, &[&host]))? {
            keep()?;
            let id = id_of(row.get(0));
            // A damaged record stops no other task.
            let Ok(task) = decode_task(&id.to_string(), row.get::<_, &str>(3).as_bytes(), None) else { continue };
            let why = Happened::Interrupted("its host is lost".to_owned());
            let after = conclude(&task, &why, app.host.now(), None);
            let token: String = row.get(1);
            left::leave(database, &after, None, &mut |left: &Left| {
                let own: [&Given; 3] = [&word, &left.id, &token];
                let values = [&own[..], &left.values()].concat();
                Ok(database.with(|client| client.query_one(sql::REAP, &values))?.get(0))
            })?;
        }
        Ok(())
    }

    /// Brings the memory up to date: by the changes since the last look, or by a look at everything.
    fn follow(&mut self, now: u64, database: &Database) -> Result<(), AppError> {
        let seen = self.memory.as_ref().map(|known| (known.snapshot.clone(), known.at_us));
        let (snapshot, at_us) = seen.unzip();
        let rows = database.with(|client| client.query(sql::CHANGES, &[&snapshot, &at_us]))?;
        let Some(first) = rows.first() else { return Ok(()) };
        let (present, at_us, server): (String, i64, i32) = (first.get(11), first.get(12), first.get(13));
        let due_ms = first.get::<_, Option<i64>>(14).map(|wait| now.saturating_add(wait.max(0).unsigned_abs()));
        let known = match self.memory.take().filter(|known| known.server == server) {
            Some(mut known) => {
                let changes = rows.iter().filter(|row| row.get::<_, Option<i64>>(0).is_some());
                for row in changes {
                    self.is_unsettled = true;
                    apply(&mut known.memory, row);
                }
                if first.get(16) {
                    self.is_unsettled = true;
                    rules(&mut known.memory, now, database, &known.snapshot)?;
                }
                known
            }
            None => {
                self.is_unsettled = true;
                let (memory, snapshot) = (load(now, database)?, String::new());
                Known { memory, snapshot, at_us, server, kept_ledger_ms: now, is_ledger_new: false }
            }
        };
        let known = self.memory.insert(Known { snapshot: present, at_us, ..known });
        let is_over = self.next_ms.is_some_and(|at| now >= at);
        self.is_unsettled |= is_over;
        let pause_ms = known.memory.end_pauses(now);
        self.next_ms = due_ms.into_iter().chain(pause_ms).min();
        Ok(())
    }

    /// One pass over the queues that could start a task, in the order of `policy`.
    fn pass(&mut self, app: &App, database: &Database, session: Session, keep: Keep) -> Result<(), AppError> {
        let Some(known) = &mut self.memory else { return Ok(()) };
        let word = session.word.to_string();
        let config = config(app);
        let weight = |user: &Name| config.weight(user);
        let terms = Terms { shares: config.tier_shares, now: app.host.now(), weight: &weight };
        let mut given = BTreeSet::new();
        let mut propose = |batch: &[Proposal]| {
            keep()?;
            let answers = assign(database, &word, batch)?;
            let granted = batch.iter().zip(answers.iter().flatten()).filter(|(_, is_granted)| **is_granted);
            given.extend(granted.map(|(one, _)| one.host));
            Ok(answers)
        };
        let mut refill = |memory: &mut Memory| refill(memory, database);
        let Some([granted, refused]) = known.memory.pass(&mut self.rooms, &terms, &mut propose, &mut refill)? else {
            (self.is_mine, self.memory) = (false, None);
            return Ok(());
        };
        known.is_ledger_new |= granted > 0;
        // This agent looks after its own grants in the same round.
        given.remove(&session.host);
        if !given.is_empty() {
            database.hint(&given.into_iter().collect::<Vec<_>>());
        }
        // A grant may let another queue of its user start, which this pass has passed over.
        self.is_unsettled = granted > 0 || refused > 0;
        self.refused = if refused > 0 { self.refused.saturating_add(1) } else { 0 };
        if self.refused > MOST_REFUSED {
            (self.refused, self.memory) = (0, None);
        }
        Ok(())
    }

    /// Keeps the use of users in the database, so that the next holder of the duty knows it.
    fn keep_ledger(&mut self, now: u64, database: &Database, session: Session) -> Result<(), AppError> {
        let is_old = |known: &&mut Known| known.is_ledger_new && now.saturating_sub(known.kept_ledger_ms) >= LEDGER_MS;
        let Some(known) = self.memory.as_mut().filter(is_old) else { return Ok(()) };
        let (word, text) = (session.word.to_string(), known.memory.ledger.to_text());
        database.with(|client| client.query_one(sql::KEEP_LEDGER, &[&word, &text]))?;
        (known.kept_ledger_ms, known.is_ledger_new) = (now, false);
        Ok(())
    }
}

/// Proposes a batch. For each whether it was granted; nothing for one that is no more the holder of the duty.
fn assign(database: &Database, duty: &str, batch: &[Proposal]) -> Result<Option<Vec<bool>>, AppError> {
    let (tasks, hosts): (Vec<i64>, Vec<i32>) = batch.iter().map(|one| (one.task, one.host)).unzip();
    let sessions: Vec<&str> = batch.iter().map(|one| one.session.as_str()).collect();
    let given = [&duty as &Given, &tasks, &hosts, &sessions];
    let rows = database.with(|client| client.query(sql::ASSIGN_ALL, &given))?;
    let answers: Vec<&str> = rows.iter().map(|row| row.get(0)).collect();
    Ok((!answers.contains(&"duty")).then(|| answers.iter().map(|answer| answer.is_empty()).collect()))
}

/// Reads everything that the duty remembers.
fn load(now: u64, database: &Database) -> Result<Memory, AppError> {
    let text: String = database.with(|client| client.query_one(sql::LEDGER, &[]))?.get(0);
    let lanes = database.with(|client| client.query(sql::LANE_RULES, &[&None::<&str>]))?;
    let held = database.with(|client| client.query(sql::HELD_SLOTS, &[]))?;
    database.with(|client| {
        let mut memory = Memory::new(Ledger::from_text(&text).unwrap_or_default());
        lanes.iter().for_each(|row| rule(&mut memory, now, row));
        for row in &held {
            let (lanes, counts): (Vec<i64>, Vec<i64>) = (row.get(1), row.get(2));
            memory.hold(row.get(0), lanes.into_iter().zip(counts).collect());
        }
        // The first tasks are remembered while the server finds the others.
        client.batch_execute(sql::IN_ORDER)?;
        let done = client.each(sql::HEADS, &[&DEPTH], &mut |row| remember(&mut memory, row, DEPTH));
        client.batch_execute(sql::IN_ORDER_END)?;
        done.map(|()| memory)
    })
}

/// Remembers one of the first tasks of a queue. As many as were asked for of one queue mean that it may have more.
fn remember(memory: &mut Memory, row: &Row, most: i32) {
    apply(memory, row);
    if row.get::<_, i64>(11) == i64::from(most) {
        memory.has_more(row.get(0));
    }
}

/// Remembers the next tasks of the queues that have run out.
fn refill(memory: &mut Memory, database: &Database) -> Result<(), AppError> {
    let keys = memory.take_hungry();
    if keys.is_empty() {
        return Ok(());
    }
    let users: Vec<&str> = keys.iter().map(|key| key.user.as_str()).collect();
    let places: Vec<&str> = keys.iter().map(|key| key.place.as_str()).collect();
    let tiers: Vec<i16> = keys.iter().map(|key| key.tier).collect();
    let lanes: Vec<&str> = keys.iter().map(|key| key.lanes.as_str()).collect();
    let given = [&users as &Given, &places, &tiers, &lanes, &MORE];
    let rows = database.with(|client| client.query(sql::MORE, &given))?;
    rows.iter().for_each(|row| remember(memory, row, MORE));
    Ok(())
}

/// Follows the state of a task.
fn apply(memory: &mut Memory, row: &Row) {
    let (id, state): (i64, &str) = (row.get(0), row.get(1));
    let (lanes, counts): (Vec<i64>, Option<Vec<i32>>) = (row.get(6), row.get(7));
    match state {
        "q" if row.get(10) => {
            let Ok(user) = Name::new(row.get::<_, &str>(2)) else { return };
            let priority = u8::try_from(row.get::<_, i16>(5)).ok().and_then(Priority::new).unwrap_or_default();
            let (place, tier) = (row.get(3), tier_of(row.get(4)));
            let (takes_user_lane, refused) = (row.get(8), row.get(9));
            let turn = row.get("turn");
            memory.wait(Waiting { id, turn, user, place, tier, priority, lanes, counts, takes_user_lane, refused });
        }
        "a" | "r" | "w" => {
            let counts = counts.unwrap_or_else(|| vec![1; lanes.len()]);
            memory.hold(id, lanes.into_iter().zip(counts.into_iter().map(i64::from)).collect());
        }
        _ => memory.forget(id),
    }
}

/// Follows the rules and pauses of lanes.
fn rules(memory: &mut Memory, now: u64, database: &Database, seen: &str) -> Result<(), AppError> {
    let rows = database.with(|client| client.query(sql::LANE_RULES, &[&seen]))?;
    rows.iter().for_each(|row| rule(memory, now, row));
    Ok(())
}

/// Follows the rules and the pause of a lane.
fn rule(memory: &mut Memory, now: u64, row: &Row) {
    let [paused_ms, limited_ms] = [2, 4].map(|at| match row.get::<_, i64>(at) {
        0 => 0,
        // The end of a pause without an end is beyond every moment.
        i64::MAX => u64::MAX,
        wait => now.saturating_add(wait.unsigned_abs()),
    });
    memory.set_lane(row.get(0), i64::from(row.get::<_, i32>(1)), paused_ms.max(limited_ms));
    if let Some(user) = row.get::<_, Option<&str>>(3).and_then(|user| Name::new(user).ok()) {
        let weight = row.get::<_, Option<i32>>(5).and_then(|weight| u32::try_from(weight).ok());
        memory.set_user(user, paused_ms, weight);
    }
}

#[cfg(test)]
mod tests {
    use super::MISSED_MS;
    use crate::fleet::migrate::SCRIPT;

    #[test]
    fn looks_and_the_duty_give_tasks_to_no_host_after_the_same_silence() {
        assert!(SCRIPT.contains(&format!("least({MISSED_MS}, h.lease_ms / 2)")));
    }
}
