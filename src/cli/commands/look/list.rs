//! `luzia list`: tasks, written page by page while they are read, so that a queue of any length fits into memory.

use crate::app::look::explain::Reasons;
use crate::app::look::list::{Filter, Stuck};
use crate::app::{App, AppError, Obstacle};
use crate::cli::args::{OutputFormat, TaskState, number};
use crate::cli::exit::Exit;
use crate::cli::output::console::{Answer, Console, Stop};
use crate::cli::output::style::{Tone, age};
use crate::cli::output::table::{Column, Table};
use crate::cli::output::task::{task_json, tone};
use crate::cli::output::{json, messages};
use crate::model::task::Outcome;
use crate::model::{Status, Task};
use clap::Args;

/// `luzia list`.
#[derive(Args, Clone, Debug)]
#[command(
    long_about = "List tasks: every unfinished one, and with --all or a finished --state the finished ones too.",
    after_help = LIST_HELP
)]
pub struct ListArgs {
    /// Finished tasks too
    #[arg(short, long)]
    pub all: bool,

    /// Only tasks in these states; several separated by commas
    #[arg(long = "state", alias = "status", value_name = "STATE", value_delimiter = ',')]
    pub states: Vec<TaskState>,

    /// Only tasks of this user
    #[arg(short, long)]
    pub user: Option<String>,

    /// Only tasks of this lane
    #[arg(short, long)]
    pub lane: Option<String>,

    /// Only running tasks whose supervisor is dead or stopped
    #[arg(long)]
    pub stuck: bool,

    /// Sort by id, user, status, priority, created_at or due_at
    #[arg(long, value_name = "KEY")]
    pub sort: Option<String>,

    /// Only the first N, in the order of the list
    ///
    /// Without --sort, started tasks come first, then pending ones, then finished ones, each by their numbers: the
    /// oldest first.
    #[arg(short = 'n', long, value_name = "N", value_parser = number::<usize>, allow_hyphen_values = true)]
    pub limit: Option<usize>,
}

const LIST_HELP: &str = "\
Examples:
  luzia list
  luzia list --all -u alice -n 20
  luzia list --state pending,running --json
  luzia list --stuck

Exit codes:
  0    listed, perhaps nothing
  2    usage
  others as in luzia-exit-codes(7)";

/// `luzia list`.
pub fn run(args: &ListArgs, app: &App, console: &mut Console) -> Answer {
    let filter = Filter {
        all: args.all,
        states: args.states.iter().map(|state| state_of(*state)).collect(),
        user: args.user.as_deref().map(|user| crate::app::queue::enqueue::name("user", user)).transpose()?,
        lane: args.lane.as_deref().map(|lane| app.lane(lane)).transpose()?,
        stuck: args.stuck,
    };
    let key = args.sort.as_deref().map(sort_key).transpose()?;
    let limit = args.limit.unwrap_or(usize::MAX);
    let mut listing = Listing::begin(app, console)?;
    if let Some(key) = key {
        let mut tasks = Vec::new();
        app.list(&filter, &mut |found| {
            match found {
                Ok(task) => tasks.push(task),
                Err(error) => listing.warn(&error),
            }
            true
        })?;
        tasks.sort_by_cached_key(|task| (key(task), task.id));
        tasks.into_iter().take(limit).try_for_each(|task| listing.push(task))?;
        return listing.end();
    }
    let (mut count, mut stopped) = (0, None);
    app.list(&filter, &mut |found| {
        match found {
            // With a limit of none, the first one says stop.
            Ok(_) if count >= limit => return false,
            Ok(task) => {
                count += 1;
                stopped = listing.push(task).err();
            }
            Err(error) => listing.warn(&error),
        }
        stopped.is_none() && count < limit
    })?;
    match stopped {
        Some(stop) => Err(stop),
        None => listing.end(),
    }
}

/// How many tasks are written at once.
const PAGE: usize = 500;

const COLUMNS: [Column; 12] = [
    Column::new("ID"),
    Column::new("USER"),
    Column::new("STATUS"),
    Column::new("PRIO"),
    Column::new("AGE"),
    Column::wide("PROJECT"),
    Column::wide("LANES"),
    Column::wide("ATTEMPT"),
    Column::wide("LABEL"),
    Column::wide("AGENT"),
    Column::new("REASON"),
    Column::new("COMMAND"),
];

/// A list that is being written.
struct Listing<'a, 'c, 'w> {
    app: &'a App,
    console: &'c mut Console<'w>,
    reasons: Reasons<'a>,
    form: Form,
}

/// What was taken in and not written yet, in its form.
enum Form {
    Table(Table),
    Names(Vec<String>),
    Json(json::Items),
}

impl<'a, 'c, 'w> Listing<'a, 'c, 'w> {
    fn begin(app: &'a App, console: &'c mut Console<'w>) -> Result<Self, AppError> {
        let form = match console.format {
            OutputFormat::Table | OutputFormat::Wide => Form::Table(Table::new(&COLUMNS)),
            OutputFormat::Name => Form::Names(Vec::new()),
            OutputFormat::Json | OutputFormat::Jsonl => Form::Json(console.begin_items("list")),
        };
        Ok(Self { app, reasons: app.reasons()?, console, form })
    }

    fn push(&mut self, task: Task) -> anyhow::Result<()> {
        let wants_reason =
            matches!(task.status, Status::Pending | Status::Running) && !matches!(self.form, Form::Names(_));
        let reason = if wants_reason { self.reasons.first_obstacle(&task)? } else { None };
        let stuck = if matches!(self.form, Form::Names(_)) { None } else { self.app.stuck(&task)? };
        let waiting = match &mut self.form {
            Form::Table(table) => {
                table.toned_row(row(&task, reason.as_ref(), stuck, self.console));
                table.len()
            }
            Form::Names(names) => {
                names.push(format!("{}\n", task.id));
                names.len()
            }
            Form::Json(items) => {
                items.push(&task_json(self.app, &task, reason, stuck, self.console)?);
                items.waiting()
            }
        };
        if waiting < PAGE { Ok(()) } else { Ok(self.write()?) }
    }

    fn write(&mut self) -> Result<(), Stop> {
        match &mut self.form {
            Form::Table(table) => self.console.page(table),
            Form::Names(names) => self.console.out(&std::mem::take(names).concat()),
            Form::Json(items) => self.console.out(&items.page()),
        }
    }

    fn warn(&mut self, error: &AppError) {
        self.console.say(&format!("warning: {error}"));
    }

    fn end(mut self) -> Answer {
        match self.form {
            Form::Json(items) => self.console.out(&items.end())?,
            Form::Table(_) | Form::Names(_) => self.write()?,
        }
        Ok(Exit::Done.code())
    }
}

fn state_of(state: TaskState) -> Status {
    match state {
        TaskState::Pending => Status::Pending,
        TaskState::Running => Status::Running,
        TaskState::Waiting => Status::Waiting,
        TaskState::Completed => Status::Completed,
        TaskState::Failed => Status::Failed,
        TaskState::Timeout => Status::Timeout,
        TaskState::Cancelled => Status::Cancelled,
    }
}

type SortKey = fn(&Task) -> (String, i64);

fn sort_key(key: &str) -> Result<SortKey, AppError> {
    Ok(match key {
        "id" => |task| (String::new(), i64::try_from(task.id.0).unwrap_or(i64::MAX)),
        "user" => |task| (task.user.to_string(), 0),
        "status" => |task| (String::new(), task.status as i64),
        "priority" => |task| (String::new(), i64::from(task.priority.number())),
        "age" | "created_at" => |task| (String::new(), task.created_at.0),
        "due_at" => |task| (String::new(), task.due_at.map_or(i64::MAX, |at| at.0)),
        other => {
            return Err(AppError::usage(format!("\"{other}\" is no key to sort by"))
                .hint("sort by id, user, status, priority, created_at or due_at"));
        }
    })
}

fn row(task: &Task, reason: Option<&Obstacle>, stuck: Option<Stuck>, console: &Console) -> Vec<(String, Tone)> {
    let plain = |text: String| (text, Tone::Plain);
    let reason = match (reason, stuck, &task.outcome) {
        (Some(obstacle), ..) => obstacle.word().to_owned(),
        (None, Some(stuck), _) => messages::stuck_text(stuck).0.to_owned(),
        (None, None, Some(outcome)) => outcome_word(outcome),
        (None, None, None) => String::new(),
    };
    vec![
        plain(task.id.to_string()),
        plain(task.user.to_string()),
        (task.status.to_string(), tone(task.status)),
        plain(task.priority.number().to_string()),
        plain(age(console.now, task.created_at)),
        plain(task.project.as_ref().map(ToString::to_string).unwrap_or_default()),
        plain(json::task_lanes(task).join(",")),
        plain(task.attempt().to_string()),
        plain(task.label.clone().unwrap_or_default()),
        plain(task.agent.as_ref().map(|agent| agent.name.clone()).unwrap_or_default()),
        plain(reason),
        plain(task.command.join(" ")),
    ]
}

fn outcome_word(outcome: &Outcome) -> String {
    match (outcome.exit_code, outcome.signal) {
        (Some(0), _) => String::new(),
        (Some(code), _) => format!("exit={code}"),
        (None, Some(signal)) => format!("signal={signal}"),
        (None, None) => outcome.cancel_reason.clone().or_else(|| outcome.error.clone()).unwrap_or_default(),
    }
}
