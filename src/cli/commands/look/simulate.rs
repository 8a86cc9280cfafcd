//! `luzia simulate`: the course of a load.

use crate::app::estimate::{ASSUMED_MS, Change, Outcome, Report, UserReport, simulate_plan, simulate_queue};
use crate::app::{App, AppError};
use crate::cli::args::{OutputFormat, number};
use crate::cli::load_file;
use crate::cli::output::console::Console;
use crate::cli::output::json;
use crate::cli::output::table::Table;
use crate::model::time::format_duration;
use clap::{Args, ValueHint};
use serde_json::{Value, json};

/// Run a described load on a virtual clock, with the functions by which luzia itself decides whose turn it is, and print how
/// long each user waited. Without FILE the load is the queue as it is, with durations that were seen. Nothing is started or
/// changed.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = SIMULATE_HELP)]
pub struct SimulateArgs {
    /// A described load as JSON, `-` for standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: Option<String>,

    /// The queue as it is; the same as no FILE
    #[arg(long, conflicts_with = "file")]
    pub queue: bool,

    /// The seed of the random numbers: the same seed prints the same bytes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::<u64>, allow_hyphen_values = true)]
    pub seed: u64,

    /// Compare with another limit or weight of a lane, e.g. `build.max=3`; `global.max` are the slots
    #[arg(long = "what-if", value_name = "LANE.max=N", action = clap::ArgAction::Append)]
    pub what_if: Vec<String>,
}

/// The help, which begins with a described load.
pub const SIMULATE_HELP: &str = r#"File:
  {
    "slots": 4,
    "lanes": { "build": { "max": 2 }, "user:alice": { "weight": 2 } },
    "users": {
      "alice": [ { "count": 200, "about": "30s", "runs": ["20s", "3m"] } ],
      "bob":   [ { "count": 100, "every": "1m", "runs": ["1m", "4m"], "lanes": ["build"],
                   "session": "one", "timeout": "10m" },
                 { "count": 1, "from": "10m", "runs": "5s", "priority": 2 } ]
    }
  }
  `slots`, `tier_shares` and `lanes` (`max`, `weight`) are as in the configuration. A user has streams of tasks:
  runs       how long a task runs: a duration, or two for any length between
  count      how many tasks come (1)
  from       when the first comes, from the beginning (0s)
  every      the time between two of them (0s)
  about      the average time between two of them, which come at random moments
  lanes      named lanes; such tasks take the lane of their user only with "user_lane": true
  slots      how many slots a task takes of each named lane (1)
  session    the session of an agent: sessions of a user share its time
  priority   0 to 9 (5)
  timeout    the time limit of a task

Numbers:
  WAIT is the time from the moment at which a task could start, by its user and its order, to its start. GOT is slot time.
  PART is GOT divided by the share that was due: the slot time in use, by weight among users with work. Jain's index of the
  parts is 1 when all users got the same. BEHIND is the largest number of grants to others between two grants of a
  user that could run; the bound is the largest possible number.

Examples:
  luzia simulate load.json
  luzia simulate load.json --seed 7 --what-if build.max=3 --json
  luzia simulate --queue --what-if global.max=8

Exit codes:
  0    simulated
  2    usage, or the file does not describe a load; {} describes an empty one
  74   the file cannot be read
  others as in luzia-exit-codes(7)"#;

/// `luzia simulate`.
pub fn run(
    args: &SimulateArgs,
    app: &App,
    read: &dyn Fn(&str) -> Result<String, AppError>,
    console: &mut Console,
) -> anyhow::Result<()> {
    let changes = args.what_if.iter().map(|text| change(text)).collect::<Result<Vec<Change>, AppError>>()?;
    let outcome = match &args.file {
        Some(path) => simulate_plan(
            &load_file::read(path, &read(path).map_err(|error| error.hint("nothing was simulated"))?)?,
            &changes,
            args.seed,
        ),
        None => simulate_queue(app, &changes, args.seed)?,
    };
    match console.format {
        OutputFormat::Json => {
            let mut members = vec![("seed", json!(args.seed)), ("what_if", json!(args.what_if))];
            members.extend(report_json(&outcome.now, &outcome));
            members.push(("assumed", outcome.assumed.into()));
            if let Some(then) = &outcome.then {
                members.push((
                    "then",
                    Value::Object(
                        report_json(then, &outcome).into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                    ),
                ));
            }
            console.document(&json::document("simulate", members))?;
        }
        OutputFormat::Jsonl => console.items("simulate", outcome.now.users.iter().map(user_json))?,
        _ => tell(&outcome, &args.what_if, console)?,
    }
    Ok(())
}

fn change(text: &str) -> Result<Change, AppError> {
    Change::parse(text).ok_or_else(|| {
        AppError::usage(format!("\"{text}\" is not a change: write LANE.max=N or LANE.weight=N, with N from 1"))
            .hint("such as --what-if build.max=3; nothing was simulated")
    })
}

const COLUMNS: [&str; 9] = ["USER", "WEIGHT", "TASKS", "WAIT P50", "P95", "MAX", "GOT", "PART", "BEHIND"];

fn tell(outcome: &Outcome, changes: &[String], console: &mut Console) -> anyhow::Result<()> {
    console.table(&table(&outcome.now))?;
    console.out(&sums(&outcome.now, outcome))?;
    if let Some(then) = &outcome.then {
        console.out(&format!("\nwith {}:\n", changes.join(", ")))?;
        console.table(&table(then))?;
        console.out(&sums(then, outcome))?;
    }
    if outcome.assumed > 0 {
        let assumed = format_duration(ASSUMED_MS);
        console
            .say(&format!("{} tasks were assumed to run for {assumed}: too little is known of them", outcome.assumed));
    }
    Ok(())
}

fn table(report: &Report) -> Table {
    let mut table = Table::of(&COLUMNS);
    for user in &report.users {
        let UserReport { name, weight, tasks, waits, got_ms, part, overtaken } = user;
        let part = part.map_or_else(String::new, |part| format!("{part:.2}"));
        let [p50, p95, most, got] = [waits.p50_ms, waits.p95_ms, waits.max_ms, *got_ms].map(format_duration);
        let cells = [name.to_string(), weight.to_string(), tasks.to_string(), p50, p95, most, got, part];
        table.row(cells.into_iter().chain([overtaken.to_string()]));
    }
    table
}

fn sums(report: &Report, outcome: &Outcome) -> String {
    let Report { jain, bound, overtaken, never, .. } = report;
    let length = format_duration(length_ms(report, outcome));
    let never = if *never == 0 { String::new() } else { format!("; {never} tasks never start") };
    format!(
        "Jain's index {jain:.3}; behind {overtaken} grants at the most, the bound is {bound}; over after {length}{never}\n"
    )
}

fn length_ms(report: &Report, outcome: &Outcome) -> u64 {
    report.end.saturating_ms_since(outcome.begin)
}

fn report_json(report: &Report, outcome: &Outcome) -> Vec<(&'static str, Value)> {
    vec![
        ("jain", json!(rounded(report.jain))),
        ("bound_grants", report.bound.into()),
        ("behind_grants", report.overtaken.into()),
        ("never_started", report.never.into()),
        ("length_ms", length_ms(report, outcome).into()),
        ("items", report.users.iter().map(user_json).collect::<Vec<Value>>().into()),
    ]
}

fn user_json(user: &UserReport) -> Value {
    json!({
        "user": user.name.as_str(),
        "weight": user.weight,
        "tasks": user.tasks,
        "waits": super::stats::spread_json(user.waits),
        "got_ms": user.got_ms,
        "part": user.part.map(rounded),
        "behind_grants": user.overtaken,
    })
}

/// To four digits, so that differences in the rounding of hosts are not shown.
fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}
