//! The start of a task: makes the outward directory, records the start durably, launches the command. If a host is short of a
//! resource (space, processes, memory), the launch waits for it: that is no fault of the task, and must not cost it an
//! attempt.

use super::cpus::{CpuShare, Cpus};
use super::environment::{Files, Place, tell_unset, words};
use super::keep::Keeper;
use super::run::{TOLD_TO_END, cancelled};
use super::{Surroundings, hooks};
use crate::model::lock::{Grant, values_of};
use crate::model::sorted::map_of;
use crate::model::task::Start;
use crate::model::{Group, Task};
use crate::os::{Child, Command, Handle, StartError, Streams};
use crate::policy::outcome::Happened;
use crate::store::{Event, Hold, LogNote, STDERR_LOG, STDOUT_LOG, Short, Site, Started, StoreError, Vars};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// Time of a wait, in milliseconds, for a shortage that may concern only this task. It may lack a process, since a limit
/// below the number of running processes never ends, or space for logs outside the state directory. Meanwhile other tasks
/// wait for its slot.
const PATIENCE_MS: u64 = 60_000;
/// The pauses between two tries: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

/// Reason why a task with --stdin can no longer start.
const INPUT_GONE: &str = "the `luzia run` whose standard input it was to read is gone";

/// A command that was launched.
pub(super) struct Launched {
    pub child: Box<dyn Child>,
    /// The task's share of processors, in a lane that has a budget.
    pub share: Option<CpuShare>,
    /// The file for the task's result.
    pub result: Hold,
    /// Data for the hooks at the end of the task.
    pub hooks: Option<hooks::Place>,
    /// The control group of the task, if it has one.
    pub group: Option<Group>,
}

/// A recorded start.
struct Ready {
    command: Command,
    streams: Streams,
    tree: Hold,
    result: Hold,
    /// The control group that this process has entered, so that the command starts in it.
    group: Option<Group>,
}

/// Result of the preparations for a launch.
enum Made {
    Ready(Box<Ready>),
    /// The task cannot be launched.
    Ended(Happened),
    /// The host is short of a resource that all tasks need.
    Short(StoreError),
    /// The file system of the logs, outside the state directory, has no space.
    NoSpaceForLogs(StoreError),
}

/// Waits between two tries while a host is short of a resource.
#[derive(Default)]
struct Patience {
    begin_ms: Option<u64>,
    pause: Option<Duration>,
}

impl Patience {
    fn is_over(&self, site: &Site) -> bool {
        self.begin_ms.is_some_and(|begin| site.host.boot_ms().saturating_sub(begin) >= PATIENCE_MS)
    }

    /// Shows that the start no longer waits, if it has waited.
    fn end(&self, site: &Site, task: &Task, other: &Self) {
        if self.begin_ms.or(other.begin_ms).is_some() {
            site.run_dir.show_shortage(task.id, None);
        }
    }

    fn wait(&mut self, site: &Site, task: &Task, why: &str, keeper: &mut Keeper) {
        if self.begin_ms.is_none() {
            site.run_dir.show_shortage(task.id, Some(Short::Start));
            site.store.note(&Event::of("start_waits", task).saying(why.to_owned()));
        }
        self.begin_ms.get_or_insert(site.host.boot_ms());
        let pause = self.pause.map_or(PAUSES.0, |pause| (pause * 2).min(PAUSES.1));
        self.pause = Some(pause);
        keeper.pause(pause.min(keeper.time_left()));
    }
}

/// Launches the command of a task whose lanes are held, unless it is cancelled.
pub(super) fn launch<'a>(
    around: &mut Surroundings<'a>,
    task: &mut Task,
    grants: &[Grant],
    keeper: &mut Keeper,
) -> Result<Result<Launched, Happened>, StoreError> {
    let site = around.site;
    let mut sharing = grants.iter().filter(|grant| grant.has_share);
    let plan = sharing.find_map(|grant| Some((grant, (around.cpu_plan)(&grant.lane)?)));
    let share = plan.as_ref().map(|(grant, plan)| CpuShare::begin(site, grant, plan.budget, task.run_as.is_none()));
    let cpus = Cpus { share: share.as_ref(), plan: plan.as_ref().map(|(grant, plan)| (&grant.lane, plan)) };
    let (mut for_all, mut for_logs) = (Patience::default(), Patience::default());
    loop {
        if let Some(request) = site.store.cancel_request(task.id)? {
            return Ok(Err(cancelled(request)));
        }
        if keeper.is_cut_off() {
            return Ok(Err(Happened::CutOff));
        }
        let (error, patience) = match make_ready(around, task, grants, &cpus)? {
            Made::Ready(ready) => {
                for_all.end(site, task, &for_logs);
                let begun = begin_in_group(around, task, *ready, keeper)?;
                return Ok(begun.map(|launched| Launched { share, ..launched }));
            }
            Made::Ended(happened) => return Ok(Err(happened)),
            Made::NoSpaceForLogs(error) if for_logs.is_over(site) && site.run_dir.has_space(task.id) => {
                return Ok(Err(Happened::NotStarted(125, error.to_string())));
            }
            Made::NoSpaceForLogs(error) => (error, &mut for_logs),
            Made::Short(error) => (error, &mut for_all),
        };
        if !site.store.is_still_there().unwrap_or(true) {
            return Err(error);
        }
        if (around.told_to_end)() {
            around.is_told_to_end = true;
            return Ok(Err(Happened::GivenBack));
        }
        patience.wait(site, task, &error.to_string(), keeper);
    }
}

/// All preparations for the launch itself. After a shortage they can be tried again.
fn make_ready(around: &Surroundings, task: &mut Task, grants: &[Grant], cpus: &Cpus) -> Result<Made, StoreError> {
    let (site, state_dir) = (around.site, around.site.host.state_dir());
    // The user's lane, or the first of the named ones.
    let user_grant = grants.iter().find(|grant| grant.lane.is_user()).or(grants.first());
    let (lock_id, fence) = user_grant.map_or((String::new(), 0), |grant| (grant.lock_id.to_string(), grant.fence.0));
    let (start, at) = (task.starts.saturating_add(1), site.host.now());
    let named = values_of(grants).into_iter().map(|(lane, value)| (lane.to_string(), value));
    let slots: BTreeMap<String, String> = map_of(named);
    let begun = Task {
        starts: start,
        last_start: Some(Start { at, lock_id: lock_id.clone(), fence, slots: slots.clone() }),
        ..task.clone()
    };
    let is_elsewhere = !Path::new(&task.conductor_dir).starts_with(state_dir);
    let (task_dir, stdout, stderr) = match make_logs(site, &begun) {
        Ok(made) => made,
        Err(error) => return Ok(not_made(error, is_elsewhere)),
    };
    let given = match given_stdin(site, task) {
        Ok(given) => given,
        Err(why) => return Ok(Made::Ended(Happened::NotStarted(125, why))),
    };
    let mut begun = begun;
    let told = match super::course::variables(site, &mut begun) {
        Err(error) if error.is_shortage() => return Ok(Made::Short(error)),
        told => told?,
    };
    let vars = match vars_of(site, task) {
        Ok(vars) => vars,
        Err(made) => return Ok(made),
    };
    let files = Files::new();
    let place =
        Place { state_dir, config: around.config, task_dir: &task_dir, vars: &vars, files: &files, told: &told };
    let (argv, mut env) = match words(site, &begun, &place, grants) {
        Ok(Ok(words)) => words,
        Ok(Err(why)) => return Ok(Made::Ended(Happened::Unfit(why))),
        Err(error) => return Ok(not_made(error, is_elsewhere)),
    };
    cpus.add_to(&mut env);
    let (origin, known_as) = (site.host.own_origin(), Some(state_dir.to_owned()));
    // Before its start is recorded, so that a recorded group has had a process in it since.
    let group = site.run_dir.enter_cgroup(task.id, start, around.cgroups);
    let supervisor = site.host.identity();
    let (root, of_start) = (site.host.root(), group.clone());
    let started =
        Started { start, at, supervisor, origin, state_dir: known_as, root, group: of_start, lock_id, fence, slots };
    let (stdin, tree, result) = match record(site, &begun, &started) {
        Ok(recorded) => recorded,
        Err(error) => {
            leave(site, group.as_ref());
            return if error.is_shortage() { Ok(Made::Short(error)) } else { Err(error) };
        }
    };
    let stdin = given.or(stdin);
    *task = begun;
    tell_unset(site, task, &vars);
    let command = Command {
        argv,
        env,
        cwd: task.cwd.clone(),
        umask: task.umask,
        run_as: task.run_as.clone(),
        limits: cpus.limits(site, task),
        has_terminal: task.has_terminal,
        input_of: task.stdin_of.clone(),
    };
    Ok(Made::Ready(Box::new(Ready { command, streams: Streams { stdin, stdout, stderr }, tree, result, group })))
}

/// Meaning of an error in the directory of a task, which may be outside the state directory.
fn not_made(error: StoreError, is_elsewhere: bool) -> Made {
    match error {
        error if error.is_full() && is_elsewhere => Made::NoSpaceForLogs(error),
        error if error.is_shortage() => Made::Short(error),
        error => Made::Ended(Happened::NotStarted(125, error.to_string())),
    }
}

/// The standard input of its `luzia run`, if the task reads that.
fn given_stdin(site: &Site, task: &Task) -> Result<Option<File>, String> {
    match task.stdin_of.as_ref().map(|who| site.host.stdin_of(who)) {
        None => Ok(None),
        Some(Ok(Some(file))) => Ok(Some(file)),
        Some(Ok(None)) => Err(INPUT_GONE.to_owned()),
        Some(Err(error)) => Err(format!("the standard input of its `luzia run` cannot be opened: {error}")),
    }
}

/// The variables of a task. If the newest are damaged, those before the last change; if both are, the task cannot start.
fn vars_of(site: &Site, task: &Task) -> Result<Vars, Made> {
    match site.store.vars(task.id) {
        Ok(read) => {
            if let Some(why) = read.damage {
                site.store.note(&Event::of("vars_damaged", task).saying(why));
            }
            Ok(read.value)
        }
        Err(error) if error.is_shortage() => Err(Made::Short(error)),
        Err(error) => Err(Made::Ended(Happened::NotStarted(125, format!("its variables cannot be used: {error}")))),
    }
}

/// Makes the outward directory of a task, and returns its path and the logs in it.
fn make_logs(site: &Site, task: &Task) -> Result<(String, File, File), StoreError> {
    let conductor = site
        .run_dir
        .conductor(&task.conductor_dir, true)?
        .ok_or_else(|| StoreError::Absent { thing: task.conductor_dir.as_str().into() })?;
    conductor.open_task(task)?;
    let logs = (conductor.open_log(task.id, STDOUT_LOG)?, conductor.open_log(task.id, STDERR_LOG)?);
    if task.starts > 1 {
        let size = |log: &dyn Handle| log.meta().map(|meta| meta.size).map_err(StoreError::io("look at", STDOUT_LOG));
        let ends = [size(logs.0.as_ref())?, size(logs.1.as_ref())?];
        conductor.note_attempt(task.id, LogNote { at: site.host.now(), ends, attempt: Some(task.attempt()) })?;
    }
    Ok((conductor.task_dir(task.id), file(logs.0, STDOUT_LOG)?, file(logs.1, STDERR_LOG)?))
}

fn file(log: Box<dyn Handle>, name: &str) -> Result<File, StoreError> {
    log.into_file().ok_or_else(|| StoreError::Absent { thing: name.into() })
}

/// The input of the command, the lock of its tree, and the file for its result.
type Recorded = (Option<File>, Hold, Hold);

/// Makes the files in the state directory that a launch needs, the start last.
fn record(site: &Site, task: &Task, started: &Started) -> Result<Recorded, StoreError> {
    let stdin =
        task.stdin.as_deref().map(|text| site.run_dir.input_file(task.id, "stdin", text)).transpose()?.flatten();
    let tree = site.run_dir.lock_tree(task.id)?;
    let result = site.store.record_start(task.id, started)?;
    Ok((stdin, tree, result))
}

/// Leaves the control group of a task that is not launched after all, and removes it.
fn leave(site: &Site, group: Option<&Group>) {
    if let Some(group) = group.filter(|_| site.host.leave_group()) {
        site.host.remove_group(group);
    }
}

/// Launches the command. Afterwards this process is no longer in the control group of its task.
fn begin_in_group<'a>(
    around: &mut Surroundings<'a>,
    task: &Task,
    mut ready: Ready,
    keeper: &mut Keeper,
) -> Result<Result<Launched, Happened>, StoreError> {
    let (site, group) = (around.site, ready.group.take());
    let begun = begin(around, task, ready, keeper);
    match begun {
        // A group that this process cannot leave is never ended: that would end this process, too.
        Ok(Ok(launched)) => Ok(Ok(Launched { group: group.filter(|_| site.host.leave_group()), ..launched })),
        not_launched => {
            leave(site, group.as_ref());
            not_launched
        }
    }
}

/// Launches the command. No attempt of a command is made before its start is recorded, and none is recorded twice.
fn begin<'a>(
    around: &mut Surroundings<'a>,
    task: &Task,
    ready: Ready,
    keeper: &mut Keeper,
) -> Result<Result<Launched, Happened>, StoreError> {
    let site = around.site;
    let Ready { command, streams, tree, result, .. } = ready;
    let hooks = match hooks::before(around, task, (&command, &streams), &tree, keeper)? {
        Ok(hooks) => hooks,
        Err(happened) => {
            drop(tree);
            hooks::end_rest(site, task, keeper)?;
            return Ok(Err(happened));
        }
    };
    let said = format!("Starting execution {}", task.id.0);
    site.store.note(&Event::of("dispatched", task).in_lane_of(task).saying(said));
    let mut patience = Patience::default();
    let begun = loop {
        if keeper.is_cut_off() {
            // Hooks may have left processes.
            drop(tree);
            hooks::end_rest(site, task, keeper)?;
            return Ok(Err(Happened::CutOff));
        }
        let begun = site.host.start(&command, &streams, tree.share());
        let Err(StartError::Short(error)) = &begun else { break begun };
        if let Some(request) = site.store.cancel_request(task.id)? {
            return Ok(Err(cancelled(request)));
        }
        if (around.told_to_end)() {
            around.is_told_to_end = true;
            return Ok(Err(Happened::Interrupted(TOLD_TO_END.to_owned())));
        }
        if patience.is_over(site) {
            break begun;
        }
        patience.wait(site, task, &error.to_string(), keeper);
    };
    patience.end(site, task, &Patience::default());
    // Only the command and its children hold the tree's lock from here on.
    drop(tree);
    Ok(match begun {
        Ok(mut child) => {
            child.heed(vec![streams.stdout, streams.stderr]);
            let data = json!({ "command_pid": child.pid(), "start": task.starts, "attempt": task.attempt() });
            let started = Event::of("started", task).in_lane_of(task).with(data);
            site.store.note(&started.saying("Loading agent configuration..."));
            Ok(Launched { child, share: None, result, hooks, group: None })
        }
        Err(StartError::NotFound(error)) => Err(Happened::NotStarted(127, error.to_string())),
        Err(StartError::NotExecutable(error)) => Err(Happened::NotStarted(126, error.to_string())),
        Err(StartError::Short(error) | StartError::Other(error)) => Err(Happened::NotStarted(125, error.to_string())),
    })
}
