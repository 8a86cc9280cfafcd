//! The threats that a state directory of one account meets, each with a test of a recognisable name.
//! `docs/known-attacks.md` answers every one of them by these names.

mod answered;
mod forged;
mod links;
mod others;
mod spawned;
mod terminal;
mod values;

use crate::support::Place;
use std::path::Path;

/// A secret outside the state directory that must stay as it is.
const SECRET: &str = "secret\n";

/// A place that was used: task_1 is over, alice holds a lease.
fn used() -> Place {
    let place = Place::new();
    place.ok(&["run", "-u", "first", "--", "true"]);
    place.ok(&["acquire", "alice", "--task", "t1"]);
    std::fs::create_dir(place.path("outside")).unwrap();
    std::fs::write(place.path("outside/secret"), SECRET).unwrap();
    place
}

#[track_caller]
fn assert_outside_untouched(place: &Place, what: &str) {
    let names: Vec<_> = std::fs::read_dir(place.path("outside")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["secret"], "{what}");
    assert_eq!(std::fs::read_to_string(place.path("outside/secret")).unwrap(), SECRET, "{what}");
}

/// Inode and content of a file.
fn identity(path: &Path) -> (u64, Vec<u8>) {
    use std::os::unix::fs::MetadataExt;
    (path.symlink_metadata().unwrap().ino(), std::fs::read(path).unwrap())
}
