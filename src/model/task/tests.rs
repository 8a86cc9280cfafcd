//! Tests of the numbers and the priorities of tasks.

use super::*;

#[test]
fn task_ids_have_one_spelling() {
    assert_eq!(TaskId::parse("task_12"), Some(TaskId(12)));
    assert_eq!(TaskId::parse("12"), Some(TaskId(12)));
    for wrong in ["task_012", "012", "0", "task_0", "+1", "-1", "task_", "", "task_1x", "99999999999999999999999"] {
        assert_eq!(TaskId::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn priorities_fall_into_tiers() {
    for tier in Tier::ALL {
        assert!(tier.priorities().all(|priority| priority.tier() == tier));
    }
    assert_eq!(Tier::ALL.into_iter().flat_map(Tier::priorities).count(), 10);
    assert_eq!(Priority::new(10), None);
}
