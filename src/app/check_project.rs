//! `check-project`: releases the locks of tasks whose `meta.json` says that they are over. Text in a conductor directory is a
//! claim, never authority. Every condition of `supervision.md` is checked, and a claim that fails one is reported and has no
//! effect.

use super::query::list::locks;
use crate::app::accounts::{Known, account_id};
use crate::app::config_reload::conductor_path;
use crate::app::pass::recovery::recover_now;
use crate::app::{App, AppError, Code, config_reload};
use crate::model::config::EVERY_PROJECT;
use crate::model::evidence::Verdict;
use crate::model::{LaneName, Name, Status};
use crate::policy::staleness::judge;
use crate::store::{Break, By, ClaimedMeta, Conductor, Event, LockView, Release, Released, StoreError};
use serde_json::json;

/// The result of one claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The project.
    pub project: String,
    /// The directory below `active/`.
    pub dir: String,
    /// The lock that was released, or would be.
    pub released: Option<Break>,
    /// Why the claim was refused.
    pub refused: Option<String>,
}

/// Checks every claim of a project, in order.
pub fn check_project(app: &App, project: &str, dry_run: bool) -> Result<Vec<Checked>, AppError> {
    let settings = config_reload::config(app).project(project);
    let settings = settings.as_ref();
    let user = settings.and_then(|settings| settings.user.clone());
    let path = conductor_of(app, project)?;
    let Some(conductor) = app.run_dir.conductor(&path, false).map_err(of_conductor)? else {
        return if settings.is_some() { Ok(Vec::new()) } else { Err(no_project(app, project)) };
    };
    let run_as = settings.and_then(|settings| settings.run_as.as_deref());
    let numbers = Known::nothing();
    let mut checked = Vec::new();
    let mut claims = conductor.claims().map_err(of_conductor)?;
    claims.extend(claims_in_done(app, &conductor, user.as_ref())?.into_iter().map(Ok));
    for claim in claims {
        let answer = |dir: &str, released, refused| Checked {
            project: project.to_owned(),
            dir: dir.to_owned(),
            released,
            refused,
        };
        match claim {
            Err(path) => checked.push(answer(&path, None, Some("its meta.json cannot be read".to_owned()))),
            Ok(claim) if claim.lock_released || !is_final(&claim) => {}
            Ok(claim) => match believe(app, &claim, user.as_ref(), run_as, &numbers) {
                Err(AppErrorOr::Refused(why)) => {
                    let data = json!({ "project": project, "dir": claim.dir });
                    app.store.note(&Event::new("claim_refused").saying(why.clone()).with(data));
                    checked.push(answer(&claim.dir, None, Some(why)));
                }
                Err(AppErrorOr::Failed(error)) => return Err(error),
                Ok(view) => {
                    let released = release_claimed(app, &conductor, &claim, view, dry_run)?;
                    checked.push(answer(&claim.dir, released, None));
                }
            },
        }
    }
    Ok(checked)
}

/// The conductor directory of a project. That of the configuration belongs to the original, where the state directory is a copy.
pub(crate) fn conductor_of(app: &App, project: &str) -> Result<String, AppError> {
    let settings = config_reload::config(app).project(project).unwrap_or_default();
    let user = settings.user.as_ref().map_or("", Name::as_str);
    let own = settings.conductor_dir.as_deref().filter(|_| app.store.copied_from().is_none());
    Ok(match own {
        Some(template) => conductor_path(template, project, user),
        None => app.run_dir.default_conductor(Some(crate::app::queue::enqueue::name("project", project)?.as_str())),
    })
}

/// The claims below `done/` that name a lock of the project's user. `done/` is not listed: it may hold every task
/// that ever was. A task of luzia is there a moment before its supervisor releases its lanes; that is no claim.
fn claims_in_done(app: &App, conductor: &Conductor, user: Option<&Name>) -> Result<Vec<ClaimedMeta>, AppError> {
    let mut claims = Vec::new();
    let views = match user {
        Some(user) => app.holders(&LaneName::user(user))?,
        None => locks(app)?,
    };
    for view in views {
        let lives = matches!(view.verdict, Verdict::Live { why, .. } if why.is_living_process());
        let (Some(true), Some(task), false) = (view.lane.as_ref().map(LaneName::is_user), view.holder(), lives) else {
            continue;
        };
        claims.extend(
            conductor
                .claim_in_done(task)
                .map_err(of_conductor)?
                .filter(|claim| claim.lock_id.is_some() && claim.lock_id.as_deref() == view.lock_id()),
        );
    }
    Ok(claims)
}

/// A project needs no configuration, but then there must be tasks of it.
fn no_project(app: &App, project: &str) -> AppError {
    let config = config_reload::config(app);
    let known: Vec<&str> = config.projects.keys().map(String::as_str).filter(|name| *name != EVERY_PROJECT).collect();
    let hint = match known.as_slice() {
        [] => "no project is configured, and no task was ever started for this one".to_owned(),
        known => format!("configured: {}", known.join(", ")),
    };
    AppError::new(Code::ProjectNotFound, format!("there is no project \"{project}\"")).hint(hint)
}

/// The lock that a claim names, when every condition holds; `Ok(None)` when it is gone already.
fn believe(
    app: &App,
    claim: &ClaimedMeta,
    project_user: Option<&crate::model::Name>,
    run_as: Option<&str>,
    numbers: &Known<Option<u32>>,
) -> Result<Option<Box<LockView>>, AppErrorOr> {
    let refuse = |why: &str| Err(AppErrorOr::Refused(why.to_owned()));
    let (Some(id), Some(user), Some(lock_id)) = (&claim.id, &claim.user, &claim.lock_id) else {
        return refuse("it names no id, user or lock_id");
    };
    if *id != claim.dir {
        return refuse("its id is not the name of its directory");
    }
    if claim.uid != app.host.owner() {
        // Looked up only here, because the directory of accounts may not answer.
        match run_as.map(|name| numbers.get(name, || account_id(app, name))) {
            Some(Ok(Some(uid))) if uid == claim.uid => {}
            Some(Err(error)) => return refuse(&error.to_string()),
            Some(Ok(_)) | None => return refuse("its file belongs to another account"),
        }
    }
    let user = crate::app::queue::enqueue::name("user", user).map_err(AppErrorOr::Failed)?;
    if project_user.is_some_and(|owner| *owner != user) {
        return refuse("its user is not that of the project");
    }
    let lane = LaneName::user(&user);
    let holders = app.holders(&lane).map_err(AppErrorOr::Failed)?;
    let names_it = |view: &LockView| view.lock_id() == Some(lock_id);
    let Some(view) = holders.into_iter().find(names_it) else { return Ok(None) };
    let record = view.record();
    if record.and_then(|record| record.task_id.as_ref()) != Some(id) {
        return refuse("the lock with this lock_id is held by another task");
    }
    if claim.fence.is_some() && claim.fence != view.fence().map(|fence| fence.0) {
        return refuse("its fence is not that of the lock");
    }
    match view.verdict {
        Verdict::Live { why, .. } if why.is_living_process() => {
            refuse(&format!("the task is not over: {}", why.text()))
        }
        Verdict::Refused { .. } => refuse(
            "luzia leaves this lock alone: it is not a regular file, or another account \
             or a newer luzia made it",
        ),
        Verdict::Live { .. } | Verdict::Stale { .. } => Ok(Some(Box::new(view))),
    }
}

fn release_claimed(
    app: &App,
    conductor: &Conductor,
    claim: &ClaimedMeta,
    view: Option<Box<LockView>>,
    dry_run: bool,
) -> Result<Option<Break>, AppError> {
    let lane = view.as_ref().and_then(|view| view.lane.clone());
    let (Some(lane), Some(lock_id)) = (lane, &claim.lock_id) else {
        // That lock id holds nothing any more: only the note is missing.
        if !dry_run {
            conductor.acknowledge(claim).map_err(of_conductor)?;
        }
        return Ok(None);
    };
    if dry_run {
        let holder = claim.id.clone();
        return Ok(Some(Break { lane, slot: 0, lock_id: Some(lock_id.clone()), holder, why: None, age_ms: 0 }));
    }
    // By lock id, never by name: a later lock of the lane has another id.
    let which = Release::LockId(lock_id.clone());
    match app.store.release(&lane, &which, By::Anybody, config_reload::config(app).lock_timeout_ms(&lane), judge)? {
        Released::Removed(lock) => {
            conductor.acknowledge(claim).map_err(of_conductor)?;
            let data = json!({ "lock_id": lock.lock_id, "holder": lock.holder, "by": "meta.json" });
            app.store.note(&Event::new("lock_released").in_lane(&lane).with(data));
            Ok(Some(lock))
        }
        Released::NeedsRecovery(task) => {
            recover_now(app, task)?;
            conductor.acknowledge(claim).map_err(of_conductor)?;
            Ok(None)
        }
        Released::Free | Released::NotYours(_) => {
            conductor.acknowledge(claim).map_err(of_conductor)?;
            Ok(None)
        }
        Released::Living(_) => Ok(None),
    }
}

/// Makes an error of a conductor directory, which may belong to another account and lie anywhere.
fn of_conductor(error: StoreError) -> AppError {
    AppError::from(error).hint("it is part of a conductor directory, which luzia must be able to read and to write")
}

enum AppErrorOr {
    Refused(String),
    Failed(AppError),
}

/// `completed`, `failed` or `cancelled`, as they are spelled; anything else is not an end (S3.20).
fn is_final(claim: &ClaimedMeta) -> bool {
    claim.status.as_deref().and_then(Status::parse).is_some_and(Status::is_final)
}
