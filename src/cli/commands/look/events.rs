//! `luzia events`: prints the event log.

use crate::app::names::lane_option;
use crate::app::query::events::{Filter, KINDS, Record, Tracer, Wanted, events, host, is_kind};
use crate::app::{App, AppError};
use crate::cli::args::OutputFormat;
use crate::cli::context::Account;
use crate::cli::output::console::{Console, Stop};
use crate::cli::output::escape::escape_controls;
use crate::cli::output::json;
use crate::cli::output::style::Tone;
use crate::model::TaskId;
use crate::model::name::shortened;
use clap::Args;
use serde_json::Value;

/// `luzia events`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EVENTS_HELP)]
pub struct EventsArgs {
    /// Only events of these tasks, e.g. `task_12` or `12`; `last` is the newest one
    #[arg(value_name = "TASK")]
    pub tasks: Vec<String>,

    /// Go on with what happens later, until the tasks that are named are over
    #[arg(short, long)]
    pub follow: bool,

    /// Only what happened in the last DUR, or after TIME (RFC 3339)
    #[arg(long, value_name = "DUR|TIME", allow_hyphen_values = true)]
    pub since: Option<String>,

    /// Only events of tasks that the calling session, task or account asked for
    #[arg(long)]
    pub mine: bool,

    /// Only events of this task, as the argument TASK
    #[arg(long = "task", value_name = "TASK")]
    pub task: Vec<String>,

    /// Only events of this user's tasks and lane
    #[arg(short, long)]
    pub user: Option<String>,

    /// Only events in this lane, and of tasks that name it
    #[arg(short, long)]
    pub lane: Option<String>,

    /// Only events of this kind; may be repeated
    #[arg(short, long = "kind", value_name = "KIND")]
    pub kinds: Vec<String>,
}

const EVENTS_HELP: &str = "\
Forms:
  -o jsonl  one event a line: kind, at, boot_ms, pid, and where they apply
            task, user, lane, lanes, message, data
  -o otlp   OTLP/JSON lines: one TracesData for each task that ended

Kinds:
  enqueued polled selected locked dispatched started ended released finished
  are the life of a task, in this order. luzia-spool(5) lists all.

Follow:
  -f looks five times a second, and goes on across segments and days.

Examples:
  luzia events task_12
  luzia events -f --mine
  luzia events --since 1h --kind finished --kind alert -o jsonl
  luzia events --lane thread:7
  luzia events -f -o otlp >> traces.jsonl

Exit codes:
  0    printed, also when there is no event
  2    usage
  66   no such task";

/// `luzia events`.
pub fn run(args: &EventsArgs, app: &App, account: Account, console: &mut Console) -> anyhow::Result<()> {
    if args.follow && console.format == OutputFormat::Json {
        let error = AppError::usage("-f has no end, so its answer cannot be one document");
        return Err(error.hint("-o jsonl gives a line for each event").into());
    }
    let wanted = wanted(args, app, account)?;
    let mut printer = Printer::new(app, console);
    let count = events(app, &wanted, &mut |record| printer.print(record))?;
    printer.end()?;
    if count == 0
        && let Some(id) = wanted.filter.tasks.iter().find(|id| !matches!(app.find(**id), Ok(Some(_))))
    {
        app.existing(*id)?;
    }
    Ok(())
}

fn wanted(args: &EventsArgs, app: &App, account: Account) -> Result<Wanted, AppError> {
    let ids = args.tasks.iter().chain(&args.task).map(|text| app.task_id(text));
    let tasks: std::collections::BTreeSet<TaskId> = ids.collect::<Result<_, _>>()?;
    let mut kinds = std::collections::BTreeSet::new();
    for kind in &args.kinds {
        if !is_kind(kind) {
            let error = AppError::usage(format!("there is no kind of event \"{}\"", shortened(kind)));
            let near = KINDS.iter().find(|(name, _)| name.starts_with(kind.as_str()) || kind.starts_with(name));
            return Err(error.hint(match near {
                Some((name, _)) => format!("did you mean {name}?"),
                None => {
                    "a task's life is enqueued, locked, started, ended, released, finished; luzia-spool(5) lists all"
                        .to_owned()
                }
            }));
        }
        kinds.insert(kind.clone());
    }
    let user = args.user.as_deref().map(|user| crate::app::queue::enqueue::name("user", user)).transpose()?;
    let filter = Filter {
        tasks,
        user: user.map(|user| user.to_string()),
        lane: args.lane.as_deref().map(|lane| lane_option(app, lane, None)).transpose()?.map(|lane| lane.to_string()),
        kinds,
    };
    Ok(Wanted {
        filter,
        mine: if args.mine { Some(account()?) } else { None },
        since: crate::app::queue::terms::moments::past_moment(app, "since", args.since.as_deref())?,
        follow: args.follow,
    })
}

/// Prints events in the requested form, as they arrive.
struct Printer<'c, 'w> {
    console: &'c mut Console<'w>,
    form: Form,
    stop: Option<Stop>,
}

enum Form {
    Lines,
    Names,
    Text,
    Items(json::Items),
    Traces(Tracer),
}

impl<'c, 'w> Printer<'c, 'w> {
    fn new(app: &App, console: &'c mut Console<'w>) -> Self {
        let form = match console.format {
            OutputFormat::Jsonl => Form::Lines,
            OutputFormat::Json => Form::Items(console.begin_items("events")),
            OutputFormat::Name => Form::Names,
            OutputFormat::Otlp => Form::Traces(Tracer::new(&host(app))),
            _ => Form::Text,
        };
        Self { console, form, stop: None }
    }

    /// False when nothing more can be written.
    fn print(&mut self, record: &Record) -> bool {
        let written = match &mut self.form {
            Form::Lines => self.console.line("events", &record.json()),
            Form::Names => self.console.out(&format!("{}\n", record.kind)),
            Form::Items(items) => {
                items.push(&record.json());
                if items.waiting() < 500 { Ok(()) } else { self.console.out(&items.page()) }
            }
            Form::Traces(tracer) => match tracer.take(record) {
                Some(whole) => self.console.out(&json::line(&whole)),
                None => Ok(()),
            },
            Form::Text => {
                let style = self.console.streams.out_style;
                let at = style.paint(Tone::Faint, &record.at.to_string()).into_owned();
                self.console.out(&format!("{at}  {}\n", escape_controls(text(record).trim_end())))
            }
        };
        self.stop = written.err();
        self.stop.is_none()
    }

    fn end(self) -> Result<(), Stop> {
        match (self.stop, self.form) {
            (Some(stop), _) => Err(stop),
            (None, Form::Items(items)) => self.console.out(&items.end()),
            (None, _) => Ok(()),
        }
    }
}

/// An event for people, behind its time: kind, task, user or lane, and its details.
fn text(record: &Record) -> String {
    let task = record.task.map(|task| task.to_string()).unwrap_or_default();
    let whose = record.user.as_deref().or(record.lane.as_deref()).unwrap_or_default();
    format!("{:<16} {task:<10} {whose:<12} {}", record.kind, said(record))
}

/// An event as a line below its task.
pub(super) fn without_task(record: &Record) -> String {
    format!("{:<16} {}", record.kind, said(record))
}

fn said(record: &Record) -> String {
    let mut said: Vec<String> = record.message.iter().cloned().collect();
    for (name, value) in record.data.as_object().into_iter().flatten() {
        let shown = match value {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            Value::Array(items) if items.iter().all(Value::is_string) => {
                items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",")
            }
            other => other.to_string(),
        };
        said.push(format!("{name}={shown}"));
    }
    said.join(" ")
}
