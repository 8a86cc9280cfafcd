//! `luzia stats`: waits for lanes and times of holds, depths of lanes, and ends of tasks.

use crate::app::estimate::{LaneScore, estimate_scores};
use crate::app::query::events::{LaneLine, Spread, TaskLine, lane_stats, task_stats};
use crate::app::{App, AppError};
use crate::cli::args::OutputFormat;
use crate::cli::output::console::Console;
use crate::cli::output::json;
use crate::cli::output::picture::spreads::svg;
use crate::cli::output::table::Table;
use crate::cli::result_file::write_text;
use crate::model::time::format_duration;
use crate::model::{Status, Timestamp};
use clap::{Args, ValueEnum, ValueHint};
use serde_json::{Value, json};

/// The subjects of `stats`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topic {
    /// The times for which lanes were waited for and held (the default)
    Locks,
    /// The depths of lanes, and the numbers of their holders
    Lanes,
    /// The numbers of tasks now and before, and the times they took
    Tasks,
    /// The share of tasks that started within the time expected when they were queued
    Estimates,
}

impl Topic {
    fn word(self) -> &'static str {
        match self {
            Self::Locks => "locks",
            Self::Lanes => "lanes",
            Self::Tasks => "tasks",
            Self::Estimates => "estimates",
        }
    }
}

/// `luzia stats`.
#[derive(Args, Clone, Debug)]
#[command(after_help = STATS_HELP)]
pub struct StatsArgs {
    /// The subject
    #[arg(value_name = "TOPIC")]
    pub topic: Option<Topic>,

    /// Only what was granted or ended in the last DUR, or after TIME (RFC 3339)
    #[arg(long, value_name = "DUR|TIME", allow_hyphen_values = true)]
    pub since: Option<String>,

    /// Group the topic `tasks` by state
    #[arg(long, value_name = "GROUP", value_parser = ["status"], conflicts_with = "topic")]
    pub by: Option<String>,

    /// Write a picture of the topic `locks` to this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "by")]
    pub svg: Option<String>,
}

const STATS_HELP: &str = "\
Numbers:
  They come from the events, which are kept for retention.days. Half of the
  lengths are at most P50, and 95 of a hundred at most P95. CONTENDED is the
  share of grants that were waited for while the lane was full. The wait of
  a task lasts from its acceptance, or its return to the queue, until it has
  its lanes.
  `estimates` compares, for the last 500 tasks that had to wait, the estimate
  at the time at which each was queued with its real start. Of ten estimates
  nine should be WITHIN P90.

Examples:
  luzia stats
  luzia stats locks --since 1h --json
  luzia stats lanes
  luzia stats --since 1d --svg waits.svg
  luzia stats tasks --since 1d
  luzia stats estimates

Exit codes:
  0    shown
  2    usage
  73   the file of --svg cannot be made";

/// `luzia stats`.
pub fn run(args: &StatsArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let from = crate::app::queue::terms::moments::past_moment(app, "since", args.since.as_deref())?;
    let topic = match (&args.by, args.topic) {
        (Some(_), _) => Topic::Tasks,
        (None, topic) => topic.unwrap_or(Topic::Locks),
    };
    let begin = from.unwrap_or(Timestamp::FIRST);
    if let Some(path) = &args.svg {
        if topic != Topic::Locks {
            return Err(AppError::usage(format!("--svg draws no {}", topic.word()))
                .next("luzia stats --svg waits.svg")
                .into());
        }
        write_text("svg", path, &svg(&lane_stats(app, begin)?))?;
        console.json("stats", || json!({ "svg": path }))?;
        return Ok(());
    }
    let (table, items, more) = match topic {
        Topic::Locks => of_lines(&lane_stats(app, begin)?, lock_row, lock_json, &LOCKS),
        Topic::Lanes => of_lines(&lane_stats(app, begin)?, lane_row, lane_json, &LANES),
        Topic::Tasks => of_tasks(app, begin)?,
        Topic::Estimates => of_estimates(app, begin)?,
    };
    match console.format {
        OutputFormat::Json => {
            let mut members = vec![("topic", json!(topic.word())), ("since", json::maybe_time(from))];
            members.extend(more);
            members.push(("items", items.into()));
            console.document(&json::document("stats", members))?;
        }
        OutputFormat::Jsonl => console.items("stats", items)?,
        _ => console.table(&table)?,
    }
    Ok(())
}

type Told = (Table, Vec<Value>, Vec<(&'static str, Value)>);

const LOCKS: [&str; 9] = ["LANE", "GRANTS", "WAIT P50", "P95", "MAX", "HELD P50", "P95", "MAX", "CONTENDED"];

const LANES: [&str; 6] = ["LANE", "LIMIT", "DEPTH", "MOST", "ACTIVE", "MOST"];

const ESTIMATES: [&str; 6] = ["LANE", "WAITED", "ESTIMATED", "WITHIN P50", "WITHIN P90", "SHARE"];

const TASKS: [&str; 8] = ["STATUS", "COUNT", "MEAN AGE", "WAIT P50", "P95", "RAN P50", "P95", "MAX"];

fn of_lines(
    lines: &[LaneLine],
    row: fn(&LaneLine) -> Option<Vec<String>>,
    item: fn(&LaneLine) -> Option<Value>,
    columns: &[&'static str],
) -> Told {
    let mut table = Table::of(columns);
    lines.iter().filter_map(row).for_each(|cells| table.row(cells));
    (table, lines.iter().filter_map(item).collect(), Vec::new())
}

/// The row of a lane in the topic `locks`, or `None` for a lane without a grant and a release.
fn lock_row(line: &LaneLine) -> Option<Vec<String>> {
    let (waits, holds) = spreads(line)?;
    let share = share(line).map_or_else(String::new, |share| format!("{:.0} %", share * 100.0));
    let cells = [line.name.clone(), waits.count.to_string()].into_iter();
    Some(cells.chain(lengths(waits)).chain(lengths(holds)).chain([share]).collect())
}

fn lock_json(line: &LaneLine) -> Option<Value> {
    let (waits, holds) = spreads(line)?;
    Some(json!({
        "lane": line.name,
        "grants": waits.count,
        "waits": spread_json(waits),
        "holds": spread_json(holds),
        "contended": line.stats.contended,
        "contended_share": share(line),
    }))
}

/// P50, P95 and the maximum; empty where nothing was measured.
fn lengths(spread: Spread) -> [String; 3] {
    let text = |ms| if spread.count > 0 { format_duration(ms) } else { String::new() };
    [spread.p50_ms, spread.p95_ms, spread.max_ms].map(text)
}

fn spreads(line: &LaneLine) -> Option<(Spread, Spread)> {
    let (waits, holds) = (Spread::of(&line.stats.waits), Spread::of(&line.stats.holds));
    (waits.count + holds.count > 0).then_some((waits, holds))
}

/// The contended share of grants, to four digits.
fn share(line: &LaneLine) -> Option<f64> {
    let grants = line.stats.waits.len() as u64;
    let parts = line.stats.contended.saturating_mul(10_000).checked_div(grants)?;
    Some(f64::from(u32::try_from(parts).unwrap_or(10_000)) / 10_000.0)
}

fn lane_row(line: &LaneLine) -> Option<Vec<String>> {
    let limit = if line.limit == u32::MAX { "none".to_owned() } else { line.limit.to_string() };
    let stats = &line.stats;
    let counts = [line.depth, stats.depth_max, line.active, stats.active_max];
    Some([line.name.clone(), limit].into_iter().chain(counts.map(|count| count.to_string())).collect())
}

fn lane_json(line: &LaneLine) -> Option<Value> {
    Some(json!({
        "lane": line.name,
        "limit": Some(line.limit).filter(|limit| *limit < u32::MAX),
        "depth": line.depth,
        "depth_max": line.stats.depth_max,
        "active": line.active,
        "active_max": line.stats.active_max,
    }))
}

pub(super) fn spread_json(spread: Spread) -> Value {
    let Spread { count, p50_ms, p95_ms, max_ms } = spread;
    json!({ "count": count, "p50_ms": p50_ms, "p95_ms": p95_ms, "max_ms": max_ms })
}

fn of_tasks(app: &App, begin: Timestamp) -> Result<Told, AppError> {
    let (lines, requeued) = task_stats(app, begin)?;
    let (mut table, mut items) = (Table::of(&TASKS), Vec::new());
    for status in Status::ALL {
        let Some(line) = lines.get(status.word()) else { continue };
        let (waits, runs) = (Spread::of(&line.stats.waits), Spread::of(&line.stats.runs));
        let [wait_p50, wait_p95, _] = lengths(waits);
        let times = [wait_p50, wait_p95].into_iter().chain(lengths(runs));
        let age = line.age_ms.map(format_duration).unwrap_or_default();
        table.row([status.word().to_owned(), line.count.to_string(), age].into_iter().chain(times));
        items.push(task_json(status, line, waits, runs));
    }
    Ok((table, items, vec![("requeued", json!(requeued))]))
}

/// Scores by lane, and for all lanes together.
fn of_estimates(app: &App, begin: Timestamp) -> Result<Told, AppError> {
    let lanes = estimate_scores(app, begin)?;
    let (mut table, mut items, mut all) = (Table::of(&ESTIMATES), Vec::new(), LaneScore::default());
    for (lane, score) in &lanes {
        table.row(score_row(lane, score));
        items.push(score_json(Some(lane), score));
        all = all.with(score);
    }
    table.row(score_row("all", &all));
    Ok((table, items, vec![("all", score_json(None, &all))]))
}

fn score_row(lane: &str, score: &LaneScore) -> Vec<String> {
    let share = score.share().map_or_else(String::new, |share| format!("{:.0} %", share * 100.0));
    let counts = [score.tasks, score.known, score.within_p50, score.within_p90].map(|count| count.to_string());
    std::iter::once(lane.to_owned()).chain(counts).chain([share]).collect()
}

fn score_json(lane: Option<&str>, score: &LaneScore) -> Value {
    let mut item = json!({
        "tasks": score.tasks,
        "estimated": score.known,
        "within_p50": score.within_p50,
        "within_p90": score.within_p90,
        "share_p90": score.share(),
    });
    if let Some(lane) = lane {
        item["lane"] = lane.into();
    }
    item
}

fn task_json(status: Status, line: &TaskLine, waits: Spread, runs: Spread) -> Value {
    let mut item = json!({ "status": status.word(), "count": line.count });
    let members = [
        ("avg_age_seconds", line.age_ms.map(|ms| json!(std::time::Duration::from_millis(ms).as_secs_f64()))),
        ("waits", status.is_final().then(|| spread_json(waits))),
        ("runs", status.is_final().then(|| spread_json(runs))),
        ("durations", status.is_final().then(|| spread_json(Spread::of(&line.stats.durations)))),
    ];
    for (name, value) in members {
        if let Some(value) = value {
            item[name] = value;
        }
    }
    item
}
