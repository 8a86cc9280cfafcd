//! Preemption: which running tasks have to make room for a task that asks for it (`--preempt`). Pure.
//!
//! A task preempts holders of its own priority or a lower one, and only if that frees every full lane that it takes: no holder
//! is ended in vain. Of the possible holders, the one of the lowest priority goes. Of those with equal priority, the youngest
//! goes, because it loses least.

use crate::model::{LaneName, Priority, TaskId, Timestamp};

/// A task that holds a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rival {
    /// The task.
    pub id: TaskId,
    /// The priority of the task.
    pub priority: Priority,
    /// The time at which the task started.
    pub since: Timestamp,
    /// Whether the task is the work of another requester, which is ended only by consent.
    pub is_foreign: bool,
    /// Whether the requesting task runs in this task, or is a child of it.
    pub is_around: bool,
    /// Whether the task was asked to end, or to make room, before.
    pub is_asked: bool,
}

/// The holder of a slot of a full lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Holds {
    /// A task.
    Task(Rival),
    /// A lease, a `luzia lock`, or an unknown holder: its name.
    Other(String),
}

/// A lane that is full.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Full {
    /// The lane.
    pub lane: LaneName,
    /// The living holders of the lane.
    pub holders: Vec<Holds>,
}

/// The reason that no holder can be preempted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No holder of the lane is a task. The lane, and one holder.
    NoTask(LaneName, String),
    /// The holders have a higher priority. The lane, and one holder.
    Higher(LaneName, TaskId),
    /// The holders belong to another requester. The lane, and one holder.
    Foreign(LaneName, TaskId),
    /// The requesting task is inside the holder, or is its child.
    Around(LaneName, TaskId),
}

/// The holders that have to make room now; empty if the holders that were asked before suffice. `others` is true if the work of
/// other requesters may be ended.
pub fn choose(priority: Priority, others: bool, lanes: &[Full]) -> Result<Vec<TaskId>, Refusal> {
    let mut chosen: Vec<TaskId> = Vec::new();
    for full in lanes {
        let tasks = || full.holders.iter().filter_map(task_of);
        if tasks().any(|rival| rival.is_asked || chosen.contains(&rival.id)) {
            continue;
        }
        let may = |rival: &&Rival| !rival.is_around && rival.priority >= priority && (others || !rival.is_foreign);
        match tasks().filter(may).max_by_key(|rival| (rival.priority, rival.since, rival.id)) {
            Some(rival) => chosen.push(rival.id),
            None => return Err(refusal(priority, full)),
        }
    }
    Ok(chosen)
}

fn task_of(holds: &Holds) -> Option<&Rival> {
    match holds {
        Holds::Task(rival) => Some(rival),
        Holds::Other(_) => None,
    }
}

/// The reason that is nearest to a success.
fn refusal(priority: Priority, full: &Full) -> Refusal {
    let lane = full.lane.clone();
    let mut tasks = full.holders.iter().filter_map(task_of).filter(|rival| !rival.is_around);
    if let Some(rival) = tasks.clone().find(|rival| rival.priority >= priority) {
        return Refusal::Foreign(lane, rival.id);
    }
    if let Some(rival) = tasks.next() {
        return Refusal::Higher(lane, rival.id);
    }
    if let Some(rival) = full.holders.iter().find_map(task_of) {
        return Refusal::Around(lane, rival.id);
    }
    let name = full.holders.iter().find_map(|holds| match holds {
        Holds::Other(name) => Some(name.clone()),
        Holds::Task(_) => None,
    });
    Refusal::NoTask(lane, name.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rival(id: u64, priority: u8) -> Rival {
        let priority = Priority::new(priority).expect("a priority");
        let since = Timestamp(i64::try_from(id).expect("small"));
        Rival { id: TaskId(id), priority, since, is_foreign: false, is_around: false, is_asked: false }
    }

    fn full(holders: Vec<Holds>) -> Full {
        Full { lane: LaneName::parse("build").expect("a lane"), holders }
    }

    fn five() -> Priority {
        Priority::new(5).expect("a priority")
    }

    #[test]
    fn the_lowest_priority_makes_room_and_of_those_the_youngest() {
        let lane = full(vec![Holds::Task(rival(1, 7)), Holds::Task(rival(2, 7)), Holds::Task(rival(3, 5))]);
        assert_eq!(choose(five(), false, &[lane]), Ok(vec![TaskId(2)]));
    }

    #[test]
    fn one_that_holds_two_lanes_makes_room_in_both() {
        let lanes =
            [full(vec![Holds::Task(rival(1, 5))]), full(vec![Holds::Task(rival(1, 5)), Holds::Task(rival(2, 9))])];
        assert_eq!(choose(five(), false, &lanes), Ok(vec![TaskId(1)]));
    }

    #[test]
    fn a_holder_that_was_asked_before_suffices() {
        let asked = Rival { is_asked: true, ..rival(1, 1) };
        assert_eq!(choose(five(), false, &[full(vec![Holds::Task(asked), Holds::Task(rival(2, 9))])]), Ok(Vec::new()));
    }

    #[test]
    fn each_refusal_names_what_is_in_the_way() {
        let lane = || LaneName::parse("build").expect("a lane");
        let foreign = Rival { is_foreign: true, ..rival(1, 9) };
        for (holder, wanted) in [
            (Holds::Other("me".into()), Refusal::NoTask(lane(), "me".into())),
            (Holds::Task(rival(1, 4)), Refusal::Higher(lane(), TaskId(1))),
            (Holds::Task(foreign.clone()), Refusal::Foreign(lane(), TaskId(1))),
            (Holds::Task(Rival { is_around: true, ..rival(1, 9) }), Refusal::Around(lane(), TaskId(1))),
        ] {
            assert_eq!(choose(five(), false, &[full(vec![holder])]), Err(wanted));
        }
        assert_eq!(choose(five(), true, &[full(vec![Holds::Task(foreign)])]), Ok(vec![TaskId(1)]));
    }

    prop_compose! {
        fn holder()(id in 1..8u64, priority in 0..10u8, is_foreign: bool, is_around: bool, is_asked: bool, is_task in 0..5u8) -> Holds {
            match is_task {
                0 => Holds::Other("x".into()),
                _ => Holds::Task(Rival { is_foreign, is_around, is_asked, ..rival(id, priority) }),
            }
        }
    }

    proptest! {
        #[test]
        fn nobody_is_chosen_who_must_not_be_and_every_full_lane_is_freed(
            lanes in proptest::collection::vec(proptest::collection::vec(holder(), 1..4), 0..4),
            priority in 0..10u8,
            others: bool,
        ) {
            let lanes: Vec<Full> = lanes.into_iter().map(full).collect();
            let priority = Priority::new(priority).expect("a priority");
            if let Ok(chosen) = choose(priority, others, &lanes) {
                let all: Vec<&Rival> = lanes.iter().flat_map(|lane| lane.holders.iter().filter_map(task_of)).collect();
                for id in &chosen {
                    let may = |rival: &&&Rival| {
                        rival.id == *id && !rival.is_around && rival.priority >= priority && (others || !rival.is_foreign)
                    };
                    prop_assert!(all.iter().any(|rival| may(&rival)));
                }
                for lane in &lanes {
                    let is_freed = |rival: &Rival| rival.is_asked || chosen.contains(&rival.id);
                    prop_assert!(lane.holders.iter().filter_map(task_of).any(is_freed));
                }
                prop_assert!(chosen.len() <= lanes.len(), "at most one for each lane");
            }
        }
    }
}
