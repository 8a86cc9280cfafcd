//! `luzia enqueue`: puts tasks in the queue.

use super::preempt;
use super::wait::needs_starter;
use crate::app::admission::may_start;
use crate::app::admission::turns::position;
use crate::app::cron::local_zone;
use crate::app::fleet::refuse_local;
use crate::app::lifecycle::Accepted;
use crate::app::queue::doors::{no_exclusion, notes_on};
use crate::app::queue::enqueue::{Caller, Preview, after_accepting, are_queued, dry_run, enqueue_batch};
use crate::app::queue::inside::{refuse_waiting_for, refuse_waiting_inside};
use crate::app::queue::run::{event_messages, follow};
use crate::app::queue::terms::moments;
use crate::app::queue::wait;
use crate::app::sandboxes::starts_only_here;
use crate::app::steps::child::{await_child, take_result};
use crate::app::{App, AppError, Code, Kind};
use crate::cli::args::{Identity, PreemptOptions};
use crate::cli::estimate::{estimate_json, estimate_text};
use crate::cli::exit::{Exit, wait_code};
use crate::cli::input::Consent;
use crate::cli::output::console::{Answer, Console, Stop};
use crate::cli::output::live::waiting::WaitLine;
use crate::cli::output::task::{has_key, running_json};
use crate::cli::output::{json, messages};
use crate::cli::task_lines;
use crate::model::{Status, Task};
use crate::request::TaskRequest;
use crate::request::values::OnConflict;
use clap::{Args, ValueHint};
use serde_json::{Value, json};

/// Put a task in the queue and print its id, and only the id. The task survives kill -9 and a power cut from then on. Nothing
/// is started: `luzia dispatch`, `luzia daemon`, `luzia run`, `luzia attach`, `luzia wait --stream` and the end of another task
/// start tasks.
///
/// Everything after the command word belongs to the command. It is executed as given, without a shell, in the environment and
/// working directory of this moment. `luzia run --help` says what it gets exactly, and which variables luzia sets for it.
///
/// DUR is `100ms`, `30s`, `10m`, `1h30m`, or seconds as a bare number.
#[derive(Args, Clone, Debug, Default)]
#[command(
    long_about,
    override_usage = "luzia enqueue [OPTIONS] [--] <CMD>...\n       \
                      luzia enqueue [OPTIONS] --prompt <TEXT>\n       \
                      luzia enqueue [OPTIONS] --shell <STRING>\n       \
                      luzia enqueue [OPTIONS] --from <FILE>",
    after_help = ENQUEUE_HELP,
    mut_arg("command", |command| command.required_unless_present("from"))
)]
pub struct EnqueueArgs {
    /// The task.
    #[command(flatten)]
    pub task: TaskRequest,

    /// The name of the caller.
    #[command(flatten)]
    pub identity: Identity,

    /// Read tasks from a file of JSON objects, one a line; `-` is stdin
    ///
    /// Options that describe one task do not go together with it: each line has its own. Every line is checked before
    /// anything is queued, and one mistake refuses them all. A line whose key is taken (on_conflict reject, or replace
    /// when that task belongs to somebody else) ends the reading: the lines before it are queued, and the error names them. The ids are
    /// printed one a line, in the order of the lines.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["prompt", "shell", "wait", "command"])]
    pub from: Option<String>,

    /// Wait until the task has finished, and exit as `luzia wait` does
    ///
    /// Inside a task it waits for its child as `luzia await agent` does: it is `waiting`, and has the variables of the child.
    #[arg(long)]
    pub wait: bool,

    /// Check the task and say what it would wait for; nothing is queued
    #[arg(long, conflicts_with_all = ["wait", "from", "preempt"])]
    pub dry_run: bool,

    /// Whether the task makes room for itself.
    #[command(flatten)]
    pub preempt: PreemptOptions,
}

const ENQUEUE_HELP: &str = "\
Examples:
  luzia enqueue -u alice -- make test
  luzia enqueue -p alice_project --prompt 'fix the build' --priority 2
  luzia enqueue -u bob --in 10m --after task_12 ./report.sh
  luzia enqueue -u bob --at 'tomorrow 8:00' -- ./report.sh
  luzia enqueue -u bob --shell 'make && make install'
  luzia enqueue -u bob --stepwise --goal 'write the report' -- ./next-step.sh
  luzia enqueue -u bob --steps steps.json
  luzia enqueue --from tasks.jsonl
  luzia enqueue -l build --priority 0 --preempt requeue -- make release

Steps:
  A file of --steps is a JSON array, or one step. A step is {\"command\": [\"make\"]}, a message for the output of the task:
  {\"actionType\": \"send_message\", \"parameters\": {\"message\": \"done\"}}, or a wait as `luzia await` makes it:
  {\"actionType\": \"wait_for_response\", \"parameters\": {\"timeout\": \"24h\", \"onTimeout\": \"continue\"}}.
  Other parameters are duration, event, expectedFrom, threadId, expect, maxRetries and timeoutActions, an array of
  commands and messages for the end of the time. A wait calls `luzia`, so luzia has to be on the PATH of the task.
  \"name\" of a step is what `luzia logs --steps` calls it.

An unfinished task has the key:
  --on-conflict  it is pending   it runs or waits          it is over
  skip           its id          its id                    a new task
  queue          a new task      a new task                a new task
  reject         refused, 75     refused, 75               a new task
  replace        cancelled,      cancelled, its end is     a new task
                 a new task      awaited, a new task
  join           its id          its id                    its id if it ended within
                                                           --fresh, else a new task
  `luzia run` takes the output and the exit code of the task whose id this is. A
  task that was cancelled is not joined, and one whose work tree changed meanwhile
  (--stable) neither. If several tasks have the key, the newest one is used.

Lines of --from:
{members}
  Each member works as the option of that name, with the same default. A line
  needs command, shell, or prompt and a project with an agent. lane is another
  name of lanes, and thread of threads. A name may have - for _, e.g.
  start-within. An unknown member, one given twice and one of another type, null
  too, are mistakes. Empty lines are skipped.

Exit codes:
  0    queued; with --wait: completed
  1    with --wait: the task failed or was cancelled
       --wait --no-inherit inside a task that holds a lane of the new one; nothing
       was queued
       --on-conflict replace, and the task with the key calls this, or belongs
       to somebody else
  2    usage, or no such command or directory; nothing was queued
  66   no such task in --after; no such project, where the configuration names
       projects; or a user that users.known does not list
  74   input-output error, disk full included; nothing was queued, unless the
       error says that a task is
  75   --on-conflict reject, and an unfinished task has the key
  124  with --wait: a time limit ended the task";

/// `luzia enqueue`.
pub fn run(
    args: &EnqueueArgs,
    app: &App,
    caller: &Caller,
    read: &dyn Fn(&str) -> Result<String, AppError>,
    agree: &Consent,
    console: &mut Console,
) -> Answer {
    if let Some(warning) = no_exclusion(app) {
        console.log(&format!("warning: {warning}"));
    }
    let mut new = args.task.with_steps(read)?;
    if app.fleet.is_some() {
        let is_preempting = args.preempt.preempt.is_some();
        refuse_local([(args.dry_run, "--dry-run"), (is_preempting, "--preempt")])?;
    }
    if let Some(path) = &args.from {
        refuse_options_beside_from(&new)?;
        return enqueue_lines(&read(path)?, app, caller, console);
    }
    if args.dry_run {
        return preview(&dry_run(app, &new, caller).map_err(refused_at_the_door)?, console);
    }
    new.is_waited_for = args.wait;
    if args.wait && app.fleet.is_none() {
        refuse_waiting_inside(app, &new, caller)?;
    }
    let accepted = preempt::accept(app, (&new, &args.preempt), caller, agree).map_err(refused_at_the_door)?;
    tell_notes(app, &[(&new, &accepted)], console);
    let is_joined = !accepted.created && new.on_conflict == Some(OnConflict::Join);
    print_accepted(app, &accepted, is_joined, console)
        .map_err(|stop| unprinted(stop, app, std::slice::from_ref(&accepted)))?;
    if !args.wait {
        tell_only_here(app, std::slice::from_ref(&accepted), console);
        return Ok(Exit::Done.code());
    }
    let id = accepted.task.id;
    let _followed = follow(app, &accepted)?;
    Ok(wait_for_accepted(&accepted.task, app, console).map_err(|error| after_accepting(app, id, error))?)
}

/// Reports the prospects of a task that is not queued.
fn preview(seen: &Preview, console: &mut Console) -> Answer {
    let Preview { task, ahead, obstacles, estimate } = seen;
    let now = console.now;
    let document = || {
        let reasons: Vec<Value> = obstacles.iter().map(|one| messages::obstacle_json(one, task, now)).collect();
        let estimate = estimate_json(estimate.as_ref());
        let more = json!({ "id": null, "dry_run": true, "queued": false, "position": ahead, "reasons": reasons, "estimate": estimate });
        json::with(json::task(task), more)
    };
    if console.json("enqueue", document)? {
        return Ok(Exit::Done.code());
    }
    let lanes = json::task_lanes(task).join(", ");
    console.say(&format!("nothing was queued; it would take {lanes}, and {ahead} tasks would come before it"));
    for obstacle in obstacles {
        console.say(&format!("{} [{}]", messages::obstacle_text(obstacle, task, now).0, obstacle.word()));
    }
    if obstacles.is_empty() {
        console.say("it would start at the next pass");
    } else if let Some(said) = estimate_text(estimate.as_ref(), obstacles) {
        console.say(&said);
    }
    Ok(Exit::Done.code())
}

/// Reports notes on queued tasks to a person.
pub(super) fn tell_notes(app: &App, accepted: &[(&TaskRequest, &Accepted)], console: &mut Console) {
    if let [(new, Accepted { task, created: true })] = accepted
        && let Some(at) = task.due_at.filter(|_| new.at.is_some() || new.delay.is_some())
    {
        console.say(&match at > app.host.now() {
            true => format!("{} starts at {}", task.id, moments::said(app, at, &local_zone(app))),
            false => format!("{} may start at once: {} has passed", task.id, moments::said(app, at, &local_zone(app))),
        });
    }
    for note in notes_on(app, accepted) {
        console.say(&format!("note: {note}"));
    }
}

/// `enqueue` runs nothing, so a missing command is bad input.
pub(in crate::cli::commands) fn refused_at_the_door(error: AppError) -> AppError {
    match error.kind() {
        Kind::NoCommand | Kind::NotExecutable | Kind::NotStarted => error.with_kind(Kind::Usage),
        _ => error,
    }
}

fn wait_for_accepted(task: &Task, app: &App, console: &mut Console) -> Result<u8, AppError> {
    let id = task.id;
    refuse_waiting_for(app, &[id], false)?;
    if app.fleet.is_none() && app.inside.is_none() && needs_starter(app, task)? {
        let place = if starts_only_here(app)? { " in this sandbox" } else { "" };
        console.hint(&format!("nothing is running that starts tasks; `luzia dispatch`{place} starts it"));
    }
    let is_told = await_child(app, task, &mut |line| {
        if !console.is_json() && !console.quiet {
            console.say(line);
        }
    })?;
    let mut line = WaitLine::new(app, 1, console);
    let over = wait::wait(app, &[id], false, None, &mut |task, is_new| line.saw(app, task, is_new, console))?;
    if !is_told {
        take_result(app, task)?;
    }
    if let Some(task) = over.first().filter(|_| console.verbose) {
        event_messages(app, task.id, task.created_at)?.iter().for_each(|line| console.log(line));
    }
    Ok(over.first().map_or(Exit::No.code(), wait_code))
}

/// Refuses options of one task beside --from: each line has its own.
pub(super) fn refuse_options_beside_from(new: &TaskRequest) -> Result<(), AppError> {
    if *new == TaskRequest::default() {
        return Ok(());
    }
    Err(AppError::usage("the options of one task do not go together with --from")
        .hint("write what a task of the batch needs into its line"))
}

/// Names tasks whose ids could not be printed, because they are queued.
fn unprinted(stop: anyhow::Error, app: &App, accepted: &[Accepted]) -> anyhow::Error {
    let [first, ..] = accepted else { return stop };
    let error = match stop.downcast::<AppError>() {
        Ok(error) if accepted.len() == 1 => return after_accepting(app, first.task.id, error).into(),
        Ok(error) => error.to_string(),
        Err(stop) => match stop.downcast_ref() {
            Some(Stop::Unwritten(error)) => error.to_string(),
            _ => return stop,
        },
    };
    let which = are_queued(&accepted.iter().map(|one| one.task.id).collect::<Vec<_>>());
    let message = format!("{which}, but could not be printed: {error}");
    AppError::new(Code::Output, message).next(format!("luzia show {}", first.task.id)).into()
}

fn print_accepted(app: &App, accepted: &Accepted, is_joined: bool, console: &mut Console) -> anyhow::Result<()> {
    let task = &accepted.task;
    if !console.is_json() {
        if !accepted.created {
            console.say(&has_key(task));
        }
        return Ok(console.out(&format!("{}\n", task.id))?);
    }
    let position = if task.status() == Status::Pending { Some(position(app, task)?) } else { None };
    let mut value = accepted_json(app, accepted, position)?;
    value["joined"] = is_joined.into();
    Ok(console.document(&json::single("enqueue", value))?)
}

fn accepted_json(app: &App, accepted: &Accepted, position: Option<u64>) -> Result<Value, AppError> {
    let task = &accepted.task;
    let mut value = json!({
        "success": true,
        "queued": task.status() == Status::Pending,
        "created": accepted.created,
        "id": task.id.to_string(),
        "task_id": task.id.to_string(),
        "position": position,
        "only_this_sandbox": is_only_here(app, accepted)?,
    });
    if let (Value::Object(members), Value::Object(more)) = (&mut value, running_json(app, task)?) {
        for (key, value) in more {
            members.entry(key).or_insert(value);
        }
    }
    Ok(value)
}

/// Whether only a process of this sandbox starts a task.
fn is_only_here(app: &App, accepted: &Accepted) -> Result<bool, AppError> {
    let waits = accepted.task.status() == Status::Pending && may_start(app, &accepted.task);
    Ok(waits && starts_only_here(app)?)
}

/// Reports at once where tasks can start that only this sandbox starts.
fn tell_only_here(app: &App, accepted: &[Accepted], console: &mut Console) {
    if !starts_only_here(app).unwrap_or(false) {
        return;
    }
    let Some(first) = accepted.iter().find(|one| is_only_here(app, one).unwrap_or(false)) else { return };
    let id = first.task.id;
    let which = if accepted.len() == 1 { id.to_string() } else { format!("{id} and the others") };
    console.say(&format!(
        "note: only this sandbox starts {which}, and nothing in it does now: `luzia dispatch` here, or when it has ended: {}",
        messages::attach_here(id)
    ));
}

fn enqueue_lines(text: &str, app: &App, caller: &Caller, console: &mut Console) -> Answer {
    let batch = task_lines::read(text)?;
    if batch.is_empty() {
        console.say("there was no line, so nothing was queued");
        return Ok(Exit::Done.code());
    }
    console.live(&format!("luzia: accepting {} tasks, all or none", batch.len()));
    let accepted = enqueue_batch(app, &batch, caller).map_err(refused_at_the_door)?;
    console.end_live();
    tell_notes(app, &batch.iter().map(|(_, new)| &**new).zip(&accepted).collect::<Vec<_>>(), console);
    print_batch(app, &accepted, console).map_err(|stop| unprinted(stop, app, &accepted))?;
    tell_only_here(app, &accepted, console);
    Ok(Exit::Done.code())
}

fn print_batch(app: &App, accepted: &[Accepted], console: &mut Console) -> anyhow::Result<()> {
    if console.is_json() {
        let items: Result<Vec<Value>, AppError> =
            accepted.iter().map(|accepted| accepted_json(app, accepted, None)).collect();
        return Ok(console.items("enqueue", items?)?);
    }
    let ids: String = accepted.iter().map(|accepted| format!("{}\n", accepted.task.id)).collect();
    Ok(console.out(&ids)?)
}
