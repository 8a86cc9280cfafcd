//! The timeout command of a wait (`await --timeout-do`), while its task has no process. It runs in the context of the task,
//! with its environment, account, directory and logs, and is a part of its tree.

use super::HEARTBEAT;
use super::environment::{Files, Place, fitted};
use super::keep::Keeper;
use super::kill::{Root, end_tree};
use crate::model::Task;
use crate::os::{Command, Exit, Signal, Streams, Woken};
use crate::store::{Event, STDERR_LOG, STDOUT_LOG, Site, StoreError};
use serde_json::json;
use std::time::Duration;

/// Longest duration of the command, in milliseconds.
const LONGEST_MS: u64 = 3_600_000;
/// Time in which the processes of the command must end, in milliseconds.
const GRACE_MS: u64 = 2000;

/// End of a command that the end of the host's lease ended or kept from its start.
const CUT_OFF: &str = "the lease of the host has ended";

/// Makes durable that the command begins, just before it starts.
type Begin<'a> = &'a mut dyn FnMut() -> Result<(), StoreError>;

/// Runs a shell command of a waiting task, and ends the processes that it leaves running. Records the end of the command as an
/// event, and returns it in the same words. The end changes nothing for the task. The caller holds the task's
/// `supervisor.lock`.
pub fn run_beside(
    site: &Site,
    config: Option<&str>,
    task: &Task,
    text: &str,
    begin: Begin<'_>,
) -> Result<String, StoreError> {
    let mut keeper = Keeper::without_locks(site, Some(task));
    let told = match run((site, &mut keeper), config, task, text, begin) {
        Ok(told) => told,
        Err(error) if error.is_shortage() => return Err(error),
        Err(error) => format!("it was not run: {error}"),
    };
    let me = site.host.identity();
    let root = Root::here(site, &me);
    end_tree(site, task.id, &root, GRACE_MS, &[], &mut keeper)?;
    site.store.note(&Event::of("timeout_command", task).saying(told.clone()).with(json!({ "command": text })));
    Ok(told)
}

/// The end of a command, in words.
pub fn told_end(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("it ended with {code}"),
        Exit::Signal(signal) => format!("signal {signal} ended it"),
    }
}

fn run(
    (site, keeper): (&Site, &mut Keeper),
    config: Option<&str>,
    task: &Task,
    text: &str,
    begin: Begin<'_>,
) -> Result<String, StoreError> {
    if keeper.is_cut_off() {
        return Ok(CUT_OFF.to_owned());
    }
    let absent = || StoreError::Absent { thing: task.conductor_dir.as_str().into() };
    let conductor = site.run_dir.conductor(&task.conductor_dir, true)?.ok_or_else(absent)?;
    conductor.open_task(task)?;
    let log = |name: &str| conductor.open_log(task.id, name)?.into_file().ok_or_else(absent);
    let streams = Streams { stdin: None, stdout: log(STDOUT_LOG)?, stderr: log(STDERR_LOG)? };
    let task_dir = conductor.task_dir(task.id);
    let vars = site.store.vars(task.id).map(|read| read.value).unwrap_or_default();
    let (state_dir, files) = (site.host.state_dir(), Files::new());
    let place = Place { state_dir, config, task_dir: &task_dir, vars: &vars, files: &files, told: &[] };
    let argv = vec!["/bin/sh".to_owned(), "-c".to_owned(), text.to_owned()];
    let env = match fitted(site, task, &place, &site.store.locks_of(task.id, &task.all_lanes())?, &argv)? {
        Ok(env) => env,
        Err(why) => return Ok(format!("it could not be started: {why}")),
    };
    let command = Command {
        argv,
        env,
        cwd: task.cwd.clone(),
        umask: task.umask,
        run_as: task.run_as.clone(),
        limits: task.limits.as_deref().filter(|wanted| site.host.context().limits.differ_from(wanted)).cloned(),
        has_terminal: false,
        input_of: None,
    };
    let tree = site.run_dir.lock_tree(task.id)?;
    begin()?;
    let begun = site.host.start(&command, &streams, tree.share());
    drop(tree);
    let Ok(mut child) = begun else { return Ok("it could not be started".to_owned()) };
    let begun_ms = site.host.boot_ms();
    loop {
        keeper.keep_beside(child.as_mut());
        if keeper.is_cut_off() {
            let _ = child.signal(keeper.end_signal());
            return Ok(CUT_OFF.to_owned());
        }
        let left = LONGEST_MS.saturating_sub(site.host.boot_ms().saturating_sub(begun_ms));
        if left == 0 {
            let _ = child.signal(Signal::Kill);
            return Ok("it did not end within an hour".to_owned());
        }
        let time = HEARTBEAT.min(Duration::from_millis(left)).min(keeper.deadline.time_left(site));
        match child.wait(Some(time)).map_err(StoreError::io("wait for a command of", &task.id.to_string()))? {
            Woken::Exited(exit) => return Ok(told_end(exit)),
            Woken::Terminate => {
                let _ = child.signal(Signal::Term);
            }
            Woken::Pass | Woken::Interrupt | Woken::Wrote | Woken::Token | Woken::Gone | Woken::TimeUp => {}
        }
    }
}
