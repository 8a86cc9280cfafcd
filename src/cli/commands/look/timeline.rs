//! `luzia timeline`: the holders of each lane over time, as text, as a picture, or as a trace.

use crate::app::App;
use crate::app::fleet::no_store;
use crate::app::query::events::{Hold, RowOf, holds_since, runs_by, trace};
use crate::app::queue::terms::moments::past_moment;
use crate::cli::args::OutputFormat;
use crate::cli::output::console::Console;
use crate::cli::output::picture::timeline::{html, svg};
use crate::cli::output::{json, timeline};
use crate::cli::result_file::write_text;
use crate::model::Timestamp;
use clap::{Args, ValueHint};
use serde_json::{Value, json};

/// `luzia timeline`.
#[derive(Args, Clone, Debug)]
#[command(after_help = TIMELINE_HELP)]
pub struct TimelineArgs {
    /// Only the last DUR, or what was after TIME (RFC 3339); an hour by default
    #[arg(long, value_name = "DUR|TIME", allow_hyphen_values = true)]
    pub since: Option<String>,

    /// Of the text: a row for each user, for each lane, or for each host of a store
    #[arg(long, value_name = "ROW", default_value = "user", value_parser = ["user", "lane", "host"])]
    pub by: String,

    /// Write the picture of `-o svg` to this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub svg: Option<String>,

    /// Write a page with this picture, in which one can zoom, to this file; it loads nothing
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "svg")]
    pub html: Option<String>,
}

const TIMELINE_HELP: &str = "\
Forms:
  -o text   a line for each user; a bar is a command, from the number of its
            task to | or, where its supervisor died, to x; > goes on
  -o svg    a picture: for each lane its holders, its loans, and the waits for
            it in rows of their own; the legend names the colours
  -o trace  Chrome JSON for Perfetto: a process for each lane, a thread for
            each slot, waits as asynchronous slices
  -o jsonl  one hold of a lane a line

Several hosts:
  With a store these are the runs of all hosts, also those that the loss of a
  host has interrupted. Each bar names its host, and global is there for each
  host. Waits and holds are by the clock of the server, commands by that of
  their host. What tasks do inside is known to their hosts alone: their waits,
  loans and locks; --store local shows these of this host.

Examples:
  luzia timeline
  luzia timeline --since 10m --by lane
  luzia timeline --by host
  luzia timeline --since 1d --svg day.svg
  luzia timeline --since 1h --html hour.html
  luzia timeline -o trace > trace.json

Exit codes:
  0    shown, also when nothing ran
  2    usage, or --by host without a store
  73   the file of --svg or --html cannot be made";

type Drawing = fn(&[Hold], Timestamp, Timestamp) -> String;

/// The width of a text that goes to no terminal.
const PLAIN_WIDTH: usize = 80;

/// `luzia timeline`.
pub fn run(args: &TimelineArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let now = console.now;
    let from = past_moment(app, "since", Some(args.since.as_deref().unwrap_or("1h")))?.unwrap_or(now);
    let row: RowOf = match args.by.as_str() {
        "lane" => Hold::of_lane,
        "host" if app.fleet.is_none() => {
            return Err(no_store()
                .reworded(|why| format!("--by host is about the hosts of a store, and {why}"))
                .into());
        }
        "host" => Hold::of_host,
        _ => Hold::of_user,
    };
    let holds = holds_since(app, from)?;
    let files: [(&str, _, Drawing); 2] = [("svg", &args.svg, svg), ("html", &args.html, html)];
    for (option, path, draw) in files {
        let Some(path) = path else { continue };
        write_text(option, path, &draw(&holds, from, now))?;
        console.json("timeline", || json!({ option: path }))?;
        return Ok(());
    }
    match console.format {
        OutputFormat::Svg => console.out(&svg(&holds, from, now))?,
        OutputFormat::Trace => console.out(&json::line(&trace(&holds, now)))?,
        _ if console.is_json() => console.items("timeline", holds.iter().map(hold_json))?,
        _ => {
            let width = console.streams.width.map_or(PLAIN_WIDTH, usize::from);
            let runs = runs_by(&holds, row, from, now);
            if runs.is_empty() {
                console.say("luzia: no command ran in that time");
            }
            console.out(&timeline::timeline(&runs, width))?;
        }
    }
    Ok(())
}

fn hold_json(hold: &Hold) -> Value {
    let wait =
        |(from, to): &(Timestamp, Option<Timestamp>)| json!({ "from": json::time(*from), "to": json::maybe_time(*to) });
    json!({
        "lane": hold.lane,
        "holder": hold.holder,
        "user": hold.user,
        "host": hold.host,
        "asked_at": json::time(hold.asked),
        "from": json::time(hold.from),
        "to": json::maybe_time(hold.to),
        "run_from": json::maybe_time(hold.run.map(|(from, _)| from)),
        "run_to": json::maybe_time(hold.run.and_then(|(_, to)| to)),
        "ended_by": Some(&hold.end).filter(|end| !end.is_empty()),
        "lent_by": hold.lender,
        "waits": hold.waits.iter().map(wait).collect::<Vec<_>>(),
    })
}
