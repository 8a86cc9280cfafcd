//! The manual page `luzia-agents(7)`.

use crate::app::agents::plan::{Folders, SERVER, targets};
use crate::app::agents::texts;
use crate::cli::docs::roff;
use crate::model::AgentKind;
use std::fmt::Write as _;

/// The manual page, as roff.
pub fn manual_page() -> String {
    let title = crate::cli::docs::title("luzia-agents", 7);
    let mut page = format!("'\\\" t\n{title}{HEAD}.SH WHAT AGENTS READ\n{}{BODY}", texts::page());
    for (agent, note) in AgentKind::ALL.into_iter().zip(NOTES) {
        // Writing to a String cannot fail.
        let _ = write!(page, ".SS {}\n{note}\n.TS\ntab(|);\nl l.\n", roff::text(agent.word()));
        for (own, project) in files(agent) {
            let _ = writeln!(page, "{}|{}", roff::text(&own), roff::text(&project));
        }
        page.push_str(".TE\n");
    }
    page.push_str(TAIL);
    page
}

/// The files of an account, and those of a project, side by side.
fn files(agent: AgentKind) -> Vec<(String, String)> {
    let folders = |root: &str, is_project| Folders {
        root: root.to_owned(),
        own: None,
        is_project,
        locks: (!is_project).then(|| "/locks".to_owned()),
        program: SERVER.to_owned(),
    };
    let show =
        |folders: &Folders| -> Vec<String> { targets(agent, folders).into_iter().map(|target| target.path).collect() };
    let (own, project) = (show(&folders("~", false)), show(&folders(".", true)));
    let rows = own.len().max(project.len());
    let cell = |files: &[String], row: usize| {
        files.get(row).map(|path| path.trim_start_matches("./").to_owned()).unwrap_or_default()
    };
    (0..rows).map(|row| (cell(&own, row), cell(&project, row))).collect()
}

/// The special features of each agent, in their order.
const NOTES: [&str; 5] = [
    "It blocks only on a refusal in JSON or on exit code 2. Commands read the variables of\n.BR $CLAUDE_ENV_FILE .\n\
     CLAUDE_CONFIG_DIR names another folder than \\fI~/.claude\\fR.\nThe folder \\fIpackaging/agents\\fR is also a plugin, \
     with the same hooks, server and skill, and a monitor:\n.B claude plugin marketplace add\nwith the path of this folder, then\n\
     .BR \"claude plugin install luzia@luzia\" .",
    "It runs new hooks only after they were trusted once with\n.BR /hooks .\n\
     CODEX_HOME names another folder than \\fI~/.codex\\fR.",
    "It reads no note at the call of a tool. GEMINI_CLI_HOME names another home.",
    "It reads no note at the call of a tool. The instructions of an account do not stand in a file.",
    "It refuses the call of a tool whose hook fails, so the command that setup writes always ends with 0. \
     COPILOT_HOME names another folder than \\fI~/.copilot\\fR.",
];

const HEAD: &str = r#".SH NAME
luzia\-agents \- how coding agents take turns with luzia(1)
.SH DESCRIPTION
Several agents on one host build, test and write at the same time. luzia lets them take turns in four ways, each of which
works without the others:
.IP \(bu 2
.BR luzia\-shim (1)
puts links before heavy tools on PATH. The text of a command does not change.
.IP \(bu 2
.BR "luzia agent hook"
answers what the agent asks before it acts.
.IP \(bu 2
.B luzia mcp
offers lanes and tasks as tools of the Model Context Protocol.
.IP \(bu 2
A skill and three lines of instructions tell the model which commands there are.
.PP
.BR luzia\-agent\-setup (1)
writes all of this but the shims.
"#;

const BODY: &str = r#".SH HOOKS
.SS Begin of a session
The session is noted as the event
.BR session_started .
Its commands get the variable
.B LUZIA_SESSION
and, where there are shims, their folder first on
.BR PATH .
The agent gets at most 20 lines: the commands of luzia, the lane of its work tree, the tools with a shim, and the lanes that are busy.
.SS Edit of a file
The lane
.B tree:
of the work tree in which the file stands decides, not the working directory. When living holders of other sessions hold
it, the edit is refused. The reason names the holder, since when it holds the lane, how its life is known, and a command that waits.
A lease without a session may be the agent's own, so it gives a note only.
.SS Command
When a command holds a heavy call (the list of
.BR luzia\-shim (1))
and the lane of that tool is busy, the agent gets a note. With
.B \-\-gate
the command is refused.
.SS End of a session
The leases of the session are given back, within a second. The event is
.BR session_ended .
.SS Failures
A hook never stops an agent. It reads at most 1 MiB and waits at most 3 seconds for it; it ends with 0 whatever happens, after
6 seconds at the latest. A failure is the event
.BR hook_failed .
luzia never answers
.B allow
and never changes a command.
.SH THE BUILD LANE
.B luzia shim add cargo make
puts the calls of these tools into the lane
.BR build .
Without a rule one build runs at a time. A lane for several builds has a budget and a gate, as in
.I packaging/config/build.json
or set at run time:
.PP
.RS 4
.nf
luzia lanes set build \-\-max 3 \-\-cpu\-budget auto \e
    \-\-hold\-while 'psi.memory>20..10 | mem<10%..15%'
.fi
.RE
.PP
Then three builds run at once and use no more processors together than there are: each has a job server of its own, and the
tokens move as builds start and end. No build starts while memory is short. cargo and GNU make from 4.4 on obey. An older make
gets
.BR \-j
and its share at the start;
.B make \-j8
on the command line replaces the job server, and only
.B \-\-affinity
bounds it. cargo keeps a token as long as it has work for it, so a build that comes later gets its share with a delay of a few
compilations.
.SH SANDBOXES
Many agents put commands into a sandbox. A task starts only in the sandbox in which it was queued, or waits there. A sandbox
that is made for one call ends with it:
.B luzia enqueue
and a
.B luzia run
that yields say so at once, and
.B luzia attach \-\-here TASK
shows the command in the next call and runs it there. For
.BR luzia\-lock (1)
and
.BR luzia\-acquire (1)
a sandbox needs to write to the folder
.I locks
of the state directory, which setup makes and grants, and every command of the text above works with that grant alone. A task
needs the whole state directory, or the server outside the sandbox. Another state directory is another queue and excludes nobody.
.SH TOOLS
.BR luzia\-mcp (1)
serves explain, list, status, logs, wait, acquire, release and cancel to every client. It runs outside the sandbox and the rules
of the agent, so run and enqueue are offered only where the configuration admits commands:
.IP
.EX
{ "mcp": { "allow": ["cargo *", "make"], "env": ["CARGO_*"] } }
.EE
.PP
A call waits for at most 50 seconds. Its task keeps its place, and the tool wait goes on. A lane that a client acquires is
given back when the client ends.
.SH WITHOUT SETUP
.B LUZIA_AGENT
or
.B \-\-as
names an agent that sets no variable of its own. Called by an agent,
.B luzia run
leaves a task that has not started in the queue after 90 seconds and says how to go on; see
.BR luzia\-run (1).
The running task or the lease of another agent is ended only with
.BR \-\-yes .
.SH FILES
What
.B luzia agent setup
writes, for an account and with
.BR \-\-project .
"#;

const TAIL: &str = r#".PP
A file that existed is kept beside itself with the ending
.BR .luzia.bak .
.B \-\-remove
gives a file that nobody has changed since its old bytes back, and takes luzia's own parts out of every other. The copy goes with them.
.SH ENVIRONMENT
.TP
.B LUZIA_SESSION
The session of the agent in which a command runs.
.TP
.B CLAUDE_ENV_FILE
The file to which the hook appends the variables of a session.
.SH SEE ALSO
.BR luzia (1),
.BR luzia\-agent (1),
.BR luzia\-agent\-setup (1),
.BR luzia\-agent\-hook (1),
.BR luzia\-mcp (1),
.BR luzia\-shim (1),
.BR luzia\-exit\-codes (7)
"#;
