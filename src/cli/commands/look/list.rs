//! `luzia list`: tasks, written page by page while they are read, so that a queue of any length fits into memory.

pub mod columns;
mod order;

use crate::app::query::explain::Reasons;
use crate::app::query::lanes::named_lanes;
use crate::app::query::list::{Filter, Unshown, list, unshown};
use crate::app::query::{explain, list};
use crate::app::queue::terms::moments::past_moment;
use crate::app::waits::open_wait;
use crate::app::{App, AppError};
use crate::cli::args::{OutputFormat, number};
use crate::cli::output::console::{Console, Stop};
use crate::cli::output::json;
use crate::cli::output::lane::Lanes;
use crate::cli::output::table::Table;
use crate::cli::output::task::task_json;
use crate::model::{Status, Task};
use clap::Args;
use order::Order;

/// List tasks: every unfinished one, and with --all, --since, --until, --last or a finished --state the finished ones too.
#[derive(Args, Clone, Debug, Default)]
#[command(long_about, after_help = LIST_HELP)]
pub struct ListArgs {
    /// Finished tasks too
    #[arg(short, long)]
    pub all: bool,

    /// Only tasks in these states; several separated by commas
    #[arg(long = "state", alias = "status", value_name = "STATE", value_delimiter = ',')]
    pub states: Vec<Status>,

    /// Only tasks of this user
    #[arg(short, long)]
    pub user: Option<String>,

    /// Only tasks of this lane, or of lanes whose names begin so (`thread:*`)
    #[arg(short, long, value_name = "LANE|PATTERN")]
    pub lane: Option<String>,

    /// Only tasks of this project
    #[arg(short, long)]
    pub project: Option<String>,

    /// Only tasks with this label
    #[arg(long)]
    pub label: Option<String>,

    /// Only tasks with this key
    #[arg(long)]
    pub key: Option<String>,

    /// Only tasks with this text in their command
    #[arg(long, value_name = "TEXT")]
    pub command: Option<String>,

    /// Only tasks that ended, started or were queued at this moment or later, e.g. `2h`, `yesterday` or `8:00`
    ///
    /// The latest of the three moments counts. A length of time counts back from now.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,

    /// Only tasks whose latest moment is before this one
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,

    /// Only the N tasks that ended, started or were queued last, the latest first
    #[arg(long, value_name = "N", value_parser = number::<usize>, allow_hyphen_values = true, conflicts_with = "sort")]
    pub last: Option<usize>,

    /// Only tasks that run and make no progress: their supervisor is dead or stopped, or their wait ran out an hour ago
    #[arg(long)]
    pub stuck: bool,

    /// Sort by a key; `-KEY` sorts from the largest to the smallest
    ///
    /// The keys are id, user, status, priority, created_at, due_at, started_at, completed_at, waiting_until, ran and waited.
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub sort: Option<String>,

    /// Reverse the order of the list
    #[arg(short, long)]
    pub reverse: bool,

    /// Only the first N, in the order of the list
    ///
    /// Without --sort, started tasks come first, then pending ones, then finished ones, each by their numbers: the
    /// oldest first.
    #[arg(short = 'n', long, value_name = "N", value_parser = number::<usize>, allow_hyphen_values = true)]
    pub limit: Option<usize>,

    /// Show these columns of the table, in this order; separated by commas
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub columns: Vec<String>,

    /// Leave the headings of the table out
    #[arg(long)]
    pub no_header: bool,
}

impl ListArgs {
    /// A listing of the first unfinished tasks.
    pub fn first(limit: usize) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }
}

const LIST_HELP: &str = "\
Examples:
  luzia list
  luzia list --all -u alice -n 20
  luzia list --state pending,running --json
  luzia list --since yesterday --sort -ran
  luzia list --last 5
  luzia list --columns id,ran,command --no-header
  luzia list --stuck

Columns:
  id user status ran waited start reason command, and with -o wide also
  prio age project lanes attempt label agent. A terminal that is too
  narrow leaves columns out: of the wide ones first, then START and WAITED.
  RAN is the run time of the command, WAITED the time from the moment at
  which the task was due to its start. REASON says why a task waits, and
  until when.

Exit codes:
  0    listed, also when the list is empty
  2    usage";

/// `luzia list`.
pub fn run(args: &ListArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let filter = filter_of(args, app)?;
    let now = console.now;
    let order = Order::of(args, app)?;
    let limit = args.limit.unwrap_or(usize::MAX);
    let mut listing = Listing::begin(args, app, console)?;
    if order.needs_all() {
        let mut tasks = Vec::new();
        list(app, &filter, &mut |found| {
            match found {
                Ok(task) => tasks.push(task),
                Err(error) => listing.warn(&error),
            }
            true
        })?;
        order.sort(&mut tasks, now);
        tasks.into_iter().take(limit).try_for_each(|task| listing.push(task))?;
        return listing.end(&filter);
    }
    let (mut count, mut stopped) = (0, None);
    list(app, &filter, &mut |found| {
        match found {
            // With a limit of 0, the first task ends the list.
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
        None => listing.end(&filter),
    }
}

fn filter_of(args: &ListArgs, app: &App) -> Result<Filter, AppError> {
    let named = |what: &str, text: &Option<String>| {
        text.as_deref().map(|text| crate::app::queue::enqueue::name(what, text)).transpose()
    };
    Ok(Filter {
        all: args.all || args.since.is_some() || args.until.is_some() || args.last.is_some(),
        states: args.states.clone(),
        user: named("user", &args.user)?,
        lane: args.lane.as_deref().map(|lane| named_lanes(app, lane)).transpose()?,
        project: named("project", &args.project)?,
        label: args.label.clone(),
        key: args.key.clone(),
        command: args.command.clone(),
        since: past_moment(app, "since", args.since.as_deref())?,
        until: past_moment(app, "until", args.until.as_deref())?,
        stuck: args.stuck,
    })
}

/// Number of tasks that are written at once.
const PAGE: usize = 500;

/// A list that is being written.
struct Listing<'a, 'c, 'w> {
    app: &'a App,
    console: &'c mut Console<'w>,
    reasons: Reasons<'a>,
    lanes: Lanes,
    form: Form,
    /// The columns of a table, by their places.
    shown: Vec<usize>,
    wants_reason: bool,
    is_empty: bool,
}

/// Items that were taken in and not written yet, in their form.
enum Form {
    Table(Table),
    Names(Vec<String>),
    Json(json::Items),
}

impl<'a, 'c, 'w> Listing<'a, 'c, 'w> {
    fn begin(args: &ListArgs, app: &'a App, console: &'c mut Console<'w>) -> Result<Self, AppError> {
        let shown = columns::chosen(&args.columns, console.format == OutputFormat::Wide)?;
        let is_table = !console.is_json() && console.format != OutputFormat::Name;
        if !is_table && (args.no_header || !args.columns.is_empty()) {
            return Err(AppError::usage("--columns and --no-header are about tables; nothing was listed")
                .hint("a table is -o table or -o wide; of JSON, jq(1) takes members"));
        }
        let form = match console.format {
            OutputFormat::Name => Form::Names(Vec::new()),
            OutputFormat::Json | OutputFormat::Jsonl => Form::Json(console.begin_items("list")),
            _ => {
                let table = columns::table(&shown, !args.columns.is_empty());
                Form::Table(if args.no_header { table.without_headings() } else { table })
            }
        };
        let wants_reason = match form {
            Form::Table(_) => shown.contains(&columns::REASON),
            Form::Names(_) => false,
            Form::Json(_) => true,
        };
        let (reasons, lanes) = (explain::reasons(app)?, Lanes::of_out(app, console));
        Ok(Self { app, reasons, lanes, console, form, shown, wants_reason, is_empty: true })
    }

    fn push(&mut self, task: Task) -> anyhow::Result<()> {
        self.is_empty = false;
        let waits = matches!(task.status(), Status::Pending | Status::Running);
        let reason = if waits && self.wants_reason { self.reasons.first_obstacle(&task)? } else { None };
        let stuck = if self.wants_reason { list::stuck(self.app, &task)? } else { None };
        let is_waiting = task.status() == Status::Waiting && self.wants_reason;
        // A task with a damaged wait is shown without a wait. The damage ends the task, and `explain` reports the damage.
        let wait = if is_waiting { open_wait(self.app, task.id).ok().flatten() } else { None };
        let why = (reason.as_ref(), wait.as_ref());
        let waiting = match &mut self.form {
            Form::Table(table) => {
                let now = self.console.now;
                table.toned_row(
                    self.shown.iter().map(|at| columns::cell(columns::title(*at), &task, why, stuck, &self.lanes, now)),
                );
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

    fn end(mut self, filter: &Filter) -> anyhow::Result<()> {
        let is_table = matches!(self.form, Form::Table(_));
        match self.form {
            Form::Json(items) => self.console.out(&items.end())?,
            Form::Table(_) | Form::Names(_) => self.write()?,
        }
        if self.is_empty && is_table {
            let text = match unshown(self.app, filter)? {
                Unshown::NoQueue => format!("no queue yet in {}", self.app.store_path()),
                Unshown::Filtered => "no task matches; `luzia list -a` lists every task".to_owned(),
                Unshown::Finished(0) => "no task".to_owned(),
                Unshown::Finished(count) => format!("no unfinished task; {count} finished: luzia list -a"),
            };
            self.console.say(&text);
        }
        Ok(())
    }
}
