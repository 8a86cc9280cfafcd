//! `luzia pause` and `luzia resume`: keep tasks from starting or from going on, and lift that again.

use super::each::chosen_of;
use crate::app::capacity::{full_name, resume_word};
use crate::app::cron::local_zone;
use crate::app::locks::consent::{Question, foreign_question};
use crate::app::names::lane_option;
use crate::app::queue::pause;
use crate::app::queue::pause::{Changed, What, Wish, check_wish, is_paused_itself, pausable};
use crate::app::queue::terms::moments;
use crate::app::queue::terms::moments::moment;
use crate::app::{App, AppError};
use crate::cli::args::OutputFormat;
use crate::cli::context::Account;
use crate::cli::input::{Ask, agreement, consent};
use crate::cli::output::console::Console;
use crate::model::calendar::spoken_duration;
use crate::model::control::Held;
use crate::model::{Status, Task, TaskId, Timestamp};
use crate::request::Selection;
use clap::Args;
use serde_json::{Value, json};

/// The tasks, lanes and users of `pause` and `resume`.
#[derive(Args, Clone, Debug)]
pub struct Whom {
    /// Users, lanes, tasks, schedules such as `cron:backup`, or patterns such as `session:*`
    #[arg(
        value_name = "USER|LANE|TASK|cron:NAME",
        required_unless_present = "selection",
        conflicts_with = "selection"
    )]
    pub targets: Vec<String>,

    /// A user, a lane or the host by itself; with more than one of these, the tasks that have all of it.
    #[command(flatten)]
    pub selection: Selection,
}

/// Keep tasks from starting. Running tasks go on, and tasks can be queued meanwhile. Paused time does not count against
/// --start-within. A user's pause holds every task of the user, a lane's pause every task that takes the lane, and a paused
/// task keeps its place.
///
/// A task that runs is paused when it is named or chosen: every process of it is stopped until the pause is over. It keeps
/// its lanes, and its time limit does not count meanwhile. A pause of a running task of somebody else asks on a terminal,
/// and is refused elsewhere without --yes.
///
/// One of -u, -l and --all by itself is a pause of the user, the lane or the host. Several of them, or --state, --label or
/// --key, choose tasks, and each of those is paused by itself.
///
/// A paused lane grants nothing to anybody: `luzia lock`, `luzia acquire` and shims wait, too. Holders go on.
///
/// A paused schedule makes no tasks, and slots during the pause are not made up for.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = PAUSE_HELP)]
pub struct PauseArgs {
    /// The tasks, lanes and users.
    #[command(flatten)]
    pub whom: Whom,

    /// Until this moment, e.g. `8:00`, `tomorrow 8:00` or `2026-12-24`; else until `luzia resume`
    #[arg(long, value_name = "TIME", conflicts_with = "duration")]
    pub until: Option<String>,

    /// For this time, e.g. `30m` or `2 hours`
    #[arg(long = "for", value_name = "DUR", id = "duration", allow_hyphen_values = true)]
    pub duration: Option<String>,

    /// The reason, which answers show
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: Option<String>,
}

const PAUSE_HELP: &str = "\
Examples:
  luzia pause alice --reason 'release in progress'
  luzia pause lane:build --for 10m
  luzia pause task_12
  luzia pause cron:backup --until fri
  luzia pause --all --until 'tomorrow 8:00'
  luzia pause -u alice --state running --for 5m

Exit codes:
  0    paused; a further call can change the end and the reason
  1    a task is over; it is unchanged
  2    usage, a moment that has passed, or somebody else's work without --yes; nothing was changed
  66   no such task or schedule, or no task is selected
  75   a task does not stand still yet; the request stays";

/// Let tasks start again that were paused. --all lifts the pause of the host; pauses of users, lanes and tasks stay. A pattern
/// such as session:* lifts every pause of such a lane. A running task that was paused goes on.
///
/// One of -u, -l and --all by itself lifts the pause of the user, the lane or the host. Several of them, or --state, --label or
/// --key, choose tasks that are paused by themselves.
#[derive(Args, Clone, Debug)]
#[command(long_about, after_help = RESUME_HELP)]
pub struct ResumeArgs {
    /// The tasks, lanes and users.
    #[command(flatten)]
    pub whom: Whom,
}

const RESUME_HELP: &str = "\
Examples:
  luzia resume alice
  luzia resume 'session:*'
  luzia resume --all
  luzia resume --label nightly

Exit codes:
  0    not paused any more, or it was not
  2    usage; nothing was changed
  66   no such task or schedule, no task is selected, or the pattern matches nothing that is paused
  75   a running task does not go on yet; the request stays";

impl Whom {
    /// The named subjects, and the question to ask before the command acts on the selected tasks. `wants` gives the tasks on
    /// which the command can be used.
    fn what(
        &self,
        app: &App,
        verb: &str,
        wants: &dyn Fn(&Task) -> bool,
    ) -> Result<(Vec<What>, Option<Question>), AppError> {
        if !self.targets.is_empty() {
            let all = self.targets.iter().map(|text| pausable(app, text)).collect::<Result<Vec<_>, _>>()?;
            for what in &all {
                if let What::Task(id) = what {
                    app.existing(*id)?;
                }
            }
            return Ok((all, None));
        }
        if self.selection.is_a_hold() {
            let held = match (&self.selection.user, &self.selection.lane) {
                (Some(user), _) => pausable(app, &format!("user:{user}"))?,
                (None, Some(lane)) => What::Lanes(Held::Lane(lane_option(app, lane, None)?)),
                (None, None) => What::Lanes(Held::All),
            };
            return Ok((vec![held], None));
        }
        let can = |status: Status| !status.is_final();
        let (ids, question) = chosen_of(app, &[], &self.selection, can, wants, verb)?;
        Ok((ids.into_iter().map(What::Task).collect(), question))
    }
}

/// `luzia pause`.
pub fn pause(args: &PauseArgs, app: &App, account: Account, ask: Ask, console: &mut Console) -> anyhow::Result<()> {
    let (all, bulk) = args.whom.what(app, "pause", &|_| true)?;
    let wish = Wish {
        until: until_of(args, app)?,
        reason: args.reason.clone(),
        by: app.agent.as_ref().map(|agent| agent.name.clone()).or_else(|| account().ok()),
    };
    check_wish(app, &wish)?;
    let ids: Vec<TaskId> = all.iter().filter_map(What::task).collect();
    let question = foreign_question(app, "stop", &ids, &account().unwrap_or_default())?.or(bulk);
    let first = ids.first().map_or_else(String::new, ToString::to_string);
    consent(ask, question, &format!("luzia explain {first}"))?;
    let act = |what: &What| pause::pause(app, what, &wish).map(|changed| vec![changed]);
    carry_out("pause", &all, app, console, &act)
}

/// `luzia resume`.
pub fn resume(args: &ResumeArgs, app: &App, ask: Ask, console: &mut Console) -> anyhow::Result<()> {
    let (all, question) = args.whom.what(app, "resume", &|task| is_paused_itself(app, task))?;
    agreement(ask, question)?;
    carry_out("resume", &all, app, console, &|what| pause::resume(app, what))
}

/// Applies the command to each subject. The first refusal decides the exit code, and does not keep the others from their turn.
fn carry_out(
    verb: &str,
    all: &[What],
    app: &App,
    console: &mut Console,
    act: &dyn Fn(&What) -> Result<Vec<Changed>, AppError>,
) -> anyhow::Result<()> {
    let (mut changed, mut refused) = (Vec::new(), None);
    for what in all {
        match act(what) {
            Ok(done) => changed.extend(done),
            Err(error) if refused.is_none() => refused = Some(error),
            Err(error) => {
                let _ = console.report(&error);
            }
        }
    }
    let answered = if changed.is_empty() && refused.is_some() { Ok(()) } else { answer(verb, &changed, app, console) };
    match refused {
        Some(error) => Err(error.into()),
        None => answered,
    }
}

fn until_of(args: &PauseArgs, app: &App) -> Result<Option<Timestamp>, AppError> {
    let now = app.host.now();
    let said = args.duration.as_deref().and_then(spoken_duration);
    if let Some(ms) = said.map_or_else(|| moments::duration("for", args.duration.as_deref()), |ms| Ok(Some(ms)))? {
        return Ok(Some(now.plus_ms(i64::try_from(ms).unwrap_or(i64::MAX))));
    }
    moment(app, args.until.as_deref(), now)
}

fn answer(verb: &str, changed: &[Changed], app: &App, console: &mut Console) -> anyhow::Result<()> {
    if console.is_json() {
        return Ok(console.items(verb, changed.iter().map(|one| json_of(one, verb)))?);
    }
    for one in changed {
        if console.format == OutputFormat::Name {
            console.text(&format!("{}\n", one.what))?;
            continue;
        }
        console.say(&sentence(one, verb, app));
    }
    Ok(())
}

fn json_of(changed: &Changed, verb: &str) -> Value {
    let hold = changed.hold.as_ref();
    json!({
        "what": changed.what,
        "paused": verb == "pause",
        "changed": changed.is_changed,
        "since": hold.map(|hold| hold.since.to_string()),
        "until": hold.and_then(|hold| hold.until).map(|until| until.to_string()),
        "reason": hold.and_then(|hold| hold.reason.clone()),
        "by": hold.and_then(|hold| hold.by.clone()),
        "next": if verb == "pause" { json!([format!("luzia resume {}", resume_word(&changed.what))]) } else { json!([]) },
    })
}

fn sentence(changed: &Changed, verb: &str, app: &App) -> String {
    let what = match changed.what.as_str() {
        "*" if app.fleet.is_some() => "everything of the store".to_owned(),
        "*" => "the host".to_owned(),
        other => format!("\"{}\"", full_name(other)),
    };
    match (verb, changed.is_changed) {
        ("pause", _) => match changed.hold.as_ref().and_then(|hold| hold.until) {
            Some(until) => format!("{what} is paused until {}", moments::said(app, until, &local_zone(app))),
            None => format!("{what} is paused; luzia resume {} ends that", resume_word(&changed.what)),
        },
        (_, true) => format!("{what} is no longer paused"),
        (_, false) => format!("{what} was not paused"),
    }
}
