//! The names of queues: the folder of a user's pending tasks also names the sandbox of the tests.

use super::LUZIA;
use std::process::Command;
use std::sync::OnceLock;

/// The name of the queue in which the tasks of a user stand that the tests enqueue.
pub fn queue(user: &str) -> String {
    static SUFFIX: OnceLock<String> = OnceLock::new();
    let suffix = SUFFIX.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let mut enqueue = Command::new(LUZIA);
        enqueue.env_clear().env("LUZIA_STATE_DIR", &state);
        super::at_home(&mut enqueue, dir.path());
        assert!(enqueue.args(["enqueue", "-u", "u", "--", "true"]).output().unwrap().status.success());
        let entry = std::fs::read_dir(state.join("spool/pending/5")).unwrap().next().unwrap().unwrap();
        entry.file_name().to_str().unwrap().strip_prefix("user_u").unwrap().to_owned()
    });
    format!("user_{user}{suffix}")
}
