//! The names of lanes.

use super::*;

#[test]
fn a_lane_reads_back_from_its_stem() {
    for (text, stem) in [
        ("session:telegram:user123", "session_telegram=3auser123"),
        ("user:a_b", "user_a_b"),
        ("cron", "lane_cron"),
        ("lane:user:bob", "lane_user=3abob"),
        ("thread:7", "thread_7"),
    ] {
        let lane = LaneName::parse(text).expect("a lane");
        assert_eq!(lane.stem(), stem);
        assert_eq!(LaneName::from_stem(stem), Some(lane.clone()));
        assert_eq!(lane.to_string(), text);
    }
}

#[test]
fn kinds_are_lower_case_words() {
    for text in ["Thread:7", ":7", "7:x", "a_b:c", "thread:", ""] {
        assert!(LaneName::parse(text).is_err(), "{text}");
    }
}

#[test]
fn bare_words_are_users_but_for_the_built_in_lanes() {
    let of = |text| Target::any(text).expect("a target");
    assert_eq!(of("alice"), Target::Lane(LaneName::parse("user:alice").expect("lane")));
    assert_eq!(of("lane:gpu"), Target::Lane(LaneName::parse("gpu").expect("lane")));
    assert_eq!(of("global"), Target::Lane(LaneName::global()));
    assert_eq!(of("12"), Target::Task(TaskId(12)));
    assert_eq!(of("task_12"), Target::Task(TaskId(12)));
}

#[test]
fn slots_have_one_spelling() {
    assert_eq!(split_slot_stem("lane_global"), Some(("lane_global", 0)));
    assert_eq!(split_slot_stem("lane_global@3"), Some(("lane_global", 3)));
    for wrong in ["lane_global@0", "lane_global@03", "lane_global@", "lane_global@x"] {
        assert_eq!(split_slot_stem(wrong), None, "{wrong}");
    }
    assert_eq!(slot_stem("lane_global", 2), "lane_global@2");
}
