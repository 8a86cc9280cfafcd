//! `enqueue`: checks a request at the door, makes a task of it, and accepts it durably (P2). Starts nothing.

use crate::app::accounts::Accounts;
use crate::app::{App, AppError, Kind, OnConflict};
use crate::model::task::Environment;
use crate::model::time::{format_duration, parse_duration};
use crate::model::{LaneName, Name, Priority, Status, Task, TaskId, Timestamp};
use crate::store::{DEFAULT_GRACE_MS, Event};
use serde_json::json;
use std::sync::Arc;

/// The longest text that travels in an argument, in bytes; a longer one goes to standard input (`supervision.md`).
pub const LONGEST_ARGUMENT: usize = 100_000;

/// The word for a request without a command, for which a line of a batch has a hint of its own.
const COMMAND_MISSING: &str = "COMMAND_MISSING";

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

/// A request as it came in. Nothing of it is checked yet.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NewTask {
    /// `--user`.
    pub user: Option<String>,
    /// `--project`.
    pub project: Option<String>,
    /// `--lane`, repeated.
    pub lanes: Vec<String>,
    /// `--thread`, repeated.
    pub threads: Vec<String>,
    /// `--repo`: a directory in the repository.
    pub repo: Option<String>,
    /// `--tree`: a directory in the work tree.
    pub tree: Option<String>,
    /// `--priority`.
    pub priority: Option<u8>,
    /// `--in`.
    pub delay: Option<String>,
    /// `--at`.
    pub at: Option<String>,
    /// `--after`, repeated.
    pub after: Vec<String>,
    /// `--timeout`.
    pub timeout: Option<String>,
    /// `--start-within`.
    pub start_within: Option<String>,
    /// `--grace`.
    pub grace: Option<String>,
    /// `--retries`.
    pub retries: Option<u32>,
    /// `--key`.
    pub key: Option<String>,
    /// `--on-conflict`.
    pub on_conflict: Option<OnConflict>,
    /// `--label`.
    pub label: Option<String>,
    /// `--env K=V`, repeated.
    pub env: Vec<String>,
    /// `--cwd`.
    pub cwd: Option<String>,
    /// `--prompt`.
    pub prompt: Option<String>,
    /// `--shell`.
    pub shell: Option<String>,
    /// The command.
    pub command: Vec<String>,
    /// `--stdin`: the command reads the standard input of the process that asks.
    pub reads_stdin: bool,
    /// `--pty`: the command gets a terminal of its own.
    pub has_terminal: bool,
    /// `--no-check`: queued although its directory or program is not there.
    pub no_check: bool,
    /// Whether `--` stood before the command, so that no option behind it can be misplaced.
    pub is_separated: bool,
    /// `--group-output` of `run`, which is about the output of a whole task.
    pub is_grouped: bool,
    /// Whether the process that asks waits for the end of the task.
    pub is_waited_for: bool,
}

/// The process that asks: what a task takes over from it.
#[derive(Debug)]
pub struct Caller {
    /// What a task takes over of its environment (see [`inherited`]).
    pub env: Environment,
    /// Its working directory, or why it has none: it was removed, or its name is not UTF-8.
    pub cwd: Result<String, String>,
    /// Its file mode creation mask.
    pub umask: u32,
    /// Its account, and others that were looked up for it.
    pub accounts: Accounts,
    /// Its pid.
    pub pid: u32,
}

/// The answer to a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accepted {
    /// The task: the new one, or with `--on-conflict skip` the one that has the key.
    pub task: Task,
    /// Whether a task was created.
    pub created: bool,
}

impl App {
    /// Accepts one request durably.
    pub fn enqueue(&self, new: &NewTask, caller: &Caller) -> Result<Accepted, AppError> {
        let mut task = self.task_of(new, caller)?;
        self.store.prepare()?;
        self.check_dependencies(&mut task)?;
        let Some(key) = task.key.clone() else {
            task.id = self.store.reserve_ids(1)?;
            self.accept(std::slice::from_ref(&task))?;
            return Ok(Accepted { task, created: true });
        };
        self.enqueue_keyed(task, &key, new.on_conflict.unwrap_or_default())
    }

    /// Accepts many requests, all or none; each comes with the number of its line, by which a refused one is named.
    pub fn enqueue_batch(&self, batch: &[(usize, NewTask)], caller: &Caller) -> Result<Vec<Accepted>, AppError> {
        let mut tasks = Vec::with_capacity(batch.len());
        for (line, new) in batch {
            tasks.push(self.task_of(new, caller).map_err(|error| line_error(*line, error))?);
        }
        self.store.prepare()?;
        for ((line, _), task) in batch.iter().zip(&mut tasks) {
            self.check_dependencies(task).map_err(|error| line_error(*line, error))?;
        }
        let mut accepted: Vec<Accepted> = Vec::with_capacity(tasks.len());
        let mut lines = tasks.into_iter().zip(batch).peekable();
        while let Some((task, (line, new))) = lines.next() {
            if let Some(key) = task.key.clone() {
                match self.enqueue_keyed(task, &key, new.on_conflict.unwrap_or_default()) {
                    Ok(one) => accepted.push(one),
                    Err(error) => return Err(late_line_error(*line, error, &accepted)),
                }
                continue;
            }
            // Lines without a key go together up to the next one with a key, so that the queue has the order of the lines.
            let mut run = vec![task];
            while let Some((task, _)) = lines.next_if(|(task, _)| task.key.is_none()) {
                run.push(task);
            }
            let run = self.accept_run(run).map_err(|error| naming_earlier(error, &accepted))?;
            accepted.extend(run.into_iter().map(|task| Accepted { task, created: true }));
        }
        Ok(accepted)
    }

    /// Accepts tasks without keys under ids that follow one another.
    fn accept_run(&self, mut run: Vec<Task>) -> Result<Vec<Task>, AppError> {
        let first = self.store.reserve_ids(u64::try_from(run.len()).unwrap_or(u64::MAX))?;
        for (offset, task) in (0..).zip(&mut run) {
            task.id = TaskId(first.0 + offset);
        }
        self.accept(&run)?;
        Ok(run)
    }

    pub(crate) fn accept(&self, tasks: &[Task]) -> Result<(), AppError> {
        let event = |task: &Task| {
            let data = json!({ "priority": task.priority.number() });
            Event::of("enqueued", task).in_lane(&LaneName::user(&task.user)).with(data)
        };
        self.store.accept(tasks, Some(&event)).map_err(|error| self.half_accepted(tasks, error.into()))
    }

    /// Tasks it comes after: unknown ones are refused, completed ones need no waiting, failed ones are a refusal.
    fn check_dependencies(&self, task: &mut Task) -> Result<(), AppError> {
        let mut open = Vec::new();
        task.comes_after = std::mem::take(&mut task.after);
        for id in task.comes_after.iter().copied() {
            let other = self.existing(id)?;
            match other.status {
                Status::Completed => {}
                Status::Failed | Status::Timeout | Status::Cancelled => {
                    return Err(AppError::usage(format!("{id} is {}, so nothing can come after it", other.status))
                        .hint("retry it first, or leave --after out")
                        .next(format!("luzia retry {id}")));
                }
                Status::Pending | Status::Running | Status::Waiting => open.push(id),
            }
        }
        task.after = open;
        Ok(())
    }

    pub(crate) fn task_of(&self, new: &NewTask, caller: &Caller) -> Result<Task, AppError> {
        let project = self.project_of(new)?;
        let settings = project.as_ref().and_then(|project| self.config().project(project.as_str()));
        let settings = settings.as_ref();
        let conductor = settings.and_then(|settings| settings.conductor_dir.clone());
        let user = self.user_of(new, settings.and_then(|s| s.user.as_ref()), conductor.as_deref(), &caller.accounts)?;
        if new.user.is_some() {
            self.check_user_lane(&LaneName::user(&user))?;
        }
        let (command, stdin) = command_of(new, settings.and_then(|settings| settings.agent.as_deref()))?;
        self.check_account(settings.and_then(|settings| settings.run_as.as_deref()), &caller.accounts)?;
        let parent = self.inside.as_ref().map(|inside| inside.task);
        // The environment alone is no proof that this process is in the tree of that task.
        let is_in_tree = |id| self.store.is_in_tree(id).unwrap_or(false);
        let waited_for = new.is_waited_for && parent.is_some_and(is_in_tree);
        let (now, cwd) = (self.store.now(), cwd_of(new, caller)?);
        let (lanes, takes_user_lane) = lanes_of(new, &user, self.named_lanes(new, &cwd)?)?;
        let context = self.own_context();
        let conductor_dir = match &conductor {
            Some(template) => conductor_path(template, project.as_ref().map_or("", Name::as_str), user.as_str()),
            None => self.store.default_conductor(project.as_ref().map(Name::as_str)),
        };
        let task = Task {
            id: TaskId(0),
            status: Status::Pending,
            takes_user_lane,
            lanes,
            sandbox: Some(Arc::clone(&context.0)),
            limits: Some(context.1.clone()),
            user,
            project,
            priority: priority_of(new.priority)?,
            command,
            stdin,
            stdin_of: self.stdin_of(new)?,
            has_terminal: new.has_terminal,
            label: new.label.clone(),
            asked_by: self.asked_by(caller.pid),
            agent: self.agent.clone(),
            key: new.key.as_deref().map(|text| name("key", text)).transpose()?.map(|key| key.to_string()),
            env: self.env_of(new, caller)?,
            cwd,
            umask: caller.umask,
            conductor_dir,
            conductor_configured: conductor.is_some(),
            run_as: settings.and_then(|settings| settings.run_as.clone()),
            created_at: now,
            created_by_pid: caller.pid,
            parent,
            waited_for,
            due_at: due_of(new, now)?,
            after: new.after.iter().map(|text| self.task_id(text)).collect::<Result<_, _>>()?,
            comes_after: Vec::new(),
            start_by: positive("start-within", new.start_within.as_deref())?.map(|ms| plus(now, ms)),
            timeout_ms: positive("timeout", new.timeout.as_deref())?,
            grace_ms: duration("grace", new.grace.as_deref())?.unwrap_or(DEFAULT_GRACE_MS),
            retries: new.retries.unwrap_or(0),
            failures: 0,
            starts: 0,
            claims: 0,
            last_start: None,
            outcome: None,
            extra: None,
        };
        self.check_command(new, &task)?;
        Ok(task)
    }

    fn project_of(&self, new: &NewTask) -> Result<Option<Name>, AppError> {
        let given = new.project.as_deref().or(self.inside_project(new));
        let project = given.map(|text| name("project", text)).transpose()?;
        if let (Some(project), Some(_)) = (&project, &new.project) {
            self.check_project_name(project)?;
        }
        Ok(project)
    }

    fn env_of(&self, new: &NewTask, caller: &Caller) -> Result<Environment, AppError> {
        if new.env.is_empty() {
            return Ok(Arc::clone(&caller.env));
        }
        let mut env = Vec::clone(&caller.env);
        for pair in &new.env {
            let (key, value) = pair.split_once('=').ok_or_else(|| bad_env(pair, "it has no `=`"))?;
            let head = key.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
            if !head || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                return Err(bad_env(pair, "a variable's name is made of letters, digits and `_`"));
            }
            if value.contains('\0') {
                return Err(bad_env(pair, "a value cannot hold NUL"));
            }
            if key.starts_with("LUZIA_") {
                return Err(bad_env(pair, "luzia sets the variables that begin with LUZIA_ itself"));
            }
            if LOADER_VARIABLES.contains(&key) && !self.config().allow_loader_env {
                return Err(bad_env(pair, "this variable changes how programs load")
                    .hint("\"allow_loader_env\": true in the configuration permits it"));
            }
            env.retain(|(other, _)| other != key.as_bytes());
            env.push((key.as_bytes().to_vec(), value.as_bytes().to_vec()));
        }
        Ok(Arc::new(env))
    }
}

/// What a task takes over of the environment of the process that asks for it: neither luzia's own variables nor those
/// that change how programs load.
pub fn inherited(mut env: Vec<(Vec<u8>, Vec<u8>)>) -> Environment {
    let is_loader = |key: &[u8]| LOADER_VARIABLES.iter().any(|bad| bad.as_bytes() == key);
    env.retain(|(key, _)| !key.starts_with(b"LUZIA_") && !is_loader(key));
    Arc::new(env)
}

/// A configured conductor directory with its placeholders filled in; names are encoded, because `..` is a legal name.
pub(crate) fn conductor_path(template: &str, project: &str, user: &str) -> String {
    use crate::model::name::encode;
    template.replace("{project}", &encode(project)).replace("{user}", &encode(user))
}

/// Puts the place of a refused request before its message.
pub fn line_error(line: usize, mut error: AppError) -> AppError {
    error.0.message = format!("line {line}: {}", error.0.message);
    if error.0.code == COMMAND_MISSING {
        error.0.hint = Some("a line has \"command\", \"shell\", or \"prompt\" and a project with an agent".to_owned());
    }
    error.0.hint.get_or_insert_with(|| "nothing of the batch was queued".to_owned());
    error
}

/// The error of a line that fails after other lines were accepted.
fn late_line_error(line: usize, error: AppError, before: &[Accepted]) -> AppError {
    naming_earlier(line_error(line, error), before)
}

/// Adds the ids of the lines that were accepted before an error, which must not be lost.
fn naming_earlier(mut error: AppError, before: &[Accepted]) -> AppError {
    let queued: Vec<TaskId> = before.iter().filter(|one| one.created).map(|one| one.task.id).collect();
    if let (Some(first), Some(last)) = (queued.first(), queued.last()) {
        let which = match queued.len() {
            1 => format!("of the lines before it one is queued: {first}"),
            count => format!("of the lines before it {count} are queued: {first} to {last}"),
        };
        error.0.hint = Some(which);
    }
    error
}

fn bad_env(pair: &str, why: &str) -> AppError {
    let shown: String = pair.split('=').next().unwrap_or_default().chars().take(80).collect();
    AppError::usage(format!("\"--env {shown}\" is refused: {why}")).hint("write --env NAME=VALUE")
}

/// Reads a name at the door.
pub fn name(what: &str, text: &str) -> Result<Name, AppError> {
    Name::new(text).map_err(|error| {
        let shown: String = text.chars().take(80).collect();
        AppError::usage(format!("\"{}\" cannot be a {what}: {error}", shown.escape_default()))
    })
}

/// Reads the duration of an option, in milliseconds.
pub fn duration(option: &str, text: Option<&str>) -> Result<Option<u64>, AppError> {
    text.map(|text| parse_duration(text).map_err(|error| AppError::usage(format!("--{option}: {error}")))).transpose()
}

fn positive(option: &str, text: Option<&str>) -> Result<Option<u64>, AppError> {
    match duration(option, text)? {
        Some(0) => Err(AppError::usage(format!("--{option} must be longer than 0"))),
        other => Ok(other),
    }
}

fn plus(at: Timestamp, ms: u64) -> Timestamp {
    at.plus_ms(i64::try_from(ms).unwrap_or(i64::MAX))
}

fn priority_of(number: Option<u8>) -> Result<Priority, AppError> {
    let Some(number) = number else { return Ok(Priority::DEFAULT) };
    Priority::new(number)
        .ok_or_else(|| AppError::usage(format!("{number} is not a priority")).hint("0 comes first, 9 last, 5 is usual"))
}

fn due_of(new: &NewTask, now: Timestamp) -> Result<Option<Timestamp>, AppError> {
    if new.delay.is_some() && new.at.is_some() {
        return Err(AppError::usage("a task is due \"in\" a time or \"at\" a time, not both"));
    }
    if let Some(ms) = duration("in", new.delay.as_deref())? {
        return Ok(Some(plus(now, ms)));
    }
    let Some(text) = &new.at else { return Ok(None) };
    let at = Timestamp::parse(text).or_else(|| Timestamp::parse(&format!("{}Z", text.replacen(' ', "T", 1))));
    at.map(Some).ok_or_else(|| {
        AppError::usage(format!("\"{}\" is not a time", text.chars().take(80).collect::<String>()))
            .hint("write RFC 3339, as 2026-01-31T09:00:00+01:00; without a zone it is UTC")
    })
}

/// The further lanes in canonical order, without repeats, and whether the task takes the lane of its user: not when it names
/// lanes and neither a user nor a project (contract, section 4). A second user is refused: never two user locks (S3.36).
fn lanes_of(new: &NewTask, user: &Name, given: Vec<LaneName>) -> Result<(Vec<LaneName>, bool), AppError> {
    let own = LaneName::user(user);
    let mut lanes = Vec::new();
    for lane in given {
        if lane.is_user() && lane != own {
            return Err(AppError::usage(format!("a task takes the lane of one user, and \"{lane}\" is another's"))
                .hint("queue one task for each user"));
        }
        lanes.push(lane);
    }
    let names_user = new.user.is_some() || new.project.is_some() || lanes.contains(&own);
    lanes.retain(|lane| *lane != own && !lane.is_global());
    lanes.sort();
    lanes.dedup();
    let takes_user_lane = names_user || lanes.is_empty();
    Ok((lanes, takes_user_lane))
}

/// Reads the value of `--lane`.
pub fn lane_option(text: &str) -> Result<LaneName, AppError> {
    LaneName::parse(text).map_err(|error| {
        let shown: String = text.chars().take(80).collect();
        AppError::usage(format!("\"--lane {}\" is refused: {error}", shown.escape_default()))
    })
}

fn cwd_of(new: &NewTask, caller: &Caller) -> Result<String, AppError> {
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
fn command_of(new: &NewTask, agent: Option<&[String]>) -> Result<(Vec<String>, Option<String>), AppError> {
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
            None => AppError::new(Kind::Usage, COMMAND_MISSING, "there is no command")
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

/// Words for people: when a task will be looked at again.
pub fn delay_text(task: &Task, now: Timestamp) -> Option<String> {
    let at = task.due_at.filter(|at| *at > now)?;
    Some(format_duration(u64::try_from(at.ms_since(now)).unwrap_or(0)))
}
