//! Tasks in the database: records in two parts, and the verbs that change and look at them.

use super::lanes::limited_until;
use super::looks::{holder, keepers};
use super::{Database, Given, errors, sql};
use crate::app::fleet::lanes::hold_of;
use crate::app::fleet::places::TaskPlace;
use crate::app::fleet::{Again, FleetCounts, FleetHost, InTheWay, SharedTask, Sink, Tail};
use crate::app::lifecycle::Accepted;
use crate::app::{AppError, Code, Holder, Obstacle, Pause};
use crate::model::config::Rate;
use crate::model::task::{Group, Word};
use crate::model::{LaneName, Name, Status, Task, TaskId, Tier};
use crate::policy::hold::pause_of;
use crate::policy::requests::MOST_IN_A_ROW;
use crate::request::values::OnConflict;
use crate::store::{CancelRequest, OF_A_START, decode_task};
use postgres::Row;
use serde_json::{Map, Value, json};

/// Number of tasks that are read at once.
const PAGE: i32 = 500;
/// Number of tries to change a record that others change, too.
const TRIES: u32 = 5;
/// The states that mean the statuses of tasks: with a host, without one, over.
const STATES: [(&str, &[Status]); 3] = [
    ("arw", &[Status::Pending, Status::Running, Status::Waiting]),
    ("qd", &[Status::Pending]),
    ("e", &[Status::Completed, Status::Failed, Status::Timeout, Status::Cancelled]),
];

/// The record of a task in two parts: its description, and the members that only its start needs.
pub(super) fn split(task: &Task) -> Result<(String, String), AppError> {
    let failed = |error: serde_json::Error| AppError::new(Code::Bug, error.to_string());
    let mut record: Map<String, Value> = serde_json::to_value(task).and_then(serde_json::from_value).map_err(failed)?;
    let spec: Map<String, Value> =
        OF_A_START.iter().filter_map(|name| Some(((*name).to_owned(), record.shift_remove(*name)?))).collect();
    Ok((serde_json::to_string(&record).map_err(failed)?, serde_json::to_string(&spec).map_err(failed)?))
}

pub(super) fn id_of(number: i64) -> TaskId {
    TaskId(number.unsigned_abs())
}

pub(super) fn number_of(id: TaskId) -> i64 {
    i64::try_from(id.0).unwrap_or(i64::MAX)
}

/// The word of a uuid.
pub(super) fn word_of(uuid: &str) -> Word {
    Word::parse(&uuid.replace('-', "")).unwrap_or_default()
}

/// The tier of its number.
pub(super) fn tier_of(number: i16) -> Tier {
    let at = usize::from(number.unsigned_abs());
    Tier::ALL.get(at).copied().unwrap_or(Tier::Low)
}

/// The task of a row with its number and its record.
fn task_of(row: &Row) -> Result<Task, AppError> {
    let (id, record): (i64, &str) = (row.get(0), row.get(1));
    Ok(decode_task(&id_of(id).to_string(), record.as_bytes(), None)?)
}

/// The state of a task that waits: one that no moment wakes is held.
fn state_of(task: &Task) -> &'static str {
    if task.hold.as_ref().is_some_and(|hold| hold.until.is_none()) { "d" } else { "q" }
}

/// One task as `enqueue` takes it.
fn queued(shared: &SharedTask, own: &str) -> Result<Value, AppError> {
    let SharedTask { task, on_conflict, place, beside } = shared;
    let (record, spec) = split(task)?;
    let place = match place {
        TaskPlace::Own => own,
        TaskPlace::Host(name) => name,
        TaskPlace::Any => "",
    };
    let lanes: Vec<String> =
        task.all_lanes().iter().filter(|lane| !lane.is_global()).map(ToString::to_string).collect();
    let conflict = match on_conflict {
        OnConflict::Queue => "queue",
        OnConflict::Reject => "reject",
        OnConflict::Replace => "replace",
        OnConflict::Skip | OnConflict::Join => "skip",
    };
    let counts: Map<String, Value> = task
        .all_lanes()
        .iter()
        .filter(|lane| task.slots_of(lane) > 1)
        .map(|lane| (lane.to_string(), task.slots_of(lane).into()))
        .collect();
    let mut queued = json!({
        "id": task.id.0, "state": state_of(task), "place": place, "user": task.user.as_str(), "lanes": &lanes, "own": task.takes_user_lane,
        "tier": task.priority.tier().index(), "priority": task.priority.number(),
        "due_ms": task.wakes_at().map(|at| at.0), "key": task.key, "conflict": conflict,
        "beside": beside.iter().map(|id| id.0).collect::<Vec<_>>(), "record": record, "spec": spec,
    });
    if !counts.is_empty() {
        queued["counts"] = counts.into();
    }
    if let Some(group) = &task.group {
        // Tasks of a group have the same user, place, lanes and priority.
        let lanes = lanes.join(" ");
        let of = [group.name.as_str(), task.user.as_str(), place, &lanes, &task.priority.number().to_string()];
        queued["group"] = of.join("\n").into();
        queued["most"] = MOST_IN_A_ROW.into();
    }
    Ok(queued)
}

/// Queues tasks. The numbers and the name of the request are drawn first, so a lost answer is asked for again and is the same.
pub(super) fn enqueue(database: &Database, tasks: &[SharedTask]) -> Result<Result<Vec<Accepted>, InTheWay>, AppError> {
    let mut tasks = tasks.to_vec();
    let count = i32::try_from(tasks.len()).map_err(|_| AppError::usage("a batch has too many lines"))?;
    let numbers = database.with(|client| client.query(sql::NUMBERS, &[&count]))?;
    let request = database.word()?.to_string();
    let mut list = Vec::with_capacity(tasks.len());
    for (shared, row) in tasks.iter_mut().zip(&numbers) {
        shared.task.id = id_of(row.get(0));
        shared.task.group = shared.task.group.take().map(|group| Group { first: shared.task.id, ..group });
        list.push(queued(shared, &database.name)?);
    }
    let list = Value::from(list).to_string();
    let rows = match database.ask(|client| client.query(sql::ENQUEUE, &[&request, &list]))? {
        Ok(rows) => rows,
        Err(error) => return in_the_way(&error).map(Err).ok_or_else(|| database.refused(&error)),
    };
    database.hint(&[]);
    let answers = rows.iter().zip(tasks).map(|(row, SharedTask { task, .. })| {
        let (id, created) = (id_of(row.get(0)), row.get(1));
        let group = task.group.clone().map(|group| Group { first: id_of(row.get(2)), ..group });
        let task = if created { Task { id, group, ..task } } else { existing(database, id)? };
        Ok(Accepted { task, created })
    });
    answers.collect::<Result<_, _>>().map(Ok)
}

/// The tasks that a refusal of the database names.
fn in_the_way(error: &postgres::Error) -> Option<InTheWay> {
    let refusal = error.as_db_error()?;
    let ids: Vec<TaskId> = refusal.message().split(' ').filter_map(|word| word.parse().ok()).map(id_of).collect();
    match refusal.code().code() {
        errors::KEY_TAKEN => ids.first().copied().map(InTheWay::Rejects),
        errors::TO_REPLACE => Some(InTheWay::Older(ids)),
        _ => None,
    }
}

fn existing(database: &Database, id: TaskId) -> Result<Task, AppError> {
    find(database, id)?.ok_or_else(|| AppError::new(Code::TaskNotFound, format!("there is no {id}")))
}

/// A task by its number.
pub(super) fn find(database: &Database, id: TaskId) -> Result<Option<Task>, AppError> {
    let row = database.with(|client| client.query_opt(sql::TASK, &[&number_of(id)]))?;
    row.as_ref().map(task_of).transpose()
}

/// Gives tasks to `sink`, page by page.
pub(super) fn tasks(
    database: &Database,
    wants: &dyn Fn(Status) -> bool,
    user: Option<&Name>,
    sink: Sink,
) -> Result<(), AppError> {
    database.with(|client| client.batch_execute(sql::SNAPSHOT))?;
    let given = pages(database, wants, user.map(Name::as_str), sink);
    // Without its connection the snapshot has ended.
    given.and(database.with(|client| client.batch_execute(sql::SNAPSHOT_END)))
}

fn pages(database: &Database, wants: &dyn Fn(Status) -> bool, user: Option<&str>, sink: Sink) -> Result<(), AppError> {
    for (states, statuses) in STATES {
        if !statuses.iter().any(|status| wants(*status)) {
            continue;
        }
        let mut above = 0_i64;
        loop {
            let page = database.with(|client| client.query(sql::TASKS, &[&states, &user, &above, &PAGE]))?;
            for row in &page {
                above = row.get(0);
                let found = task_of(row);
                if found.as_ref().map_or(true, |task| wants(task.status())) && !sink(found) {
                    return Ok(());
                }
            }
            if page.len() < usize::try_from(PAGE).unwrap_or(usize::MAX) {
                break;
            }
        }
    }
    Ok(())
}

/// The newest task, of a user where one is given.
pub(super) fn newest(database: &Database, user: Option<&str>) -> Result<Option<TaskId>, AppError> {
    let row = database.with(|client| client.query_one(sql::NEWEST, &[&user]))?;
    Ok(row.get::<_, Option<i64>>(0).map(id_of))
}

/// Number of queued tasks of the same user that come before a task.
pub(super) fn ahead(database: &Database, id: TaskId) -> Result<u64, AppError> {
    let row = database.with(|client| client.query_one(sql::AHEAD, &[&number_of(id)]))?;
    Ok(row.get::<_, i64>(0).unsigned_abs())
}

/// The reasons why no host takes a task, apart from full lanes and the tasks before it; and what the database says of these, if the
/// task is in a queue. Of several pauses it has the first.
pub(super) fn placed(database: &Database, task: &Task) -> Result<(Vec<Obstacle>, Option<Row>), AppError> {
    if task.status() != Status::Pending {
        return Ok((Vec::new(), None));
    }
    if let Some(pause) = pause_of(task, &[], database.host.now()) {
        return Ok((vec![Obstacle::Paused { pause }], None));
    }
    let row = database.with(|client| client.query_opt(sql::WHY, &[&number_of(task.id)]))?;
    let mut obstacles = Vec::new();
    if let Some((lane, text)) = row.as_ref().and_then(|row| row.get::<_, Option<&str>>(2).zip(row.get(3))) {
        obstacles.push(Obstacle::Paused { pause: Pause::by(&hold_of(lane, text)?) });
    }
    if let Some(until) = task.due_at.filter(|at| *at > database.host.now()) {
        obstacles.push(Obstacle::Delayed { until });
    } else if let Some(row) = &row {
        obstacles.extend((row.get::<_, i64>(1) == 0).then(|| Obstacle::NoHost { place: row.get(0) }));
        let declined = |host| Obstacle::NoDirectory { host, directory: task.cwd.clone() };
        obstacles.extend(row.get::<_, Option<String>>(8).map(declined));
    }
    Ok((obstacles, row))
}

/// The first reason why no host takes a task.
pub(super) fn obstacle(database: &Database, task: &Task) -> Result<Option<Obstacle>, AppError> {
    let (mut obstacles, row) = placed(database, task)?;
    let Some(row) = row.filter(|_| obstacles.is_empty()) else {
        return Ok(obstacles.drain(..).next());
    };
    let Some(lane) = row.get::<_, Option<&str>>(2).and_then(|lane| LaneName::parse(lane).ok()) else {
        if let Some(full) = hosts_full(&row) {
            return Ok(Some(full));
        }
        let ahead = ahead(database, task.id)?;
        return Ok((ahead > 0).then_some(Obstacle::Priority { ahead }));
    };
    if row.get::<_, Option<i64>>(7).map(id_of) == Some(task.id) {
        // It has its lanes, and its host has not told its start yet.
        return Ok(None);
    }
    let used = u32::try_from(row.get::<_, i64>(4)).unwrap_or(u32::MAX);
    let [max, needed] = [5, 6].map(|at| u32::try_from(row.get::<_, i32>(at)).unwrap_or(0));
    let until = limited_until(database, row.get(10)).filter(|_| used.saturating_add(needed) <= max);
    let rate = row.get::<_, Option<&str>>(9).and_then(Rate::parse);
    if let Some((rate, until)) = rate.zip(until) {
        return Ok(Some(Obstacle::RateLimited { lane, rate, until }));
    }
    // Without a holder the lane has become free since.
    let first = keepers(database, Some(&lane))?.into_iter().next();
    Ok(first.map(|(_, first)| full(lane, used, max, needed, holder(&first))))
}

/// The reason of a queued task whose hosts have no free slot.
pub(super) fn hosts_full(row: &Row) -> Option<Obstacle> {
    let free: Option<i32> = row.get(11);
    free.is_some_and(|free| free <= 0).then(|| Obstacle::HostsFull { place: row.get(0) })
}

/// The reason of a lane without room.
pub(super) fn full(lane: LaneName, used: u32, max: u32, needed: u32, holder: Holder) -> Obstacle {
    match lane.is_user() {
        true => Obstacle::UserLockHeld { holder },
        false => Obstacle::LaneFull { lane, used, max, needed, holder },
    }
}

/// Numbers of the tasks.
pub(super) fn counts(database: &Database) -> Result<FleetCounts, AppError> {
    let mut counts = FleetCounts::default();
    for row in database.with(|client| client.query(sql::COUNTS, &[]))? {
        let (state, tasks, first): (&str, u64, i64) = (row.get(1), row.get::<_, i64>(4).unsigned_abs(), row.get(5));
        match (state, row.get(3)) {
            ("q", true) => {
                let waiting = &mut counts.waiting;
                waiting.pending[tier_of(row.get(2)).index()] += tasks;
                *waiting.users.entry(row.get(0)).or_insert(0) += tasks;
                counts.oldest = counts.oldest.into_iter().chain([id_of(first)]).min();
            }
            ("q" | "d", _) => counts.waiting.parked += tasks,
            _ => {}
        }
    }
    for row in database.with(|client| client.query(sql::RECENT, &[]))? {
        let at = match row.get::<_, Option<&str>>(0).and_then(Status::parse) {
            Some(Status::Completed) => 0,
            Some(Status::Failed | Status::Timeout) => 1,
            Some(Status::Cancelled) => 2,
            _ => continue,
        };
        counts.recent[at] += row.get::<_, i64>(1).unsigned_abs();
    }
    Ok(counts)
}

/// The hosts, by name.
pub(super) fn hosts(database: &Database) -> Result<Vec<FleetHost>, AppError> {
    let number = |row: &Row, at: usize| row.get::<_, i64>(at).unsigned_abs();
    let host = |row: &Row| FleetHost {
        name: row.get(0),
        is_alive: row.get(1),
        age_ms: number(row, 2),
        lease_ms: number(row, 3),
        free: u32::try_from(row.get::<_, i32>(4)).unwrap_or(0),
        tasks: number(row, 5),
        is_draining: row.get(6),
        has_duty: row.get(7),
        labels: row.get(8),
    };
    Ok(database.with(|client| client.query(sql::HOSTS, &[]))?.iter().map(host).collect())
}

/// Ends a task that no host has.
pub(super) fn end_queued(database: &Database, ended: &Task) -> Result<bool, AppError> {
    let (request, (record, _)) = (database.word()?.to_string(), split(ended)?);
    let row = database.with(|client| client.query_one(sql::CANCEL, &[&request, &number_of(ended.id), &record]))?;
    Ok(row.get(0))
}

/// Queues a task that is over again. A record that changes meanwhile is read anew.
pub(super) fn requeue(database: &Database, id: TaskId, again: &Again) -> Result<Option<Task>, AppError> {
    for _ in 0..TRIES {
        let Some(row) = database.with(|client| client.query_opt(sql::TASK, &[&number_of(id)]))? else { break };
        let (task, seen) = (again(task_of(&row)?)?, row.get::<_, &str>(1));
        let (request, (record, _)) = (database.word()?.to_string(), split(&task)?);
        let due_ms = task.due_at.map(|at| at.0);
        let given = [&request as &Given, &number_of(id), &seen, &record, &due_ms];
        match database.with(|client| client.query_one(sql::RETRY, &given))?.get(0) {
            "again" => {
                database.hint(&[]);
                return Ok(Some(task));
            }
            "gone" => return Ok(None),
            _ => {}
        }
    }
    existing(database, id)?;
    Err(AppError::new(Code::TaskBusy, format!("{id} changes right now")).hint("try again"))
}

/// Replaces the record of a task that no host has.
pub(super) fn change_waiting(database: &Database, seen: &Task, changed: &Task) -> Result<bool, AppError> {
    let ((before, _), (after, _)) = (split(seen)?, split(changed)?);
    let (state, due_ms) = (state_of(changed), changed.wakes_at().map(|at| at.0));
    let given = [&number_of(seen.id) as &Given, &before, &after, &state, &due_ms];
    let is_changed = database.with(|client| client.query_one(sql::CHANGE, &given))?.get(0);
    database.hint(&[]);
    Ok(is_changed)
}

/// Asks the host of a task to end it; the name of that host, or `None` if no host has it.
pub(super) fn wish_end(database: &Database, id: TaskId, request: &CancelRequest) -> Result<Option<String>, AppError> {
    let word = database.word()?.to_string();
    let args = json!({ "by": request.by, "reason": request.reason, "grace_ms": request.grace_ms }).to_string();
    let row = database.with(|client| client.query_opt(sql::WISH, &[&word, &number_of(id), &"cancel", &args]))?;
    row.iter().for_each(|row| database.hint(&[row.get(1)]));
    Ok(row.map(|row| row.get(0)))
}

/// The host of a task and the last part of its output.
pub(super) fn tail(database: &Database, id: TaskId) -> Result<Tail, AppError> {
    let row = database.with(|client| client.query_opt(sql::TAIL, &[&number_of(id)]))?;
    Ok(row.map_or_else(Tail::default, |row| Tail { host: row.get(0), output: row.get(1) }))
}
