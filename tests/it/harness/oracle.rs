//! Commands that watch over the promise themselves: each takes a second kernel lock, without waiting, on a file of its
//! lane, which everything it leaves behind inherits. Who does not get it has met a living holder, and says so in the
//! journal by O_APPEND. Between the two lines of its journal it misbehaves as it is told.

use super::World;
use std::fs::File;
use std::io::Write;

/// What a command does inside the critical section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Nothing.
    Quick,
    /// Works for a moment.
    Work,
    /// Ignores SIGTERM for a moment.
    Deaf,
    /// Leaves a process in a session of its own.
    Fork,
    /// The command without its environment.
    ForkBare,
    /// The command without any descriptor but the oracle's.
    ForkClosed,
    /// Fails.
    Fail,
    /// Kills its supervisor.
    KillSupervisor,
    /// Waits for the file `gate`, ignoring SIGTERM, with a child in a session of its own.
    Gate,
    /// Waits for the file `gate`, and ends at SIGTERM.
    GateSoft,
}

impl Deed {
    fn script(self) -> &'static str {
        match self {
            Self::Quick => ":",
            Self::Work => "sleep 0.05",
            Self::Deaf => "trap '' TERM; sleep 0.1",
            Self::Fork => "setsid sh -c 'trap \"\" TERM; sleep 0.1' & :",
            Self::ForkBare => "env -i setsid /bin/sleep 0.1 & :",
            Self::ForkClosed => "CLOSE; setsid sleep 0.1 & :",
            Self::Fail => "false",
            Self::KillSupervisor => "kill -9 $PPID; sleep 30",
            Self::Gate => {
                "trap '' TERM; setsid sh -c 'while [ ! -e gate ]; do sleep 0.01; done' & \
                 echo >\"ready.$1\"; while [ ! -e gate ]; do sleep 0.01; done"
            }
            Self::GateSoft => WAIT_AT_GATE,
        }
    }
}

/// Tells that it is there, and waits for the file `gate`.
pub const WAIT_AT_GATE: &str = "echo >\"ready.$1\"; while [ ! -e gate ]; do sleep 0.01; done";

/// Closes every descriptor of the shell but the standard ones and the oracle's.
const CLOSE: &str = "for fd in /proc/$$/fd/*; do fd=${fd##*/}; \
                     case $fd in 0|1|2|7|8|9|255) ;; *) eval \"exec $fd>&-\" ;; esac; done";

/// A command that does a deed in the lane of `user`.
pub fn command(world: &World, user: &str, deed: Deed) -> Vec<String> {
    script(world, user, deed.script())
}

/// Like `command`, in a lane of the thread `thread` as well, which several users share.
pub fn command_in_thread(world: &World, user: &str, thread: &str, deed: Deed) -> Vec<String> {
    let script = format!("exec 7>>oracle.thread.{thread}; flock -n 7 || echo \"V WHO\" >&8; {}", deed.script());
    self::script(world, user, &script)
}

/// A command that runs any script inside the critical section.
pub fn script(world: &World, user: &str, script: &str) -> Vec<String> {
    let who = "${LUZIA_TASK_ID:-lock} $1 ${LUZIA_ATTEMPT:-0} ${LUZIA_FENCE:-0} $$";
    let body = script.replace("CLOSE", CLOSE).replace("WHO", who);
    let text = format!(
        "exec 8>>\"$2\" 9>>\"oracle.$1\"; flock -n 9 || echo \"V {who}\" >&8; echo \"B {who}\" >&8; {body}; \
         rc=$?; echo \"E {who}\" >&8; exit $rc"
    );
    let journal = world.journal().to_str().unwrap().to_owned();
    ["bash", "-c", &text, "task", user, &journal].map(str::to_owned).to_vec()
}

/// The critical section of this very process, for a lease that it holds.
pub struct Section {
    file: File,
    line: String,
    journal: File,
}

impl Section {
    /// Enters the critical section of `user`, and says so like a command does.
    pub fn enter(world: &World, user: &str, fence: u64) -> Self {
        let open = |path| File::options().append(true).create(true).open(path).unwrap();
        let file = open(world.work.join(format!("oracle.{user}")));
        let line = format!("lease {user} 0 {fence} {}", std::process::id());
        let mut section = Self { file, line, journal: open(world.journal()) };
        if fs2::FileExt::try_lock_exclusive(&section.file).is_err() {
            section.write('V');
        }
        section.write('B');
        section
    }

    /// Leaves it. Another thread may be starting a process, which has the descriptor for an instant: it is unlocked.
    pub fn leave(mut self) {
        self.write('E');
        fs2::FileExt::unlock(&self.file).unwrap();
    }

    fn write(&mut self, what: char) {
        self.journal.write_all(format!("{what} {}\n", self.line).as_bytes()).unwrap();
    }
}

/// One line of the journal.
#[derive(Clone, Debug)]
pub struct Line {
    /// `B`, `E`, or `V` for a violation.
    pub what: char,
    /// The number of the task; `None` for a `lock` or a lease.
    pub task: Option<u64>,
    pub user: String,
    pub fence: u64,
}

/// The journal, in the order in which it was written.
pub fn journal(world: &World) -> Vec<Line> {
    let text = std::fs::read_to_string(world.journal()).unwrap_or_default();
    text.lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let [what, task, user, _, fence, _] = words[..] else { panic!("a torn line in the journal: {line:?}") };
            Line {
                what: what.chars().next().unwrap(),
                task: task.strip_prefix("task_").map(|number| number.parse().unwrap()),
                user: user.to_owned(),
                fence: fence.parse().unwrap(),
            }
        })
        .collect()
}
