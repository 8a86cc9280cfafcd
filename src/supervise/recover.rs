//! Recovery: treats an unsupervised task as the recovery table says. The caller has taken its `supervisor.lock`.

use super::course::or_wait;
use super::finish::{Finished, finish};
use super::keep::Keeper;
use super::kill::{Root, end_tree, mark_of, tree_of};
use crate::model::process::is_other_boot;
use crate::model::{Task, TaskId};
use crate::os::Signal;
use crate::policy::outcome::{Happened, conclude};
use crate::policy::recovery::{Action, Seen, Standing, action};
use crate::policy::steps::course::verdict;
use crate::store::{Ending, Event, Found, Place, Site, Started, StoreError};
use serde_json::json;

/// The state of an unsupervised task, in the terms of the recovery table.
pub fn seen(found: &Found) -> Seen {
    let standing = match found.place {
        None => Standing::Nowhere,
        Some(Place::Pending | Place::Parked) => Standing::Queued,
        Some(Place::Running | Place::Waiting) if found.task.is_none() => Standing::Nowhere,
        Some(Place::Running) => Standing::Running,
        Some(Place::Waiting) => Standing::Waiting,
        Some(Place::Done) => Standing::Over,
    };
    Seen {
        standing,
        has_result: found.ending.is_some(),
        is_started: found.is_started,
        is_tree_locked: found.is_tree_locked,
    }
}

/// Ends the living processes of a task, by the marks that its start recorded. After a start in another boot, or in another
/// state directory from which this one was copied, no living process belongs to this directory (P13).
fn end_leftovers(
    site: &Site,
    id: TaskId,
    started: Option<Started>,
    (grace_ms, keeper): (u64, &mut Keeper),
    spared: &[u32],
) -> Result<(), StoreError> {
    let boot_id = site.host.identity().boot_id;
    let is_gone = started.as_ref().is_some_and(|started| is_other_boot(&started.supervisor.boot_id, &boot_id));
    if is_gone && (started.as_ref().is_some_and(Started::is_elsewhere) || !site.run_dir.is_tree_locked(id)?) {
        return Ok(());
    }
    let root = root_of(site, started.as_ref());
    // A tree whose slots other tasks may have must not run for an instant: it gets no signal that continues it.
    let grace_ms = if site.run_dir.has_yielded(id)? { 0 } else { grace_ms };
    end_tree(site, id, &root, grace_ms, spared, keeper)?;
    if let Some(group) = root.group {
        site.host.remove_group(group);
    }
    Ok(())
}

/// The origin of the tree of a task, by its recorded start.
fn root_of<'a>(site: &'a Site, started: Option<&'a Started>) -> Root<'a> {
    let path = started.and_then(|started| started.state_dir.as_deref());
    Root {
        began_by: started.map(|started| &started.supervisor),
        state_dir: path.unwrap_or(site.host.state_dir()),
        group: started.and_then(|started| started.group.as_ref()),
        has_outsiders: false,
    }
}

/// Kills what lives of an unsupervised task, and does not wait for its death. The caller has its `supervisor.lock`.
pub fn kill_leftovers(site: &Site, id: TaskId) -> Result<(), StoreError> {
    let Some(Some(started)) = site.store.started(id)? else { return Ok(()) };
    let root = root_of(site, Some(&started));
    for process in tree_of(site, &mark_of(site, id, &root)?, &[])? {
        site.host.signal(&process, Signal::Kill);
    }
    if let Some(group) = root.group {
        site.host.kill_group(group);
    }
    Ok(())
}

/// The reason of an interruption.
fn why_dead(is_copied: bool, seen: Seen) -> &'static str {
    match (is_copied, seen.is_tree_locked) {
        (true, _) => "it ran in the state directory of which this one is a copy",
        (false, true) => "its supervisor was killed",
        (false, false) => "its supervisor died",
    }
}

/// Recovers one task. `spared` are supervisors of other tasks that this process started.
pub fn recover(site: &Site, id: TaskId, found: Found, spared: &[u32]) -> Result<Option<Finished>, StoreError> {
    let seen = seen(&found);
    let action = action(seen);
    let request = site.store.cancel_request(id)?;
    let mut is_copied = false;
    let mut keeper = Keeper::without_locks(site, found.task.as_ref());
    if seen.is_started || seen.is_tree_locked || seen.has_result {
        let asked_ms = request.as_ref().and_then(|request| request.grace_ms);
        site.run_dir.show_ending(id);
        let own_ms = found.task.as_ref().map(|task| task.grace_ms);
        let started = site.store.started(id)?.flatten();
        is_copied = started.as_ref().is_some_and(Started::is_elsewhere);
        let grace_ms = asked_ms.or(own_ms).unwrap_or(crate::model::task::DEFAULT_GRACE_MS);
        end_leftovers(site, id, started, (grace_ms, &mut keeper), spared)?;
    }
    if let Some(task) = &found.task {
        let what = json!({ "action": format!("{action:?}"), "was_alive": seen.is_tree_locked });
        site.store.note(&Event::of("recovered", task).with(what));
    }
    // A retry that died after its commit point and before it could report it.
    if let (Some(ending), Some(Place::Done)) = (&found.ending, found.place)
        && ending.task().outcome().is_none()
    {
        site.store.note(&Event::of("retried", ending.task()));
    }
    let cancelled = request.map(super::run::cancelled);
    let ending = match (action, found.ending, found.task) {
        (Action::FinishEnd, Some(ending), _) => ending,
        (Action::Interrupt, _, Some(task)) => {
            let finish = site.store.finish_said(id, task.starts)?;
            let interrupted = || match keeper.is_cut_off() {
                false => verdict(&task, Happened::Interrupted(why_dead(is_copied, seen).to_owned()), finish),
                true => Happened::CutOff,
            };
            let happened = match cancelled {
                Some(cancelled) => cancelled,
                None => or_wait(site, &task, interrupted())?,
            };
            record(site, &task, &happened)?
        }
        (Action::Unclaim, _, Some(task)) => {
            let happened = match cancelled {
                Some(cancelled) => cancelled,
                None if site.store.was_adopted(&task)? => Happened::NeverLaunched,
                None => Happened::GivenBack,
            };
            record(site, &task, &happened)?
        }
        (Action::StayWaiting, _, Some(task)) => match cancelled {
            Some(cancelled) => record(site, &task, &cancelled)?,
            None => {
                if let Some(wait) = task.wait() {
                    site.store.keep_for_wait(&task, wait)?;
                }
                site.store.stay_waiting(id, found.lock)?;
                return Ok(None);
            }
        },
        (_, _, task) => {
            match &task {
                Some(task) => drop(site.store.release_task(id, &task.all_lanes(), &[])?),
                // No record names its lanes: the lock files do.
                None => site.store.release_all_of(id)?,
            }
            site.store.discard_leftovers(id, task.as_ref(), found.lock)?;
            return Ok(None);
        }
    };
    finish(site, &ending, found.lock).map(Some)
}

fn record(site: &Site, task: &Task, happened: &Happened) -> Result<Ending, StoreError> {
    let now = site.host.now();
    let ran_ms = task.last_start.as_ref().map(|start| now.saturating_ms_since(start.at));
    let ending = Ending::of(super::delayed(site, conclude(task, happened, now, ran_ms), happened));
    site.store.record_ending(&ending, None)?;
    Ok(ending)
}
