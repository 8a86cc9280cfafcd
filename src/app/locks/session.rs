//! Leases of a session: they last as long as the agent's process, which a keeper watches. The acquirer hands its kernel
//! lock over to the keeper, and starts the keeper where none lives.

use crate::app::config_reload::config;
use crate::app::locks::acquire::{Granted, Lease, Leased, note_granted_now, process_of, split_lease};
use crate::app::locks::reentrancy::is_of;
use crate::app::locks::release::{Given, release};
use crate::app::locks::waiting::acquire_waiting;
use crate::app::query::list::locks;
use crate::app::{App, AppError, Code, Kind, lane_word};
use crate::model::lock::Grant;
use crate::model::process::{Ancestor, INITIAL_PID_NAMESPACE};
use crate::model::who::{MOST_SESSION_BYTES, SESSION_HOLDER, clean};
use crate::model::{Identity, LaneName, LockKind, Who};
use crate::policy::agent::{agent_above, is_passer, may_be_agent, process_key};
use crate::policy::staleness::judge;
use crate::store::{By, KeeperAnswer, LockView, Release, Released, Request};
use std::time::Duration;

/// Time that a keeper may take to answer, in milliseconds. It starts within milliseconds on a host that is not short of
/// anything.
const ANSWER_MS: u64 = 30_000;
/// Longest wait of one look for the answer of a keeper.
const LOOK: Duration = Duration::from_millis(50);

/// A session and the process whose life it shares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session {
    /// The key that distinguishes the session from others.
    pub key: String,
    /// The agent's process.
    pub process: Identity,
}

/// The session of the caller: by the key that it gives, else by that of its agent, else by the agent's process.
pub fn session(app: &App, given: Option<&str>, pid: Option<u32>) -> Result<Session, AppError> {
    let process = match pid {
        Some(_) => process_of(app, pid)?,
        None => {
            let agent = agent_above_caller(app)?;
            // Pid 1 is a shell or the maker of a sandbox: the agent lives outside.
            if agent.process.pid == 1 && is_passer(&agent) {
                return Err(ends_with_sandbox());
            }
            agent.process
        }
    };
    let key = session_key(app, given, &|| Ok(process.clone()))?;
    Ok(Session { key, process })
}

/// The name under which the session of the caller holds lanes where no keeper can watch it.
pub fn session_holder(app: &App, given: Option<&str>) -> Result<String, AppError> {
    Ok(holder_of(&session_key(app, given, &|| agent_of_caller(app))?))
}

/// The key of the caller's session, for a caller that only releases leases.
fn session_key(
    app: &App,
    given: Option<&str>,
    process: &dyn Fn() -> Result<Identity, AppError>,
) -> Result<String, AppError> {
    let known = given.map(str::to_owned).or_else(|| app.agent.as_ref()?.session.clone());
    if let Some(key) = known.and_then(|key| clean(&key, MOST_SESSION_BYTES)) {
        return Ok(key);
    }
    Ok(process_key(&process()?, app.host.own_origin().pid_namespace.unwrap_or(0)))
}

fn agent_of_caller(app: &App) -> Result<Identity, AppError> {
    Ok(agent_above_caller(app)?.process)
}

fn agent_above_caller(app: &App) -> Result<Ancestor, AppError> {
    let is_initial = app.host.own_origin().pid_namespace == Some(INITIAL_PID_NAMESPACE);
    agent_above(&app.host.ancestors(app.host.identity().pid, &may_be_agent), is_initial).cloned().ok_or_else(|| {
        AppError::new(
            Code::NoAgent,
            "no ancestor of this process is an agent, so there is no process with which a session ends",
        )
        .hint(
            "name the process with which the session ends: --pid PID; the ancestors of this process are \
             shells, or /proc hides them",
        )
    })
}

/// Takes a lease that lasts as long as a session, waiting as `acquire` does.
pub fn acquire_for_session(
    app: &App,
    lease: &Lease,
    session: &Session,
    tell: &mut dyn FnMut(&str),
) -> Result<Leased, AppError> {
    let holder = if lease.holder.is_empty() { holder_of(&session.key) } else { app.holder_name(&lease.holder)? };
    let around = split_lease(app, lease, &holder)?;
    if around.wanted.is_empty() {
        return Ok(around.leased(&lease.lanes, Granted::default()));
    }
    app.store.prepare()?;
    let request = Request {
        ttl_ms: lease.ttl_ms,
        process: session.process.clone(),
        pid_watched: true,
        who: Who { session: Some(session.key.clone()), ..app.who(&[]) },
        durable: lease.durable,
        ..app.request(app.needs(&around.wanted), LockKind::Session, holder)
    };
    let begun_ms = app.host.boot_ms();
    let mut granted = acquire_waiting(app, &request, Some(lease.wait_ms), tell, &|_| Ok(Vec::new()))?;
    let handed = granted
        .grants
        .iter()
        .try_for_each(|grant| hand_to_keeper(app, session, grant).map_err(|error| (grant.clone(), error)));
    granted.files.clear();
    if let Err((failed, error)) = handed {
        // Leases that the session had before stay with its keeper.
        let ended: Vec<&Grant> =
            granted.grants.iter().filter(|one| **one == failed || granted.taken().any(|grant| grant == *one)).collect();
        return Err(give_all_back(app, session, &ended, error));
    }
    note_granted_now(app, &granted, &request.holder, begun_ms);
    Ok(around.leased(&lease.lanes, granted))
}

/// Gives leases back when not all could be handed over; the error also names a lease that the keeper has and keeps.
fn give_all_back(app: &App, session: &Session, grants: &[&Grant], mut error: AppError) -> AppError {
    for grant in grants.iter().rev() {
        let Err(failed) = give_back(app, session, grant) else { continue };
        // A keeper may have it already, and then it lasts.
        let message = format!("the session still holds the lease \"{}\", but: {error}; {failed}", grant.lock_id);
        error = AppError::new(error.code(), message)
            .with_kind(error.kind())
            .hint(format!("luzia release {} --session gives it back", lane_word(&grant.lane)));
    }
    error
}

/// Waits until the keeper of the session holds the kernel lock of a grant. The caller holds it meanwhile.
fn hand_to_keeper(app: &App, session: &Session, grant: &Grant) -> Result<(), AppError> {
    let key = session.key.as_str();
    app.store.ask_keeper(key, &grant.lane, grant.slot)?;
    let mut changes = app.store.keeper_changes(key);
    let begin = app.host.boot_ms();
    loop {
        match app.store.keeper_answer(key, &grant.lane, grant.slot)? {
            KeeperAnswer::Holds => return Ok(()),
            KeeperAnswer::Gone => {
                let message = format!("lane \"{}\" was lost before the session took it over", grant.lane);
                return Err(AppError::new(Code::LockLost, message)
                    .with_kind(Kind::Busy)
                    .hint("acquire the lane again")
                    .next(format!("luzia explain {}", lane_word(&grant.lane))));
            }
            KeeperAnswer::Waiting => {}
        }
        if let Some(lock) = app.store.take_keeper_lock(key)? {
            let process = &session.process;
            let words = ["keep-session".to_owned(), process.pid.to_string(), process.start.to_string(), key.to_owned()];
            let args: Vec<String> = app.same_place.iter().cloned().chain(words).collect();
            app.run_dir.launch_supervisor(&args, lock)?;
        }
        app.host.reap();
        if app.host.boot_ms().saturating_sub(begin) >= ANSWER_MS {
            let message = format!("the keeper of session \"{key}\" does not answer");
            return Err(AppError::new(Code::NoKeeper, message)
                .hint("a keeper ends at once when the process of its session is dead; --pid names another process"));
        }
        changes.wait(LOOK);
    }
}

fn give_back(app: &App, session: &Session, grant: &Grant) -> Result<(), AppError> {
    app.store.unask_keeper(&session.key, &grant.lane, grant.slot)?;
    let which = Release::LockId(grant.lock_id.0.clone());
    app.store.release(&grant.lane, &which, By::Holder, config(app).lock_timeout_ms(&grant.lane), judge)?;
    Ok(())
}

/// Gives the lease of a session on a lane back.
pub fn release_of_session(
    app: &App,
    lane: &LaneName,
    given: Option<&str>,
    pid: Option<u32>,
) -> Result<Given, AppError> {
    let key = session_key(app, given, &|| pid.map_or_else(|| agent_of_caller(app), |_| process_of(app, pid)))?;
    let own = app.holders(lane)?.into_iter().find(|view| is_of(view, &key));
    match own.as_ref().and_then(LockView::lock_id) {
        Some(id) => {
            let given = release(app, lane, None, Some(id), false)?;
            wake_keeper(app, &key, own.as_ref());
            Ok(given)
        }
        None => release(app, lane, Some(&holder_of(&key)), None, false),
    }
}

/// Gives every lease of a session back.
pub fn release_session(app: &App, given: Option<&str>, pid: Option<u32>) -> Result<(String, Vec<Given>), AppError> {
    let key = session_key(app, given, &|| pid.map_or_else(|| agent_of_caller(app), |_| process_of(app, pid)))?;
    let mut released = Vec::new();
    for view in locks(app)?.into_iter().filter(|view| is_of(view, &key)) {
        let (Some(lane), Some(id)) = (&view.lane, view.lock_id()) else { continue };
        released.push(release(app, lane, None, Some(id), false)?);
        wake_keeper(app, &key, Some(&view));
    }
    Ok((key, released))
}

/// Ends a lease of a session for another process: the process of the session goes on, and its other leases stay.
pub(crate) fn end_session_lease(app: &App, view: &LockView) -> Result<(), AppError> {
    let (Some(lane), Some(id)) = (&view.lane, view.lock_id()) else { return Ok(()) };
    let which = Release::LockId(id.to_owned());
    if let Released::Removed(_) =
        app.store.release(lane, &which, By::Holder, config(app).lock_timeout_ms(lane), judge)?
    {
        let key = view.record().and_then(|record| record.who.session.clone());
        wake_keeper(app, &key.unwrap_or_default(), Some(view));
    }
    Ok(())
}

/// Wakes a keeper, so that it sees that a lock is gone. A keeper that is not woken keeps nothing: it only lives longer.
fn wake_keeper(app: &App, key: &str, view: Option<&LockView>) {
    let slot = view.and_then(|view| Some((view.lane.as_ref()?, view.slot)));
    if let Some((lane, slot)) = slot.filter(|(lane, slot)| !key.is_empty() && app.store.keeper_holds(key, lane, *slot))
    {
        let _ = app.store.ask_keeper(key, lane, slot);
    }
}

/// The error if no agent is visible: it lives outside this sandbox, and the keeper of its session would end with the sandbox.
fn ends_with_sandbox() -> AppError {
    let message = "no agent can be seen from this sandbox, and a lease of its session would end with the sandbox";
    AppError::new(Code::EndsWithSandbox, message).hint(
        "beside --session, --ttl DUR takes a lease with a time limit, and --pid 1 one that ends with this sandbox; nothing was taken",
    )
}

/// The name of the holder of a session lease: one name for each key.
fn holder_of(key: &str) -> String {
    format!("{SESSION_HOLDER}{:08x}", crc32fast::hash(key.as_bytes()))
}
