//! The environment of a task's command: what was captured when it was enqueued, and what luzia tells it. Pure.

use crate::model::lock::Grant;
use crate::model::who::agent_variables;
use crate::model::{LaneName, Task};

/// Where a task runs.
pub struct Place<'a> {
    /// The state directory.
    pub state_dir: &'a str,
    /// The configuration file, where it has been named: what luzia does inside the task goes by the same rules.
    pub config: Option<&'a str>,
    /// The directory of the task.
    pub task_dir: &'a str,
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
    ];
    let config = place.config.map(|path| ("LUZIA_CONFIG", path.to_owned()));
    let own: Vec<(&str, String)> = own.into_iter().chain(config).chain(agent_variables(task.agent.as_ref())).collect();
    let is_own = |key: &[u8]| own.iter().any(|(own, _)| own.as_bytes() == key);
    let mut env: Vec<(Vec<u8>, Vec<u8>)> = task.env.iter().filter(|(key, _)| !is_own(key)).cloned().collect();
    env.extend(own.into_iter().map(|(key, value)| (key.as_bytes().to_vec(), value.into_bytes())));
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
        let place = Place { state_dir: "/s", config: None, task_dir: "/c" };
        let env = environment(&task, &place, &[]);
        let ids: Vec<_> = env.iter().filter(|(key, _)| key == b"LUZIA_TASK_ID").collect();
        assert_eq!(ids, [&(b"LUZIA_TASK_ID".to_vec(), b"task_3".to_vec())]);
        assert!(env.contains(&(b"LUZIA_ATTEMPT".to_vec(), b"2".to_vec())));
        for name in TASK_VARIABLES {
            assert!(env.iter().any(|(key, _)| key == name.as_bytes()), "{name}");
        }
        assert_eq!(env.len(), TASK_VARIABLES.len() + 1, "and LUZIA_STATE_DIR");
        assert!(env.contains(&(b"LUZIA_LANES".to_vec(), b"user:alice thread:7 global".to_vec())));
        let env = environment(&task, &Place { config: Some("/c.json"), ..place }, &[]);
        assert!(env.contains(&(b"LUZIA_CONFIG".to_vec(), b"/c.json".to_vec())));
        task.agent = Some(crate::model::Agent { name: "codex".into(), session: Some("s".into()) });
        let env = environment(&task, &Place { state_dir: "/s", config: None, task_dir: "/c" }, &[]);
        assert!(env.contains(&(b"LUZIA_AGENT".to_vec(), b"codex".to_vec())));
        assert!(env.contains(&(b"LUZIA_SESSION".to_vec(), b"s".to_vec())));
    }
}
