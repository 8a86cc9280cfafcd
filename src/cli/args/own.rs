//! The command lines that luzia writes for itself. clap does not know them.

use super::{Cli, Command, Globals};
use crate::model::task::{KEEP_LANES, KEEP_LEASE, LeaseOf};
use crate::model::{Identity, TaskId};

/// `luzia supervise`.
#[derive(Clone, Debug)]
pub struct SuperviseArgs {
    /// The task.
    pub task: String,
    /// Whether to finish the work of a dead supervisor.
    pub recover: bool,
}

/// `luzia keep-session`.
#[derive(Clone, Debug)]
pub struct KeeperArgs {
    /// The process of the agent.
    pub pid: u32,
    /// The start time of the process.
    pub start: u64,
    /// The key of the session.
    pub key: String,
}

/// `luzia keep-lanes`.
#[derive(Clone, Debug)]
pub struct KeepLanesArgs {
    /// The process of `luzia lock`.
    pub caller: Identity,
}

/// `luzia listen-store`.
#[derive(Clone, Debug)]
pub struct ListenArgs {
    /// The agent that is woken.
    pub agent: Identity,
    /// The number of this host in the store.
    pub host: i32,
    /// The store.
    pub url: String,
}

/// `luzia under-lanes`.
#[derive(Clone, Debug)]
pub struct UnderLanesArgs {
    /// The task that keeps the lanes.
    pub task: TaskId,
    /// The command.
    pub command: Vec<String>,
}

/// Reads a command line that luzia has written; `None` for any other.
pub(super) fn read(args: &[String]) -> Option<Cli> {
    let (first, rest) = args.get(1..)?.split_first()?;
    let command = match first.as_str() {
        "exec-task" => Command::ExecTask(rest.to_vec()),
        "exec-pty" => Command::ExecPty(rest.to_vec()),
        "listen-store" => Command::ListenStore(of_listener(rest)?),
        "__complete" => Command::Complete(rest.to_vec()),
        _ => return of_supervisor(args),
    };
    Some(Cli { globals: Globals::default(), command })
}

/// Reads the command line of a supervisor, exactly as luzia writes it. clap would take a sixth of all instructions that such
/// a process executes.
pub(super) fn of_supervisor(args: &[String]) -> Option<Cli> {
    let mut globals = Globals::default();
    let mut words = args.iter().skip(1).map(String::as_str);
    loop {
        let place = match words.next()? {
            "--state-dir" => &mut globals.state_dir,
            "--config" => &mut globals.config,
            "supervise" => break,
            "run-hooks" if words.next().is_none() => return Some(Cli { globals, command: Command::RunHooks(()) }),
            "watch-lease" if words.next().is_none() => return Some(Cli { globals, command: Command::WatchLease(()) }),
            KEEP_LANES => return of_lanes(globals, &words.collect::<Vec<&str>>()),
            KEEP_LEASE => return of_lease(globals, &words.collect::<Vec<&str>>()),
            "under-lanes" => return under_lanes(globals, &words.collect::<Vec<&str>>()),
            "keep-session" => return of_keeper(globals, &words.collect::<Vec<&str>>()),
            _ => return None,
        };
        let value = words.next().filter(|value| place.is_none() && !value.starts_with('-'))?;
        *place = Some(value.to_owned());
    }
    let (recover, task) = match words.collect::<Vec<&str>>()[..] {
        [task] => (false, task),
        ["--recover", task] => (true, task),
        _ => return None,
    };
    let command = Command::Supervise(SuperviseArgs { task: task.to_owned(), recover });
    (!task.starts_with('-')).then_some(Cli { globals, command })
}

/// Reads the command line of a keeper behind its verb.
fn of_keeper(globals: Globals, words: &[&str]) -> Option<Cli> {
    let [pid, start, key] = words else { return None };
    let args = KeeperArgs { pid: pid.parse().ok()?, start: start.parse().ok()?, key: (*key).to_owned() };
    Some(Cli { globals, command: Command::KeepSession(args) })
}

/// Reads the command line of a keeper of lanes behind its verb.
fn of_lanes(globals: Globals, words: &[&str]) -> Option<Cli> {
    Some(Cli { globals, command: Command::KeepLanes(KeepLanesArgs { caller: Identity::of_words(words)? }) })
}

/// Reads the command line of a keeper of a lease behind its verb.
fn of_lease(globals: Globals, words: &[&str]) -> Option<Cli> {
    Some(Cli { globals, command: Command::KeepLease(LeaseOf::of_words(words)?) })
}

/// Reads the arguments of a listener.
fn of_listener(words: &[String]) -> Option<ListenArgs> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [agent @ .., host, url] = &words[..] else { return None };
    Some(ListenArgs { agent: Identity::of_words(agent)?, host: host.parse().ok()?, url: (*url).to_owned() })
}

/// Reads the command line of a command under the lanes of a task behind its verb.
fn under_lanes(globals: Globals, words: &[&str]) -> Option<Cli> {
    let [task, "--", command @ ..] = words else { return None };
    let command = command.iter().map(|word| (*word).to_owned()).collect();
    let args = UnderLanesArgs { task: TaskId::parse(task)?, command };
    Some(Cli { globals, command: Command::UnderLanes(args) })
}
