//! `luzia await`: blocks until an event comes for the task, or until another task writes something.

use crate::app::queue::terms::moments;
use crate::app::steps::child::await_output;
use crate::app::steps::wait::{WaitEnd, WaitOrder, await_event};
use crate::app::steps::words::{check_line, check_step_name, wait_kind, wait_time};
use crate::app::steps::{MOST_EXPECTED, Mail, OnTimeout, WaitKind, answer_of, members, subject};
use crate::app::waits::output::{OutputOrder, check_pattern};
use crate::app::{App, AppError};
use crate::cli::args::number;
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console};
use crate::cli::output::json;
use crate::model::name::shortened;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

/// `luzia await`.
#[derive(Args, Clone, Debug)]
#[command(after_help = format!("{AWAIT_HEAD}{}\n{AWAIT_TAIL}", members::table()))]
pub struct AwaitArgs {
    /// The event to wait for: response, agent, document, signature, test, event, event:NAME, delay or output
    #[arg(value_name = "KIND")]
    pub kind: String,

    /// With `delay`: its length
    #[arg(value_name = "DUR", conflicts_with_all = ["timeout", "time"])]
    pub delay: Option<String>,

    /// A name by which this await is known when the task is started again, its own within the task
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// End this run; the command is started again when the wait is over, and finished steps and awaits are remembered
    #[arg(long)]
    pub park: bool,

    /// The longest wait, e.g. `2h`
    #[arg(long, value_name = "DUR")]
    pub timeout: Option<String>,

    /// With `delay`: its length, like the argument behind `delay`
    #[arg(long = "for", value_name = "DUR", conflicts_with = "timeout")]
    pub time: Option<String>,

    /// The effect of the end of that time
    #[arg(long, value_enum, value_name = "WHAT", default_value = "fail")]
    pub on_timeout: Word,

    /// With --on-timeout retry: the number of further waits
    #[arg(long, value_name = "N", default_value = "3", value_parser = number::<u32>, allow_hyphen_values = true)]
    pub retry_waits: u32,

    /// A shell command that is run once when the time has run out
    ///
    /// luzia runs it at most once. If luzia is killed before it has recorded the end of the command, it does not run the command again. An
    /// event `alert` and `luzia show` then say that the command may not have run to its end.
    #[arg(long, value_name = "CMD")]
    pub timeout_do: Option<String>,

    /// A condition for the event: a member of its data, or `thread` or `user`; can be repeated. With `output`: a regular expression
    #[arg(long = "match", value_name = "NAME=VALUE|RE")]
    pub matches: Vec<String>,

    /// With `output`: the task whose output is waited for
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,

    /// With `output`, in place of --match: wait until the task has written nothing for this long
    #[arg(long, value_name = "DUR", conflicts_with = "matches")]
    pub idle: Option<String>,

    /// The number of events to wait for; 1 when not given, and with `agent` the ends of all children that are not over
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_EXPECTED)))]
    pub expect: Option<u32>,

    /// With `agent`: wait until one child has ended
    #[arg(long, conflicts_with = "expect")]
    pub any: bool,
}

/// The effect of a wait whose time runs out.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// Exit 0; the task goes on
    Continue,
    /// Exit 124; a command that passes it on ends its task as `timeout`
    Fail,
    /// The task waits once more, then as fail
    Retry,
}

const AWAIT_HEAD: &str = "\
Notes:
  The event comes by `luzia emit`. One that came before the wait counts, and each ends one wait only.
  Default and longest time: response 24h and 7d, agent 1h and 1d, event and output 24h and 30d, delay 30d, all others 7d and 30d.
  The answer is printed and set as variables. It is data from outside: a script reads it as \"$LUZIA_VAR_lastResponse\". A value of
  more than 64 KiB comes by the file LUZIA_VAR_<name>_FILE; when all have more than 2 MiB as JSON, the largest new ones are only
  printed (luzia-set(1)). In a script pass the code on, else a time that ran out is ignored:
  answer=$(luzia await response) || exit $?
  The task is `waiting` meanwhile, and its --timeout goes on. It keeps the lanes whose rule says so (by default its user, threads
  and sessions: luzia lanes set LANE --hold) and those that gave it a value or a share of processors. Others may have its slots of
  the rest. The task takes them again before await returns, ahead of new work; until they are free it is `resume_ready`. A task
  that waits for a child keeps all lanes for it. With --park its processes end, and its command is started again.
  When the task is started again, awaits that were over return at once with what they got, and the open one keeps its end. An
  await is known by --name, else by the step around it, its own arguments, and how many equal ones came before it in this start.
  Two equal ones of which one is under an `if` cannot be told apart: give each a --name. A name has one await in a start.

Waits, their events, and their variables:
";

const AWAIT_TAIL: &str = "\
Children:
  agent waits until no child of the task is unfinished; with --any for one end, with --expect N for N, with
  --match child=task_7 for that child. A child that waits for the lanes of this task runs in them meanwhile. A wait that ends
  early (its time, a signal) first ends the child that runs there. A child in lanes of its own is left alone.
  triggeredExecutionId, childExecutionStatus and childExecutionSuccess tell of the child that ended last, childResults of each
  by its id. The variables of the children become variables of this task.

Output:
  output waits for a line of the logs of --task, from where the last such wait of this task has ended; a last line without an
  end counts when it has stood still for 1s. It is the only kind that works outside of a task, too. When that task ends first, the
  code is 1, and with --idle 0.

Examples:
  luzia await document --expect 2 --timeout 7d
  answer=$(luzia await response --timeout 2h --match from=ana) || exit $?
  luzia await signature --park --timeout-do 'mail -s late ops < /dev/null'
  luzia await delay 10m
  luzia await output --task task_7 --match '^Listening on port [0-9]+'
  luzia await output --task task_7 --idle 30s

A parent and its children, which goes on where it stood after a crash:
  luzia enqueue --retries 3 -- sh -ec '
      luzia step ask -- luzia enqueue -- make test
      luzia await agent --name tests --timeout 2h
      [ \"$(luzia get childExecutionSuccess)\" = true ]
      ok=$(luzia await response --name approval --park --timeout 7d)
      luzia step deploy -- ./deploy.sh \"$ok\"'

Exit codes:
  0    the event came, or the time ran out with --on-timeout continue
  1    the task does not run; output: that task ended without the line
  2    usage, a time above the longest included
  75   another process of the task waits already
  124  the time ran out";

/// The condition for a wait with `output`.
fn output(args: &AwaitArgs, kind: WaitKind, app: &App) -> Result<Option<OutputOrder>, AppError> {
    if kind != WaitKind::Output {
        return match (&args.task, &args.idle) {
            (None, None) => Ok(None),
            _ => Err(AppError::usage(format!("--task and --idle are for output, and this waits for {}", kind.word()))
                .hint("an event goes to a task: luzia emit EVENT --task TASK")),
        };
    }
    let Some(task) = &args.task else {
        return Err(AppError::usage("--task is missing: it names the task with the output".to_owned())
            .hint("such as `luzia await output --task task_7 --match ready`"));
    };
    let pattern = match (args.matches.as_slice(), &args.idle) {
        ([pattern], None) => Some(pattern.clone()),
        ([], Some(_)) => None,
        _ => {
            return Err(AppError::usage("a wait for output needs one --match, or --idle".to_owned())
                .hint("a regular expression has alternatives: --match 'ready|failed'"));
        }
    };
    if args.expect.is_some_and(|expect| expect != 1) {
        return Err(AppError::usage("--expect counts events, and output has none".to_owned())
            .hint("use one await after the other for several lines"));
    }
    if let Some(pattern) = &pattern {
        check_pattern(pattern)?;
    }
    let idle_ms = moments::duration("idle", args.idle.as_deref())?;
    Ok(Some(OutputOrder { task: app.task_id(task)?, pattern, idle_ms }))
}

fn order(args: &AwaitArgs, app: &App, around: Option<&str>) -> Result<WaitOrder, AppError> {
    if let Some(name) = &args.name {
        check_step_name(name, "an await; nothing is waited for")?;
    }
    let (kind, event) = wait_kind(&args.kind)?;
    let output = output(args, kind, app)?;
    let is_delay = kind == WaitKind::Delay;
    if args.any && kind != WaitKind::Agent {
        return Err(AppError::usage(format!("--any is for agent, and this waits for {}", kind.word()))
            .hint("a wait for anything else ends with one event, unless --expect says more"));
    }
    let time = args.delay.as_ref().or(args.time.as_ref());
    let given = if is_delay { time } else { args.timeout.as_ref() };
    if is_delay && given.is_none() {
        return Err(AppError::usage("a delay needs its time".to_owned()).hint("such as `luzia await delay 10m`"));
    }
    if !is_delay && time.is_some() {
        return Err(AppError::usage(format!("a time alone is for a delay, and this waits for {}", kind.word()))
            .hint("--timeout says how long at most"));
    }
    let pair = |text: &String| {
        let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
        pair.map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or_else(|| {
            AppError::usage(format!("\"--match {}\" is not NAME=VALUE", shortened(text)))
                .hint("such as --match from=ana")
        })
    };
    if args.timeout_do.as_ref().is_some_and(|line| line.trim().is_empty()) {
        return Err(AppError::usage("the command of --timeout-do is empty; nothing is waited for"));
    }
    args.timeout_do.as_deref().map_or(Ok(()), |line| check_line("timeout-do", line))?;
    Ok(WaitOrder {
        name: args.name.clone(),
        around: around.map(str::to_owned),
        kind,
        event: output.as_ref().map_or(event, OutputOrder::name),
        time_ms: wait_time(
            kind,
            moments::duration(if is_delay { "for" } else { "timeout" }, given.map(String::as_str))?,
        )?,
        on_timeout: match args.on_timeout {
            Word::Continue => OnTimeout::Continue,
            Word::Fail => OnTimeout::Fail,
            Word::Retry => OnTimeout::Retry(args.retry_waits),
        },
        timeout_command: args.timeout_do.clone(),
        filter: if output.is_some() { Vec::new() } else { args.matches.iter().map(pair).collect::<Result<_, _>>()? },
        expect: args.expect.unwrap_or(u32::from(kind != WaitKind::Agent || args.any)),
        ends_run: args.park,
        output,
    })
}

fn text(mail: &Mail, kind: WaitKind) -> Option<String> {
    let value = match kind {
        WaitKind::Response => answer_of(mail),
        WaitKind::Document => mail.data.get("url").unwrap_or(&mail.data).clone(),
        _ => mail.data.clone(),
    };
    match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

/// A wait for output outside of all tasks.
fn outside(
    args: &AwaitArgs,
    order: &WaitOrder,
    output: &OutputOrder,
    app: &App,
    console: &mut Console,
) -> Result<WaitEnd, AppError> {
    let is_of_task = [
        (args.park, "--park"),
        (args.timeout_do.is_some(), "--timeout-do"),
        (args.on_timeout == Word::Retry, "--on-timeout retry"),
    ];
    if let Some((_, option)) = is_of_task.iter().find(|(is_given, _)| *is_given) {
        return Err(AppError::usage(format!(
            "{option} is for a wait inside a task, and this process runs inside no task"
        ))
        .hint("without it the wait ends with 124 when its time is over"));
    }
    let mut end = await_output(app, output, order.time_ms, &mut |line| console.progress(line))?;
    end.is_failed &= order.on_timeout != OnTimeout::Continue;
    Ok(end)
}

/// `luzia await`. `around` is the step inside which this process runs.
pub fn run(args: &AwaitArgs, app: &App, around: Option<&str>, console: &mut Console) -> Answer {
    let order = order(args, app, around)?;
    let ended = match &order.output {
        Some(output) if subject(app, None).is_err() => outside(args, &order, output, app, console)?,
        _ => await_event(app, &order, &mut |line| console.progress(line))?,
    };
    let document = || {
        let mail: Vec<Value> =
            ended.mail.iter().map(|mail| json!({ "event": mail.event, "data": mail.data })).collect();
        let value = json!({ "id": ended.task.to_string(), "kind": order.kind.word(), "event": order.event,
            "timed_out": ended.is_timed_out, "remembered": ended.is_remembered, "items": mail });
        let Some(seen) = &ended.output else { return value };
        json::with(value, json!({ "task": format!("task_{}", seen.task), "outcome": seen.outcome, "line": seen.line }))
    };
    if !console.json("await", document)? {
        for line in ended.mail.iter().filter_map(|mail| text(mail, order.kind)) {
            console.text(&format!("{line}\n"))?;
        }
    }
    if let Some(seen) = &ended.output {
        match &seen.line {
            Some(line) if !console.is_json() => console.text(&format!("{line}\n"))?,
            Some(_) => {}
            None if seen.outcome == "ended" => {
                let what = if ended.is_missed { ", and no line of it matched" } else { "" };
                console.progress(&format!("luzia: task_{} is over{what}", seen.task));
            }
            None => {}
        }
    }
    if ended.is_timed_out {
        console.progress("luzia: the time of the wait has run out");
    }
    Ok(match ended {
        WaitEnd { is_failed: true, .. } => Exit::TimedOut.code(),
        WaitEnd { is_missed: true, .. } => Exit::No.code(),
        _ => Exit::Done.code(),
    })
}
