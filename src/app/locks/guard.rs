//! `guard`: runs a command only while the lock of its caller is in force (P5). The lock is looked at under the guard of its
//! lane before the command starts, and once a second while it runs. A lease is refreshed meanwhile.

use crate::app::locks::lock::{End, not_started};
use crate::app::{App, AppError, Code, Kind, lane_word, lock_state};
use crate::model::evidence::Verdict;
use crate::model::lock::{Grant, loan};
use crate::model::{LaneName, LockId, LockKind};
use crate::os::{InPlace, Signal, Woken};
use crate::store::{Event, LockView};
use crate::supervise::Keeper;
use serde_json::json;
use std::time::Duration;

/// How often the lock is looked at while the command runs.
const LOOK: Duration = Duration::from_secs(1);
/// How long a command that lost its lock has between SIGTERM and SIGKILL, in milliseconds.
const GRACE_MS: u64 = 5000;

/// Which lock must be in force.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Guarded {
    /// `--lane`.
    pub lane: Option<LaneName>,
    /// `--fence`: the lock with this very fence.
    pub fence: Option<u64>,
    /// `LUZIA_LOCK_ID`.
    pub lock_id: Option<String>,
    /// `LUZIA_FENCE`.
    pub env_fence: Option<u64>,
}

/// What came of a guarded command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuardEnd {
    /// How the command ended.
    pub end: End,
    /// Why it was ended: its lock was lost.
    pub lost: Option<String>,
}

/// The lock that is guarded.
struct Held {
    grant: Grant,
    view: LockView,
}

impl App {
    /// Runs a command as long as the lock is in force.
    pub fn guard(&self, asked: &Guarded, command: &[String]) -> Result<GuardEnd, AppError> {
        let held = self.guarded(asked)?;
        let record = held.view.record();
        let kind = record.map_or(LockKind::Foreign, |record| record.kind);
        let ttl_ms = record.and_then(|record| record.ttl_ms);
        let timeout_ms = |lane: &LaneName| ttl_ms.unwrap_or_else(|| self.config().lock_timeout_ms(lane));
        let grants = std::slice::from_ref(&held.grant);
        let holder = held.view.holder().unwrap_or_default().to_owned();
        let site = self.site();
        let mut keeper = (kind == LockKind::Lease).then(|| {
            // From now on it cannot run out, whatever was left of it.
            let _ = self.store.keep_lock(kind, &holder, &held.grant, timeout_ms(&held.grant.lane));
            Keeper::new(&site, kind, holder.clone(), grants, &timeout_ms)
        });
        let env = [
            ("LUZIA_FENCE".to_owned(), held.grant.fence.to_string()),
            ("LUZIA_LOCK_ID".to_owned(), held.grant.lock_id.to_string()),
        ];
        let name = command.first().map_or("", String::as_str);
        let place = InPlace { argv: command, env: &env, cwd: None, has_input: true, held: Vec::new(), output: None };
        let mut child = self.host.start_here(place).map_err(|error| not_started(name, &error))?;
        let mut lost: Option<(String, u64)> = None;
        loop {
            if let Some(keeper) = &mut keeper {
                keeper.keep();
            }
            let time = keeper.as_ref().map_or(LOOK, |keeper| keeper.time_left().min(LOOK));
            let woken = child
                .wait(Some(time))
                .map_err(|error| AppError::new(Kind::Io, Code::Io, format!("cannot wait for \"{name}\": {error}")))?;
            match woken {
                Woken::Exited(exit) => return Ok(GuardEnd { end: exit.into(), lost: lost.map(|(why, _)| why) }),
                Woken::Terminate => drop(child.signal(Signal::Term)),
                Woken::Interrupt | Woken::Pass | Woken::TimeUp | Woken::Wrote | Woken::Token => {}
            }
            match &lost {
                Some((_, since)) if self.host.boot_ms().saturating_sub(*since) >= GRACE_MS => {
                    drop(child.signal(Signal::Kill));
                }
                Some(_) => {}
                None => {
                    if let Some(why) = self.is_lost(&held.grant)? {
                        let what = json!({ "lock_id": held.grant.lock_id.0, "fence": held.grant.fence.0 });
                        self.store.note(&Event::new("guard_lost").in_lane(&held.grant.lane).with(what));
                        drop(child.signal(Signal::Term));
                        lost = Some((why, self.host.boot_ms()));
                    }
                }
            }
        }
    }

    /// The lock that is asked for, in force.
    fn guarded(&self, asked: &Guarded) -> Result<Held, AppError> {
        let lane = self.guarded_lane(asked)?;
        let views = self.holders(&lane)?;
        let own = self.inside.as_ref().map(|inside| inside.task.to_string());
        let is_meant = |view: &&LockView| {
            let Some(record) = view.record() else { return false };
            match (asked.fence, &asked.lock_id, &own) {
                (Some(fence), ..) => record.fence.map(|fence| fence.0) == Some(fence),
                (None, Some(id), _) if record.lock_id.as_ref() == Some(id) => true,
                // A task has a lock of its own in each of its lanes.
                (None, _, Some(own)) => record.kind == LockKind::Task && record.task_id.as_ref() == Some(own),
                (None, None, None) => record.fence.map(|fence| fence.0) == asked.env_fence,
                (None, Some(_), None) => false,
            }
        };
        let found = views.iter().find(is_meant).cloned();
        let (Some(view), Some(lock_id), Some(fence)) = (
            found.clone(),
            found.as_ref().and_then(|view| view.lock_id().map(str::to_owned)),
            found.as_ref().and_then(LockView::record).and_then(|record| record.fence),
        ) else {
            return Err(self.not_current(&lane, asked, &views));
        };
        let above = |other: &&LockView| {
            other.slot > view.slot && loan::root(other.slot) == loan::root(view.slot) && is_live(other)
        };
        if !is_live(&view) || views.iter().any(|other| above(&other)) {
            return Err(self.not_current(&lane, asked, &views));
        }
        let value = view.record().and_then(|record| record.value.clone());
        Ok(Held {
            grant: Grant { lane, slot: view.slot, lock_id: LockId(lock_id), fence, value, has_share: false },
            view,
        })
    }

    /// The lane that is meant: the one that is named, else the one of the lock in the environment.
    fn guarded_lane(&self, asked: &Guarded) -> Result<LaneName, AppError> {
        if let Some(lane) = &asked.lane {
            return Ok(lane.clone());
        }
        let wanted = |view: &LockView| match (&asked.lock_id, asked.fence.or(asked.env_fence)) {
            (Some(id), _) => view.lock_id() == Some(id.as_str()),
            (None, Some(fence)) => view.record().and_then(|record| record.fence).is_some_and(|own| own.0 == fence),
            (None, None) => false,
        };
        if asked.lock_id.is_none() && asked.fence.is_none() && asked.env_fence.is_none() {
            return Err(AppError::usage("there is no fence: neither --fence nor LUZIA_FENCE says it".to_owned())
                .hint("inside a task or `luzia lock` the environment says it; `luzia acquire --json` prints it"));
        }
        let found = self.locks()?.into_iter().find(wanted).and_then(|view| view.lane);
        found.ok_or_else(|| {
            let what = match (&asked.lock_id, asked.fence.or(asked.env_fence)) {
                (Some(id), _) => format!("lock {id}"),
                (None, fence) => format!("fence {}", fence.unwrap_or_default()),
            };
            lost_error(format!("{what} is not in force any more; nothing was run")).next("luzia list-locks")
        })
    }

    fn not_current(&self, lane: &LaneName, asked: &Guarded, views: &[LockView]) -> AppError {
        let what = match (asked.fence, &asked.lock_id) {
            (Some(fence), _) => format!("fence {fence}"),
            (None, Some(id)) => format!("lock {id}"),
            (None, None) => "the lock".to_owned(),
        };
        let why = match views.iter().filter(|view| is_live(view)).max_by_key(|view| view.slot) {
            Some(view) => format!("{} holds the lane now", self.told(view)),
            None => "nobody holds the lane now".to_owned(),
        };
        let message = format!("{what} is not in force in lane \"{lane}\": {why}; nothing was run");
        lost_error(message).next(format!("luzia explain {}", lane_word(lane)))
    }

    /// Who holds a lane, and by which fence.
    fn told(&self, view: &LockView) -> String {
        let fence = view.record().and_then(|record| record.fence).map(|fence| format!(" with fence {fence}"));
        format!("{}{}", view.shown().unwrap_or_else(|| "somebody".to_owned()), fence.unwrap_or_default())
    }

    /// Why a lock is not in force any more, while its command runs.
    fn is_lost(&self, grant: &Grant) -> Result<Option<String>, AppError> {
        if self.store.current_grant(&grant.lane, &grant.lock_id.0)?.is_some() {
            return Ok(None);
        }
        let views = self.holders(&grant.lane)?;
        let now = views.iter().find(|view| is_live(view)).map(|view| format!("{} holds it now", self.told(view)));
        let now = now.unwrap_or_else(|| "nobody holds it now".to_owned());
        Ok(Some(format!("lock {} of lane \"{}\" was lost: {now}", grant.lock_id, grant.lane)))
    }
}

fn is_live(view: &LockView) -> bool {
    matches!(view.verdict, Verdict::Live { .. }) && lock_state(&view.verdict) != "stale"
}

fn lost_error(message: String) -> AppError {
    AppError::new(Kind::No, Code::FenceLost, message).hint("take the lane again before the work goes on")
}
