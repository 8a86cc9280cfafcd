//! The texts for agents, in one place: the lines that `agent setup` writes into files of instructions, the skill, and the lines
//! at the start of a session.
//! The copies in `packaging/agents`, `examples/agent-prompt.md` and luzia-agents(7) are made from here. Each command in them
//! works if only the folder `locks` of the state directory can be written, as setup grants it. Each also works in a sandbox of
//! its own (`docs/decisions/417-one-text-for-agents.md`). `with_block` puts the lines for agents between their two marks into a
//! text, and `without_block` removes them. `Broken` is a fault at a place in a text, and `at` gives the line and the column of
//! that place.

/// The mark before the lines about luzia in a file of instructions.
pub const BEGIN: &str = "<!-- luzia: begin -->";
/// The mark after the lines about luzia.
pub const END: &str = "<!-- luzia: end -->";

/// The three lines that every agent gets.
pub const LINES: [&str; 3] = [
    "Other agents may build, test and write on this host at the same time; luzia makes heavy commands take turns in lanes.",
    "Run a build, a test suite or a deploy as `luzia lock -l build --wait 90s -- COMMAND`, and a commit as `luzia lock -l @tree --wait 90s -- git commit -m TEXT`: it waits for its turn, runs the command here and exits with its code.",
    "Exit code 75 means that the lane stayed busy for all of that time: the command has not run and nothing is \
     queued, so run the same line again. `luzia explain lane:build` names the holder. Waiting is normal: never end or \
     release what belongs to others.",
];

/// A part of the longer texts: its title and its points.
pub struct Part {
    /// The title.
    pub title: &'static str,
    /// The points, with commands between backquotes.
    pub points: &'static [&'static str],
}

/// The longer text about luzia, part by part.
pub const PARTS: [Part; 4] = [
    Part {
        title: "Run a command in its turn",
        points: &[
            LINES[1],
            LINES[2],
            "`luzia lock -l @git-ref --wait 90s -- git push` holds the lane of the branch meanwhile.",
            "A command that a shim on PATH starts (`luzia shim list`) takes its turn by itself. Do not put a lock around it.",
        ],
    },
    Part {
        title: "Hold a lane for a while",
        points: &[
            "`luzia acquire @tree --task NAME --ttl 30m` holds this work tree for 30 minutes under a name that you \
             choose. The same call again starts the 30 minutes anew.",
            "`luzia release @tree NAME` gives it back.",
            "While it is held, edits of other sessions in this work tree are refused, or get a note, with your name in it.",
        ],
    },
    Part {
        title: "Look",
        points: &[
            "`luzia list-locks` shows the holders of all lanes and those who wait for them. `luzia status` shows the \
             queue and the slots, too.",
            "`luzia explain lane:build` says who holds the lane build, since when, and whether the holder lives.",
            "`luzia explain last` says why the newest task waits, `luzia logs last` shows its output; task_7 stands for any other.",
        ],
    },
    Part {
        title: "Facts",
        points: &[
            "The first command that luzia proposes never ends, releases or re-routes the work of others.",
            "Do not change LUZIA_STATE_DIR: another state directory is another queue, and its tasks do not exclude those of this one.",
            "A durable task, e.g. one for the night, is queued by the tools `run` and `enqueue` of the MCP server `luzia mcp`, which runs outside the sandbox. The tool `wait` goes on with a task; queue none a second time.",
        ],
    },
];

/// The three lines about luzia, with their marks.
pub fn block() -> String {
    let [first, second, third] = LINES;
    format!("{BEGIN} {first}\n{second}\n{third} {END}")
}

const HEAD: &str = "\
---
name: luzia
description: Take turns with other agents and people on this host. Use it before a build, a test run, a deploy or a push that another session may run at the same time, before work in a work tree that another session may write to, and when a command waits, says \"busy\", exits with 75, or was refused because a lane is held.
license: MIT OR Apache-2.0
compatibility: Linux, with the program luzia
metadata:
  source: luzia
allowed-tools: Bash(luzia:*)
---

# luzia

A lane is a name such as `build`, `gpu:0` or `@tree`. Commands in one lane run one at a time, or as many at a time as its limit
says. All agents of one account on one host share the lanes.
";

/// The skill.
pub fn skill() -> String {
    let part = |part: &Part| format!("\n## {}\n\n{}", part.title, list(part.points));
    format!("{HEAD}{}", PARTS.iter().map(part).collect::<String>())
}

/// The text as a section of a manual page.
pub fn page() -> String {
    let point = |point: &&str| format!(".IP \\(bu 2\n{}\n", roff(point));
    let part = |part: &Part| format!(".SS {}\n{}", part.title, part.points.iter().map(point).collect::<String>());
    format!("{}\n{}", roff(LINES[0]), PARTS.iter().map(part).collect::<String>())
}

/// A point as a line of roff, with its commands in bold.
fn roff(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    let parts = escaped.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { format!("\\fB{part}\\fR") } else { part.to_owned() }).collect()
}

fn list(points: &[&str]) -> String {
    points.iter().map(|point| format!("- {point}\n")).collect()
}

/// Why a text cannot be read, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The fault.
    pub message: String,
}

/// A fault at a byte of a text.
pub fn at(text: &str, offset: usize, message: &str) -> Broken {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    Broken {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: message.to_owned(),
    }
}

/// The text with the lines for agents at its end, or in the place of older ones between the same marks.
pub fn with_block(text: &str) -> String {
    let block = block();
    if let Some((from, to)) = block_in(text) {
        return format!("{}{block}{}", &text[..from], &text[to..]);
    }
    let gap = match text {
        "" => "",
        _ if text.ends_with("\n\n") => "",
        _ if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{gap}{block}\n")
}

/// The text without the lines about luzia, and without the blank line before them.
pub fn without_block(text: &str) -> String {
    let Some((from, to)) = block_in(text) else { return text.to_owned() };
    let rest = text[to..].strip_prefix('\n').unwrap_or(&text[to..]);
    let before = &text[..from];
    let before = if before.ends_with("\n\n") && rest.is_empty() { &before[..before.len() - 1] } else { before };
    format!("{before}{rest}")
}

/// The place of the lines about luzia: from their first mark to the end of their last one.
fn block_in(text: &str) -> Option<(usize, usize)> {
    let from = text.find(BEGIN)?;
    Some((from, from + text[from..].find(END)? + END.len()))
}
