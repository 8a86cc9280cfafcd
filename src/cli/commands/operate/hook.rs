//! `luzia hook`: adds, lists and removes the commands that run at events.

use crate::app::hooks::{EVENTS, NewHook, add_hook, remove_hooks};
use crate::app::names::lane_option;
use crate::app::queue::enqueue::{Caller, name};
use crate::app::queue::terms::moments;
use crate::app::{App, AppError, hooks, shell_word};
use crate::cli::context::Account;
use crate::cli::output::console::Console;
use crate::cli::output::json;
use crate::cli::output::table::{Column, Table};
use crate::model::control::{Action, Hook};
use crate::model::time::format_duration;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Run a command, or post to a URL, when something happens. Its hooks are run when the change is durable: by the verb at its
/// end, by the supervisor when its task is over, and for all that goes on meanwhile (dispatch, daemon, run, lock, await) by
/// a process of their own, so that they delay no task. At most 8 hooks run at once. A hook gets the event as JSON on
/// standard input, and LUZIA_EVENT, LUZIA_TASK_ID and LUZIA_HOOK. One that fails or takes too long is noted as the event
/// hook_failed, and changes nothing. Commands of luzia inside a hook run no further hooks.
///
/// `before` and `after` are different: they run in each task, in its account, directory, environment and logs, while its lanes
/// are held. Where a `before` fails, the task fails without its command.
#[derive(Args, Clone, Debug)]
#[command(long_about, subcommand_required = true, subcommand_value_name = "VERB", after_help = HOOK_HELP)]
pub struct HookArgs {
    /// The action.
    #[command(subcommand)]
    pub verb: HookVerb,
}

/// The verbs of `luzia hook`.
#[derive(Subcommand, Clone, Debug)]
pub enum HookVerb {
    /// Add a hook for an event
    #[command(after_help = ADD_HELP)]
    Add {
        /// The event, e.g. `task.failed`; `task.` may be left out
        #[arg(value_name = "EVENT")]
        event: String,

        /// The name of the hook, by which it is removed; by default made of the event
        #[arg(long, value_name = "NAME")]
        name: Option<String>,

        /// Post the event to this URL, by curl(1)
        #[arg(long, value_name = "URL", value_hint = clap::ValueHint::Url)]
        url: Option<String>,

        /// Only for tasks and the lane of this user
        #[arg(short, long)]
        user: Option<String>,

        /// Only for events in this lane, and tasks that name it
        #[arg(short, long)]
        lane: Option<String>,

        /// The longest time that the hook may take (30s)
        #[arg(long, value_name = "DUR", allow_hyphen_values = true)]
        timeout: Option<String>,

        /// Do not check that the program exists
        #[arg(long)]
        no_check: bool,

        /// The command, executed as it stands
        #[arg(value_name = "CMD", trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// List the hooks
    #[command(alias = "ls", after_help = LIST_HELP)]
    List,
    /// Remove hooks
    #[command(alias = "remove", after_help = RM_HELP)]
    Rm {
        /// The names of the hooks
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
    },
}

const HOOK_HELP: &str = "\
Events:
  task.enqueued task.waiting task.requeued task.recovered task.completed
  task.failed task.timeout task.cancelled task.finished alert lock.waiting
  lock.broken paused wait.warning, and before and after in each task

Examples:
  luzia hook add task.failed -- notify-send 'a task failed'
  luzia hook add alert --url https://hooks.example.org/luzia
  luzia hook add before -u alice -- git stash list
  luzia hook list

Exit codes:
  0    done
  1    there is a hook of that name
  2    usage; nothing was changed
  66   no such hook";

const ADD_HELP: &str = "\
Examples:
  luzia hook add task.completed --name done -- sh -c 'cat >>ends.jsonl'
  luzia hook add lock.waiting -l deploy --timeout 5s -- notify-send waiting
  luzia hook add after -- git commit -qam 'work of an agent'

Exit codes:
  0    added
  1    there is a hook of that name
  2    usage; nothing was added";

const LIST_HELP: &str = "\
Examples:
  luzia hook list
  luzia hook list --json

Exit codes:
  0    listed, also when the list is empty
  2    usage";

const RM_HELP: &str = "\
Examples:
  luzia hook rm done

Exit codes:
  0    removed
  2    usage
  66   no such hook; none was removed";

/// `luzia hook`.
pub fn run(verb: &HookVerb, app: &App, caller: &Caller, account: Account, console: &mut Console) -> anyhow::Result<()> {
    match verb {
        HookVerb::Add { .. } => {
            let hook = add_hook(app, new_hook(verb, app, caller, account)?)?;
            if !console.json("hook", || hook_json(&hook))? {
                console.out(&format!("{}\n", hook.name))?;
                let told = EVENTS.iter().find(|(name, ..)| *name == hook.event).map_or("", |(.., told)| told);
                console.say(&format!("luzia: runs when: {told}"));
            }
        }
        HookVerb::List => list(&hooks::hooks(app)?, console)?,
        HookVerb::Rm { names } => {
            let gone = remove_hooks(app, names)?;
            if console.is_json() {
                console.items("hook", gone.iter().map(hook_json))?;
            } else {
                for hook in gone {
                    console.out(&format!("{} removed\n", hook.name))?;
                }
            }
        }
    }
    Ok(())
}

fn new_hook(verb: &HookVerb, app: &App, caller: &Caller, account: Account) -> Result<NewHook, AppError> {
    let HookVerb::Add { event, name: given, url, user, lane, timeout, no_check, command } = verb else {
        return Ok(NewHook::default());
    };
    let cwd = caller.cwd.clone();
    Ok(NewHook {
        event: event.clone(),
        name: given.clone(),
        command: command.clone(),
        env: caller.env.to_vec(),
        no_check: *no_check,
        url: url.clone(),
        user: user.as_deref().map(|user| name("user", user)).transpose()?.map(|user| user.to_string()),
        lane: lane.as_deref().map(|lane| lane_option(app, lane, None)).transpose()?.map(|lane| lane.to_string()),
        timeout_ms: moments::duration("timeout", timeout.as_deref())?,
        cwd: cwd.map_err(|why| AppError::usage(format!("a hook needs a working directory: {why}")))?,
        by: app.agent.as_ref().map(|agent| agent.name.clone()).or_else(|| account().ok()),
    })
}

fn list(hooks: &[Hook], console: &mut Console) -> Result<(), crate::cli::output::console::Stop> {
    if console.is_json() {
        return console.items("hook", hooks.iter().map(hook_json));
    }
    let first = ["NAME", "EVENT", "FOR", "TIMEOUT"].map(Column::new);
    let wide = ["ADDED", "BY"].map(Column::wide);
    let mut table = Table::new(&[&first[..], &wide, &[Column::new("ACTION")]].concat());
    for hook in hooks {
        let whom = [hook.user.clone(), hook.lane.clone()];
        let action = match &hook.action {
            Action::Command(argv) => argv.iter().map(shell_word).collect::<Vec<_>>().join(" "),
            Action::Url(url) => url.clone(),
        };
        table.row([
            hook.name.clone(),
            hook.event.clone(),
            whom.into_iter().flatten().collect::<Vec<_>>().join(" "),
            format_duration(hook.timeout_ms),
            hook.added_at.to_string(),
            hook.by.clone().unwrap_or_default(),
            action,
        ]);
    }
    console.table(&table)
}

fn hook_json(hook: &Hook) -> Value {
    let (command, url) = match &hook.action {
        Action::Command(argv) => (json!(argv), Value::Null),
        Action::Url(url) => (Value::Null, json!(url)),
    };
    json!({
        "name": hook.name,
        "event": hook.event,
        "command": command,
        "url": url,
        "user": hook.user,
        "lane": hook.lane,
        "timeout_ms": hook.timeout_ms,
        "cwd": hook.cwd,
        "added_at": json::time(hook.added_at),
        "by": hook.by,
    })
}
