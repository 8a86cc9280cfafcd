//! The environment of a task's command: what was captured when it was enqueued, and what luzia tells it. Pure.

use crate::model::capacity::rules::{SLOT_PREFIX, slot_variable};
use crate::model::lock::Grant;
use crate::model::lock::grant::values_of;
use crate::model::who::agent_variables;
use crate::model::{LaneName, Task};
use crate::policy::analytics::trace::{TRACEPARENT, span_of};
use crate::policy::steps::course::command_of;
use crate::policy::steps::names::filled;
use crate::store::{Vars, var_text};
use crate::supervise::limits::result_file;

/// Where a task runs.
pub struct Place<'a> {
    /// The state directory.
    pub state_dir: &'a str,
    /// The configuration file, where it has been named: what luzia does inside the task goes by the same rules.
    pub config: Option<&'a str>,
    /// The directory of the task.
    pub task_dir: &'a str,
    /// The variables of the task.
    pub vars: &'a Vars,
    /// What it is told of its goal and its steps.
    pub told: &'a [(&'static str, String)],
}

/// Program and arguments of a task. `{{name}}` in an argument is the value of that variable.
pub fn argv(task: &Task, vars: &Vars) -> Vec<String> {
    if vars.is_empty() {
        return command_of(task).to_vec();
    }
    let value_of = |name: &str| vars.get(name).map(var_text);
    let (program, arguments) = command_of(task).split_at(1.min(command_of(task).len()));
    program.iter().cloned().chain(arguments.iter().map(|text| filled(text, &value_of))).collect()
}

/// The whole environment of a task's command.
pub fn environment(task: &Task, place: &Place, grants: &[Grant]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let user_grant = grants.iter().find(|grant| grant.lane.is_user()).or(grants.first());
    let lanes: Vec<String> = task.all_lanes().iter().map(LaneName::to_string).collect();
    let own = [
        ("LUZIA_STATE_DIR", place.state_dir.to_owned()),
        ("LUZIA_TASK_ID", task.id.to_string()),
        ("LUZIA_USER", task.user.to_string()),
        ("LUZIA_PROJECT", task.project.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("LUZIA_LANES", lanes.join(" ")),
        ("LUZIA_LOCK_ID", user_grant.map(|grant| grant.lock_id.to_string()).unwrap_or_default()),
        ("LUZIA_FENCE", user_grant.map(|grant| grant.fence.to_string()).unwrap_or_default()),
        ("LUZIA_ATTEMPT", task.attempt().to_string()),
        ("LUZIA_CONDUCTOR_DIR", place.task_dir.to_owned()),
        ("LUZIA_RESULT_FILE", format!("{}/{}", place.task_dir, result_file(task))),
    ];
    let config = place.config.map(|path| ("LUZIA_CONFIG", path.to_owned()));
    let own: Vec<(&str, String)> = own
        .into_iter()
        .chain(config)
        .chain(agent_variables(task.agent.as_ref()))
        .chain(place.told.iter().cloned())
        .collect();
    let is_own = |key: &[u8]| own.iter().any(|(own, _)| own.as_bytes() == key);
    let mut env: Vec<(Vec<u8>, Vec<u8>)> = task.env.iter().filter(|(key, _)| !is_own(key)).cloned().collect();
    env.extend(own.into_iter().map(|(key, value)| (key.as_bytes().to_vec(), value.into_bytes())));
    let span = span_of(task);
    if span.parent.is_some() {
        env.retain(|(key, _)| key != TRACEPARENT.as_bytes());
        env.push((TRACEPARENT.into(), span.traceparent().into_bytes()));
    }
    let given = place.vars.iter().map(|(name, value)| (format!("LUZIA_VAR_{name}"), var_text(value)));
    // Variables of another task, which the caller of `enqueue` had, do not belong to this one.
    env.retain(|(key, _)| !key.starts_with(b"LUZIA_VAR_"));
    env.extend(given.map(|(key, value)| (key.into_bytes(), value.into_bytes())));
    env.retain(|(key, _)| !key.starts_with(SLOT_PREFIX.as_bytes()));
    let named = values_of(grants).into_iter().map(|(lane, value)| (slot_variable(&lane), value));
    env.extend(named.map(|(key, value)| (key.into_bytes(), value.into_bytes())));
    env
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::task::TASK_VARIABLES;
    use crate::store::tests_support::task;

    #[test]
    fn luzias_own_variables_are_never_taken_from_outside() {
        let mut task = task(3);
        task.env = vec![(b"LUZIA_TASK_ID".to_vec(), b"task_1".to_vec())].into();
        let place = Place { state_dir: "/s", config: None, task_dir: "/c", vars: &Vars::new(), told: &[] };
        let env = environment(&task, &place, &[]);
        let ids: Vec<_> = env.iter().filter(|(key, _)| key == b"LUZIA_TASK_ID").collect();
        assert_eq!(ids, [&(b"LUZIA_TASK_ID".to_vec(), b"task_3".to_vec())]);
        assert!(env.contains(&(b"LUZIA_ATTEMPT".to_vec(), b"2".to_vec())));
        for name in TASK_VARIABLES {
            assert!(env.iter().any(|(key, _)| key == name.as_bytes()), "{name}");
        }
        assert_eq!(env.len(), TASK_VARIABLES.len() + 1, "and LUZIA_STATE_DIR");
        assert!(env.contains(&(b"LUZIA_LANES".to_vec(), b"user:alice thread:7 global".to_vec())));
        let env = environment(
            &task,
            &Place { config: Some("/c.json"), told: &[("LUZIA_STEP", "2".to_owned())], ..place },
            &[],
        );
        assert!(env.contains(&(b"LUZIA_STEP".to_vec(), b"2".to_vec())));
        assert!(env.contains(&(b"LUZIA_CONFIG".to_vec(), b"/c.json".to_vec())));
        task.env = vec![(b"LUZIA_SLOT_EMU".to_vec(), b"another's".to_vec())].into();
        let lane = LaneName::parse("resource:emu").expect("a lane");
        let (lock_id, fence) = (crate::model::LockId("task_3_1".into()), crate::model::Fence(1));
        let grant = Grant { lane, slot: 1, lock_id, fence, value: Some("emulator-5558".into()), has_share: false };
        let env = environment(&task, &place, &[grant]);
        let named: Vec<_> = env.iter().filter(|(key, _)| key == b"LUZIA_SLOT_EMU").collect();
        assert_eq!(named, [&(b"LUZIA_SLOT_EMU".to_vec(), b"emulator-5558".to_vec())]);
        assert!(environment(&task, &place, &[]).iter().all(|(key, _)| !key.starts_with(b"LUZIA_SLOT_")));
        task.agent = Some(crate::model::Agent { name: "codex".into(), session: Some("s".into()) });
        let env = environment(&task, &place, &[]);
        assert!(env.contains(&(b"LUZIA_AGENT".to_vec(), b"codex".to_vec())));
        assert!(env.contains(&(b"LUZIA_SESSION".to_vec(), b"s".to_vec())));
    }
}
