//! `luzia metrics`: numbers for Prometheus.

use crate::app::App;
use crate::app::query::metrics::{metrics, samples};
use crate::cli::output::console::Console;
use crate::cli::output::json;
use crate::cli::result_file::write_text;
use clap::Args;
use serde_json::json;
use std::collections::BTreeMap;

/// `luzia metrics`.
#[derive(Args, Clone, Debug)]
#[command(after_help = METRICS_HELP)]
pub struct MetricsArgs {
    /// Write to this file, for the textfile collector of the node exporter
    ///
    /// The file is replaced in one step, with mode 0644. The collector reads files whose names end in .prom.
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
    pub textfile: Option<String>,
}

const METRICS_HELP: &str = "\
Notes:
  Counters count all events that were ever written, also those that were
  removed since. Each member has the label account, for hosts with several
  queues. Rules for alerts and a dashboard: packaging/prometheus and
  packaging/grafana.

Examples:
  luzia metrics
  luzia metrics --textfile /var/lib/node_exporter/luzia.prom

Exit codes:
  0    printed or written
  2    usage
  73   the file cannot be made";

/// `luzia metrics`.
pub fn run(args: &MetricsArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let text = metrics(app)?;
    match &args.textfile {
        Some(path) => {
            write_text("textfile", path, &text)?;
            console.json("metrics", || json!({ "textfile": path }))?;
        }
        None if console.is_json() => {
            let items = samples(&text).into_iter().map(|sample| {
                let labels: BTreeMap<String, String> = sample.labels.into_iter().collect();
                json!({ "name": sample.name, "labels": labels, "value": sample.value })
            });
            let items = items.collect();
            console.document(&json::document("metrics", [("text", json!(text)), ("items", items)]))?;
        }
        None => console.text(&text)?,
    }
    Ok(())
}
