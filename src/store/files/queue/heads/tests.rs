//! Tests of the hint: its lines, and the verbs of the store.

use super::text::{Lines, announcement, announcements, of};
use super::*;
use crate::model::queue::Usage;
use proptest::prelude::*;

fn priority(number: u8) -> Priority {
    Priority::new(number).expect("a priority")
}

fn first_head(number: u8, queue: &str) -> FirstHead {
    let used = Usage { used_us: number.into(), last_grant: 7 };
    FirstHead { priority: priority(number), used, queue: queue.to_owned() }
}

/// A hint of five heads, of which one is struck, and an announced lane.
fn sample() -> String {
    let normal = [(5, "user_a"), (4, "user_b~s1"), (5, "user_b~s2"), (6, "user_c")];
    let normal = normal.map(|(number, queue)| first_head(number, queue)).to_vec();
    let first = [(vec![first_head(1, "user_h")], false), (normal, true), (Vec::new(), false)];
    let mut text = of(Timestamp(7000), Timestamp(6900), &first);
    text.push_str(&announcement(priority(9), "user_d"));
    text.push_str("-1\n");
    text
}

fn lanes(view: &HeadsView, tier: Tier) -> Vec<(u8, &str)> {
    let lanes = view.lanes.get(&tier).into_iter().flatten();
    lanes.map(|(queue, priority)| (priority.number(), queue.as_str())).collect()
}

#[test]
fn a_view_has_the_first_live_heads_and_all_announced_lanes_and_no_part_of_a_user() {
    let lines = Lines::parse(sample()).expect("a hint");
    assert_eq!((lines.made, lines.decayed_to, lines.announced()), (Timestamp(7000), Timestamp(6900), 1));
    let view = lines.view(1);
    assert_eq!(lanes(&view, Tier::High), [(1, "user_h")]);
    assert_eq!(lanes(&view, Tier::Normal), [(4, "user_b~s1"), (5, "user_b~s2")]);
    assert_eq!(lanes(&view, Tier::Low), [(9, "user_d")]);
    assert_eq!(view.last, [None, Some(Some(first_head(5, "user_b~s2"))), None]);
    let last = Some(Some(first_head(6, "user_c")));
    assert_eq!([&lines.view(100).last[1], &lines.last(Tier::Normal)], [&last, &last], "further heads follow");
    assert_eq!(lines.view(0).last[1], Some(Some(first_head(5, "user_a"))), "a struck line shows the place, too");
}

#[test]
fn an_announced_lane_counts_at_its_best_priority_until_it_is_struck() {
    let mut text = sample();
    text.push_str(&announcement(priority(4), "user_c"));
    let mut lines = Lines::parse(text.clone()).expect("a hint");
    assert!(lanes(&lines.view(1), Tier::Normal).contains(&(4, "user_c")));
    let mut changes = String::new();
    lines.strike(Tier::Normal, "user_c", &mut changes);
    lines.strike(Tier::High, "user_d", &mut changes);
    assert_eq!(changes, "-4\n-6\n");
    let after = Lines::parse(text + &changes).expect("a hint");
    for lines in [lines, after] {
        assert_eq!(lanes(&lines.view(9), Tier::Normal), [(4, "user_b~s1"), (5, "user_b~s2")]);
    }
}

#[test]
fn a_torn_or_foreign_hint_is_not_used() {
    let text = sample();
    let ends_a_line = |end: &usize| text[..*end].ends_with('\n');
    let listed = text.find('+').expect("an announcement");
    for end in (0..text.len()).filter(|end| *end < listed || !ends_a_line(end)) {
        assert!(Lines::parse(text[..end].to_owned()).is_none(), "{end}");
    }
    for (from, to) in [
        ("heads 1", "heads 2"),
        ("\n+9 ", "\n+x "),
        ("-1\n", "-9\n"),
        ("+9", "9"),
        ("\n4 ", "\n+4 "),
        (" 4 7 user_b", " 4 user_b"),
    ] {
        assert!(Lines::parse(text.replacen(from, to, 1)).is_none(), "{to}");
    }
}

#[test]
fn announcements_are_taken_over_without_what_was_struck_or_torn() {
    assert_eq!(announcements("-3\n+5 user_a\n-4\n+6 user_b\n+5 us"), "+5 user_a\n+6 user_b\n");
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "(luzia-heads 1 )?[-+0-9 \nu_~]{0,60}") {
        let _ = Lines::parse(text).map(|mut lines| {
            lines.strike(Tier::Normal, "u", &mut String::new());
            (lines.view(2), lines.last(Tier::Low), lines.announced())
        });
    }
}
