//! The command line of `luzia mcp`.

use clap::Args;

/// `luzia mcp`.
#[derive(Args, Clone, Debug)]
#[command(long_about = ABOUT, after_help = HELP)]
pub struct McpArgs {
    /// Answer the lines of standard input in this process, and hold leases that end by time under this name
    #[arg(long, hide = true, value_name = "NAME")]
    pub holder: Option<String>,
}

const ABOUT: &str = "\
Serve the tools of luzia to an agent: the Model Context Protocol (modelcontextprotocol.io) over standard input and output, \
revisions 2025-06-18, 2025-11-25 and 2026-07-28. `luzia agent setup` adds it to the settings of an agent.

The tools explain, list, status, logs, wait, acquire, release and cancel are always there. run and enqueue start commands outside \
the sandbox and the rules of the agent, so they need patterns in the configuration: {\"mcp\": {\"allow\": [\"cargo *\", \"make\"]}}. A \
pattern is a list of words; in a word * stands for any text, and * as the last word for any further words. Variables that a \
call sets need mcp.env in the same way.

A call waits for at most 50 seconds. A task that is not over then keeps its place, and the tool wait goes on. When standard \
input ends, calls on their way are answered by what has happened, and the server ends; tasks go on. A call of run that is \
cancelled takes a task back that has not started; one that has started goes on, and its id was told as progress.";

const HELP: &str = "\
Examples:
  luzia mcp
  claude mcp add luzia -- luzia mcp

Exit codes:
  0    standard input has ended
  2    usage";
