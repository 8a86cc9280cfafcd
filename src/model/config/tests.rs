//! Limits and rules of lanes, and what projects leave out.

use super::*;

fn lane(text: &str) -> LaneName {
    LaneName::parse(text).expect("a lane")
}

#[test]
fn the_longest_pattern_that_says_something_wins() {
    let mut config = Config::default();
    let rule = |max, timeout| LaneRule { max, lock_timeout_ms: timeout, ..LaneRule::default() };
    config.lanes.insert("session:*".into(), rule(Some(2), Some(5)));
    config.lanes.insert("session:telegram:*".into(), rule(Some(3), None));
    config.lanes.insert("session:telegram:root".into(), rule(None, Some(9)));
    let of = |name: &str| (config.limit(&lane(name)), config.lock_timeout_ms(&lane(name)));
    assert_eq!(of("session:a"), (2, 5));
    assert_eq!(of("session:telegram:a"), (3, 5));
    assert_eq!(of("session:telegram:root"), (3, 9));
    assert_eq!(of("thread:1"), (1, THREAD_LOCK_TIMEOUT_MS));
    assert_eq!(of("user:a"), (1, USER_LOCK_TIMEOUT_MS));
    assert_eq!(of("global").0, 4);
}

#[test]
fn a_project_has_what_it_does_not_say_from_the_one_for_all() {
    let mut config = Config::default();
    let dir = |path: &str| Some(path.to_owned());
    let all = Project { conductor_dir: dir("/all/{project}"), agent: Some(vec!["a".into()]), ..Project::default() };
    config.projects.insert("own".into(), Project { conductor_dir: dir("/own"), ..Project::default() });
    assert_eq!((config.project("other"), config.project("own").and_then(|own| own.agent)), (None, None));
    config.projects.insert(EVERY_PROJECT.into(), all.clone());
    assert_eq!(config.project("other"), Some(all.clone()));
    assert_eq!(config.project("own"), Some(Project { conductor_dir: dir("/own"), ..all }));
}

#[test]
fn switching_serialisation_off_lifts_the_user_limit_only() {
    let config = Config { serialize_users: false, ..Config::default() };
    assert_eq!(config.limit(&lane("user:a")), u32::MAX);
    assert_eq!(config.limit(&lane("thread:a")), 1);
    assert_eq!(config.limit(&lane("global")), 4);
}
