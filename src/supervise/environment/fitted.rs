//! The environment of a start within the limit of the system (execve(2)). A variable that is too large for it is written to a
//! file in the directory of the task, so that no data of an event keeps a command from its start.

use super::{Files, Place, argv, environment};
use crate::model::Task;
use crate::model::lock::Grant;
use crate::policy::steps::course::command_of;
use crate::policy::steps::names::{MOST_BYTES, MOST_VALUE_BYTES, is_var_name};
use crate::policy::steps::scripts::{LONGEST_WORD, named, without_value};
use crate::store::{Event, Site, StoreError, Vars, var_text};
use serde_json::json;

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
    sizes.sort_unstable_by_key(|(size, name, must)| (!must, std::cmp::Reverse(*size), *name));
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
    use proptest::prelude::*;
    use serde_json::Value;

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
