//! OUTSIDE: the operating system as a few traits, and `real`, the only caller of it.
//!
//! Knows files, clocks and processes; must not know what a task or a lane is for. The traits exist so that the crash tests
//! can stop at every operation and the race tests can let one pretend process move at a time.

mod host;
mod pipe;
pub mod places;
pub mod real;
pub mod user_files;

use crate::model::process::{Ancestor, Sight};
use crate::model::{Context, Identity, Limits, Origin, Probe, Surroundings, Timestamp};
pub use host::{Clock, Gauges, Groups, Host, NoGauges, Port};
pub use pipe::Pipe;
use rustix::io::Errno;
use smol_str::SmolStr;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The kind of a directory entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link, FIFO, socket or device: never followed, never opened.
    Other,
}

/// One name in a directory. Names that are not UTF-8 come with U+FFFD in them, and match nothing of ours.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The name; one of at most 23 bytes, as nearly all are, takes no heap.
    pub name: SmolStr,
    /// The kind of the entry.
    pub kind: FileKind,
}

/// Metadata of a file, found without reading it; symbolic links are not followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meta {
    /// The kind of the file.
    pub kind: FileKind,
    /// Length in bytes.
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// The owner.
    pub uid: u32,
    /// Number of the file's names.
    pub links: u64,
    /// Device and inode.
    pub ident: (u64, u64),
    /// Time of the last change of content.
    pub modified: Timestamp,
    /// Time of the last change of anything, by the kernel's own clock.
    pub changed: Timestamp,
}

impl Meta {
    /// Whether only `uid` and root can change it, so that its content may be obeyed with their rights.
    pub fn is_safe_for(&self, uid: u32) -> bool {
        self.mode & 0o022 == 0 && [0, uid].contains(&self.uid)
    }
}

/// The way in which a file is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Open {
    /// For reading and writing; must exist.
    Existing,
    /// For reading only; must exist.
    ReadOnly,
    /// For reading and writing; must not exist (O_CREAT|O_EXCL); the mode is set whatever the umask is.
    CreateNew(u32),
    /// For reading and writing; a new file with the mode. An old file of that name loses the name and is not written to,
    /// because it may have other names.
    Truncate(u32),
    /// For appending (O_APPEND); created with the mode if it does not exist.
    Append(u32),
}

/// An open file. Dropping it closes it, and so gives up its kernel lock unless another process or handle has a copy of the
/// descriptor.
pub trait Handle: Send {
    /// Reads from the start, at most `cap` bytes; a longer file is an error of kind `FileTooLarge`.
    fn read_all(&mut self, cap: u64) -> io::Result<Vec<u8>>;
    /// Reads at most `most` bytes at an offset; fewer only where the file ends.
    fn read_part(&mut self, from: u64, most: usize) -> io::Result<Vec<u8>>;
    /// Writes at the current end (or appends), all or an error.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Overwrites from the start in one call (pwrite(2)); the length does not shrink.
    fn write_at_start(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Frees the disk blocks of the first `to` bytes (FALLOC_FL_PUNCH_HOLE). The length and the offset of every other byte
    /// stay, so a process that appends to the file does not notice.
    fn free_front(&mut self, to: u64) -> io::Result<()>;
    /// The offset of the first byte that was not freed; the length where all bytes were freed.
    fn first_data(&self) -> io::Result<u64>;
    /// fdatasync(2). After a failure the descriptor must not be synced again.
    fn sync_data(&mut self) -> io::Result<()>;
    /// fsync(2). After a failure the descriptor must not be synced again.
    fn sync_all(&mut self) -> io::Result<()>;
    /// flock(2) without waiting; false when another descriptor holds it.
    fn try_lock(&mut self, shared: bool) -> io::Result<bool>;
    /// flock(LOCK_UN): gives the lock up for every copy of this descriptor.
    fn unlock(&mut self) -> io::Result<()>;
    /// fstat(2).
    fn meta(&self) -> io::Result<Meta>;
    /// The descriptor itself, to hand to a child process; `None` where files are simulated.
    fn into_file(self: Box<Self>) -> Option<File>;
    /// A further descriptor of the same open file, close-on-exec, sharing its lock; `None` where files are simulated.
    fn share(&self) -> Option<File>;
}

/// Waits for changes in directories.
pub trait Watch: Send {
    /// Waits until something changed in a watched directory or the time is over; true when something may have changed.
    /// Events that came since the last call count.
    fn wait(&mut self, time: Duration) -> io::Result<bool>;
    /// Ends a wait also when this descriptor becomes readable. A watch that wakes by itself may ignore it.
    fn heed(&mut self, _: File) {}
}

/// Files below one directory that is held open. A path is relative, `/`-separated, and has no `..`. No component of it may be
/// a symbolic link, and none leads out of the directory (openat2(2) RESOLVE_BENEATH|RESOLVE_NO_SYMLINKS). EINTR is retried by
/// the implementation. Where `None` or `false` is not described, a missing file is an error.
pub trait Vfs: Send + Sync {
    /// The path of the root as it was opened, for messages and for child processes only.
    fn root(&self) -> &str;
    /// Opens another root. With `create`, missing directories are made with mode 0700.
    fn open_root(&self, path: &str, create: bool) -> io::Result<Option<Arc<dyn Vfs>>>;
    /// Opens a regular file: `None` when a file that must exist is missing, or a file that must not exist is there. Never
    /// blocks on a FIFO; anything but a regular file is an error of kind `InvalidInput`.
    fn open(&self, path: &str, how: Open) -> io::Result<Option<Box<dyn Handle>>>;
    /// Looks at a name; `None` when it does not exist.
    fn meta(&self, path: &str) -> io::Result<Option<Meta>>;
    /// Looks at many names, each as [`Vfs::meta`] does, in their order.
    fn meta_many(&self, paths: &[String]) -> Vec<io::Result<Option<Meta>>>;
    /// Lists a directory in no order, without `.` and `..`; `None` when it does not exist.
    fn list(&self, path: &str) -> io::Result<Option<Vec<Entry>>>;
    /// Lists many directories, each as [`Vfs::list`] does, in the order of the paths.
    fn list_many(&self, paths: &[String]) -> Vec<io::Result<Option<Vec<Entry>>>>;
    /// Makes a directory; false when the name exists. Others may have removed it again when this returns.
    fn make_dir(&self, path: &str, mode: u32) -> io::Result<bool>;
    /// Removes a directory; false when it is missing or not empty.
    fn remove_dir(&self, path: &str) -> io::Result<bool>;
    /// Renames, replacing; false when `from` or the directory of `to` does not exist.
    fn rename(&self, from: &str, to: &str) -> io::Result<bool>;
    /// Renames without replacing (RENAME_NOREPLACE).
    fn publish(&self, from: &str, to: &str) -> io::Result<Published>;
    /// Gives a file a second name (link(2)); false when `from` does not exist. Something that has the name `to` keeps it.
    fn link(&self, from: &str, to: &str) -> io::Result<bool>;
    /// Removes a name that is not a directory; false when it does not exist.
    fn unlink(&self, path: &str) -> io::Result<bool>;
    /// fsync(2) on a directory.
    fn sync_dir(&self, path: &str) -> io::Result<()>;
    /// syncfs(2) on the file system of the root.
    fn sync_everything(&self) -> io::Result<()>;
    /// Changes permission bits.
    fn set_mode(&self, path: &str, mode: u32) -> io::Result<()>;
    /// Starts to watch directories for names that appear, change or vanish. Missing directories are left out.
    fn watch(&self, paths: &[&str]) -> io::Result<Box<dyn Watch>>;
    /// Watches one file for being moved, removed or changed; `None` where the kernel gives no watch.
    fn watch_file(&self, path: &str) -> io::Result<Option<Box<dyn Watch>>>;
    /// Makes a named pipe, which shows that this process lives; `None` when the name exists.
    fn make_pipe(&self, path: &str) -> io::Result<Option<Box<dyn Pipe>>>;
    /// Whether the maker of a named pipe lives. False also for a name that is missing or is no pipe.
    fn is_pipe_alive(&self, path: &str) -> io::Result<bool>;
    /// Calls the maker of a named pipe, and sets the time of its last change; false when no process has the pipe open.
    fn call_pipe(&self, path: &str) -> io::Result<bool>;
    /// The file system below the root, for `doctor`.
    fn file_system(&self) -> io::Result<FileSystem>;
}

/// Result of a rename that does not replace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Published {
    /// The file has the new name.
    Done,
    /// Something has that name already; nothing was changed.
    Exists,
    /// The directory of the new name does not exist; nothing was changed.
    NoDirectory,
}

/// A file system, as statfs(2) describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileSystem {
    /// A name for people, as `ext4`.
    pub name: String,
    /// Whether flock(2) and rename(2) behave there as on a local file system.
    pub is_local: bool,
    /// Free bytes for an ordinary account.
    pub free_bytes: u64,
    /// Free inodes.
    pub free_inodes: u64,
}

/// The signals luzia sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// SIGINT.
    Int,
    /// SIGTERM.
    Term,
    /// SIGKILL.
    Kill,
    /// SIGSTOP.
    Stop,
    /// SIGCONT.
    Continue,
    /// SIGUSR1: asks a supervisor to look for a request to cancel its task, or else to make one scheduling pass.
    Wake,
}

/// The marks of the processes of a task's tree.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TreeMark {
    /// The value of `LUZIA_STATE_DIR` in the tree's processes.
    pub state_dir: String,
    /// The value of `LUZIA_TASK_ID` in the tree's processes.
    pub task_id: String,
    /// Device and inode of `tree.lock`, which the processes of the tree may have open; `None` when no process can have it.
    pub tree_lock: Option<(u64, u64)>,
    /// The start time of the first process of the tree, in clock ticks since boot. Processes that started earlier do not
    /// belong to the tree.
    pub since: Option<u64>,
    /// Whether this very process began the tree, so that its processes descend from this one.
    pub is_own: bool,
    /// Whether processes may belong to the tree that descend from others.
    pub has_outsiders: bool,
}

/// A command to start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: Vec<(Vec<u8>, Vec<u8>)>,
    /// The working directory.
    pub cwd: String,
    /// File mode creation mask.
    pub umask: u32,
    /// The account to become, when running as root.
    pub run_as: Option<String>,
    /// The limits to set, where they differ from those of this process.
    pub limits: Option<Limits>,
    /// Whether the command gets a terminal of its own (pty(7)), whose output goes to standard output.
    pub has_terminal: bool,
    /// The process whose standard input it reads. A terminal of its own reads nothing more when that process has ended.
    pub input_of: Option<Identity>,
}

/// The end of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// The command exited with a code.
    Code(i32),
    /// A signal ended the command.
    Signal(i32),
}

/// The end and the output of a command that is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// The end of the program.
    pub exit: Exit,
    /// The standard output of the program.
    pub stdout: Vec<u8>,
    /// The standard error of the program.
    pub stderr: Vec<u8>,
}

/// The reason why a command could not be started.
#[derive(Debug)]
pub enum StartError {
    /// The program does not exist (127).
    NotFound(io::Error),
    /// The file exists, but cannot be executed (126).
    NotExecutable(io::Error),
    /// The host has no process, no memory or no answer on an account for it now (125).
    Short(io::Error),
    /// Another error, e.g. a missing working directory (125).
    Other(io::Error),
}

/// The error of the system for a missing file. An `io::ErrorKind` alone has words of its own.
pub fn absent() -> io::Error {
    Errno::NOENT.into()
}

/// The error of the system for a file that exists already.
pub fn taken() -> io::Error {
    Errno::EXIST.into()
}

/// Whether an error means that the host is short of something that may come back: space, processes, memory, open files.
pub fn is_shortage(error: &io::Error) -> bool {
    const SHORT: [Errno; 5] = [Errno::NOSPC, Errno::DQUOT, Errno::AGAIN, Errno::NOMEM, Errno::NFILE];
    Errno::from_io_error(error).is_some_and(|errno| SHORT.contains(&errno))
}

/// The event that woke a process that watches a child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Woken {
    /// The child is over.
    Exited(Exit),
    /// SIGTERM came.
    Terminate,
    /// SIGINT came.
    Interrupt,
    /// SIGUSR1 came: a look at the requests, or a scheduling pass, is asked for.
    Pass,
    /// One of the heeded files may have grown.
    Wrote,
    /// A token is in the job server that it heeds, or was there.
    Token,
    /// One of the other heeded processes has ended.
    Gone,
    /// The time is over.
    TimeUp,
}

/// A child process that is being watched.
pub trait Child {
    /// The pid of the child, which the kernel gives to no other process as long as this value lives.
    fn pid(&self) -> u32;
    /// Waits for the child, a signal, or the end of the time (`None`: for ever).
    fn wait(&mut self, time: Option<Duration>) -> io::Result<Woken>;
    /// Heeds the files to which the child writes: from now on [`Child::wait`] gives [`Woken::Wrote`] when one of them may
    /// have grown, at most twice in 10 ms.
    fn heed(&mut self, files: Vec<File>);
    /// Heeds the pipe of a job server, or none: from now on [`Child::wait`] gives [`Woken::Token`] when a token is there.
    fn heed_tokens(&mut self, _: Option<File>) {}
    /// Heeds the ends of other processes, as [`Processes::end_of`] gives them: [`Child::wait`] gives [`Woken::Gone`] once when
    /// one of them has ended, and then heeds none of them.
    fn heed_ends(&mut self, _: Vec<File>) {}
    /// Heeds a timer, as [`Clock::timer`] gives it, or none: [`Child::wait`] gives [`Woken::TimeUp`] once when it is readable.
    fn heed_timer(&mut self, _: Option<Arc<File>>) {}
    /// Signals the process group of the child; for a command that runs in place, the child alone.
    fn signal(&mut self, signal: Signal) -> io::Result<()>;
}

/// Targets of the standard streams of a command.
pub struct Streams {
    /// Standard input; `None` is `/dev/null`.
    pub stdin: Option<File>,
    /// Standard output.
    pub stdout: File,
    /// Standard error.
    pub stderr: File,
}

/// A command in place: in this session and group, with this process's own streams.
pub struct InPlace<'a> {
    /// The command.
    pub argv: &'a [String],
    /// Variables of the command's environment beside or instead of those of this process.
    pub env: &'a [(String, String)],
    /// The working directory of the command; `None` is this process's.
    pub cwd: Option<&'a str>,
    /// Whether the command's standard input is this process's, and not `/dev/null`.
    pub has_input: bool,
    /// Files that the command inherits.
    pub held: Vec<File>,
    /// The standard output of the command, where it is not that of this process.
    pub output: Option<File>,
}

/// Time that a called program has to end after SIGTERM, and again after SIGKILL.
pub const CALL_GRACE: Duration = Duration::from_secs(2);

/// A short program that is run for its effect, with no variable of a task in its environment.
pub struct Called<'a> {
    /// Program and arguments.
    pub argv: &'a [String],
    /// Variables of the program's environment beside those of this process.
    pub env: &'a [(String, String)],
    /// The working directory of the program.
    pub cwd: &'a str,
    /// The standard input of the program.
    pub input: &'a [u8],
    /// Time that the program may take.
    pub time: Duration,
}

/// Processes.
pub trait Processes: Send + Sync {
    /// This process.
    fn me(&self) -> Identity;
    /// The effective account of this process.
    fn uid(&self) -> u32;
    /// The name of an account, where it has one; an error where it cannot be looked up.
    fn account_name(&self, uid: u32) -> io::Result<Option<String>>;
    /// The number of an account, where there is one of that name; an error where it cannot be looked up.
    fn account_id(&self, name: &str) -> io::Result<Option<u32>>;
    /// The name of this host.
    fn host(&self) -> String;
    /// The load of the host, its ports in use, and its processors.
    fn gauges(&self) -> &dyn Gauges;
    /// The context of this process; it stays the same unless another process changes its limits.
    fn context(&self) -> Arc<Context>;

    /// The sandboxes in which processes live, as far as they can be seen.
    fn sandboxes(&self) -> Surroundings;
    /// The boot and the namespaces of this process. An inode that `/proc` does not show is 0.
    fn origin(&self) -> Origin;
    /// Whether `/proc` belongs to the pid namespace of this process, so that it shows the processes around us.
    fn is_proc_own(&self) -> bool;
    /// Looks for a pid namespace among the processes that `/proc` shows, and for the process that has `pid` in it.
    fn look_below(&self, pid_namespace: u64, pid: Option<u32>) -> (Sight, Option<Probe>);
    /// Whether this process has a child, living or not yet waited for.
    fn has_child(&self) -> bool;
    /// Looks at a pid.
    fn probe(&self, pid: u32) -> Probe;
    /// Another descriptor of the standard input of that very process, at the same offset. `None` when the process is dead, or
    /// does not have the directory `root` open, by device and inode. A socket cannot be opened again (ENXIO).
    fn open_stdin_of(&self, who: &Identity, root: Option<(u64, u64)>) -> io::Result<Option<File>>;
    /// Whether the process of that number runs the same program as this one.
    fn runs_this_program(&self, pid: u32) -> bool;
    /// Whether that very process is stopped (SIGSTOP, or a debugger), so that it does nothing until it is continued.
    fn is_stopped(&self, who: &Identity) -> bool;
    /// Signals a process, only if it is still that very process; false when it is dead.
    fn signal(&self, who: &Identity, signal: Signal) -> io::Result<bool>;
    /// Waits until a process is dead or the time is over; true when it is dead.
    fn await_death(&self, who: &Identity, time: Duration) -> io::Result<bool>;
    /// Starts `luzia --state-dir DIR supervise …` with `lock` as its standard input, outside our session, with an environment
    /// that has no variable of a task. Gives its pid.
    fn launch_supervisor(&self, args: &[String], lock: Box<dyn Handle>) -> io::Result<u32>;
    /// The kernel lock that this process inherited as its standard input, which stays open beside it.
    fn inherited_lock(&self) -> io::Result<Box<dyn Handle>>;
    /// Makes another lock, as [`Handle::share`] gave it, the standard input of this process: it shows whose supervisor this
    /// is.
    fn replace_input(&self, lock: Option<File>) -> io::Result<()>;
    /// Becomes a supervisor: own session, subreaper, no stray descriptor, SIGTERM and SIGUSR1 caught. The processes that it
    /// starts get default dispositions and an empty mask.
    fn become_supervisor(&self) -> io::Result<()>;
    /// Starts the command of a task in a process group of its own, with the descriptors 0, 1, 2 and `tree` only.
    fn start(&self, command: &Command, streams: &Streams, tree: Option<File>) -> Result<Box<dyn Child>, StartError>;
    /// Starts a command in place. SIGINT and SIGQUIT reach it from the terminal; the caller passes SIGTERM on.
    fn start_here(&self, command: InPlace) -> Result<Box<dyn Child>, StartError>;
    /// Runs a short program to its end, and gives its end and its standard error. A program that takes too long is ended, and
    /// the error is `TimedOut`.
    fn call(&self, called: &Called) -> io::Result<(Exit, Vec<u8>)>;
    /// The living processes of a task's tree: children that a subreaper inherited, and those found by their environment
    /// or an open `tree.lock`; without `spared` and this process itself.
    fn tree(&self, mark: &TreeMark, spared: &[u32]) -> io::Result<Vec<Identity>>;
    /// The processes above a process, its parent first, up to the first process for which `enough` is true. None where
    /// `/proc` does not show them.
    fn ancestors(&self, of: u32, enough: &dyn Fn(&Ancestor) -> bool) -> Vec<Ancestor>;
    /// The name of the program that a process runs, where it can be seen.
    fn program_of(&self, pid: u32) -> Option<String>;
    /// A descriptor that becomes readable when that very process ends; `None` where it has ended.
    fn end_of(&self, who: &Identity) -> io::Result<Option<File>>;
    /// Whether a process is an ancestor of this one.
    fn descends_from(&self, who: &Identity) -> bool;
    /// Whether this process has a file (device and inode) open, as one that was inherited.
    fn has_open(&self, file: (u64, u64)) -> bool;
    /// Whether another process of this program would run the same file as this one.
    fn is_program_current(&self) -> bool;
    /// Waits for dead children that no other code waits for, so that no zombie stays.
    fn reap(&self);
    /// The pid of a process that holds a kernel lock on a file, as far as `/proc/locks` shows it.
    fn lock_holder(&self, file: (u64, u64)) -> Option<u32>;
    /// The control groups of this host; `None` where this process may not make any.
    fn groups(&self) -> Option<&dyn Groups>;
    /// Catches the signals that ask this process to end (SIGINT, SIGTERM, SIGHUP), unless it was started with them ignored.
    fn catch_ends(&self);
    /// The number of such a signal that came since the last call.
    fn asked_to_end(&self) -> Option<i32>;
    /// Ends this process as an uncaught signal does.
    fn die_of(&self, signal: i32);
    /// Keeps stop signals (SIGTSTP, SIGTTIN, SIGTTOU) from this process, or lets them through again.
    fn hold_stop_signals(&self, hold: bool);
}
