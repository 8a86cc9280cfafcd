//! Mistakes that can be seen before a task is queued: a name that is almost another one, a shell line as one word, an option
//! behind the command. Pure: it takes words, and returns the probable meaning (issue rows of `enqueue`).

/// The options of `enqueue` and `run` that few commands have, so that one behind the command is probably misplaced.
const TELLING_OPTIONS: &str = "--priority --after --on-conflict --start-within --retries --user --lane --thread --repo --tree --cwd \
    --grace --no-check --yield-after --result-file --group-output";

/// Character sequences with a meaning to a shell that are rare in the names of programs.
const SHELL_SIGNS: [&str; 7] = ["&&", "||", "|", ";", ">", "<", "$("];

/// The longest name that is compared: the comparison takes room for the product of both lengths.
const MOST_BYTES: usize = 64;

/// The name that is probably meant by `word`: the nearest of `known`, if the number of different letters is small enough for a
/// typing error. None if `word` itself is known.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        if name == word {
            return None;
        }
        if word.len() > MOST_BYTES || name.len() > MOST_BYTES {
            continue;
        }
        let distance = match name.eq_ignore_ascii_case(word) {
            true => 0,
            false => strsim::damerau_levenshtein(word, name),
        };
        // Names that end in different numbers are a series: agent-1 and agent-2 are two users.
        let is_series = without_number(word).is_some_and(|head| without_number(name) == Some(head));
        let letters = word.chars().count().min(name.chars().count());
        let allowed = if letters < 3 { 0 } else { letters.div_ceil(6).min(3) };
        if distance <= allowed && !is_series && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

fn without_number(name: &str) -> Option<&str> {
    let head = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (head.len() < name.len()).then_some(head)
}

/// Whether a command is one word that was probably meant for a shell, e.g. `'make && make install'`. Callers ask only about a
/// command that is not found.
pub fn is_shell_line(command: &[String]) -> bool {
    let [word] = command else { return false };
    word.contains(char::is_whitespace) || SHELL_SIGNS.iter().any(|sign| word.contains(sign))
}

/// The first option behind the command word that the command probably does not have.
pub fn misplaced_option(command: &[String]) -> Option<&str> {
    let arguments = command.iter().skip(1).take_while(|word| *word != "--");
    let name = |word: &'_ String| word.split_once('=').map_or(word.len(), |(name, _)| name.len());
    arguments.map(|word| &word[..name(word)]).find(|name| TELLING_OPTIONS.split(' ').any(|option| option == *name))
}

/// Whether a command that is not found looks like the rest of an option's value, as in `--timeout 10 minutes -- make`.
pub fn has_separator(command: &[String]) -> bool {
    command.iter().skip(1).any(|word| word == "--")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_slip_of_the_hand_is_recognised() {
        for (word, known, meant) in [
            ("alcie", vec!["bob", "alice"], Some("alice")),
            ("Alice", vec!["alice"], Some("alice")),
            ("alice_projct", vec!["alice_project"], Some("alice_project")),
            ("alice", vec!["alice", "alcie"], None),
            ("bob", vec!["rob"], Some("rob")),
            ("carol", vec!["alice"], None),
            ("a", vec!["b"], None),
            ("agent-2", vec!["agent-1"], None),
            ("agent2", vec!["agent"], Some("agent")),
        ] {
            assert_eq!(nearest(word, known.clone()), meant, "{word} among {known:?}");
        }
    }

    #[test]
    fn options_and_shell_lines_are_told_from_arguments() {
        assert_eq!(misplaced_option(&words("sleep 1 --priority 1")), Some("--priority"));
        assert_eq!(misplaced_option(&words("sleep 1 --priority=1")), Some("--priority"));
        assert_eq!(misplaced_option(&words("make --jobs 4")), None);
        assert_eq!(misplaced_option(&words("npm run x -- --user a")), None);
        assert!(is_shell_line(&["make && make install".to_owned()]));
        assert!(is_shell_line(&["a|b".to_owned()]));
        assert!(!is_shell_line(&words("make install")));
        assert!(has_separator(&words("minutes -- true")));
    }

    proptest! {
        #[test]
        fn a_name_that_is_known_is_never_doubted(names in prop::collection::vec("[a-zA-Z0-9é-]{1,70}", 1..8), at in 0usize..8) {
            let word = names[at % names.len()].clone();
            prop_assert_eq!(nearest(&word, names.iter().map(String::as_str)), None);
        }
    }
}
