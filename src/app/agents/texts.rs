//! The texts that agents read. They are packaged as files, and `agent setup` writes the same ones.

/// The skill.
pub const SKILL: &str = include_str!("../../../packaging/agents/skills/luzia/SKILL.md");

/// The first mark of the lines in a file of instructions.
pub const BEGIN: &str = "<!-- luzia: begin -->";
/// The last mark.
pub const END: &str = "<!-- luzia: end -->";

/// The three lines, as they also stand in `packaging/agents/AGENTS.md`.
pub const LINES: [&str; 3] = [
    "Other agents may build, test and write on this host at the same time; luzia makes heavy commands take turns in lanes.",
    "Run a build, a test suite or a deploy as `luzia run -l build -- COMMAND`: it waits for its turn and exits with the command's code.",
    "If luzia says that a lane is busy (exit code 75), `luzia explain lane:build` names the holder; waiting is normal, so try again later.",
];

/// The three lines with their marks.
pub fn block() -> String {
    let [first, second, third] = LINES;
    format!("{BEGIN} {first}\n{second}\n{third} {END}")
}
