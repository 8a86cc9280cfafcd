//! Names that people cannot tell apart. luzia neither folds case nor normalises, so such names are different users with
//! different queues. Pure.

use std::collections::{BTreeMap, BTreeSet};

/// Letters of other scripts that look like a Latin one.
const LOOK_ALIKES: [(&str, char); 22] = [
    ("аαạ", 'a'),
    ("сϲ", 'c'),
    ("ԁ", 'd'),
    ("её", 'e'),
    ("ɡ", 'g'),
    ("һ", 'h'),
    ("іιı", 'i'),
    ("јϳ", 'j'),
    ("кκ", 'k'),
    ("ӏ", 'l'),
    ("м", 'm'),
    ("ո", 'n'),
    ("оοσ", 'o'),
    ("рρ", 'p'),
    ("ԛ", 'q'),
    ("ѕ", 's'),
    ("тτ", 't'),
    ("υս", 'u'),
    ("ѵν", 'v'),
    ("ԝω", 'w'),
    ("хχ", 'x'),
    ("уγ", 'y'),
];

/// Groups of two or more names that look the same.
pub(super) fn alike<'a>(names: &BTreeSet<&'a str>) -> Vec<Vec<&'a str>> {
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in names {
        groups.entry(skeleton(name)).or_default().push(name);
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

/// What is left of a name when case, look-alikes, marks and blanks do not count.
fn skeleton(name: &str) -> String {
    name.chars().flat_map(char::to_lowercase).filter_map(plain).collect()
}

fn plain(letter: char) -> Option<char> {
    let letter = match letter {
        // Full-width forms of ASCII.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - 0xfee0)?.to_ascii_lowercase(),
        // Combining marks, joiners and other characters without a width.
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' => return None,
        other => other,
    };
    if letter.is_whitespace() {
        return None;
    }
    Some(LOOK_ALIKES.iter().find(|(others, _)| others.contains(letter)).map_or(letter, |(_, latin)| *latin))
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
    }

    #[test]
    fn names_that_differ_are_left_alone() {
        check(&["alice", "alicia", "bob", "алиса", "日本"], 0);
        check(&["alice"], 0);
        check(&[], 0);
    }
}
