//! `luzia list-locks`: every lock and the state of its holder.

use crate::app::query::details::evidence_of;
use crate::app::query::list::{all_waiters, locks};
use crate::app::{App, LockView, lock_state, names};
use crate::cli::args::LockState;
use crate::cli::output::console::Console;
use crate::cli::output::lane::Lanes;
use crate::cli::output::lock::lock_seen_json;
use crate::cli::output::style::Tone;
use crate::cli::output::table::{Column, Table};
use crate::model::time::format_duration;
use clap::Args;
use serde_json::json;

/// `luzia list-locks`.
#[derive(Args, Clone, Debug)]
#[command(after_help = LIST_LOCKS_HELP)]
pub struct ListLocksArgs {
    /// Only locks in these states; several separated by commas
    #[arg(long = "state", value_name = "STATE", value_delimiter = ',')]
    pub states: Vec<LockState>,
}

const LIST_LOCKS_HELP: &str = "\
Examples:
  luzia list-locks
  luzia list-locks --state stale,orphan --json

Exit codes:
  0    listed
  2    usage";

/// `luzia list-locks`.
pub fn run(args: &ListLocksArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let wanted: Vec<&str> = args.states.iter().map(|state: &LockState| state.word()).collect();
    let is_wanted = |view: &LockView| wanted.is_empty() || wanted.contains(&lock_state(&view.verdict));
    let views: Vec<LockView> = locks(app)?.into_iter().filter(is_wanted).collect();
    let places = names::places(app);
    let waiting = all_waiters(app)?;
    if console.is_json() {
        let items = views.iter().map(|view| {
            let none = Vec::new();
            let mut value = lock_seen_json(app, view, waiting.get(&view.lane_name()).unwrap_or(&none));
            if let Some(members) = value.as_object_mut() {
                members.insert("path".to_owned(), json!(places.get(&view.lane_name())));
            }
            value
        });
        return Ok(console.items("list-locks", items)?);
    }
    let first = ["LANE", "STATE", "HOLDER", "AGE", "LOCK ID"].map(Column::new);
    let wide = ["VALUE", "FENCE", "PID", "KIND", "AGENT", "SESSION", "EXPIRES"].map(Column::wide);
    let mut table = Table::new(&[&first[..], &wide, &[Column::new("EVIDENCE")]].concat());
    let lanes = Lanes::of_out(app, console);
    for view in views.iter().filter(|view| !lanes.hides(&view.lane_name())) {
        let mut row = lock_row(app, view, places.get(&view.lane_name()), &lanes);
        if let (Some(waiters), Some((evidence, _))) = (waiting.get(&view.lane_name()), row.last_mut()) {
            *evidence += &format!("; {} in its line", waiters.len());
        }
        table.toned_row(row);
    }
    Ok(console.table(&table)?)
}

fn lock_row(app: &App, view: &LockView, path: Option<&String>, lanes: &Lanes) -> Vec<(String, Tone)> {
    let record = view.record();
    let (name, state) = (view.lane_name(), lock_state(&view.verdict));
    let tone = match state {
        "held" => Tone::Good,
        "stale" | "orphan" | "overdue" => Tone::Warn,
        _ => Tone::Bad,
    };
    let plain = |text: Option<String>| (text.unwrap_or_default(), Tone::Plain);
    vec![
        plain(Some(match path {
            Some(path) if lanes.shown(&name) == name => format!("{name} ({path})"),
            _ => lanes.shown(&name),
        })),
        (state.to_owned(), tone),
        plain(view.shown()),
        plain(Some(format_duration(view.held_ms))),
        plain(record.and_then(|record| record.lock_id.clone())),
        plain(record.and_then(|record| record.value.clone())),
        plain(view.fence().map(|fence| fence.to_string())),
        plain(record.and_then(|record| record.pid).map(|pid| pid.to_string())),
        plain(record.map(|record| record.kind.word().to_owned())),
        plain(record.and_then(|record| record.who.agent.clone())),
        plain(record.and_then(|record| record.who.session.clone())),
        plain(record.and_then(|record| record.expires_at).map(|at| at.to_string())),
        plain(Some(evidence_of(app, view))),
    ]
}
