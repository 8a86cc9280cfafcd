//! The environment of a task's command: the one that was captured when the task was enqueued, and the variables that luzia
//! adds. Pure.

mod fitted;

use crate::model::capacity::{SLOT_PREFIX, slot_variable};
use crate::model::lock::{Grant, values_of};
use crate::model::who::agent_variables;
use crate::model::{LaneName, Task};
use crate::policy::analytics::trace::{TRACEPARENT, caller_of, span_of};
use crate::policy::steps::course::command_of;
use crate::policy::steps::names::is_var_name;
use crate::policy::steps::scripts::filled_command;
use crate::store::{Vars, var_text};
use crate::supervise::limits::result_file;
pub use fitted::{fitted, tell_unset, words};
use std::collections::BTreeMap;

/// The variables that are not passed by the environment: the path of the file of each, or `None` if it has no file.
pub type Files = BTreeMap<String, Option<String>>;

/// The place of a task's run.
pub struct Place<'a> {
    /// The state directory.
    pub state_dir: &'a str,
    /// The configuration file, if it has been named: luzia inside the task follows the same rules.
    pub config: Option<&'a str>,
    /// The directory of the task.
    pub task_dir: &'a str,
    /// The variables of the task.
    pub vars: &'a Vars,
    /// The files of the variables that the environment does not pass.
    pub files: &'a Files,
    /// Variables on its goal and its steps.
    pub told: &'a [(&'static str, String)],
}

/// Program and arguments of a task. `{{name}}` in an argument is the value of that variable. `Err` is the reason why it cannot
/// be started with the present values.
pub fn argv(task: &Task, vars: &Vars) -> Result<Vec<String>, String> {
    filled_command(command_of(task), &|name| vars.get(name).map(var_text))
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
    if caller_of(task).is_some() {
        env.retain(|(key, _)| key != TRACEPARENT.as_bytes());
        env.push((TRACEPARENT.into(), span_of(task).traceparent().into_bytes()));
    }
    let has_file = |name: &str| matches!(place.files.get(name), Some(Some(_)));
    // The path of the file of x is LUZIA_VAR_x_FILE, so a variable x_FILE has to give way.
    let is_free = |name: &str| is_var_name(name) && !name.strip_suffix("_FILE").is_some_and(has_file);
    let given =
        place.vars.iter().filter(|(name, _)| is_free(name)).filter_map(|(name, value)| match place.files.get(name) {
            None => Some((format!("LUZIA_VAR_{name}"), var_text(value))),
            Some(path) => path.clone().map(|path| (format!("LUZIA_VAR_{name}_FILE"), path)),
        });
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
    fn a_variable_comes_by_the_environment_by_a_file_or_not_at_all() {
        let text = |name: &str| (name.to_owned(), serde_json::Value::String(format!("of {name}")));
        let vars: Vars = ["a", "b", "b_FILE", "c", "c_FILE", "d=e", "f g", ""].map(text).into();
        let files = Files::from([("b".to_owned(), Some("/t/var.b".to_owned())), ("c".to_owned(), None)]);
        let place = Place { state_dir: "/s", config: None, task_dir: "/t", vars: &vars, files: &files, told: &[] };
        let env = environment(&task(3), &place, &[]);
        let utf8 = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        let ours = env.into_iter().filter(|(key, _)| key.starts_with(b"LUZIA_VAR_"));
        let ours: Vec<(String, String)> = ours.map(|(key, value)| (utf8(key), utf8(value))).collect();
        let expected = [("a", "of a"), ("b_FILE", "/t/var.b"), ("c_FILE", "of c_FILE")];
        assert_eq!(ours, expected.map(|(name, value)| (format!("LUZIA_VAR_{name}"), value.to_owned())));
    }

    #[test]
    fn luzias_own_variables_are_never_taken_from_outside() {
        let mut task = task(3);
        task.env = vec![(b"LUZIA_TASK_ID".to_vec(), b"task_1".to_vec())].into();
        let (vars, files) = (Vars::new(), Files::new());
        let place = Place { state_dir: "/s", config: None, task_dir: "/c", vars: &vars, files: &files, told: &[] };
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
