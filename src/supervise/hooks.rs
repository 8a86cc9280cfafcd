//! The hooks `before` and `after` of a task (S3.48). They run in its context: its account, environment, directory, limits and
//! logs, as a part of its tree. Its lanes are held meanwhile.

use super::keep::Keeper;
use super::kill::{Root, end_tree};
use super::run::{TOLD_TO_END, cancelled};
use super::{HEARTBEAT, Surroundings};
use crate::model::Task;
use crate::model::control::{HOOK_VARIABLE, Hook};
use crate::model::time::format_duration;
use crate::os::{Child, Command, Exit, Signal, StartError, Streams, Woken};
use crate::policy::hooks::{AFTER, BEFORE, runs_in, task_payload};
use crate::policy::outcome::Happened;
use crate::store::{Event, Hold, Site, StoreError};
use serde_json::{Value, json};
use std::fs::File;
use std::time::Duration;

/// Time in which the processes of a failed hook must end, in milliseconds.
const GRACE_MS: u64 = 2000;

/// Data of a task's start that its hooks need.
pub(super) struct Place {
    command: Command,
    stdout: File,
    stderr: File,
    after: Vec<Hook>,
}

/// Number of times that the hooks are read again after an error, and the pause between two tries.
const MOST_TRIES: u32 = 300;
const PAUSE: Duration = Duration::from_millis(100);

/// End of a hook.
enum End {
    Well,
    Failed(String),
    /// A request asks the task to end.
    Happened(Happened),
}

/// Runs the hooks for the beginning of a task. `Err`: its command must not start. `Ok` is the data for the hooks at its end,
/// if there are any.
pub(super) fn before(
    around: &mut Surroundings,
    task: &Task,
    (command, streams): (&Command, &Streams),
    tree: &Hold,
    keeper: &mut Keeper,
) -> Result<Result<Option<Place>, Happened>, StoreError> {
    let site = around.site;
    let hooks = match read(site, keeper) {
        Ok(hooks) => hooks,
        Err(error) => {
            // A damaged file may hold a hook on which the task depends.
            return Ok(Err(Happened::NotStarted(125, format!("the hooks cannot be read: {error}"))));
        }
    };
    let of = |event: &'static str| hooks.iter().filter(move |hook| runs_in(hook, event, task));
    let after: Vec<Hook> = of(AFTER).cloned().collect();
    if after.is_empty() && of(BEFORE).next().is_none() {
        return Ok(Ok(None));
    }
    let copy = |file: &File| file.try_clone().map_err(StoreError::io("open the log of", &task.id.to_string()));
    let command = Command { has_terminal: false, input_of: None, ..command.clone() };
    let place = Place { command, stdout: copy(&streams.stdout)?, stderr: copy(&streams.stderr)?, after };
    let mut is_pass_wanted = false;
    for hook in of(BEFORE) {
        let data = json!({ "attempt": task.attempt(), "start": task.starts });
        let mut look = |woken: Woken| -> Result<Option<Happened>, StoreError> {
            if let Some(request) = site.store.cancel_request(task.id)? {
                return Ok(Some(cancelled(request)));
            }
            is_pass_wanted |= woken == Woken::Pass;
            around.is_told_to_end |= woken == Woken::Terminate || (around.told_to_end)();
            Ok(around.is_told_to_end.then(|| Happened::Interrupted(TOLD_TO_END.to_owned())))
        };
        let end = run_one(site, task, hook, &place, (&[], data), tree, keeper, &mut look)?;
        note(site, task, hook, &end);
        match end {
            End::Well => {}
            End::Failed(why) => {
                return Ok(Err(Happened::NotStarted(125, format!("the hook \"{}\" failed: {why}", hook.name))));
            }
            End::Happened(happened) => return Ok(Err(happened)),
        }
    }
    if is_pass_wanted {
        // The watcher of the command makes the pass.
        site.host.signal(&site.host.identity(), Signal::Wake);
    }
    Ok(Ok(Some(place).filter(|place| !place.after.is_empty())))
}

/// Reads the hooks. An error of the operating system is tried again: a host in trouble costs no task.
fn read(site: &Site, keeper: &mut Keeper) -> Result<Vec<Hook>, StoreError> {
    let mut tries = 0;
    loop {
        match site.store.hooks() {
            Err(StoreError::Io { .. }) if tries < MOST_TRIES => {
                tries += 1;
                keeper.pause(PAUSE);
            }
            read => return read,
        }
    }
}

/// Runs the hooks for the end of a task, which is already recorded. No hook changes that end.
pub(super) fn after(site: &Site, task: &Task, place: &Place, keeper: &mut Keeper) -> Result<(), StoreError> {
    let code = task.outcome().and_then(|outcome| outcome.exit_code);
    let env = [
        ("LUZIA_STATUS", task.status().word().to_owned()),
        ("LUZIA_EXIT_CODE", code.map(|code| code.to_string()).unwrap_or_default()),
    ];
    for hook in &place.after {
        if keeper.is_cut_off() {
            note(site, task, hook, &End::Happened(Happened::CutOff));
            continue;
        }
        let data = json!({ "status": task.status().word(), "exit_code": code });
        let tree = site.run_dir.lock_tree(task.id)?;
        let end = run_one(site, task, hook, place, (&env, data), &tree, keeper, &mut |_| Ok(None));
        let end = end.unwrap_or_else(|error| End::Failed(error.to_string()));
        drop(tree);
        end_rest(site, task, keeper)?;
        note(site, task, hook, &end);
    }
    Ok(())
}

/// Ends the processes that hooks have left running. This process has let go of `tree.lock`, so the lock shows whether any
/// lives.
pub(super) fn end_rest(site: &Site, task: &Task, keeper: &mut Keeper) -> Result<(), StoreError> {
    let me = site.host.identity();
    let root = Root::here(site, &me);
    end_tree(site, task.id, &root, GRACE_MS, &[], keeper).map(drop)
}

fn note(site: &Site, task: &Task, hook: &Hook, end: &End) {
    let data = json!({ "hook": hook.name, "event": hook.event });
    site.store.note(&match end {
        End::Well => Event::of("hook_ran", task).with(data),
        End::Failed(why) => Event::of("hook_failed", task).with(data).saying(why.clone()),
        End::Happened(_) => Event::of("hook_failed", task).with(data).saying("the task was to end"),
    });
}

type Look<'a> = dyn FnMut(Woken) -> Result<Option<Happened>, StoreError> + 'a;

#[allow(clippy::too_many_arguments, reason = "what one hook needs has no name of its own")]
fn run_one(
    site: &Site,
    task: &Task,
    hook: &Hook,
    place: &Place,
    (env, data): (&[(&str, String)], Value),
    tree: &Hold,
    keeper: &mut Keeper,
    look: &mut Look<'_>,
) -> Result<End, StoreError> {
    let mut command = Command { argv: hook.argv(), ..place.command.clone() };
    let own = [(HOOK_VARIABLE, hook.name.clone()), ("LUZIA_EVENT", hook.event.clone())];
    for (key, value) in own.iter().chain(env) {
        command.env.push((key.as_bytes().to_vec(), value.clone().into_bytes()));
    }
    let copy = |file: &File| file.try_clone().map_err(StoreError::io("open the log of", &task.id.to_string()));
    let input = site.run_dir.input_file(task.id, "hook", &format!("{}\n", task_payload(hook, task, data)))?;
    let streams = Streams { stdin: input, stdout: copy(&place.stdout)?, stderr: copy(&place.stderr)? };
    let mut child = match site.host.start(&command, &streams, tree.share()) {
        Ok(child) => child,
        Err(
            StartError::NotFound(error)
            | StartError::NotExecutable(error)
            | StartError::Short(error)
            | StartError::Other(error),
        ) => return Ok(End::Failed(format!("it could not be started: {error}"))),
    };
    let end = watch(site, task, hook, child.as_mut(), keeper, look)?;
    if !matches!(end, End::Well) {
        let _ = child.signal(keeper.end_signal());
    }
    Ok(end)
}

fn watch(
    site: &Site,
    task: &Task,
    hook: &Hook,
    child: &mut dyn Child,
    keeper: &mut Keeper,
    look: &mut Look<'_>,
) -> Result<End, StoreError> {
    let begin = site.host.boot_ms();
    loop {
        keeper.keep_beside(child);
        if keeper.is_cut_off() {
            return Ok(End::Happened(Happened::CutOff));
        }
        let left = hook.timeout_ms.saturating_sub(site.host.boot_ms().saturating_sub(begin));
        if left == 0 {
            return Ok(End::Failed(format!("it did not end within {}", format_duration(hook.timeout_ms))));
        }
        let time = HEARTBEAT.min(Duration::from_millis(left)).min(keeper.time_left());
        let woken = child.wait(Some(time)).map_err(StoreError::io("wait for a hook of", &task.id.to_string()))?;
        match woken {
            Woken::Exited(Exit::Code(0)) => return Ok(End::Well),
            Woken::Exited(Exit::Code(code)) => return Ok(End::Failed(format!("it ended with {code}"))),
            Woken::Exited(Exit::Signal(signal)) => return Ok(End::Failed(format!("signal {signal} ended it"))),
            woken => {
                if let Some(happened) = look(woken)? {
                    return Ok(End::Happened(happened));
                }
            }
        }
    }
}
