//! `luzia tree`: a task, its steps, and the tasks that it has queued.

use crate::app::App;
use crate::app::query::events::{ActionLine, Turn};
use crate::app::query::order::{Branch, tree};
use crate::cli::args::OutputFormat;
use crate::cli::output::console::Console;
use crate::cli::output::escape::{escape_controls, escape_lines};
use crate::cli::output::json;
use crate::cli::output::task::memory_json;
use crate::model::time::format_duration;
use clap::Args;
use serde_json::json;

/// `luzia tree`.
#[derive(Args, Clone, Debug)]
#[command(after_help = TREE_HELP)]
pub struct TreeArgs {
    /// The task, e.g. `task_12` or `12`
    #[arg(value_name = "TASK")]
    pub task: String,
}

const TREE_HELP: &str = "\
Notes:
  A task that is queued inside another one is its child. The steps of a task that have ended stand below it, before its children.
  Tasks that were removed (retention in luzia-spool(5)) are not shown.

Examples:
  luzia tree 12
  luzia tree last --json

Exit codes:
  0    shown
  2    usage
  65   the task's record is corrupt, or a newer luzia wrote it
  66   no such task";

/// `luzia tree`.
pub fn run(args: &TreeArgs, app: &App, console: &mut Console) -> anyhow::Result<()> {
    let branches = tree(app, app.task_id(&args.task)?)?;
    if console.format == OutputFormat::Name {
        let ids: String = branches.iter().map(|branch| format!("{}\n", branch.task.id)).collect();
        console.out(&ids)?;
    } else if console.is_json() {
        let mut items = Vec::with_capacity(branches.len());
        for branch in &branches {
            let run = |run: &ActionLine| json!({ "name": run.name, "ended_at": json::time(run.at), "state": run.word(), "ran_ms": run.ran_ms });
            let more = json!({ "depth": branch.depth, "runs": branch.runs.iter().map(run).collect::<Vec<_>>() });
            items.push(json::with(json::with(json::task(&branch.task), more), memory_json(app, &branch.task)?));
        }
        console.items("tree", items)?;
    } else {
        console.out(&escape_lines(&drawn(&branches, console)))?;
    }
    Ok(())
}

fn drawn(branches: &[Branch], console: &Console) -> String {
    let (mut text, mut rails): (String, Vec<bool>) = (String::new(), Vec::new());
    for (at, branch) in branches.iter().enumerate() {
        rails.truncate(branch.depth.saturating_sub(1));
        let lead: String = rails.iter().map(|goes_on| if *goes_on { "│  " } else { "   " }).collect();
        let joint = match (branch.depth, branch.is_last) {
            (0, _) => "",
            (_, true) => "└─ ",
            (_, false) => "├─ ",
        };
        if branch.depth > 0 {
            rails.push(!branch.is_last);
        }
        text += &format!("{lead}{joint}{}\n", line(branch, console));
        let below: String = rails.iter().map(|goes_on| if *goes_on { "│  " } else { "   " }).collect();
        let has_children = branches.get(at + 1).is_some_and(|next| next.depth > branch.depth);
        let rail = if has_children { "│ " } else { "  " };
        for run in &branch.runs {
            let ran = run.ran_ms.and_then(|ms| u64::try_from(ms).ok()).map_or_else(String::new, format_duration);
            let how = match &run.turn {
                Turn::Failed(Some(code)) => format!("exit {code}"),
                Turn::Failed(None) => "failed".to_owned(),
                Turn::Expired => "its wait ran out".to_owned(),
                Turn::Done | Turn::Execution | Turn::Begins | Turn::Waits => "exit 0".to_owned(),
            };
            text += &format!("{below}{rail}{}: {how}, {ran}\n", run.name);
        }
        for (step, _) in branch.memory.iter().flat_map(|memory| &memory.steps) {
            let ran = format_duration(step.ran_ms);
            text += &format!("{below}{rail}step {}: exit {}, {ran}\n", step.name, step.exit_code);
        }
    }
    text
}

fn line(branch: &Branch, console: &Console) -> String {
    let task = &branch.task;
    let ran = match (task.outcome(), &task.last_start) {
        (Some(outcome), _) => outcome.ran_ms.map(|ms| format!(", ran {}", format_duration(ms))),
        (None, Some(start)) if task.status() != crate::model::Status::Pending => {
            let ms = console.now.saturating_ms_since(start.at);
            Some(format!(", running for {}", format_duration(ms)))
        }
        _ => None,
    };
    let what = task.label.clone().unwrap_or_else(|| task.command.join(" "));
    let mut shown: String = what.chars().take(100).collect();
    if shown.len() < what.len() {
        shown.push('…');
    }
    let shown = escape_controls(&shown).into_owned();
    format!("{} {}{} ({}) {shown}", task.id, task.status(), ran.unwrap_or_default(), task.user)
}
