//! Mistakes that are reported before a task is queued: a project that is not configured, an unknown user, and a directory or a
//! program that does not exist. `--no-check` skips the check of directory and program.

use crate::app::accounts::Accounts;
use crate::app::lifecycle::Accepted;
use crate::app::locks::lock::{NAME_A_PROGRAM, NAME_AN_EXECUTABLE};
use crate::app::queue::terms::{check_inherit, check_slots, reuse};
use crate::app::steps::words::check_places;
use crate::app::{App, AppError, Code, Kind, config_reload, processes, shell_word};
use crate::model::config::EVERY_PROJECT;
use crate::model::name::shortened;
use crate::model::{Identity, LaneName, Name, Task, TaskId};
use crate::os::StartError;
use crate::policy::naming::{has_separator, is_shell_line, misplaced_option, nearest};
use crate::request::TaskRequest;
use std::collections::{BTreeSet, HashMap};

/// Number of users of a batch that are compared with the known ones.
const MOST_COMPARED: usize = 100;

/// Users that are named for the first time, and the known ones.
#[derive(Default)]
pub struct NewUsers {
    new: BTreeSet<Name>,
    known: BTreeSet<Name>,
}

impl NewUsers {
    /// A note for each whose name is almost that of a known user.
    pub fn notes(&self) -> Vec<String> {
        let meant = |user: &&Name| nearest(user.as_str(), self.known.iter().map(Name::as_str));
        let doubtful = self.new.iter().take(MOST_COMPARED).filter_map(|user| Some((user, meant(&user)?)));
        let note = |(user, meant): (&Name, &str)| {
            format!(
                "user \"{}\" is new here; did you mean \"{}\"? Two users do not wait for each other",
                shown(user.as_str()),
                shown(meant)
            )
        };
        doubtful.map(note).collect()
    }
}

/// The parent of a new task: the named one, else the task around this process; and whether a process waits for the child in its
/// name.
pub(super) fn parent_of(app: &App, new: &TaskRequest) -> Result<(Option<TaskId>, bool), AppError> {
    // The environment alone is no proof that this process is in the tree of that task.
    let is_in_tree = |id| processes::is_in_tree(app, id).unwrap_or(false);
    let Some(text) = new.parent.as_deref().filter(|text| *text != "self" || app.inside.is_none()) else {
        let parent = app.inside.as_ref().map(|inside| inside.task);
        let is_waited_for = new.is_waited_for && parent.is_some_and(is_in_tree);
        check_inherit(new, parent, is_waited_for)?;
        return Ok((parent, is_waited_for));
    };
    let id = app.task_id(text)?;
    let parent = app.existing(id)?;
    if parent.status().is_final() {
        return Err(AppError::usage(format!("{id} is {}, so it cannot be a parent", parent.status()))
            .hint("leave --parent out: the task then has no parent")
            .next(format!("luzia show {id}")));
    }
    check_inherit(new, Some(id), new.is_waited_for)?;
    Ok((Some(id), new.is_waited_for))
}

/// Refuses a project that is not configured where others are: its tasks would run as another user (contract, section 4).
pub(crate) fn check_project_name(app: &App, project: &Name) -> Result<(), AppError> {
    let config = config_reload::config(app);
    let projects = &config.projects;
    if projects.is_empty() || projects.contains_key(EVERY_PROJECT) || projects.contains_key(project.as_str()) {
        return Ok(());
    }
    let message = format!("no project \"{}\" is configured", shown(project.as_str()));
    let hint = match nearest(project.as_str(), projects.keys().map(String::as_str)) {
        Some(meant) => format!("did you mean {}? `luzia config show` lists the projects", shell_word(meant)),
        None => "`luzia config show` lists the projects; nothing was queued".to_owned(),
    };
    Err(AppError::new(Code::UnknownProject, message).hint(hint).next("luzia config show"))
}

/// Refuses the lane of a user that `users.known` does not list. Users of projects are known, too.
pub fn check_user_lane(app: &App, lane: &LaneName) -> Result<(), AppError> {
    if !lane.is_user() || config_reload::config(app).users_known.is_empty() {
        return Ok(());
    }
    let user = lane.key().as_str();
    let config = config_reload::config(app);
    let of_projects = config.projects.values().filter_map(|project| project.user.as_ref());
    let known: BTreeSet<&str> = config.users_known.iter().chain(of_projects).map(Name::as_str).collect();
    if known.contains(user) {
        return Ok(());
    }
    let message = format!("\"{}\" is not a known user", shown(user));
    let hint = match nearest(user, known.iter().copied()) {
        Some(meant) => format!("did you mean {}? `users.known` in the configuration lists them", shell_word(meant)),
        None => "`users.known` in the configuration lists the users; nothing was done".to_owned(),
    };
    Err(AppError::new(Code::UnknownUser, message).hint(hint).next("luzia config show"))
}

/// Refuses a task that could not start because of its lanes or its command, or that would let a value be run.
pub(crate) fn check_door(app: &App, new: &TaskRequest, task: &Task, known: &Accounts) -> Result<(), AppError> {
    check_places(task)?;
    check_slots(app, task)?;
    if is_unchecked(new, task) { Ok(()) } else { known.program(task, || check_command(app, new, task)) }
}

/// Whether the directory and the program of a task need not exist now.
fn is_unchecked(new: &TaskRequest, task: &Task) -> bool {
    let is_elsewhere = new.on.is_some() || new.anywhere;
    new.no_check || is_elsewhere || task.run_as.is_some() || !task.after.is_empty()
}

/// Refuses a working directory or a program that does not exist now. After another task it may exist by then.
pub(crate) fn check_command(app: &App, new: &TaskRequest, task: &Task) -> Result<(), AppError> {
    if is_unchecked(new, task) {
        return Ok(());
    }
    // `run` ends as it would have ended after the wait for its turn.
    check_program(app, &task.command, &task.env, &task.cwd)
        .map_err(|error| if new.is_waited_for { error } else { as_usage(error) })
}

/// The error of a command line that was refused before anything was tried.
pub(crate) fn as_usage(error: AppError) -> AppError {
    error.with_kind(Kind::Usage)
}

/// Refuses a command whose program or directory does not exist.
pub(crate) fn check_program(
    app: &App,
    command: &[String],
    env: &[(Vec<u8>, Vec<u8>)],
    cwd: &str,
) -> Result<(), AppError> {
    let program = command.first().map_or("", String::as_str);
    let Err(error) = app.surroundings.check_program(program, env, cwd) else { return Ok(()) };
    let later = "--no-check is for one that will exist when the task starts";
    Err(match error {
        StartError::NotFound(error) => {
            let hint = if is_shell_line(command) {
                format!("to run a shell line, use --shell {}", shell_word(program))
            } else if has_separator(command) {
                "luzia takes this word for the command; is it a part of the value of an option, as in --timeout 10 minutes?"
                    .to_owned()
            } else {
                format!("{NAME_A_PROGRAM}; {later}")
            };
            let message = format!("there is no such command: {}", without_code(&error.to_string()));
            AppError::new(Code::NoCommand, message).hint(hint)
        }
        StartError::NotExecutable(error) => {
            let message = format!("the command cannot be executed: {}", without_code(&error.to_string()));
            AppError::new(Code::NotExecutable, message).hint(NAME_AN_EXECUTABLE)
        }
        StartError::Other(error) => {
            let hint = match error.kind() {
                std::io::ErrorKind::NotFound => format!("name an existing directory with --cwd; {later}"),
                _ => "name a directory that this account can enter, with --cwd".to_owned(),
            };
            AppError::new(Code::NoDirectory, without_code(&error.to_string())).with_kind(Kind::NotStarted).hint(hint)
        }
        // Such a shortage may be over when the task starts.
        StartError::Short(_) => return Ok(()),
    })
}

/// This process, where the command is to read its standard input, which must be something that can be opened again.
pub(crate) fn stdin_of(app: &App, new: &TaskRequest) -> Result<Option<Identity>, AppError> {
    if !new.reads_stdin {
        return Ok(None);
    }
    if new.prompt.is_some() || new.retries.is_some_and(|retries| retries > 0) {
        return Err(AppError::usage("--stdin does not go together with --prompt or --retries")
            .hint("--prompt has an input of its own, and a retry cannot read the input a second time"));
    }
    let me = app.host.identity();
    match app.host.stdin_of(&me) {
        Ok(_) => Ok(Some(me)),
        Err(error) => {
            let message = format!("standard input cannot be passed to the task: {}", without_code(&error.to_string()));
            Err(AppError::usage(message).hint("it must be a file or a pipe, not a socket or a closed descriptor"))
        }
    }
}

/// Notes for a person on tasks that were just accepted; remembers their users. Never an error: the tasks are queued.
pub fn notes_on(app: &App, accepted: &[(&TaskRequest, &Accepted)]) -> Vec<String> {
    let mut notes = Vec::new();
    for (new, _) in accepted {
        if !new.is_separated
            && let Some(option) = misplaced_option(&new.command)
        {
            notes.push(format!("{option} comes after the command word, so the command gets it"));
        }
    }
    notes.extend(accepted.iter().filter_map(|(new, one)| reuse::note(new, one)));
    let named = accepted.iter().filter(|(new, _)| new.user.is_some());
    let strangers = new_users(app, named.map(|(_, one)| &one.task.user));
    notes.extend(strangers.notes());
    remember(app, &strangers);
    let tasks = accepted.iter().map(|(_, one)| &one.task);
    let kinds: HashMap<_, _> =
        tasks.map(|task| ((task.takes_user_lane.then_some(&task.user), &task.lanes), task)).collect();
    let lanes: BTreeSet<LaneName> = kinds.into_values().flat_map(Task::all_lanes).collect();
    notes.extend(lane_notes(app, &lanes));
    notes
}

/// A note for each lane without a rule whose name is almost that of a lane with a rule, or is that name and a number. A task in
/// one of the two lanes does not wait for the other.
pub fn lane_notes<'a>(app: &App, lanes: impl IntoIterator<Item = &'a LaneName>) -> Vec<String> {
    let config = config_reload::config(app);
    let ruled: Vec<&str> = config.lanes.keys().map(|name| name.strip_prefix("lane:").unwrap_or(name)).collect();
    let has_rule = |name: &str| {
        let covers = |rule: &&str| rule.strip_suffix('*').is_some_and(|head| name.starts_with(head));
        ruled.iter().any(|rule| *rule == name || covers(rule))
    };
    let known = || ruled.iter().copied().filter(|rule| !rule.contains([':', '*']));
    let note = |lane: &LaneName| {
        let full = lane.to_string();
        let name = full.strip_prefix("lane:").unwrap_or(&full);
        if has_rule(name) || has_rule(&full) {
            return None;
        }
        let amount = name.split_once([':', '=']).filter(|(_, count)| is_number(count));
        if let Some((head, _)) = amount.filter(|(head, _)| known().any(|rule| rule == *head)) {
            return Some(format!(
                "\"{}\" is another lane than \"{head}\", and does not wait for it; `-l {head} --slots N` takes N slots of one lane",
                shown(name)
            ));
        }
        let meant = nearest(name, known()).filter(|_| lane.kind() == "lane")?;
        Some(format!(
            "lane \"{}\" has no rule; did you mean \"{}\"? Two lanes do not wait for each other",
            shown(name),
            shown(meant)
        ))
    };
    lanes.into_iter().filter_map(note).collect()
}

/// The users among some that are named for the first time.
pub fn new_users<'a>(app: &App, users: impl IntoIterator<Item = &'a Name>) -> NewUsers {
    let mut new: BTreeSet<Name> = users.into_iter().cloned().collect();
    if new.is_empty() {
        return NewUsers::default();
    }
    let mut known: BTreeSet<Name> = app.store.known_users().unwrap_or_default().into_iter().collect();
    let config = config_reload::config(app);
    known.extend(config.projects.values().filter_map(|project| project.user.clone()));
    known.extend(config.users_known.iter().cloned());
    new.retain(|user| !known.contains(user));
    NewUsers { new, known }
}

/// Remembers users, so that they are not new the next time, and the places whose lanes were named. A failed write only loses a
/// hint.
pub fn remember(app: &App, users: &NewUsers) {
    if !users.new.is_empty() {
        let _ = app.store.remember_users(&users.new);
    }
    app.remember_places();
}

/// The warning of a configuration that lets tasks of one user run side by side.
pub fn no_exclusion(app: &App) -> Option<&'static str> {
    (!config_reload::config(app).serialize_users)
        .then_some("per_user_serialization.enabled is false: tasks of one user run side by side, without exclusion")
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The message of an error of the system without the number of the error.
fn without_code(message: &str) -> String {
    message.split(" (os error").next().unwrap_or(message).to_owned()
}

pub(super) fn shown(text: &str) -> String {
    shortened(text).escape_debug().to_string()
}
