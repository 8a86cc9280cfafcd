//! Sentences for refusals, reasons and outcomes. Decides nothing.

mod reasons;

use crate::app::admission::turns::MOST_AHEAD;
use crate::app::capacity::pause_text;
use crate::app::query::cycles::ring_text;
use crate::app::query::list::Stuck;
use crate::app::{Difference, Holder, Life, Obstacle, Room, lane_word, shell_word};
use crate::model::evidence::Reason;
use crate::model::time::format_duration;
use crate::model::{LaneName, Member, Task, TaskId, Timestamp};
use reasons::rule_text;
use serde_json::{Value, json};

pub use reasons::obstacle_json;

/// Place where the sandbox of an agent lists the directories that its commands may write.
pub fn grant_of_agent(agent: &str) -> Option<&'static str> {
    Some(match agent {
        "claude-code" => "Claude Code lists writable directories under sandbox.filesystem.allowWrite in its settings",
        "codex" => "Codex lists writable directories under sandbox_workspace_write.writable_roots in config.toml",
        "cursor" => "Cursor lists writable directories under additionalReadwritePaths in sandbox.json",
        "gemini" | "copilot" => "the sandbox of this agent has a list of writable directories",
        _ => return None,
    })
}

/// A ring of members that wait for each other for ever, in words.
pub fn ring_sentence(members: &[Member]) -> String {
    format!("these wait for each other for ever: {}", ring_text(members))
}

fn ring_next(members: &[Member], of: Option<&Task>) -> String {
    let other = members.iter().find_map(|member| match member {
        Member::Task(id) if of.is_none_or(|task| *id != task.id) => Some(format!("luzia explain {id}")),
        _ => None,
    });
    other.unwrap_or_else(|| "luzia list-locks".to_owned())
}

/// The ring as the reason of a task, for a lane that its members hold.
pub fn ring_json(members: &[Member]) -> Value {
    let names: Vec<String> = members.iter().map(Member::to_string).collect();
    let next = [ring_next(members, None)];
    json!({ "reason": "Cycle", "message": ring_sentence(members), "next": next, "members": names })
}

/// An obstacle as a sentence, and the command that would change it.
pub fn obstacle_text(obstacle: &Obstacle, task: &Task, now: Timestamp) -> (String, Option<String>) {
    match obstacle {
        Obstacle::Cycle { members } => (ring_sentence(members), Some(ring_next(members, Some(task)))),
        Obstacle::Paused { pause } => {
            (pause_text(pause, &task.id.to_string(), now), Some(format!("luzia wait {}", task.id)))
        }
        Obstacle::Delayed { until } => {
            let left = format_duration(until.saturating_ms_since(now));
            (format!("it is not due for {left} (until {until})"), Some(format!("luzia wait {}", task.id)))
        }
        Obstacle::After { tasks } => {
            let names: Vec<String> = tasks.iter().map(ToString::to_string).collect();
            let text = format!("it comes after {}, not over yet", names.join(", "));
            (text, names.first().map(|name| format!("luzia explain {name}")))
        }
        Obstacle::OtherContext { differences, life, is_own } => other_context_text(differences, *life, *is_own, task),
        Obstacle::NewerRecord { first, record } => {
            let text = format!("{first} comes first, and this version of luzia cannot start it: {record}");
            (text, Some("luzia doctor".to_owned()))
        }
        Obstacle::Priority { ahead: 0 } => {
            ("no scheduling pass has started it".to_owned(), Some("luzia status".to_owned()))
        }
        Obstacle::Priority { ahead } => {
            let (noun, verb) = match *ahead {
                1 => ("task", "comes"),
                MOST_AHEAD => ("or more tasks", "come"),
                _ => ("tasks", "come"),
            };
            let text = format!("{ahead} {noun} of user \"{}\" {verb} first", task.user);
            (text, Some(format!("luzia list -u {}", shell_word(&task.user))))
        }
        Obstacle::LaneOrder { lane, first } => {
            (format!("{first} is first in lane \"{lane}\""), Some(format!("luzia explain {first}")))
        }
        Obstacle::UserLockHeld { holder } => {
            let text = format!("{}'s lane is busy: {}{}", task.user, busy_text(holder, now), parent_text(task, holder));
            (text, Some(next_command(holder)))
        }
        Obstacle::Loan { lane, holder } => {
            let busy = busy_text(holder, now);
            let text = format!("another child of its parent has borrowed lane \"{lane}\", and they take turns: {busy}");
            (text, Some(next_command(holder)))
        }
        Obstacle::LaneFull { lane, used, max, needed, holder } => {
            let text = format!("{}: {}", full_text(lane, *used, *max, *needed), busy_text(holder, now));
            let command = if lane.is_global() { "luzia status".to_owned() } else { next_command(holder) };
            (text + parent_text(task, holder), Some(command))
        }
        Obstacle::Reserved { .. } | Obstacle::RateLimited { .. } | Obstacle::NoDispatcher => {
            rule_text(obstacle, task, now)
        }
        Obstacle::Booked { .. }
        | Obstacle::HostBusy { .. }
        | Obstacle::NoGrant { .. }
        | Obstacle::NoHost { .. }
        | Obstacle::HostsFull { .. }
        | Obstacle::NoDirectory { .. }
        | Obstacle::SlotOccupied { .. }
        | Obstacle::TooFewSlots { .. } => rule_text(obstacle, task, now),
        Obstacle::StartWaits { .. } | Obstacle::ResultWaits { .. } => rule_text(obstacle, task, now),
    }
}

/// The place where a task of another sandbox can start, and the next command. That command moves
/// the task here only if the task belongs to the caller.
fn other_context_text(differences: &[Difference], life: Life, is_own: bool, task: &Task) -> (String, Option<String>) {
    let what = differences.iter().map(Difference::text).collect::<Vec<_>>().join(", ");
    let here = attach_here(task.id);
    let text = match life {
        Life::Lives => format!(
            "it was queued in another sandbox, which lives, and a pass there starts it (different: {what}): run \
             `luzia dispatch` or a daemon in that sandbox"
        ),
        Life::Ended => format!(
            "it was queued in a sandbox that has ended, so no pass starts it (different: {what}); `{here}` shows its \
             command and runs it here"
        ),
        Life::Unseen => format!(
            "it was queued in another sandbox, and only a pass there starts it (different: {what}); whether that sandbox \
             has ended cannot be seen from here; if it has, `{here}` shows the command and runs it here"
        ),
    };
    let next = match (life, is_own) {
        (Life::Ended | Life::Unseen, true) => here,
        (Life::Ended, false) => format!("luzia show {}", task.id),
        _ => format!("luzia wait {}", task.id),
    };
    (text, Some(next))
}

/// The command that takes a task into the context of its caller.
pub fn attach_here(id: TaskId) -> String {
    format!("luzia attach --here {id}")
}

fn full_text(lane: &LaneName, used: u32, max: u32, needed: u32) -> String {
    if needed > 1 {
        let free = max.saturating_sub(used);
        return format!("lane \"{lane}\" has {free} of {needed} slots that it needs free ({used} of {max} in use)");
    }
    match max {
        1 => format!("lane \"{lane}\" is busy"),
        _ => format!("lane \"{lane}\" is full, {used} of {max}"),
    }
}

/// The way in which a child gets a lane that its parent holds.
fn parent_text(task: &Task, holder: &Holder) -> &'static str {
    let is_parent = task.parent.is_some_and(|parent| holder.name.as_deref() == Some(parent.to_string().as_str()));
    match (is_parent, task.no_inherit) {
        (false, _) => "",
        (true, true) => "; that is its parent, from which it does not borrow (--no-inherit)",
        (true, false) => "; that is its parent, which lends its lanes to a child it waits for (use --wait)",
    }
}

fn rooms_text(rooms: &[Room]) -> String {
    let text = |room: &Room| {
        let Room { path, name, free_bytes, free_inodes } = room;
        format!("the {name} file system of \"{path}\" has {free_bytes} bytes and {free_inodes} inodes free")
    };
    rooms.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn rooms_json(rooms: &[Room]) -> Value {
    let json = |room: &Room| {
        json!({
            "path": room.path,
            "file_system": room.name,
            "free_bytes": room.free_bytes,
            "free_inodes": room.free_inodes,
        })
    };
    rooms.iter().map(json).collect::<Vec<_>>().into()
}

/// The reason why no live supervisor watches a running task: the word, the sentence, and the command that would change it.
pub fn stuck_text(stuck: Stuck) -> (&'static str, String, String) {
    let recover = || "luzia dispatch".to_owned();
    match stuck {
        Stuck::Orphan => ("Orphan", "its supervisor is dead and its command lives on".to_owned(), recover()),
        Stuck::Dead => ("Dead", "its supervisor is dead".to_owned(), recover()),
        Stuck::Stopped(pid) => {
            ("Stopped", format!("its supervisor, process {pid}, is stopped"), format!("kill -CONT {pid}"))
        }
        Stuck::Expired(until) => {
            ("WaitExpired", format!("its wait ran out at {until}, and nothing has acted on that"), recover())
        }
    }
}

/// The reason why a task is stuck, as JSON.
pub fn stuck_json(stuck: Stuck) -> Value {
    let (word, message, next) = stuck_text(stuck);
    json!({ "reason": word, "message": message, "next": [next] })
}

/// The line for `-v` about a thread whose lock keeps a task from starting (S0.30).
pub fn locked_line(obstacle: &Obstacle, task: &Task) -> Option<String> {
    let Obstacle::LaneFull { lane, holder, .. } = obstacle else { return None };
    crate::app::locks::acquire::locked_line(lane, holder.name.as_deref(), &task.id.to_string())
}

/// The way to set another number of slots of the host.
const MORE_SLOTS: &str = "how many tasks the host runs at once is set with: luzia lanes set global --max N";

/// The command that would free a lane from a holder.
pub fn next_command(holder: &Holder) -> String {
    let name = holder.name.as_deref();
    if let Some(name) = name.filter(|_| holder.is_short) {
        // Only its result is missing, and a request to cancel it needs space, too.
        return format!("luzia explain {name}");
    }
    if let Some(pid) = holder.stopped {
        return format!("kill -CONT {pid}");
    }
    crate::app::locks::release::next_command(name, &holder.verdict)
}

/// The way in which the holder of a lease gives it back (S0.37). Not for waiters. `lane` is an argument of a command.
pub fn lease_note(lane: &str, holder: &Holder) -> Option<String> {
    let id = holder.lock_id.as_deref().filter(|_| is_lease(holder))?;
    Some(format!("its holder gives it back with: luzia release {} --lock-id {}", lane, shell_word(id)))
}

/// The notes below an obstacle: how its holder frees the lane, and the command that takes it by force where there is one.
pub fn obstacle_notes(obstacle: &Obstacle, task: &Task) -> Vec<String> {
    let (lane, holder) = match obstacle {
        Obstacle::UserLockHeld { holder } => (shell_word(&task.user), holder),
        Obstacle::Reserved { .. } => return vec![MORE_SLOTS.to_owned()],
        Obstacle::LaneFull { lane, .. } if lane.is_global() => return vec![MORE_SLOTS.to_owned()],
        Obstacle::LaneFull { lane, holder, .. } => (lane_word(lane), holder),
        _ => return Vec::new(),
    };
    lease_note(&lane, holder).into_iter().chain(force_note(&lane, holder)).collect()
}

/// The command that takes a lane by force where there is one, and the holder whose work it ends. `lane` is an argument of a
/// command.
pub fn force_note(lane: &str, holder: &Holder) -> Option<String> {
    let command = forceful_command(lane, holder)?;
    Some(format!("to take it by force, which ends the work of {}: {command}", worker(holder)))
}

fn worker(holder: &Holder) -> &str {
    holder.shown.as_deref().or(holder.name.as_deref()).unwrap_or("an unknown holder")
}

/// The command that takes a lane from a stopped or overdue holder.
pub fn forceful_command(lane: &str, holder: &Holder) -> Option<String> {
    let is_stopped = holder.stopped.is_some();
    crate::app::locks::release::forceful_command(lane, holder.name.as_deref(), &holder.verdict, is_stopped)
}

/// The holder of a lane, the time of its hold, and the proof that it lives.
fn busy_text(holder: &Holder, now: Timestamp) -> String {
    let name = holder.shown.as_deref().unwrap_or("an unknown holder");
    let is_task = holder.name.as_deref().is_some_and(|name| name.starts_with("task_"));
    let does = if is_task { "has been running" } else { "has held it" };
    format!("{name} {does} for {} ({})", format_duration(held_ms(holder, now)), proof_text(holder))
}

fn held_ms(holder: &Holder, now: Timestamp) -> u64 {
    holder.since.map_or(holder.age_ms, |at| now.saturating_ms_since(at))
}

/// The holder, the time of its hold, whether it lives, the proof of that, and its expiry.
pub fn holder_text(holder: &Holder, now: Timestamp) -> String {
    let name = holder.shown.as_deref().unwrap_or("an unknown holder");
    format!("{name} for {} ({})", format_duration(held_ms(holder, now)), proof_text(holder))
}

/// Whether a holder has a lease that has not expired.
fn is_lease(holder: &Holder) -> bool {
    holder.verdict.is_live() && holder.verdict.why() == Reason::LeaseRuns
}

/// The moment at which time ends a hold: that of a lease. A living process keeps its lock past that moment.
pub fn lease_end(holder: &Holder) -> Option<Timestamp> {
    holder.expires_at.filter(|_| is_lease(holder))
}

/// Whether a holder lives, the proof of that, and its expiry.
fn proof_text(holder: &Holder) -> String {
    let expiry = lease_end(holder).map_or_else(String::new, |at| format!(", expires_at {at}"));
    let state = crate::app::lock_state(&holder.verdict);
    let why = match (holder.stopped, &holder.left_behind) {
        (_, Some(left)) => left.clone(),
        (Some(pid), None) => format!("its process {pid} is stopped"),
        (None, None) => holder.verdict.why().text().to_owned(),
    };
    format!("{state}: {why}{expiry}")
}

/// A holder as JSON.
pub fn holder_json(holder: &Holder) -> Value {
    json!({
        "holder": holder.name,
        "shown": holder.shown,
        "agent": holder.who.agent,
        "session": holder.who.session,
        "command": holder.who.command,
        "label": holder.who.label,
        "lock_id": holder.lock_id,
        "acquired_at": holder.since.map(|at| at.to_string()),
        "expires_at": holder.expires_at.map(|at| at.to_string()),
        "age_ms": holder.age_ms,
        "state": crate::app::lock_state(&holder.verdict),
        // For a command that has ended, another process keeps the lane.
        "alive": !holder.verdict.is_stale() && holder.verdict.why() != Reason::LeftBehind,
        "stopped": holder.stopped.is_some(),
        "evidence": holder.left_behind.as_deref().unwrap_or(holder.verdict.why().text()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::evidence::Verdict;
    use crate::store::tests_support::task;

    #[test]
    fn tasks_ahead_are_counted_up_to_a_bound_and_the_words_say_so() {
        let said = |ahead| obstacle_text(&Obstacle::Priority { ahead }, &task(1), Timestamp(0)).0;
        assert_eq!(said(1), "1 task of user \"alice\" comes first");
        assert_eq!(said(9999), "9999 tasks of user \"alice\" come first");
        assert_eq!(said(10_000), "10000 or more tasks of user \"alice\" come first");
    }

    /// Every obstacle, for every kind of holder. The match has no wildcard: a new obstacle has to be added here.
    fn obstacles() -> Vec<Obstacle> {
        use crate::model::evidence::Reason::{LeaseRuns, NotProvenDead, ProcessGone, SessionLives, SupervisorLives};
        let lane = || LaneName::parse("build").expect("a lane");
        let mut all = Vec::new();
        for (name, is_short, stopped) in
            [("task_2", false, None), ("task_2", true, None), ("task_2", false, Some(7)), ("me", false, None)]
        {
            for why in [LeaseRuns, SessionLives, SupervisorLives, NotProvenDead, ProcessGone] {
                let verdicts = [
                    Verdict::Live { why, overdue: false },
                    Verdict::Live { why, overdue: true },
                    Verdict::Stale { why, age_ms: 9 },
                    Verdict::Refused { why },
                ];
                for verdict in verdicts {
                    let holder = Holder { is_short, stopped, ..Holder::unknown(Some(name), verdict) };
                    all.push(Obstacle::UserLockHeld { holder: holder.clone() });
                    all.push(Obstacle::Loan { lane: lane(), holder: holder.clone() });
                    all.push(Obstacle::LaneFull { lane: lane(), used: 1, max: 1, needed: 1, holder: holder.clone() });
                    all.push(Obstacle::LaneFull { lane: LaneName::global(), used: 4, max: 4, needed: 1, holder });
                }
            }
        }
        let (one, two) = (TaskId(1), TaskId(2));
        all.push(Obstacle::Cycle { members: vec![Member::Task(one), Member::Task(two)] });
        for (what, until) in [("*", None), ("task_1", Some(Timestamp(9))), ("user:alice", None)] {
            let (reason, by) = (Some("release".to_owned()), Some("root".to_owned()));
            let pause = crate::app::Pause { until, reason, by, ..crate::app::Pause::of(what.to_owned(), Timestamp(0)) };
            all.push(Obstacle::Paused { pause });
        }
        all.push(Obstacle::Delayed { until: Timestamp(9) });
        all.push(Obstacle::After { tasks: vec![two] });
        for (life, is_own) in
            [Life::Lives, Life::Ended, Life::Unseen].into_iter().flat_map(|life| [(life, true), (life, false)])
        {
            all.push(Obstacle::OtherContext { differences: vec![Difference::Root], life, is_own });
        }
        all.extend([None, Some(lane())].map(|lane| Obstacle::NoGrant { lane }));
        all.extend([None, Some("web1".to_owned())].map(|place| Obstacle::NoHost { place }));
        all.extend([None, Some("web1".to_owned())].map(|place| Obstacle::HostsFull { place }));
        all.push(Obstacle::NoDirectory { host: "web1".to_owned(), directory: "/srv".to_owned() });
        all.push(Obstacle::NewerRecord { first: two, record: "v 2".to_owned() });
        all.push(Obstacle::Priority { ahead: 3 });
        all.push(Obstacle::LaneOrder { lane: lane(), first: two });
        all.push(Obstacle::Reserved { used: 3, max: 4, kept: 1 });
        let rate = crate::model::config::Rate { grants: 1, window_ms: 1000 };
        all.push(Obstacle::RateLimited { lane: lane(), rate, until: Timestamp(9) });
        for start in [None, Some(Timestamp(9))] {
            let by = crate::app::Booking { first: two, start, is_short: start.is_none() };
            all.push(Obstacle::Booked { booked: crate::app::Booked { lane: lane(), by } });
        }
        all.extend(crate::cli::output::capacity::examples());
        all.push(Obstacle::StartWaits { rooms: Vec::new() });
        all.push(Obstacle::ResultWaits { rooms: Vec::new() });
        all.push(Obstacle::NoDispatcher);
        for obstacle in &all {
            match obstacle {
                Obstacle::Paused { .. } => {}
                Obstacle::Cycle { .. } | Obstacle::Delayed { .. } | Obstacle::After { .. } => {}
                Obstacle::OtherContext { .. } | Obstacle::NewerRecord { .. } | Obstacle::Priority { .. } => {}
                Obstacle::NoGrant { .. } | Obstacle::NoHost { .. } | Obstacle::NoDirectory { .. } => {}
                Obstacle::LaneOrder { .. } | Obstacle::UserLockHeld { .. } | Obstacle::LaneFull { .. } => {}
                Obstacle::Loan { .. } | Obstacle::Reserved { .. } | Obstacle::RateLimited { .. } => {}
                Obstacle::Booked { .. } | Obstacle::HostBusy { .. } | Obstacle::SlotOccupied { .. } => {}
                Obstacle::TooFewSlots { .. } | Obstacle::HostsFull { .. } => {}
                Obstacle::StartWaits { .. } | Obstacle::ResultWaits { .. } | Obstacle::NoDispatcher => {}
            }
        }
        all
    }

    #[test]
    fn the_first_way_on_of_every_reason_ends_releases_and_re_routes_nothing() {
        for obstacle in obstacles() {
            let (text, next) = obstacle_text(&obstacle, &task(1), Timestamp(0));
            let next = next.unwrap_or_default();
            let bad = ["release", "cancel", "--force", "--state-dir", "--drain", "kill -9"];
            assert!(!bad.iter().any(|word| next.contains(word)), "{next}: {text}");
            let json = obstacle_json(&obstacle, &task(1), Timestamp(0));
            assert_eq!(json["next"][0], next, "the document says what the text says");
            // A task of a living sandbox stays there. Its own caller may take a task of an ended sandbox here (P9).
            let goes_elsewhere = next.contains("--here");
            let may_go =
                matches!(obstacle, Obstacle::OtherContext { life: Life::Ended | Life::Unseen, is_own: true, .. });
            assert_eq!(goes_elsewhere, may_go, "{next}: {text}");
            if let Obstacle::OtherContext { life, is_own, .. } = obstacle {
                let is_of_others = !is_own && life != Life::Lives;
                assert_eq!(json["override"].is_null(), !is_of_others, "{json}");
                continue;
            }
            // By force only where the holder is late or stopped (P10).
            let is_late = text.contains("overdue") || json["lock"]["stopped"] == true;
            assert!(json["override"].is_null() || is_late, "{json}");
            assert_eq!(
                json["override"].is_null(),
                json["override_ends"].is_null(),
                "it says whose work that ends: {json}"
            );
        }
    }
}
