//! The sweep, of rules of lanes.

use super::harness::{Answer, World};

/// A lane that may be granted twice an hour, and was granted once.
pub fn rated_lane(world: &World) {
    world.luzia(&["lanes", "set", "user:deploy", "--rate", "2/1h"]).ok();
    world.luzia(&["acquire", "deploy", "--task", "first"]).ok();
    world.luzia(&["release", "deploy", "first"]).ok();
}

/// A caller that was told of the second grant got the last one; and a grant that was not told of may be counted, but none twice.
pub fn grant_is_counted(world: &World, answer: &Answer) -> Vec<String> {
    world.luzia(&["release", "deploy", "--force", "--yes"]);
    let text = std::fs::read_to_string(world.state.join("spool/rates/user_deploy")).unwrap_or_default();
    let count = text.strip_prefix("luzia-rate 1\n").map(|grants| grants.lines().count());
    let is_free = world.luzia(&["check", "deploy"]).code() == Some(0);
    match (answer.code(), count, is_free) {
        (Some(0), Some(2), false) => Vec::new(),
        (code, Some(1), true) | (code, Some(2), false) if code != Some(0) => Vec::new(),
        other => vec![format!("the grants are not counted: {other:?} {text}")],
    }
}
