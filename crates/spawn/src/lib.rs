//! Starts a process by posix_spawn(3), which shares the memory of its caller until the new program runs. A fork copies the
//! page tables of the caller first, and both sides pay for each page that they touch afterwards.
//!
//! This crate exists because the standard library starts no session, and because the C library leaves two signals of its
//! own ignored in whatever posix_spawn(3) starts. It is the only place of luzia with `unsafe`.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::null_mut;

/// The program to start.
#[derive(Debug)]
pub struct Program<'a> {
    /// The path of the program. It is not looked up.
    pub path: &'a CStr,
    /// The words of the new process, its name first.
    pub args: &'a [CString],
    /// The environment of the process, each as `NAME=value`.
    pub env: &'a [CString],
    /// The working directory of the process.
    pub cwd: &'a CStr,
    /// Standard input, output and error of the process. Their numbers must be above 2. Of the other descriptors it has
    /// those that are not close-on-exec.
    pub streams: [BorrowedFd<'a>; 3],
    /// Whether the process leads a session of its own.
    pub session: bool,
    /// Whether no signal is blocked in the process. Otherwise it has the mask of this thread.
    pub no_mask: bool,
}

/// The signals 32 and 33, which the C library keeps for itself: `sigaddset` refuses them, and posix_spawn(3) leaves them
/// ignored where they are not named.
const INTERNAL: u64 = 0b11 << 31;

/// Starts a program and gives its pid. Ignored signals stay ignored, but for SIGPIPE, which the Rust runtime ignores.
///
/// # Errors
///
/// The error of the call that failed, also of execve(2) and chdir(2) in the new process. Nothing was started then.
pub fn spawn(program: &Program) -> io::Result<u32> {
    let (attributes, actions) = (Attributes::of(program)?, Actions::of(program)?);
    let (args, env) = (pointers(program.args), pointers(program.env));
    let mut pid = 0;
    // SAFETY: both objects are initialised; the path, the words and the environment are terminated and live until after the
    // call, and so do the two lists, which end with a null pointer. posix_spawn(3) changes none of them.
    let code = unsafe {
        libc::posix_spawn(
            &raw mut pid,
            program.path.as_ptr(),
            &raw const actions.0,
            &raw const attributes.0,
            args.as_ptr(),
            env.as_ptr(),
        )
    };
    of(code)?;
    u32::try_from(pid).map_err(io::Error::other)
}

fn of(code: libc::c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}

fn pointers(words: &[CString]) -> Vec<*mut libc::c_char> {
    words.iter().map(|word| word.as_ptr().cast_mut()).chain([null_mut()]).collect()
}

struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn of(program: &Program) -> io::Result<Self> {
        let mut flags = libc::POSIX_SPAWN_SETSIGDEF;
        flags |= if program.no_mask { libc::POSIX_SPAWN_SETSIGMASK } else { 0 };
        let session = if program.session { libc::POSIX_SPAWN_SETSID } else { 0 };
        let flags = libc::c_short::try_from(flags).map_err(io::Error::other)? | session;
        let (default, mask) = (signals(Some(libc::SIGPIPE)), signals(None));
        let mut made = MaybeUninit::uninit();
        // SAFETY: the first call initialises the object; the others get it, and sets that `signals` has initialised.
        unsafe {
            of(libc::posix_spawnattr_init(made.as_mut_ptr()))?;
            let mut made = Self(made.assume_init());
            of(libc::posix_spawnattr_setflags(&raw mut made.0, flags))?;
            of(libc::posix_spawnattr_setsigdefault(&raw mut made.0, &raw const default))?;
            of(libc::posix_spawnattr_setsigmask(&raw mut made.0, &raw const mask))?;
            Ok(made)
        }
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: it was initialised, and nobody uses it any more.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

/// A set of signals, whose first word is one for the signals 1 to 64.
#[repr(C)]
union Signals {
    set: libc::sigset_t,
    first: u64,
}

/// One signal and the internal ones, or none.
fn signals(one: Option<libc::c_int>) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset(3) initialises the set. On Linux its bytes begin with the bits of the signals 1 to 64, least first.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        let mut signals = Signals { set: set.assume_init() };
        if let Some(one) = one {
            libc::sigaddset(&raw mut signals.set, one);
            signals.first |= INTERNAL.to_le();
        }
        signals.set
    }
}

struct Actions(libc::posix_spawn_file_actions_t);

impl Actions {
    fn of(program: &Program) -> io::Result<Self> {
        let mut made = MaybeUninit::uninit();
        // SAFETY: the first call initialises the object, the others get it; the path is terminated.
        unsafe {
            of(libc::posix_spawn_file_actions_init(made.as_mut_ptr()))?;
            let mut made = Self(made.assume_init());
            of(libc::posix_spawn_file_actions_addchdir_np(&raw mut made.0, program.cwd.as_ptr()))?;
            for (number, stream) in (0..).zip(program.streams) {
                of(libc::posix_spawn_file_actions_adddup2(&raw mut made.0, stream.as_raw_fd(), number))?;
            }
            Ok(made)
        }
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: it was initialised, and nobody uses it any more.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::disallowed_methods)]
mod tests {
    use super::{INTERNAL, Program, spawn};
    use std::ffi::CString;
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::AsFd;

    fn word(text: &str) -> CString {
        CString::new(text).unwrap()
    }

    /// Runs a script and gives what it wrote.
    fn said(script: &str, session: bool, no_mask: bool) -> String {
        let (mut read, write) = std::io::pipe().unwrap();
        let null = File::open("/dev/null").unwrap();
        let pid = spawn(&Program {
            path: c"/bin/sh",
            args: &[word("name"), word("-c"), word(script)],
            env: &[word("A=b c")],
            cwd: c"/proc/self",
            streams: [null.as_fd(), write.as_fd(), write.as_fd()],
            session,
            no_mask,
        })
        .unwrap();
        drop(write);
        let mut text = String::new();
        read.read_to_string(&mut text).unwrap();
        // SAFETY: the pid is that of a child that nobody else waits for.
        unsafe { libc::waitpid(i32::try_from(pid).unwrap(), std::ptr::null_mut(), 0) };
        text
    }

    fn line(name: &str, text: &str) -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    }

    #[test]
    fn no_signal_is_ignored_that_was_not() {
        // The runtime ignores SIGPIPE in this process; a test runner may ignore others, which stay so.
        let own = line("SigIgn:", &std::fs::read_to_string("/proc/self/status").unwrap());
        let ignored = line("SigIgn:", &said("exec cat /proc/self/status", true, true));
        assert_eq!(ignored, own & !(1 << (libc::SIGPIPE - 1) | INTERNAL), "{own:x}");
    }

    #[test]
    fn the_mask_is_empty_or_that_of_the_thread() {
        let block = |how| {
            // SAFETY: the set is initialised before it is used.
            unsafe {
                let mut set = std::mem::zeroed();
                libc::sigemptyset(&raw mut set);
                libc::sigaddset(&raw mut set, libc::SIGUSR1);
                libc::pthread_sigmask(how, &raw const set, std::ptr::null_mut());
            }
        };
        block(libc::SIG_BLOCK);
        let blocked = |no_mask| line("SigBlk:", &said("exec cat /proc/self/status", true, no_mask));
        let found = (blocked(true), blocked(false) & (1 << (libc::SIGUSR1 - 1)));
        block(libc::SIG_UNBLOCK);
        assert_eq!(found, (0, 1 << (libc::SIGUSR1 - 1)));
    }

    #[test]
    fn it_leads_a_session_where_that_is_asked_for() {
        let script = "read -r pid name state parent group session rest </proc/self/stat; echo $$ $group $session";
        let numbers =
            |session| -> Vec<String> { said(script, session, true).split_whitespace().map(str::to_owned).collect() };
        let leader = numbers(true);
        assert!(leader[0] == leader[1] && leader[1] == leader[2], "{leader:?}");
        let member = numbers(false);
        assert_ne!(member[0], member[2], "{member:?}");
    }

    #[test]
    fn its_words_environment_directory_and_streams_are_as_asked() {
        // The directory is looked up by the new process: its own, and not that of this one.
        let text = said(
            "echo $0; echo $A; pwd -P; read -r x || echo end; echo to the error >&2; ls -l /proc/$$/fd | grep -cF $(readlink /proc/$$/fd/1)",
            true,
            true,
        );
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines[0], lines[1], lines[3], lines[4]), ("name", "b c", "end", "to the error"), "{text}");
        assert!(lines[2].starts_with("/proc/"), "{text}");
        // The pipe is its standard output and error, and not open under another number.
        assert_eq!(lines[5], "2", "{text}");
    }

    #[test]
    fn a_program_that_cannot_run_is_an_error_and_no_process() {
        let null = File::open("/dev/null").unwrap();
        let code = |path, cwd| {
            let program = Program {
                path,
                args: &[word("x")],
                env: &[],
                cwd,
                streams: [null.as_fd(); 3],
                session: true,
                no_mask: true,
            };
            spawn(&program).unwrap_err().raw_os_error()
        };
        assert_eq!(code(c"/nowhere/at/all", c"/"), Some(libc::ENOENT));
        assert_eq!(code(c"/proc/version", c"/"), Some(libc::EACCES));
        assert_eq!(code(c"/bin/sh", c"/nowhere"), Some(libc::ENOENT));
    }
}
