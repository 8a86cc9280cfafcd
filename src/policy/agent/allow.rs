//! The commands that a server of tools runs for an agent (`mcp.allow`, decision 135). Pure.
//!
//! A pattern is a list of words with blanks between. A word admits the same word; a `*` in it matches any text, including the
//! empty one. A pattern whose last word is `*` alone admits any number of further words.

/// Whether one of the patterns admits a command.
pub fn admits(patterns: &[String], argv: &[String]) -> bool {
    !argv.is_empty() && patterns.iter().any(|pattern| admits_one(pattern, argv))
}

/// Whether one of the patterns admits the name of a variable (`mcp.env`).
pub fn admits_name(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| is_like(pattern, name))
}

fn admits_one(pattern: &str, argv: &[String]) -> bool {
    let words: Vec<&str> = pattern.split_whitespace().collect();
    let (words, fits) = match &words[..] {
        [words @ .., "*"] if !words.is_empty() => (words, argv.len() >= words.len()),
        words => (words, argv.len() == words.len()),
    };
    !words.is_empty() && fits && words.iter().zip(argv).all(|(word, given)| is_like(word, given))
}

/// Whether a text matches a word in which `*` matches any text.
fn is_like(word: &str, text: &str) -> bool {
    let Some((first, rest)) = word.split_once('*') else { return word == text };
    let Some(mut left) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.len() >= last.len() && left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
