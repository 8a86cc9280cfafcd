//! The heavy calls of a tool, which take turns. The lists are short and simple on purpose.

/// The first words that make a call heavy.
enum Heavy {
    /// A call that begins with one of these words. If the empty text is among them, also a call without arguments.
    Words(&'static [&'static str]),
    /// Every call except one that only asks for the version or for help.
    All,
}

const TOOLS: [(&str, Heavy); 13] = [
    (
        "cargo",
        Heavy::Words(&[
            "build", "b", "test", "t", "check", "c", "clippy", "run", "r", "bench", "doc", "install", "nextest",
        ]),
    ),
    ("make", Heavy::All),
    ("ninja", Heavy::All),
    ("npm", Heavy::Words(&["ci", "install", "i", "test", "t", "run build", "run test"])),
    ("pnpm", Heavy::Words(&["install", "i", "test", "t", "build", "run build", "run test"])),
    ("yarn", Heavy::Words(&["", "install", "build", "test", "run build", "run test"])),
    ("gradle", Heavy::All),
    ("mvn", Heavy::All),
    ("go", Heavy::Words(&["build", "test", "vet", "install", "run", "generate"])),
    ("pytest", Heavy::All),
    ("jest", Heavy::All),
    ("vitest", Heavy::All),
    ("docker", Heavy::Words(&["build", "buildx build", "compose build"])),
];

/// Words that ask for the version or for help.
const LIGHT: [&str; 5] = ["--version", "--help", "-h", "-V", "-version"];

/// Whether a tool has a list of its own.
pub fn is_known(tool: &str) -> bool {
    TOOLS.iter().any(|(name, _)| *name == tool)
}

/// Whether a call of a tool is heavy. Every call of an unknown tool is.
pub fn is_heavy(tool: &str, arguments: &[&str]) -> bool {
    // `cargo +nightly build`: the first word chooses the toolchain.
    let arguments = match arguments {
        [first, rest @ ..] if tool == "cargo" && first.starts_with('+') => rest,
        all => all,
    };
    let first = arguments.first().copied().unwrap_or_default();
    match TOOLS.iter().find(|(name, _)| *name == tool) {
        Some((_, Heavy::Words(lists))) => {
            let second = arguments.get(1).copied().unwrap_or_default();
            lists.iter().any(|words| match words.split_once(' ') {
                None => *words == first,
                Some(pair) => pair == (first, second),
            })
        }
        Some((_, Heavy::All)) | None => !LIGHT.contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_decides() {
        for (tool, words, heavy) in [
            ("cargo", &["build", "--release"][..], true),
            ("cargo", &["+nightly", "test"], true),
            ("cargo", &["fmt"], false),
            ("cargo", &[], false),
            ("make", &[], true),
            ("make", &["-j8", "test"], true),
            ("make", &["--version"], false),
            ("yarn", &[], true),
            ("npm", &["run", "build"], true),
            ("npm", &["run", "dev"], false),
            ("docker", &["compose", "build"], true),
            ("docker", &["ps"], false),
            ("mytool", &["x"], true),
        ] {
            assert_eq!(is_heavy(tool, words), heavy, "{tool} {words:?}");
        }
    }
}
