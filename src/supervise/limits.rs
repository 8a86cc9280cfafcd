//! The usage limit of a provider. A task that ends with 75 names in `$LUZIA_RESULT_FILE` the time from which it can be tried
//! again, and the one of its lanes that pauses until then. A success in the lane lifts the pause.

use crate::model::control::{Held, Hold};
use crate::model::{LaneName, Task, Timestamp};
use crate::policy::outcome::Happened;
use crate::policy::steps::names::{Limit, read_limit};
use crate::store::{Event, Site, StoreError};
use serde_json::json;

/// The name of the file in the directory of a task. Each start has its own, so no start reads the file of an earlier one.
pub(super) fn result_file(task: &Task) -> String {
    format!("result.{}.json", task.starts)
}

/// The largest number of bytes that are read of a result file.
const MOST_BYTES: usize = 64 * 1024;
/// Beginning of the author of a lane's hold that a task asked for.
const BY: &str = "the usage limit of ";

/// Result of a run that ended with 75.
pub(super) fn judge_limit(site: &Site, task: &Task, happened: Happened) -> Result<Happened, StoreError> {
    if happened != Happened::Exited(75) {
        return Ok(happened);
    }
    let Some(text) = result_of(site, task) else { return Ok(happened) };
    let limit = match read_limit(&text, site.host.now()) {
        Ok(Some(limit)) => limit,
        Ok(None) => return Ok(happened),
        Err(why) => {
            site.store.note(&Event::of("limit_ignored", task).saying(format!("{}: {why}", result_file(task))));
            return Ok(happened);
        }
    };
    if let Some(lane) = &limit.lane {
        pause(site, task, lane, &limit)?;
    }
    let lane = limit.lane.as_ref().map(ToString::to_string);
    let data = json!({ "retry_at": limit.until.to_string(), "pause": lane });
    site.store.note(&Event::of("limited", task).with(data));
    Ok(Happened::Limited(limit.until))
}

fn result_of(site: &Site, task: &Task) -> Option<String> {
    let conductor = site.run_dir.conductor(&task.conductor_dir, false).ok().flatten()?;
    let mut file = conductor.read_log(task.id, &result_file(task)).ok().flatten()?;
    String::from_utf8(file.read_part(0, MOST_BYTES).ok()?).ok()
}

/// Pauses a lane for a task. A task pauses lanes that it takes itself, and no others.
fn pause(site: &Site, task: &Task, lane: &LaneName, limit: &Limit) -> Result<(), StoreError> {
    if lane.is_global() || !task.all_lanes().contains(lane) {
        let why = format!("{} does not take lane \"{lane}\", which it asked to pause", task.id);
        site.store.note(&Event::of("limit_ignored", task).saying(why));
        return Ok(());
    }
    let now = site.host.now();
    site.store.change_control::<_, StoreError>(|control| {
        let held = Held::Lane(lane.clone());
        let stands = |hold: &Hold| hold.held == held && hold.stands(now);
        // A hold of the lane by a person stays, and so does a longer hold.
        if control.holds.iter().any(|hold| stands(hold) && hold.until.is_none_or(|until| until >= limit.until)) {
            return Ok(());
        }
        if control.holds.iter().any(|hold| stands(hold) && !is_limit(hold)) {
            return Ok(());
        }
        control.holds.retain(|hold| !stands(hold));
        let by = Some(format!("{BY}{}", task.id));
        let reason = Some("usage limit".to_owned());
        control.holds.push(Hold { held, since: now, until: Some(limit.until), reason, by });
        Ok(())
    })?;
    site.store.note(&Event::of("paused", task).in_lane(lane).with(json!({ "until": limit.until.to_string() })));
    Ok(())
}

fn is_limit(hold: &Hold) -> bool {
    hold.by.as_deref().is_some_and(|by| by.starts_with(BY))
}

fn is_lifted_by(task: &Task, hold: &Hold, now: Timestamp) -> bool {
    let of_task = |held: &Held| matches!(held, Held::Lane(lane) if task.all_lanes().contains(lane));
    is_limit(hold) && hold.stands(now) && of_task(&hold.held)
}

/// Lifts the holds of usage limits in the lanes of a task that has completed. After a read or write error a hold stays: it
/// ends by its time.
pub(super) fn lift(site: &Site, task: &Task) {
    let now = site.host.now();
    let is_lifted = |hold: &Hold| is_lifted_by(task, hold, now);
    if !site.store.control().is_ok_and(|control| control.holds.iter().any(is_lifted)) {
        return;
    }
    let lifted = site.store.change_control::<_, StoreError>(|control| {
        control.holds.iter_mut().filter(|hold| is_lifted(hold)).for_each(|hold| hold.until = Some(now));
        Ok(())
    });
    if lifted.is_ok() {
        site.store.note(&Event::of("resumed", task).saying("a success lifts the usage limit".to_owned()));
    }
}
