//! The kernel gives the numbers of namespaces again, soon where nothing else makes namespaces: these tests run alone.

use crate::context::{SANDBOX, can_unshare, sh, shell_words};
use crate::support::{Place, skip};

/// A sandbox that may start what was queued in an equal one: the inode numbers of its namespaces.
const NUMBERS: &str = "echo $(readlink /proc/self/ns/mnt) $(readlink /proc/self/ns/pid)";

#[test]
fn no_task_starts_in_a_later_sandbox_that_got_the_same_numbers() {
    let name = "no_task_starts_in_a_later_sandbox_that_got_the_same_numbers";
    if !can_unshare(name) {
        return;
    }
    let place = Place::new();
    let inside = |script: &str| sh(&place, &format!("exec {SANDBOX} sh -c {}", shell_words(script))).coded(0);
    let queued = inside(&format!("{NUMBERS}; \"$LUZIA\" enqueue -u a -- true")).out;
    let (numbers, id) = queued.trim().split_once('\n').unwrap();
    // It may take some until the numbers come again.
    let (mut again, mut seen) = (0, 0);
    while again < 5 && seen < 300 {
        seen += 1;
        let out = inside(&format!("{NUMBERS}; \"$LUZIA\" dispatch")).out;
        again += usize::from(out.starts_with(numbers));
        assert_eq!(place.status(id), "pending", "sandbox {seen}: {out}");
    }
    if again == 0 {
        skip(name, "a kernel that gives the numbers of a namespace again");
    }
}
