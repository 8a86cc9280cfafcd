//! Starts processes: supervisors, commands of tasks, and commands that run in place. Their purpose is not known here.

use crate::model::control::HOOK_VARIABLE;
use crate::model::sorted::map_of;
use crate::model::task::{OF_ONE_REPOSITORY, TASK_VARIABLES};
use crate::os::real::process::account::{Credentials, ENVIRONMENT_FD, LIMITS, OWN_ACCOUNT, TREE_FD};
use crate::os::real::process::child::{Reach, RealChild};
use crate::os::real::process::program::{SELF, check_cwd, find, is_running, lookup, program_in_place, start_error};
use crate::os::real::process::signals::{self, Caught};
use crate::os::real::process::{procfs, pty};
use crate::os::{Child, Command, Handle, InPlace, StartError, Streams, is_shortage};
use luzia_spawn::{Program, spawn};
use rustix::fs::{MemfdFlags, Mode, memfd_create, stat};
use rustix::io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::process::{getegid, umask};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command as StdCommand, Stdio};
use std::sync::OnceLock;

/// The program that runs a script without an interpreter of its own.
const SHELL: &CStr = c"/bin/sh";

/// Starts this program as a supervisor, with a lock as its standard input. Where another file has taken its place, as after
/// an upgrade, it starts that file. Our copy of the descriptor is closed without LOCK_UN, so at every instant some process
/// holds the lock. From here on this process hands no stray descriptor on: a supervisor that holds the pipe of a caller's
/// caller would keep it from ever ending.
pub(crate) fn launch_supervisor(args: &[String], lock: Box<dyn Handle>) -> io::Result<u32> {
    let lock = lock.into_file();
    let lock = lock.ok_or_else(|| io::Error::other("the lock of a supervisor is not a real file"))?;
    close_fds::set_fds_cloexec(3, &[]);
    if let Some(program) = program_in_place() {
        let pid = supervisor(&program, args, &lock);
        // It may have been removed in this very moment.
        if pid.is_ok() {
            return pid;
        }
    }
    supervisor(&own_program(), args, &lock)
}

fn supervisor(program: &Path, args: &[String], lock: &File) -> io::Result<u32> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    let mut start = Start::new(program.to_owned(), "luzia", args);
    let is_of_a_task = |name: &OsString| task_variables().any(|own| name == own);
    let kept = std::env::vars_os().filter(|(name, _)| !is_of_a_task(name));
    start.env = map_of(kept.map(|(name, value)| (name.into(), value.into())));
    // Not waited for here: it outlives us, or `reap` waits for it.
    start.spawn(Path::new("/"), [lock, &null, &null], false)
}

/// A program that is to be started beside this one.
struct Start<'a> {
    program: PathBuf,
    args: Vec<OsString>,
    env: BTreeMap<Cow<'a, OsStr>, Cow<'a, OsStr>>,
}

impl Start<'_> {
    fn new(program: PathBuf, name: &str, args: &[String]) -> Self {
        let args = [name].into_iter().chain(args.iter().map(String::as_str)).map(OsString::from).collect();
        Self { program, args, env: BTreeMap::new() }
    }

    /// Starts it. The command of a task gets a session of its own and no blocked signals. The shell runs a script without a
    /// first line that names its interpreter, as execvp(3) does.
    fn spawn(&self, cwd: &Path, streams: [&File; 3], is_command: bool) -> io::Result<u32> {
        let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(io::Error::from);
        let (path, cwd) = (text(self.program.as_os_str())?, text(cwd.as_os_str())?);
        let args = self.args.iter().map(|word| text(word)).collect::<io::Result<Vec<CString>>>()?;
        let pair = |(name, value): (&Cow<OsStr>, &Cow<OsStr>)| {
            let mut pair = Vec::with_capacity(name.len() + value.len() + 2);
            pair.extend_from_slice(name.as_bytes());
            pair.push(b'=');
            pair.extend_from_slice(value.as_bytes());
            CString::new(pair).map_err(io::Error::from)
        };
        let env = self.env.iter().map(pair).collect::<io::Result<Vec<CString>>>()?;
        // The new process gets the streams as descriptors 0, 1 and 2, one after the other. So no copy may have such a number.
        let copies = streams.map(|file| fcntl_dupfd_cloexec(file, 3));
        let [Ok(stdin), Ok(stdout), Ok(stderr)] = &copies else {
            return Err(copies.into_iter().find_map(Result::err).map_or_else(|| Errno::MFILE.into(), io::Error::from));
        };
        let streams = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
        let start = |path: &CStr, args: &[CString]| {
            spawn(&Program { path, args, env: &env, cwd: &cwd, streams, session: is_command, no_mask: is_command })
        };
        match start(&path, &args) {
            Err(error) if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => {
                let words = [SHELL.to_owned(), path].into_iter().chain(args.into_iter().skip(1));
                start(SHELL, &words.collect::<Vec<CString>>())
            }
            started => started,
        }
    }
}

/// Starts the command of a task as the leader of a session of its own, and so of a group of its own. The kernel sends SIGHUP
/// and SIGCONT to a stopped group that becomes an orphan. This group is an orphan from its start, because no process of its
/// session is outside of its tree. So a stopped process stays stopped when the supervisor is killed.
pub(crate) fn start(command: &Command, streams: &Streams, tree: Option<File>) -> Result<Box<dyn Child>, StartError> {
    signals::catch_child_deaths().map_err(StartError::Other)?;
    let tree = tree.map(out_of_the_way);
    let cwd = Path::new(&command.cwd);
    check_cwd(cwd)?;
    let (start, environment) = if command.run_as.is_none() && command.limits.is_none() {
        (directly(command, cwd)?, None)
    } else {
        let file = environment_file(&command.env).map_err(StartError::Other)?;
        let through = through_trampoline(command, &file, tree.as_ref())?;
        (through, Some(file))
    };
    let null;
    let stdin = match &streams.stdin {
        Some(file) => file,
        None => {
            null = File::open("/dev/null").map_err(StartError::Other)?;
            &null
        }
    };
    let inherited = inheritable(tree.into_iter().chain(environment).collect())?;
    // The new process takes the umask of this one.
    let old_umask = umask(Mode::from_raw_mode(command.umask & 0o777));
    let spawned = start.spawn(cwd, [stdin, &streams.stdout, &streams.stderr], true);
    umask(old_umask);
    drop(inherited);
    adopt(spawned, start.program.as_os_str(), cwd, Reach::Group)
}

/// Starts a command in place, as `flock(1)` does.
pub(crate) fn start_here(wanted: InPlace) -> Result<Box<dyn Child>, StartError> {
    let (name, args) = split(wanted.argv)?;
    let cwd = Path::new(wanted.cwd.unwrap_or("."));
    if wanted.cwd.is_some() {
        check_cwd(cwd)?;
    }
    // Before the start: a signal between the two would end us and leave the command with the lock but without a watcher.
    signals::catch_child_deaths()
        .and_then(|()| signals::outlive_the_keyboard())
        .and_then(|()| signals::catch(&[Caught::Terminate]))
        .map_err(StartError::Other)?;
    let given = wanted.env.iter().rfind(|(key, _)| key == "PATH");
    let path = given.map(|(_, value)| OsString::from(value));
    let path = path.or_else(|| std::env::var_os("PATH"));
    let mut command = StdCommand::new(find(name, path.as_deref(), cwd)?);
    command.arg0(name).args(args).envs(wanted.env.iter().map(|(key, value)| (key, value)));
    if let Some(cwd) = wanted.cwd {
        command.current_dir(cwd);
        let is_given = |name: &&str| wanted.env.iter().any(|(key, _)| key == name);
        let is_elsewhere = std::env::current_dir().is_ok_and(|here| here != Path::new(cwd));
        for name in OF_ONE_REPOSITORY.iter().filter(|name| is_elsewhere && !is_given(name)) {
            command.env_remove(name);
        }
    }
    if !wanted.has_input {
        command.stdin(Stdio::null());
    }
    if let Some(output) = wanted.output {
        command.stdout(output);
    }
    let inherited = inheritable(wanted.held.into_iter().map(out_of_the_way).collect())?;
    let spawned = command.spawn().map(|child| child.id());
    drop(inherited);
    adopt(spawned, command.get_program(), cwd, Reach::Alone)
}

/// Removes the variables that would make a process believe that it belongs to the task in which we run.
pub(crate) fn leave_the_task(command: &mut StdCommand) {
    for name in task_variables() {
        command.env_remove(name);
    }
}

fn task_variables() -> impl Iterator<Item = &'static str> {
    TASK_VARIABLES.into_iter().chain([HOOK_VARIABLE])
}

/// Makes the standard library start a child by fork(2) and not by posix_spawn(3). With posix_spawn(3), the C library leaves
/// its two internal signals ignored in the child and in all its descendants. A request for the group that we have already
/// selects fork(2). Where that group cannot be set (a user namespace that does not map it), posix_spawn(3) is used.
pub(crate) fn fork_and_exec(command: &mut StdCommand) {
    static OWN: OnceLock<Option<u32>> = OnceLock::new();
    let own = OWN.get_or_init(|| Some(getegid().as_raw()).filter(|own| procfs::maps_group(*own)));
    if let Some(own) = own {
        command.gid(*own);
    }
}

/// This very program as a file to execute. The link of the kernel reaches a binary that was replaced or removed meanwhile. It
/// would show as `exe` in a list of processes, so it is not used otherwise.
pub(crate) fn own_program() -> PathBuf {
    let path = std::env::current_exe().ok().filter(|path| stat(path).is_ok_and(|found| is_running(&found)));
    path.unwrap_or_else(|| PathBuf::from(SELF))
}

fn directly<'a>(command: &'a Command, cwd: &Path) -> Result<Start<'a>, StartError> {
    let text = |bytes: &'a Vec<u8>| Cow::Borrowed(OsStr::from_bytes(bytes));
    let (name, args) = split(&command.argv)?;
    let program = find(name, lookup(&command.env, "PATH").as_deref(), cwd)?;
    let wrapped = if command.has_terminal { pty::wrapped(command) } else { Vec::new() };
    let (program, name, args) = match wrapped.split_first() {
        Some((own, args)) => (PathBuf::from(own), "luzia", args),
        None => (program, name.as_str(), args),
    };
    let mut direct = Start::new(program, name, args);
    direct.env = map_of(command.env.iter().map(|(name, value)| (text(name), text(value))));
    Ok(direct)
}

/// Another run of this program takes the account on and sets the limits. It may run as root until then, so it must not see
/// the environment of the task: it would obey a variable like LD_PRELOAD with the rights of root.
fn through_trampoline(
    command: &Command,
    environment: &File,
    tree: Option<&File>,
) -> Result<Start<'static>, StartError> {
    split(&command.argv)?;
    let account = command.run_as.as_deref().map(Credentials::of).transpose().map_err(|error| match error.kind() {
        // A directory of the network may answer later.
        io::ErrorKind::TimedOut | io::ErrorKind::HostUnreachable => StartError::Short(error),
        _ if is_shortage(&error) => StartError::Short(error),
        _ => StartError::Other(error),
    })?;
    let account = account.map_or_else(|| OWN_ACCOUNT.to_owned(), |account| account.text());
    let words = ["exec-task", "--account", &account, "--"].map(str::to_owned).into_iter();
    let inner = if command.has_terminal { pty::wrapped(command) } else { command.argv.clone() };
    let mut through = Start::new(own_program(), "luzia", &words.chain(inner).collect::<Vec<String>>());
    let mut set =
        |name: &str, value: String| through.env.insert(OsString::from(name).into(), OsString::from(value).into());
    set(ENVIRONMENT_FD, environment.as_raw_fd().to_string());
    if let Some(limits) = &command.limits {
        set(LIMITS, serde_json::to_string(limits).map_err(|error| StartError::Other(error.into()))?);
    }
    if let Some(tree) = tree {
        set(TREE_FD, tree.as_raw_fd().to_string());
    }
    Ok(through)
}

fn environment_file(env: &[(Vec<u8>, Vec<u8>)]) -> io::Result<File> {
    let mut file = File::from(memfd_create("environment", MemfdFlags::CLOEXEC)?);
    for (key, value) in env {
        file.write_all(&[key, b"=".as_slice(), value, b"\0"].concat())?;
    }
    Ok(file)
}

fn split(argv: &[String]) -> Result<(&String, &[String]), StartError> {
    let empty = || io::Error::new(io::ErrorKind::InvalidInput, "the command is empty");
    argv.split_first().ok_or_else(|| StartError::Other(empty()))
}

fn adopt(spawned: io::Result<u32>, program: &OsStr, cwd: &Path, reach: Reach) -> Result<Box<dyn Child>, StartError> {
    let pid = spawned.map_err(|error| start_error(error, Path::new(program), cwd))?;
    let child = RealChild::adopt(pid, reach).map_err(StartError::Other)?;
    Ok(Box::new(child))
}

/// Gives a lock that a command inherits a number that no shell script takes for itself. Scripts make locks of their own with
/// `exec 9>file` and `exec 200>file`, and these would silently close ours.
fn out_of_the_way(file: File) -> File {
    const NUMBERS: [i32; 2] = [700, 70];
    let moved = NUMBERS.into_iter().find_map(|least| fcntl_dupfd_cloexec(&file, least).ok());
    moved.map_or(file, File::from)
}

/// Lets a child inherit descriptors. They are close-on-exec everywhere else, so the caller drops them right after the start.
/// That leaves their locks alone, since the child has copies.
fn inheritable(files: Vec<File>) -> Result<Vec<File>, StartError> {
    for file in &files {
        fcntl_setfd(file, FdFlags::empty()).map_err(|error| StartError::Other(error.into()))?;
    }
    Ok(files)
}
