//! The table of environments, and of processes above a call.

use super::*;

fn agent(pairs: &[(&str, &str)]) -> Option<(String, Option<String>)> {
    let found = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    agent_of(&found).map(|agent| (agent.name, agent.session))
}

#[test]
fn an_environment_tells_its_agent() {
    let some = |name: &str, session: &str| Some((name.to_owned(), (!session.is_empty()).then(|| session.to_owned())));
    for (pairs, expected) in [
        (&[][..], None),
        (&[("HOME", "/x"), ("CLAUDECODE", "")], None),
        (&[("CLAUDECODE", "1")], some("claude-code", "")),
        (&[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "abc")], some("claude-code", "abc")),
        (
            &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "abc"), ("CLAUDE_CODE_AGENT_ID", "a1")],
            some("claude-code", "abc/a1"),
        ),
        (&[("CLAUDE_CODE_SESSION_ID", "abc")], None),
        (&[("CODEX_THREAD_ID", "019d")], some("codex", "019d")),
        (&[("CODEX_SANDBOX", "seatbelt")], some("codex", "")),
        (&[("GEMINI_CLI", "1")], some("gemini", "")),
        (&[("CURSOR_AGENT", "1")], some("cursor", "")),
        (&[("CURSOR_TRACE_ID", "t")], some("cursor", "t")),
        (&[("CURSOR_TRACE_ID", "t"), ("CLAUDECODE", "1")], some("claude-code", "")),
        (&[("COPILOT_CLI", "1"), ("COPILOT_AGENT_SESSION_ID", "c")], some("copilot", "c")),
        (&[("LUZIA_AGENT", "me"), ("CODEX_THREAD_ID", "019d")], some("me", "019d")),
        (&[("LUZIA_AGENT", "me"), ("LUZIA_SESSION", "s"), ("CODEX_THREAD_ID", "019d")], some("me", "s")),
        (&[("LUZIA_SESSION", "s")], some("agent", "s")),
        (&[("LUZIA_AGENT", " \t")], None),
        (&[("LUZIA_AGENT", "a\u{1b}b")], some("a\\u{1b}b", "")),
    ] {
        assert_eq!(agent(pairs), expected, "{pairs:?}");
    }
    let long = "x".repeat(1000);
    let (name, session) = agent(&[("LUZIA_AGENT", &long), ("LUZIA_SESSION", &long)]).expect("an agent");
    assert_eq!((name.len(), session.map(|key| key.len())), (MOST_BYTES, Some(MOST_SESSION_BYTES)));
}

#[test]
fn a_person_in_the_terminal_of_an_agent_is_none() {
    for (name, expected) in [
        ("CLAUDECODE", true),
        ("CODEX_THREAD_ID", true),
        ("GEMINI_CLI", true),
        ("COPILOT_CLI", true),
        ("CURSOR_AGENT", true),
        ("LUZIA_AGENT", true),
        ("CURSOR_TRACE_ID", false),
        ("LUZIA_SESSION", false),
        ("TERM", false),
    ] {
        assert_eq!(is_agent(&|asked| (asked == name).then(|| "1".to_owned())), expected, "{name}");
    }
    assert!(!is_agent(&|_| Some(String::new())));
}

#[test]
fn names_that_would_confuse_a_reader_are_refused() {
    for (text, is_fine) in
        [("codex", true), ("a b é", true), ("", false), (" ", false), ("a\nb", false), ("a\u{202e}b", false)]
    {
        assert_eq!(refusal(text, MOST_BYTES).is_none(), is_fine, "{text:?}");
    }
    assert!(refusal(&"x".repeat(65), MOST_BYTES).is_some());
}

#[test]
fn two_are_the_same_by_their_session_and_different_by_their_name() {
    let who = |agent: &str, session: &str| {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Who { agent: some(agent), session: some(session), ..Who::default() }
    };
    for (one, other, same) in [
        (who("codex", "s"), who("codex", "s"), Some(true)),
        (who("codex", "s"), who("other", "s"), Some(true)),
        (who("codex", "s"), who("codex", "t"), Some(false)),
        (who("codex", "s/a"), who("codex", "s"), Some(false)),
        (who("codex", "s"), who("gemini", ""), Some(false)),
        // Two agents may have one name.
        (who("codex", "s"), who("codex", ""), None),
        (who("", ""), who("codex", "s"), None),
    ] {
        assert_eq!(is_same(&one, &other), same, "{one:?} {other:?}");
        assert_eq!(is_same(&other, &one), same);
    }
}

fn above(processes: &[(u32, &str)]) -> Vec<Ancestor> {
    let ancestor = |(pid, program): &(u32, &str)| Ancestor {
        process: Identity { pid: *pid, start: 1, boot_id: "b".into() },
        program: (*program).to_owned(),
        is_luzia: *program == "luzia",
    };
    processes.iter().map(ancestor).collect()
}

#[test]
fn the_agent_is_the_nearest_process_that_is_neither_a_shell_nor_luzia() {
    for (processes, is_initial, agent) in [
        (&[(9, "bash"), (8, "claude"), (7, "zsh"), (1, "systemd")][..], true, Some(8)),
        (&[(9, "timeout"), (8, "-bash"), (7, "luzia"), (6, "node"), (5, "make"), (1, "init")], true, Some(6)),
        (&[(9, "bash"), (1, "systemd")], true, None),
        (&[(9, "bash"), (1, "bwrap")], false, Some(1)),
        (&[(9, "python3"), (1, "bash")], false, Some(9)),
        (&[(9, "bash"), (8, "")], false, None),
        (&[], true, None),
    ] {
        assert_eq!(agent_above(&above(processes), is_initial).map(|it| it.process.pid), agent, "{processes:?}");
    }
}

fn admitted(pattern: &str, command: &str) -> bool {
    let argv: Vec<String> = command.split(' ').map(str::to_owned).collect();
    admits(&[pattern.to_owned()], &argv)
}

#[test]
fn a_pattern_admits_its_words_and_no_others() {
    for (pattern, command) in [
        ("make", "make"),
        ("cargo test", "cargo test"),
        ("cargo *", "cargo"),
        ("cargo *", "cargo test --all"),
        ("git status *", "git status -s"),
        ("npm run test:*", "npm run test:unit"),
        ("./ci*.sh", "./ci-1.sh"),
        ("*", "make"),
        ("a*b*c x", "a1b2c x"),
    ] {
        assert!(admitted(pattern, command), "{pattern}: {command}");
    }
    for (pattern, command) in [
        ("make", "make all"),
        ("make", "/tmp/make"),
        ("cargo test", "cargo"),
        ("git status *", "git push"),
        ("npm run test:*", "npm run deploy"),
        ("npm run test:*", "npm run test:unit --rm"),
        ("*", "rm -rf"),
        ("a*b*b", "a1b"),
        ("", "make"),
        (" ", "make"),
    ] {
        assert!(!admitted(pattern, command), "{pattern}: {command}");
    }
    assert!(!admits(&["*".to_owned()], &[]));
    assert!(!admits(&[], &["make".to_owned()]));
}

proptest::proptest! {
    #[test]
    fn a_star_admits_whatever_stands_for_it(first in "[a-c]{0,4}", middle in "[a-c ]{0,6}", last in "[a-c]{0,4}") {
        let (word, text, longer) = (format!("{first}*{last}"), format!("{first}{middle}{last}"), format!("{first}x"));
        proptest::prop_assert!(is_like(&word, &text));
        proptest::prop_assert!(!is_like(&first, &longer));
    }
}

#[test]
fn a_known_session_decides_and_else_the_user() {
    for (same_agent, holder, foreign) in [
        (Some(true), Some("bob"), false),
        (Some(true), None, false),
        (Some(false), Some("alice"), true),
        (Some(false), None, true),
        (None, Some("bob"), true),
        (None, Some("alice"), false),
        (None, None, false),
    ] {
        assert_eq!(is_foreign(Sides { same_agent, caller: "alice", holder }), foreign, "{same_agent:?} {holder:?}");
    }
}
