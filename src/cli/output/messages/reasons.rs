//! The reasons as JSON, and in words those that no other task causes.

use super::{MORE_SLOTS, attach_here, forceful_command, holder_json, obstacle_text, rooms_json, rooms_text, worker};
use crate::app::{Booked, Difference, Life, Obstacle, lane_word, shell_word};
use crate::cli::output::{capacity, json};
use crate::model::time::format_duration;
use crate::model::{Task, Timestamp};
use serde_json::{Value, json};

/// The reasons that no other task causes: rules of lanes, space, and the absence of a process that starts tasks.
pub(super) fn rule_text(obstacle: &Obstacle, task: &Task, now: Timestamp) -> (String, Option<String>) {
    match obstacle {
        Obstacle::Reserved { used, max, kept } => {
            let left = max.saturating_sub(*used);
            let text = format!(
                "{used} of {max} slots are in use, and the {left} free ones are reserved for other lanes ({kept} reserved)"
            );
            (text, Some("luzia lanes".to_owned()))
        }
        Obstacle::RateLimited { lane, rate, until } => {
            let left = format_duration(until.saturating_ms_since(now));
            let text = format!("the rate of lane \"{lane}\", {rate}, is used up for {left} (until {until})");
            (text, Some(format!("luzia wait {}", task.id)))
        }
        Obstacle::NoGrant { lane } => {
            let text = match lane {
                Some(lane) => {
                    format!("its grant of lane \"{lane}\" is used up, and the scheduler of several hosts must renew it")
                }
                None => "the lease of this host with the scheduler of several hosts has ended".to_owned(),
            };
            (text, Some(format!("luzia explain {}", task.id)))
        }
        Obstacle::NoHost { place } => {
            let text = match place {
                Some(place) => {
                    format!(
                        "it is for host {place}, which is drained (`luzia hosts undrain`) or has no agent (`luzia daemon` there)"
                    )
                }
                None => {
                    "each host is drained (`luzia hosts undrain`) or has no agent (`luzia daemon` there)".to_owned()
                }
            };
            (text, Some("luzia hosts".to_owned()))
        }
        Obstacle::HostsFull { place } => {
            let text = match place {
                Some(place) => format!("every slot of host {place} is in use"),
                None => "every slot of every host is in use".to_owned(),
            };
            (text, Some("luzia hosts".to_owned()))
        }
        Obstacle::NoDirectory { host, directory } => {
            let text = format!("host {host} has no directory {directory}; a host that has it takes the task");
            (text, Some("luzia hosts".to_owned()))
        }
        Obstacle::Booked { booked } => booked_text(booked, now),
        Obstacle::HostBusy { shut } => capacity::busy_text(shut),
        Obstacle::SlotOccupied { lane, occupied } => capacity::occupied_text(lane, occupied),
        Obstacle::TooFewSlots { narrow } => capacity::narrow_text(narrow),
        Obstacle::StartWaits { rooms } => {
            let text = format!("its start waits for space, a process or memory; {}", rooms_text(rooms));
            (text, Some(format!("luzia explain {}", task.id)))
        }
        Obstacle::ResultWaits { rooms } => {
            let text = format!("its command is over and its result waits for space; {}", rooms_text(rooms));
            let text = text + "; free some space, and the result is written";
            (text, Some(format!("luzia explain {}", task.id)))
        }
        _ => {
            let text = "nothing is running that starts tasks: start `luzia daemon`, or run `luzia dispatch`".to_owned();
            (text, Some("luzia dispatch".to_owned()))
        }
    }
}

/// The sentence about a reservation: the task that this one would delay, and the start of that task.
fn booked_text(booked: &Booked, now: Timestamp) -> (String, Option<String>) {
    let (lane, first) = (&booked.lane, booked.by.first);
    let end = match booked.by.start {
        Some(start) => {
            let left = format_duration(start.saturating_ms_since(now));
            format!(
                "starts in {left} (at {start}) if the others end as expected, and this task may run for longer than that"
            )
        }
        None => "starts when the others have ended, at an unknown time".to_owned(),
    };
    let text = format!("{first} waits for several slots at once, lane \"{lane}\" among them; it {end}");
    (text, Some(format!("luzia explain {first}")))
}

/// A task of another sandbox. A task of another caller is taken here only by an override.
fn other_context_json(differences: &[Difference], life: Life, is_own: bool, task: &Task) -> Value {
    let what: Vec<String> = differences.iter().map(Difference::text).collect();
    let mut evidence = json!({ "differences": what, "sandbox": life.word(), "own": is_own });
    if !is_own && life != Life::Lives {
        evidence["override"] = json!([attach_here(task.id)]);
    }
    evidence
}

/// An obstacle as JSON.
pub fn obstacle_json(obstacle: &Obstacle, task: &Task, now: Timestamp) -> Value {
    let (message, next) = obstacle_text(obstacle, task, now);
    let next: Vec<String> = next.into_iter().collect();
    let forceful = match obstacle {
        Obstacle::UserLockHeld { holder } => forceful_command(&shell_word(&task.user), holder).zip(Some(holder)),
        Obstacle::LaneFull { lane, holder, .. } => forceful_command(&lane_word(lane), holder).zip(Some(holder)),
        _ => None,
    };
    let mut value = json!({ "reason": obstacle.word(), "message": message, "next": next });
    if let Some((command, holder)) = forceful {
        value = json::with(value, json!({ "override": [command], "override_ends": worker(holder) }));
    }
    let evidence = match obstacle {
        Obstacle::Cycle { members } => {
            json!({ "members": members.iter().map(ToString::to_string).collect::<Vec<_>>() })
        }
        Obstacle::Paused { pause } => capacity::pause_json(pause),
        Obstacle::Delayed { until } => json!({ "until": until.to_string() }),
        Obstacle::After { tasks } => json!({ "tasks": tasks.iter().map(ToString::to_string).collect::<Vec<_>>() }),
        Obstacle::OtherContext { differences, life, is_own } => other_context_json(differences, *life, *is_own, task),
        Obstacle::NoHost { place } | Obstacle::HostsFull { place } => json!({ "host": place }),
        Obstacle::NoDirectory { host, directory } => json!({ "host": host, "directory": directory }),
        Obstacle::NoGrant { lane } => json!({ "lane": lane.as_ref().map(ToString::to_string) }),
        Obstacle::NewerRecord { first, record } => json!({ "first": first.to_string(), "record": record }),
        Obstacle::Priority { ahead } => json!({ "ahead": ahead }),
        Obstacle::LaneOrder { lane, first } => json!({ "lane": lane.to_string(), "first": first.to_string() }),
        Obstacle::Booked { booked } => json!({
            "lane": booked.lane.to_string(),
            "first": booked.by.first.to_string(),
            "start": booked.by.start.map(|start| start.to_string()),
        }),
        Obstacle::HostBusy { shut } => capacity::busy_json(shut),
        Obstacle::SlotOccupied { lane, occupied } => capacity::occupied_json(lane, occupied),
        Obstacle::TooFewSlots { narrow } => capacity::narrow_json(narrow),
        Obstacle::UserLockHeld { holder } => json!({ "lock": holder_json(holder) }),
        Obstacle::Loan { lane, holder } => json!({ "lane": lane.to_string(), "lock": holder_json(holder) }),
        Obstacle::LaneFull { lane, used, max, needed, holder } => {
            let free = max.saturating_sub(*used);
            let hint = lane.is_global().then_some(MORE_SLOTS);
            let lane = lane.to_string();
            json!({
                "lane": lane,
                "used": used,
                "max": max,
                "free": free,
                "needed": needed,
                "lock": holder_json(holder),
                "hint": hint,
            })
        }
        Obstacle::Reserved { used, max, kept } => {
            json!({ "lane": "global", "used": used, "max": max, "kept": kept, "hint": MORE_SLOTS })
        }
        Obstacle::RateLimited { lane, rate, until } => {
            json!({ "lane": lane.to_string(), "rate": rate.to_string(), "until": until.to_string() })
        }
        Obstacle::StartWaits { rooms } | Obstacle::ResultWaits { rooms } => json!({ "rooms": rooms_json(rooms) }),
        Obstacle::NoDispatcher => json!({}),
    };
    json::with(value, evidence)
}
