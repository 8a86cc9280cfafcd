//! The environment of a task's command: the one that was captured when the task was enqueued, and the variables that luzia adds.
//! `environment` builds it, and is pure. `fitted` keeps it within the limit of the system for a start (execve(2)): a variable
//! that is too large for it is written to a file in the directory of the task, so that no data of an event keeps a command from
//! its start.

use crate::model::capacity::{SLOT_PREFIX, slot_variable};
use crate::model::lock::{Grant, values_of};
use crate::model::sorted::sort_by_key;
use crate::model::who::agent_variables;
use crate::model::{LaneName, Task};
use crate::policy::analytics::trace::{TRACEPARENT, caller_of, span_of};
use crate::policy::steps::course::command_of;
use crate::policy::steps::names::{MOST_BYTES, MOST_VALUE_BYTES, is_var_name};
use crate::policy::steps::scripts::{LONGEST_WORD, filled_command, named, without_value};
use crate::store::{Event, Site, StoreError, Vars, var_text};
use crate::supervise::limits::result_file;
use serde_json::json;
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
    /// Variables on the goal and the steps of the task.
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

/// At a start the system accepts a quarter of the limit of the stack, within these bounds, in bytes.
const LEAST: u64 = 128 * 1024;
const MOST: u64 = 6 * 1024 * 1024;
/// The room for the path of the program, in bytes.
const FOR_PATH: usize = 4608;
/// The room that variables leave for a hook, which has more of its own, in bytes.
const FOR_HOOKS: usize = 32 * 1024;
/// The most variables that are passed by files.
const MOST_FILES: usize = 1000;
/// Cost of a word beside its bytes: its end, and a pointer.
const PER_WORD: usize = 9;

/// Names and values.
pub type Env = Vec<(Vec<u8>, Vec<u8>)>;

/// Words with which the command is started: arguments and environment. `Err` in it is the reason why it cannot be started
/// with them.
pub fn words(
    site: &Site,
    task: &Task,
    place: &Place,
    grants: &[Grant],
) -> Result<Result<(Vec<String>, Env), String>, StoreError> {
    match argv(task, place.vars) {
        Err(why) => Ok(Err(why)),
        Ok(argv) => Ok(fitted(site, task, place, grants, &argv)?.map(|env| (argv, env))),
    }
}

/// Reports the places of variables that stay as they are written.
pub fn tell_unset(site: &Site, task: &Task, vars: &Vars) {
    let unset = without_value(command_of(task), &|name| vars.contains_key(name));
    if !unset.is_empty() {
        let said = format!("{} has no value, and stays as it is written", named(&unset));
        site.store.note(&Event::of("vars_unset", task).saying(said).with(json!({ "names": unset })));
    }
}

/// The environment of a task that is started with some arguments. Writes the variables that are passed by files. `Err` in it is
/// the reason why the command cannot be started.
pub fn fitted(
    site: &Site,
    task: &Task,
    place: &Place,
    grants: &[Grant],
    argv: &[String],
) -> Result<Result<Env, String>, StoreError> {
    let bare = environment(task, &Place { vars: &Vars::new(), ..*place }, grants);
    let size = |(key, value): &(Vec<u8>, Vec<u8>)| key.len() + 1 + value.len();
    if let Some(long) = bare.iter().find(|pair| size(pair) > LONGEST_WORD) {
        let name = String::from_utf8_lossy(&long.0);
        return Ok(Err(format!("the variable {name} has {} bytes, and the system takes {LONGEST_WORD}", size(long))));
    }
    let taken: usize = argv.iter().map(|word| word.len() + PER_WORD).sum::<usize>()
        + bare.iter().map(|pair| size(pair) + PER_WORD).sum::<usize>()
        + FOR_PATH;
    let most = taken_at_a_start(site, task);
    if taken > most {
        let why =
            format!("its arguments and its environment have {taken} bytes, and the system takes {most} at a start");
        return Ok(Err(format!("{why}; a higher limit of the stack (ulimit -s) lets it take more")));
    }
    if place.vars.is_empty() {
        return Ok(Ok(bare));
    }
    let mut files = beside_the_environment(place.vars, (most - taken).saturating_sub(FOR_HOOKS), place.task_dir);
    if files.values().any(Option::is_some) {
        let absent = || StoreError::Absent { thing: task.conductor_dir.as_str().into() };
        let conductor = site.run_dir.conductor(&task.conductor_dir, true)?.ok_or_else(absent)?;
        for (name, path) in files.iter_mut().filter(|(_, path)| path.is_some()) {
            let text = place.vars.get(name).map(var_text).unwrap_or_default();
            *path = Some(conductor.write_value(task.id, name, text.as_bytes())?);
        }
    }
    Ok(Ok(environment(task, &Place { files: &files, ..*place }, grants)))
}

/// Number of bytes of arguments and environment that the system accepts at a start of a task.
fn taken_at_a_start(site: &Site, task: &Task) -> usize {
    let own = site.host.context();
    let of_task = task.limits.as_ref().and_then(|limits| limits.soft.get("stack"));
    // Its limits are set just before its start, or just after that of the program that changes the account.
    let stack = own.limits.soft.get("stack").into_iter().chain(of_task).min();
    let most = stack.map_or(MOST, |bytes| (bytes / 4).clamp(LEAST, MOST));
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// The variables that are not passed by the environment, which has `room` bytes for them. They are those that hold a NUL byte,
/// those longer than `set` makes them, and the longest ones until the rest fits. A variable without room even for a path is
/// available only by `luzia get`.
fn beside_the_environment(vars: &Vars, room: usize, task_dir: &str) -> Files {
    let mut sizes: Vec<(usize, &String, bool)> = vars
        .iter()
        .filter(|(name, _)| is_var_name(name))
        .map(|(name, value)| {
            let text = var_text(value);
            (name.len() + text.len(), name, text.len() > MOST_VALUE_BYTES || text.contains('\0'))
        })
        .collect();
    // The first ones go: those that must, then by size.
    sort_by_key(&mut sizes, |(size, name, must)| (!must, std::cmp::Reverse(*size), *name));
    let cost = |size: usize| size + "LUZIA_VAR_=".len() + PER_WORD;
    let mut all: usize = sizes.iter().map(|(size, ..)| size).sum();
    let mut whole: usize = sizes.iter().map(|(size, ..)| cost(*size)).sum();
    let mut files = Files::new();
    let mut paths = 0;
    for (size, name, must) in sizes {
        if !must && all <= MOST_BYTES && whole + paths <= room {
            break;
        }
        (all, whole) = (all - size, whole - cost(size));
        files.insert(name.clone(), None);
        paths += path_cost(task_dir, name);
    }
    let mut left = room.saturating_sub(whole);
    for (name, path) in files.iter_mut().take(MOST_FILES) {
        let cost = path_cost(task_dir, name);
        if cost <= left {
            left -= cost;
            *path = Some(String::new());
        }
    }
    files
}

fn path_cost(task_dir: &str, name: &str) -> usize {
    task_dir.len() + 2 * name.len() + "LUZIA_VAR__FILE=/var.".len() + PER_WORD
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::task::TASK_VARIABLES;
    use crate::store::tests_support::task;
    use proptest::prelude::*;
    use serde_json::Value;

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

    fn of(pairs: &[(&str, usize)]) -> Vars {
        pairs.iter().map(|(name, size)| ((*name).to_owned(), Value::String("x".repeat(*size)))).collect()
    }

    #[test]
    fn what_set_makes_comes_by_the_environment_and_what_is_larger_by_files() {
        let names = |vars: &Vars, room| beside_the_environment(vars, room, "/t").into_keys().collect::<Vec<_>>();
        let most = of(&[("a", 65_000), ("b", 65_000), ("c", 65_000), ("d", 65_000)]);
        assert!(names(&most, 2_000_000).is_empty());
        assert_eq!(names(&of(&[("a", 10), ("b", MOST_VALUE_BYTES + 1)]), 2_000_000), ["b"]);
        assert_eq!(
            names(&of(&[("a", 60_000), ("b", 60_001), ("c", 60_000), ("d", 60_000), ("e", 60_002)]), 2_000_000),
            ["e"]
        );
        assert_eq!(names(&of(&[("a", 10), ("b", 5000), ("c", 4000)]), 4500), ["b"]);
        let with_nul = Vars::from([("n".to_owned(), Value::String("a\0b".to_owned()))]);
        assert_eq!(beside_the_environment(&with_nul, 1000, "/t"), Files::from([("n".to_owned(), Some(String::new()))]));
        assert_eq!(beside_the_environment(&with_nul, 0, "/t"), Files::from([("n".to_owned(), None)]));
    }

    proptest! {
        #[test]
        fn the_room_is_never_exceeded(sizes in prop::collection::vec(0usize..90_000, 0..40), room in 0usize..400_000) {
            let named = sizes.iter().enumerate().map(|(at, size)| (format!("v{at}"), Value::String("x".repeat(*size))));
            let vars: Vars = named.collect();
            let files = beside_the_environment(&vars, room, "/some/place");
            let cost = |(name, value): (&String, &Value)| match files.get(name) {
                None => var_text(value).len() + name.len() + 20,
                Some(Some(_)) => format!("LUZIA_VAR_{name}_FILE=/some/place/var.{name}").len() + PER_WORD,
                Some(None) => 0,
            };
            prop_assert!(vars.iter().map(cost).sum::<usize>() <= room);
        }
    }
}
