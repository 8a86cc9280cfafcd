//! The trampoline that takes an account on before it becomes the command of a task. Other code decides which account a task
//! may have.

use crate::model::Limits;
use crate::model::context::LIMITS as LIMIT_NAMES;
use crate::os::StartError;
use crate::os::real::context;
use crate::os::real::gauges::bind_to;
use crate::os::real::process::program::{find, start_error};
use crate::os::real::process::{passwd, signals};
use nix::unistd::{Gid, Uid, execvpe, getgroups, getresgid, getresuid, setgroups, setresgid, setresuid};
use rustix::process::{Rlimit, setrlimit};
use signal_hook::consts::signal::SIGPIPE;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Names to the trampoline the descriptor on which the environment of the task lies.
pub(crate) const ENVIRONMENT_FD: &str = "LUZIA_EXEC_ENVIRONMENT_FD";

/// Names to the trampoline the descriptor that the task keeps.
pub(crate) const TREE_FD: &str = "LUZIA_EXEC_TREE_FD";

/// Carries to the trampoline the limits to set, as one line.
pub(crate) const LIMITS: &str = "LUZIA_EXEC_LIMITS";

/// Stands in for an account: the trampoline keeps its own.
pub(crate) const OWN_ACCOUNT: &str = "-";

/// The numbers that a process needs to become an account. The process that starts the trampoline looks them up, because only
/// that process can wait when the host is short of something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Credentials {
    uid: u32,
    gid: u32,
    groups: Vec<u32>,
}

impl Credentials {
    /// Those of an account. Only root looks groups up: no other account can take them on.
    pub(crate) fn of(name: &str) -> io::Result<Self> {
        let absent = || io::Error::new(io::ErrorKind::NotFound, format!("there is no account {name:?}"));
        let host = passwd::host();
        let account = host.with_name(name)?.ok_or_else(absent)?;
        let groups = if Uid::effective().is_root() { host.groups_of(&account)? } else { Vec::new() };
        Ok(Self { uid: account.uid, gid: account.gid, groups })
    }

    /// As `uid:gid:group,group`.
    pub(crate) fn text(&self) -> String {
        let groups: Vec<String> = self.groups.iter().map(u32::to_string).collect();
        format!("{}:{}:{}", self.uid, self.gid, groups.join(","))
    }

    fn read(text: &str) -> Option<Self> {
        let [uid, gid, groups] = text.split(':').collect::<Vec<&str>>()[..] else { return None };
        let groups = groups.split(',').filter(|group| !group.is_empty()).map(|group| group.parse().ok());
        Some(Self { uid: uid.parse().ok()?, gid: gid.parse().ok()?, groups: groups.collect::<Option<_>>()? })
    }
}

/// The hidden verb `exec-task`: becomes an account for good (groups, gid, uid, verified, no new privileges) and then the
/// command. `uid:gid:group,group` names the account. Returns only when it failed.
pub fn exec_task(account: &str, argv: &[String]) -> StartError {
    let failed = match take_on(account) {
        Ok(env) => become_command(argv, &env),
        Err(error) => Err(StartError::Other(error)),
    };
    match failed {
        Ok(never) => match never {},
        Err(error) => error,
    }
}

fn take_on(account: &str) -> io::Result<Vec<CString>> {
    let unreadable = || io::Error::new(io::ErrorKind::InvalidInput, format!("{account:?} is not uid:gid:group,group"));
    let account = match account {
        OWN_ACCOUNT => None,
        text => Some(Credentials::read(text).ok_or_else(unreadable)?),
    };
    // Read before the account changes, because the new account may not be allowed to open the file.
    let env = environment()?;
    let tree = number_in(TREE_FD);
    close_fds::set_fds_cloexec(3, tree.as_slice());
    // A broken pipe ends the program that this process becomes, as is the default.
    signals::make_harmless(SIGPIPE)?;
    if let Ok(text) = std::env::var(LIMITS) {
        let wrong = || io::Error::new(io::ErrorKind::InvalidInput, format!("{text:?} are not limits"));
        set_limits(&serde_json::from_str(&text).map_err(|_| wrong())?)?;
    }
    if let Some(account) = account {
        drop_privileges(&account)?;
    }
    Ok(env)
}

/// Sets the limits of a submitter for this process and the command that it becomes. A process that may not raise a hard limit
/// does not get here (contract P9). A nice value, an affinity or an OOM score that it may not set stays as it is.
fn set_limits(limits: &Limits) -> io::Result<()> {
    let _ = std::fs::write("/proc/self/oom_score_adj", limits.oom_score_adj.to_string());
    let _ = rustix::process::setpriority_process(None, limits.nice);
    let _ = bind_to(processors_in(&limits.affinity));
    for name in LIMIT_NAMES {
        let Some(resource) = context::resource(name) else { continue };
        let limit = Rlimit { current: limits.soft.get(name).copied(), maximum: limits.hard.get(name).copied() };
        setrlimit(resource, limit)?;
    }
    Ok(())
}

/// The numbers of a list such as `0-3,8`.
fn processors_in(list: &str) -> impl Iterator<Item = usize> {
    list.split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?)
        })
        .flatten()
}

/// Groups first, uid last: each step needs the privilege that the last one gives up. The ids that the kernel reports
/// afterwards count, not the results of the calls.
fn drop_privileges(account: &Credentials) -> io::Result<()> {
    let (uid, gid, root) = (Uid::from_raw(account.uid), Gid::from_raw(account.gid), Uid::from_raw(0));
    let mut has_groups = true;
    if Uid::effective().is_root() {
        setgroups(&account.groups.iter().copied().map(Gid::from_raw).collect::<Vec<Gid>>())?;
        let taken = getgroups()?.into_iter().map(Gid::as_raw);
        has_groups = taken.collect::<BTreeSet<u32>>() == account.groups.iter().copied().collect();
        setresgid(gid, gid, gid)?;
        setresuid(uid, uid, uid)?;
    }
    let (uids, gids) = (getresuid()?, getresgid()?);
    let has_uid = [uids.real, uids.effective, uids.saved] == [uid; 3];
    let has_gid = [gids.real, gids.effective, gids.saved] == [gid; 3];
    let can_return = !uid.is_root() && setresuid(root, root, root).is_ok();
    if !has_groups || !has_uid || !has_gid || can_return {
        let text = format!("could not become the account with uid {}", account.uid);
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    Ok(rustix::thread::set_no_new_privs(true)?)
}

/// Becomes a command with the environment of this process. Returns only when it failed.
pub fn become_with_own_environment(argv: &[String]) -> StartError {
    match environment().map_err(StartError::Other).and_then(|env| become_command(argv, &env)) {
        Ok(never) => match never {},
        Err(error) => error,
    }
}

fn become_command(argv: &[String], env: &[CString]) -> Result<Infallible, StartError> {
    let invalid = |error: std::ffi::NulError| StartError::Other(error.into());
    let args: Result<Vec<CString>, _> = argv.iter().map(|arg| CString::new(arg.as_str())).collect();
    let args = args.map_err(invalid)?;
    let name = argv.first().map_or("", String::as_str);
    let path = env
        .iter()
        .rfind(|entry| entry.to_bytes().starts_with(b"PATH="))
        .map(|entry| OsStr::from_bytes(&entry.to_bytes()[5..]));
    let cwd = Path::new(".");
    let program = find(name, path, cwd)?;
    let file = CString::new(program.as_os_str().as_bytes()).map_err(invalid)?;
    execvpe(&file, &args, env).map_err(|error| start_error(error.into(), &program, cwd))
}

/// The environment of the task: from the descriptor that `start` names, or ours when called by hand.
fn environment() -> io::Result<Vec<CString>> {
    if let Some(fd) = number_in(ENVIRONMENT_FD) {
        let bytes = std::fs::read(format!("/proc/self/fd/{fd}"))?;
        let entries = bytes.split_inclusive(|byte| *byte == 0);
        let entries = entries.map(|entry| CString::from_vec_with_nul(entry.to_vec()));
        return entries.collect::<Result<_, _>>().map_err(io::Error::other);
    }
    let entry = |(key, value): (std::ffi::OsString, std::ffi::OsString)| {
        CString::new([key.into_vec(), b"=".to_vec(), value.into_vec()].concat())
    };
    Ok(std::env::vars_os().map(entry).collect::<Result<_, _>>()?)
}

fn number_in(name: &str) -> Option<i32> {
    std::env::var(name).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_read_back_from_their_line() {
        let limits = Limits {
            soft: [("as".to_owned(), 5), ("core".to_owned(), 0)].into(),
            hard: [("as".to_owned(), u64::MAX)].into(),
            nice: -3,
            affinity: "0-1,8".into(),
            oom_score_adj: -1000,
        };
        for limits in [limits, Limits::default()] {
            let text = serde_json::to_string(&limits).expect("JSON");
            assert_eq!(serde_json::from_str::<Limits>(&text).expect("it reads"), limits);
        }
        for wrong in ["", "{", r#"{"nice":"x"}"#, r#"{"soft":"as"}"#, r#"{"soft":{"as":"x"}}"#, r#"{"nice":0}0"#] {
            assert!(serde_json::from_str::<Limits>(wrong).is_err(), "{wrong}");
        }
    }
}
