//! Names that people cannot tell apart. luzia neither folds case nor normalises, so such names are different users with
//! different queues. Pure.

use std::collections::{BTreeMap, BTreeSet};

/// Groups of two or more names that look the same.
pub(super) fn alike<'a>(names: &BTreeSet<&'a str>) -> Vec<Vec<&'a str>> {
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in names {
        groups.entry(skeleton(name)).or_default().push(name);
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

/// What two names have in common that look the same (UTS 39), when case, blanks and letters without a width do not count.
fn skeleton(name: &str) -> String {
    let has_no_width = |letter| matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}');
    let letters = name.chars().flat_map(char::to_lowercase);
    let seen: String = letters.filter(|letter| !letter.is_whitespace() && !has_no_width(*letter)).collect();
    unicode_security::skeleton(&seen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &[&str], groups: usize) {
        assert_eq!(alike(&names.iter().copied().collect()).len(), groups, "{names:?}");
    }

    #[test]
    fn names_that_look_the_same_are_found() {
        check(&["alice", "Alice"], 1);
        check(&["alice", "аlice"], 1);
        check(&["alice", "alice "], 1);
        check(&["alice", "ａｌｉｃｅ"], 1);
        check(&["alice", "ali\u{200b}ce", "bob", "BOB"], 2);
        check(&["user1", "userl"], 1);
    }

    #[test]
    fn names_that_differ_are_left_alone() {
        check(&["alice", "alicia", "bob", "алиса", "日本"], 0);
        check(&["alice"], 0);
        check(&[], 0);
    }
}
