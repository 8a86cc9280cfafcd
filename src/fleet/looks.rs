//! Looks at lanes in the database: their holders, now and before, and every reason why a task waits.

use super::tasks::{ahead, full, hosts_full, id_of, placed};
use super::{Database, sql};
use crate::app::fleet::lanes::{LaneRules, rules};
use crate::app::query::details::host_text;
use crate::app::{AppError, Holder, Obstacle, Pause};
use crate::model::{Fence, LaneName, LockKind, LockRecord, Task, TaskId, Timestamp, Who};
use crate::policy::analytics::timeline::Hold;
use crate::store::{LockView, decode_task};
use postgres::Row;

/// The holders of a lane, or of all lanes, with the tasks that have them.
pub(super) fn keepers(database: &Database, lane: Option<&LaneName>) -> Result<Vec<(TaskId, LockView)>, AppError> {
    let lane = lane.map(ToString::to_string);
    let rows = database.with(|client| client.query(sql::HOLDS, &[&lane]))?;
    rows.iter().map(|row| held(row, database.host.now())).collect()
}

fn held(row: &Row, now: Timestamp) -> Result<(TaskId, LockView), AppError> {
    let id = id_of(row.get(4));
    let task = decode_task(&id.to_string(), row.get::<_, &str>(5).as_bytes(), None)?;
    let number = |at: usize| row.get::<_, i64>(at).unsigned_abs();
    let (age_ms, held_ms) = (number(8), number(9));
    let before = |ms: u64| Some(Timestamp(now.0.saturating_sub_unsigned(ms)));
    let (holder, kind, command) = match task.lease() {
        Some(lease) => (lease.holder, LockKind::Lease, &[][..]),
        None => (id.to_string(), LockKind::Task, &task.command[..]),
    };
    let who = Who::of(task.agent.as_ref(), command, task.label.as_deref());
    let record = LockRecord {
        lane: LaneName::parse(row.get(0)).ok(),
        lock_id: row.get(10),
        task_id: Some(holder),
        value: row.get(2),
        fence: Some(Fence(number(3))),
        acquired_at: before(held_ms),
        refreshed_at: before(age_ms),
        host: Some(row.get(6)),
        expires_at: row.get::<_, Option<i64>>(11).map(Timestamp),
        kind,
        who: Who { asked_by: task.asked_by.clone(), ..who },
        ..LockRecord::default()
    };
    let slot = u32::try_from(row.get::<_, i32>(1)).unwrap_or(0);
    Ok((id, LockView::shared(record, slot, row.get(7), age_ms, held_ms)))
}

/// Number of tasks that wait for a lane, and the first of them.
pub(super) fn waiting_in(database: &Database, lane: &LaneName) -> Result<(u64, Option<TaskId>), AppError> {
    let row = database.with(|client| client.query_one(sql::WAITING_IN, &[&lane.to_string()]))?;
    Ok((row.get::<_, i64>(0).unsigned_abs(), row.get::<_, Option<i64>>(1).map(id_of)))
}

/// Adds a pause that is not among the obstacles yet.
fn add_pause(obstacles: &mut Vec<Obstacle>, pause: Option<Pause>) {
    let pause = pause.map(|pause| Obstacle::Paused { pause });
    obstacles.extend(pause.filter(|pause| !obstacles.contains(pause)));
}

/// Every reason why no host takes a task: its place, its lanes by name, and the tasks before it.
pub(super) fn obstacles(database: &Database, task: &Task) -> Result<Vec<Obstacle>, AppError> {
    let (mut obstacles, why) = placed(database, task)?;
    let Some(why) = why else { return Ok(obstacles) };
    for lane in task.all_lanes().into_iter().filter(|lane| !lane.is_global()) {
        let LaneRules { limit, pause, limited } = rules(database, &lane)?;
        add_pause(&mut obstacles, pause);
        let holds = keepers(database, Some(&lane))?;
        if holds.iter().any(|(keeper, _)| *keeper == task.id) {
            // It has its lanes, and its host has not told its start yet.
            continue;
        }
        let used = u32::try_from(holds.len()).unwrap_or(u32::MAX);
        let needed = task.slots_of(&lane);
        if let Some((_, first)) = holds.first().filter(|_| used.saturating_add(needed) > limit) {
            obstacles.push(full(lane.clone(), used, limit, needed, holder(first)));
        }
        obstacles.extend(limited.map(|(rate, until)| Obstacle::RateLimited { lane, rate, until }));
    }
    if !task.takes_user_lane {
        add_pause(&mut obstacles, rules(database, &LaneName::user(&task.user))?.pause);
    }
    // A task that is paused or not due waits for no turn.
    let is_parked = matches!(obstacles.first(), Some(Obstacle::Paused { .. } | Obstacle::Delayed { .. }));
    obstacles.extend(hosts_full(&why).filter(|_| !is_parked));
    let ahead = if is_parked { 0 } else { ahead(database, task.id)? };
    obstacles.extend((ahead > 0).then_some(Obstacle::Priority { ahead }));
    Ok(obstacles)
}

/// The holds of lanes that lasted at a moment or later, in the order of their grants.
pub(super) fn holds_since(database: &Database, since: Timestamp) -> Result<Vec<Hold>, AppError> {
    let rows = database.with(|client| client.query(sql::RUNS, &[&since.0]))?;
    Ok(rows.iter().flat_map(holds_of).collect())
}

/// The holds of a run: those of its lanes, and of `global` on its host. Where the clock of the host differs from that of the server,
/// the command is moved into the hold.
fn holds_of(row: &Row) -> Vec<Hold> {
    let at = |column| row.get::<_, Option<i64>>(column).map(Timestamp);
    let (id, mut lanes): (i64, Vec<String>) = (row.get(0), row.get(3));
    lanes.push(LaneName::global().to_string());
    let [asked, from] = [4, 5].map(|column| Timestamp(row.get(column)));
    let (to, last) = (at(6), at(6).unwrap_or(Timestamp::LAST).max(from));
    // A damaged record hides its own start only.
    let task =
        row.get::<_, Option<&str>>(10).and_then(|text| decode_task(&id_of(id).to_string(), text.as_bytes(), None).ok());
    let begun = match to {
        Some(_) => at(7),
        None => task.and_then(|task| task.last_start).map(|start| start.at).filter(|start| Some(*start) != at(7)),
    };
    let run = begun
        .map(|begun| begun.clamp(from, last))
        .map(|begun| (begun, to.map(|to| at(8).unwrap_or(to).clamp(begun, last))));
    let hold = |lane| Hold {
        lane,
        holder: id_of(id).to_string(),
        user: row.get(1),
        host: row.get(2),
        asked: asked.min(from),
        from,
        to,
        run,
        end: row.get(9),
        lender: None,
        waits: Vec::new(),
    };
    lanes.into_iter().map(hold).collect()
}

/// The holder of a lock, as an obstacle.
pub(super) fn holder(view: &LockView) -> Holder {
    let known = Holder::unknown(view.holder(), view.verdict.clone());
    let record = view.record();
    Holder {
        slot: view.slot,
        shown: view.shown(),
        who: record.map(|record| record.who.clone()).unwrap_or_default(),
        since: record.and_then(|record| record.acquired_at),
        age_ms: view.age_ms,
        left_behind: host_text(view),
        ..known
    }
}
