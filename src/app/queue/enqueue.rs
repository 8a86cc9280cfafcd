//! `enqueue`: checks a request at the door, makes a task of it, and accepts it durably (P2).
//! Nothing here starts a task. `after_accepting` and `half_accepted` make the errors after a commit point: they name a task that
//! was accepted, whatever fails afterwards (P11). A caller that tried again would run the work twice, so none of these errors is
//! `Busy`. `dry_run` gives the outcome of a request without queueing it (`enqueue --dry-run`).

use super::doors::{check_door, check_project_name, check_user_lane, parent_of};
use crate::app::accounts::{Accounts, check_account, inside_project, user_of};
use crate::app::admission::own_context;
use crate::app::config_reload::{conductor_path, config};
use crate::app::cron::refuse_schedule;
use crate::app::estimate::{Estimate, THOROUGH, expected};
use crate::app::fleet::places::check_place;
use crate::app::fleet::shared;
use crate::app::granted::of_parent;
use crate::app::lifecycle::{Accepted, enqueued_to_do};
use crate::app::names::named_lanes;
use crate::app::processes::asked_by;
use crate::app::query::explain::reasons;
use crate::app::queue::doors;
use crate::app::queue::idempotency::enqueue_shared;
use crate::app::queue::stepwise::{stepwise_of, with_first_command};
use crate::app::queue::terms::moments::{due_of, duration, held_from_now, plus, positive};
use crate::app::queue::terms::{
    accept_alone, all_before, check_dependencies, default_retries, env_of, note_children, stands_alone, terms_of,
    with_ruled_lanes,
};
use crate::app::steps::words::check_prompt;
use crate::app::{App, AppError, Code, Kind, shell_word};
use crate::model::name::shortened;
use crate::model::queue::Works;
use crate::model::task::{DEFAULT_GRACE_MS, Environment};
use crate::model::{LaneName, Name, Priority, Status, Task, TaskId};
use crate::policy::admission::Obstacle;
use crate::request::values::ParentDeath;
use crate::request::{Line, TaskRequest};

/// The longest text that travels in an argument, in bytes; a longer one goes to standard input (`supervision.md`).
pub const LONGEST_ARGUMENT: usize = 100_000;

/// Variables that change how programs load or what shells run at their start; never taken over.
pub const LOADER_VARIABLES: [&str; 12] = [
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "LD_DEBUG",
    "GCONV_PATH",
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PERL5OPT",
    "PYTHONSTARTUP",
    "NODE_OPTIONS",
];

/// The variables that carry a distributed trace (W3C Trace Context and Baggage), stored as they are and passed on.
const TRACE_VARIABLES: [&str; 3] = ["TRACEPARENT", "TRACESTATE", "BAGGAGE"];

/// The longest trace variable, in bytes.
const MOST_TRACE_BYTES: usize = 8192;

/// The process that asks, and the properties that a task takes over from it.
#[derive(Debug)]
pub struct Caller {
    /// The part of the caller's environment that a task takes over (see [`inherited`]).
    pub env: Environment,
    /// The working directory of the caller, or why it has none: it was removed, or its name is not UTF-8.
    pub cwd: Result<String, String>,
    /// The file mode creation mask of the caller.
    pub umask: u32,
    /// The account of the caller, and others that were looked up for it.
    pub accounts: Accounts,
    /// The pid of the caller.
    pub pid: u32,
}

/// Accepts one request durably.
pub fn enqueue(app: &App, new: &TaskRequest, caller: &Caller) -> Result<Accepted, AppError> {
    let mut task = task_of(app, new, caller)?;
    if let Some(fleet) = &app.fleet {
        let accepted = enqueue_shared(app, &**fleet, vec![shared(app, task, new)?])?;
        return accepted.into_iter().next().ok_or_else(|| AppError::new(Code::Bug, "the store gave no answer"));
    }
    app.store.prepare()?;
    check_dependencies(app, &mut task)?;
    accept_alone(app, task, new)
}

/// Accepts many requests, all or none.
pub fn enqueue_batch(app: &App, batch: &[Line], caller: &Caller) -> Result<Vec<Accepted>, AppError> {
    let mut tasks = Vec::with_capacity(batch.len());
    for (line, new) in batch {
        tasks.push(task_of(app, new, caller).map_err(|error| line_error(*line, error))?);
    }
    if let Some(fleet) = &app.fleet {
        let lines = tasks.into_iter().zip(batch);
        let ready = lines.map(|(task, (line, new))| shared(app, task, new).map_err(|error| line_error(*line, error)));
        return enqueue_shared(app, &**fleet, ready.collect::<Result<_, _>>()?);
    }
    app.store.prepare()?;
    for ((line, _), task) in batch.iter().zip(&mut tasks) {
        check_dependencies(app, task).map_err(|error| line_error(*line, error))?;
    }
    let mut accepted: Vec<Accepted> = Vec::with_capacity(tasks.len());
    let mut tasks = tasks.into_iter();
    while let Some((line, new)) = batch.get(accepted.len()) {
        // Lines go together up to the next one that stands alone, so that the queue has the order of the lines.
        let ahead = tasks.as_slice().iter().zip(&batch[accepted.len()..]);
        let together = ahead.take_while(|(task, (_, new))| !stands_alone(task, new)).count();
        if together == 0 {
            let Some(task) = tasks.next() else { break };
            match accept_alone(app, task, new) {
                Ok(one) => accepted.push(one),
                Err(error) => return Err(naming_earlier(line_error(*line, error), &accepted)),
            }
            continue;
        }
        let run = tasks.by_ref().take(together).collect();
        let run = accept_run(app, run).map_err(|error| naming_earlier(error, &accepted))?;
        accepted.extend(run.into_iter().map(|task| Accepted { task, created: true }));
    }
    Ok(accepted)
}

/// Accepts tasks without keys under ids that follow one another.
fn accept_run(app: &App, mut run: Vec<Task>) -> Result<Vec<Task>, AppError> {
    let first = app.store.reserve_ids(u64::try_from(run.len()).unwrap_or(u64::MAX))?;
    for (offset, task) in (0..).zip(&mut run) {
        task.id = TaskId(first.0 + offset);
    }
    accept(app, &run)?;
    Ok(run)
}

pub(crate) fn accept(app: &App, tasks: &[Task]) -> Result<(), AppError> {
    let works = Works::default();
    let told = |task: &Task| enqueued_to_do(task, works.of(task));
    app.store.accept(tasks, Some(&told)).map_err(|error| half_accepted(app, tasks, error.into()))?;
    note_children(app, tasks);
    Ok(())
}

fn conductor_dir_of(app: &App, template: Option<&str>, project: Option<&Name>, user: &Name) -> String {
    match template {
        Some(template) => conductor_path(template, project.map_or("", Name::as_str), user.as_str()),
        None => app.run_dir.default_conductor(project.map(Name::as_str)),
    }
}

pub(crate) fn task_of(app: &App, new: &TaskRequest, caller: &Caller) -> Result<Task, AppError> {
    let new = &*with_first_command(new)?;
    check_place(app, new)?;
    let project = project_of(app, new)?;
    let settings = project.as_ref().and_then(|project| config(app).project(project.as_str()));
    let settings = settings.as_ref();
    let conductor = settings.and_then(|settings| settings.conductor_dir.clone());
    let user = user_of(app, new, settings.and_then(|s| s.user.as_ref()), conductor.as_deref(), &caller.accounts)?;
    new.user.as_ref().map_or(Ok(()), |_| check_user_lane(app, &LaneName::user(&user)))?;
    let (command, stdin) = command_of(new, settings.and_then(|settings| settings.agent.as_deref()))?;
    check_account(app, settings.and_then(|settings| settings.run_as.as_deref()), &caller.accounts)?;
    let ((parent, waited_for), now, cwd) = (parent_of(app, new)?, app.host.now(), cwd_of(new, caller)?);
    let (lanes, takes_user_lane) = lanes_of(new, &user, named_lanes(app, new, &cwd)?)?;
    let conductor_dir = conductor_dir_of(app, conductor.as_deref(), project.as_ref(), &user);
    let (sandbox, limits) = own_context(app);
    let start_within_ms = positive("start-within", new.start_within.as_deref())?;
    let (terms, key) = terms_of(app, new, &command, &cwd)?;
    let task = Task {
        takes_user_lane,
        lanes: with_ruled_lanes(app, lanes, project.as_ref(), new.goal.as_deref())?,
        sandbox: Some(sandbox),
        limits: Some(limits),
        project,
        priority: priority_of(new.priority)?,
        stdin,
        stdin_of: doors::stdin_of(app, new)?,
        has_terminal: new.has_terminal,
        label: new.label.clone(),
        asked_by: asked_by(app, caller.pid),
        agent: app.agent.clone(),
        key,
        env: env_of(app, new, caller, &cwd)?,
        cwd,
        umask: caller.umask,
        conductor_dir,
        conductor_configured: conductor.is_some(),
        run_as: settings.and_then(|settings| settings.run_as.clone()),
        created_by_pid: caller.pid,
        parent,
        waited_for,
        no_inherit: new.no_inherit,
        ends_with_parent: new.on_parent_death == Some(ParentDeath::Cancel) && parent.is_some(),
        goal: new.goal.clone(),
        stepwise: stepwise_of(new)?,
        hold: new.hold.then(|| held_from_now(now, start_within_ms)),
        due_at: due_of(app, new, now)?,
        after: all_before(app, new)?,
        start_by: start_within_ms.filter(|_| !new.hold).map(|ms| plus(now, ms)),
        timeout_ms: positive("timeout", new.timeout.as_deref())?,
        grace_ms: duration("grace", new.grace.as_deref())?.unwrap_or(DEFAULT_GRACE_MS),
        retries: new.retries.unwrap_or_else(|| default_retries(new)),
        terms,
        ..Task::plain(TaskId(0), user, command, now)
    };
    check_door(app, new, &task, &caller.accounts)?;
    let share = task.own_share().filter(|_| !keeps_order(app, &task));
    of_parent(app, Task { share, ..task })
}

/// Whether the sessions of a user take no turns with a task: in a named lane of limit 1 the tasks of a user keep their order
/// (S0.23, S4.7).
fn keeps_order(app: &App, task: &Task) -> bool {
    let is_serial = |lane: &LaneName| lane.is_capacity_lane() && config(app).limit(lane) == 1;
    !task.takes_user_lane && task.lanes.iter().any(is_serial)
}

fn project_of(app: &App, new: &TaskRequest) -> Result<Option<Name>, AppError> {
    let given = new.project.as_deref().or(inside_project(app, new));
    let project = given.map(|text| name("project", text)).transpose()?;
    if let (Some(project), Some(_)) = (&project, &new.project) {
        check_project_name(app, project)?;
    }
    Ok(project)
}

/// Whether a variable that carries a trace is as long as a task stores it; a longer one is left out, never cut.
fn fits(key: &[u8], value: &[u8]) -> bool {
    let is_of_trace = TRACE_VARIABLES.iter().any(|name| name.as_bytes() == key);
    !is_of_trace || value.len() <= MOST_TRACE_BYTES
}

/// The part of the environment of the asking process that a task takes over: without luzia's own variables and those that change
/// how programs load.
pub fn inherited(mut env: Vec<(Vec<u8>, Vec<u8>)>) -> Environment {
    let is_loader = |key: &[u8]| LOADER_VARIABLES.iter().any(|bad| bad.as_bytes() == key);
    env.retain(|(key, value)| !key.starts_with(b"LUZIA_") && !is_loader(key) && fits(key, value));
    env.into()
}

/// Puts the place of a refused request before its message.
pub fn line_error(line: usize, error: AppError) -> AppError {
    let error = error.reworded(|why| format!("line {line}: {why}"));
    match error.code() {
        Code::CommandMissing => {
            error.hint("a line has \"command\", \"shell\", or \"prompt\" and a project with an agent")
        }
        _ => error.or_hint("nothing of the batch was queued"),
    }
}

/// Adds the ids of the lines that were accepted before an error, which must not be lost.
fn naming_earlier(error: AppError, before: &[Accepted]) -> AppError {
    let queued: Vec<TaskId> = before.iter().filter(|one| one.created).map(|one| one.task.id).collect();
    if let (Some(first), Some(last)) = (queued.first(), queued.last()) {
        let which = match queued.len() {
            1 => format!("of the lines before it one is queued: {first}"),
            count => format!("of the lines before it {count} are queued: {first} to {last}"),
        };
        return error.hint(which);
    }
    error
}

/// Reads a name at the door.
pub fn name(what: &str, text: &str) -> Result<Name, AppError> {
    Name::new(text).map_err(|error| {
        AppError::usage(format!("\"{}\" cannot be a {what}: {error}", shortened(text).escape_default()))
    })
}

pub(crate) fn priority_of(number: Option<u8>) -> Result<Priority, AppError> {
    let Some(number) = number else { return Ok(Priority::DEFAULT) };
    Priority::new(number)
        .ok_or_else(|| AppError::usage(format!("{number} is not a priority")).hint("0 comes first, 9 last, 5 is usual"))
}

/// The further lanes in canonical order, without repeats, and whether the task takes the lane of its user. It does not if it
/// names lanes and neither a user nor a project (contract, section 4). A second user is refused: never two user locks (S3.36).
fn lanes_of(new: &TaskRequest, user: &Name, given: Vec<LaneName>) -> Result<(Vec<LaneName>, bool), AppError> {
    let own = LaneName::user(user);
    let mut lanes = Vec::new();
    for lane in given {
        if lane.is_user() && lane != own {
            let hint = match new.user.is_some() || new.project.is_some() {
                true => "queue one task for each user".to_owned(),
                false => format!("to queue it for that user, write -u {} in place of -l", shell_word(lane.key())),
            };
            let message = format!("a task takes the lane of one user, and \"{lane}\" is the lane of another user");
            return Err(AppError::usage(message).hint(hint));
        }
        lanes.push(lane);
    }
    let names_user = new.user.is_some() || new.project.is_some() || lanes.contains(&own);
    lanes.retain(|lane| *lane != own && !lane.is_global());
    lanes.sort_unstable();
    lanes.dedup();
    let takes_user_lane = names_user || lanes.is_empty();
    Ok((lanes, takes_user_lane))
}

/// Reads the value of `--lane`.
pub fn lane_option(text: &str) -> Result<LaneName, AppError> {
    refuse_schedule(text)?;
    LaneName::parse(text).map_err(|error| {
        AppError::usage(format!("\"--lane {}\" is refused: {error}", shortened(text).escape_default()))
    })
}

fn cwd_of(new: &TaskRequest, caller: &Caller) -> Result<String, AppError> {
    let here = || {
        let without =
            |why: String| AppError::usage(format!("there is no working directory: {why}")).hint("give --cwd DIR");
        caller.cwd.clone().map_err(without)
    };
    match &new.cwd {
        None => here(),
        Some(path) if path.is_empty() || path.contains('\0') => Err(AppError::usage("--cwd must name a directory")),
        Some(path) if path.starts_with('/') => Ok(path.clone()),
        Some(path) => Ok(format!("{}/{path}", here()?)),
    }
}

/// The command and its standard input: argv as given, a shell line, or the agent of the project with a prompt.
fn command_of(new: &TaskRequest, agent: Option<&[String]>) -> Result<(Vec<String>, Option<String>), AppError> {
    let given = usize::from(!new.command.is_empty()) + usize::from(new.shell.is_some());
    if given > 1 {
        return Err(AppError::usage("give a command or --shell, not both"));
    }
    if let Some(line) = &new.shell {
        check_argument(line)?;
        return Ok((vec!["/bin/sh".into(), "-c".into(), line.clone()], new.prompt.clone()));
    }
    let template: Vec<String> =
        if new.command.is_empty() { agent.unwrap_or_default().to_vec() } else { new.command.clone() };
    if template.is_empty() {
        return Err(match &new.prompt {
            Some(_) => AppError::usage("no agent is configured for this prompt")
                .hint("give a command, or name a project whose configuration has an \"agent\""),
            None => AppError::new(Code::CommandMissing, "there is no command")
                .hint("write it after the options: luzia enqueue -u alice make test"),
        });
    }
    if template[0].is_empty() {
        return Err(AppError::usage("the command is empty"));
    }
    for argument in &template {
        check_argument(argument)?;
    }
    let Some(prompt) = &new.prompt else { return Ok((template, None)) };
    if prompt.contains('\0') {
        return Err(AppError::usage("a prompt cannot hold NUL"));
    }
    check_prompt(&template)?;
    let is_slot = |argument: &String| argument.contains("{prompt}");
    if prompt.len() <= LONGEST_ARGUMENT && template.iter().any(is_slot) {
        return Ok((template.iter().map(|argument| argument.replace("{prompt}", prompt)).collect(), None));
    }
    Ok((template.into_iter().filter(|argument| !is_slot(argument)).collect(), Some(prompt.clone())))
}

/// No argument may hold NUL or be longer than the kernel takes (MAX_ARG_STRLEN, execve(2)).
fn check_argument(argument: &str) -> Result<(), AppError> {
    if argument.contains('\0') {
        return Err(AppError::usage("an argument cannot hold NUL"));
    }
    if argument.len() > 131_071 {
        return Err(AppError::usage(format!(
            "an argument of {} bytes is longer than the system takes (131071)",
            argument.len()
        ))
        .hint("pass it by a file, or as --prompt, which goes to standard input"));
    }
    Ok(())
}

/// Number of ids that an error lists one by one.
const MOST_LISTED: usize = 20;

/// The error of a verb that fails after it has accepted a task: it names the task and its place.
pub fn after_accepting(app: &App, id: TaskId, error: AppError) -> AppError {
    if matches!(error.kind(), Kind::NotFound | Kind::Corrupt | Kind::Bug) {
        return error;
    }
    let stands = match app.find(id) {
        Ok(Some((_, task))) => match task.status() {
            Status::Pending => format!("{id} is queued and stays queued"),
            Status::Running | Status::Waiting => format!("{id} is {} and goes on", task.status()),
            over => format!("{id} is over: {over}"),
        },
        Ok(None) | Err(_) => format!("{id} was accepted"),
    };
    let asked = match app.store.cancel_request(id) {
        Ok(Some(_)) => "it was asked to end",
        Ok(None) => "it was not asked to end",
        Err(_) => "it is unknown whether the task was asked to end",
    };
    // A request that was accepted is not made again when the store is back.
    let hint = error.refusal().hint.as_ref().filter(|_| error.code() != Code::StoreAway);
    let why = hint.map_or_else(String::new, |hint| format!("; {hint}"));
    not_busy(error)
        .reworded(|why| format!("{stands}, but {why}"))
        .hint(format!("{asked}: `luzia wait {id}` waits for it, `luzia cancel {id}` ends it{why}"))
        .with_next([format!("luzia explain {id}")])
}

/// Puts an error into a class that does not ask for another try.
fn not_busy(error: AppError) -> AppError {
    if error.kind() == Kind::Busy { error.with_kind(Kind::Unavailable) } else { error }
}

/// The error of an acceptance that failed: it names the tasks that were published before the failure, which are queued and may
/// run.
pub(crate) fn half_accepted(app: &App, tasks: &[Task], error: AppError) -> AppError {
    let (mut queued, mut unknown) = (Vec::new(), Vec::new());
    for task in tasks {
        match app.find(task.id) {
            Ok(Some(_)) => queued.push(task.id),
            Ok(None) => {}
            Err(_) => unknown.push(task.id),
        }
    }
    let Some(first) = queued.first().or(unknown.first()).copied() else { return error };
    let told = match (&*queued, &*unknown) {
        ([], unknown) => format!("it is unknown whether {}", are_queued(unknown)),
        (queued, []) => are_queued(queued),
        (queued, unknown) => format!("{}, and it is unknown whether {}", are_queued(queued), are_queued(unknown)),
    };
    not_busy(error)
        .reworded(|why| format!("{told}, and may not survive a power cut: {why}"))
        .hint("look at the queue before you queue the work again")
        .with_next([format!("luzia show {first}")])
}

/// Says that tasks are queued, with their ids.
pub fn are_queued(ids: &[TaskId]) -> String {
    let names: Vec<String> = ids.iter().take(MOST_LISTED).map(TaskId::to_string).collect();
    match ids {
        [one] => format!("{one} is queued"),
        [first, .., last] if ids.len() > MOST_LISTED => {
            format!("{} tasks from {first} to {last} are queued", ids.len())
        }
        _ => format!("{} are queued", names.join(", ")),
    }
}

/// The outcome that a request would have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Preview {
    /// The task as it would be, with the greatest number there is: it would come last.
    pub task: Task,
    /// Number of tasks that would take their turn before the task.
    pub ahead: u64,
    /// Every reason why the task would not start, in the order in which dispatch meets them.
    pub obstacles: Vec<Obstacle>,
    /// The expected start of the task.
    pub estimate: Option<Estimate>,
}

/// Checks a request as `enqueue` does, and returns its place and the obstacles of its task. Writes nothing.
pub fn dry_run(app: &App, new: &TaskRequest, caller: &Caller) -> Result<Preview, AppError> {
    let mut task = task_of(app, new, caller)?;
    check_dependencies(app, &mut task)?;
    task.id = TaskId(u64::MAX);
    if !app.store.has_layout()? {
        return Ok(Preview { task, ahead: 0, obstacles: vec![Obstacle::NoDispatcher], estimate: None });
    }
    let (ahead, obstacles) = reasons(app)?.preview(&task)?;
    let estimate = expected(app, &task, &obstacles, THOROUGH)?;
    Ok(Preview { task, ahead, obstacles, estimate })
}
