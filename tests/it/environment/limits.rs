//! Limits of processes: file size, processes, memory, descriptors. A clean failure, and the lane is free.

use crate::support::{Place, is_root, skip};

/// `run` below a limit: any documented end, no panic, and the lane is usable afterwards.
#[track_caller]
fn check_limit(limit: &str) -> i32 {
    let place = Place::new();
    place.ok(&["run", "-u", "first", "--", "true"]);
    let script = format!("{limit} exec \"$LUZIA\" run -u a -- true");
    let ran = place.spawn(&mut place.shell(&script)).end();
    // Where even the loader or the allocator has no room the kernel or the library ends the process: 127, 134, 139.
    let is_clean = ran.code < 128 && ran.code != 101;
    assert!(is_clean || limit.contains("-v"), "{limit}: {ran:#?}");
    assert!(!ran.err.contains("panicked"), "{limit}: {ran:#?}");
    place.drain();
    place.ok(&["check", "a"]);
    place.ok(&["run", "-u", "a", "--", "true"]);
    assert_eq!(place.json(&["list"])["items"].as_array().unwrap().len(), 0, "{limit}");
    ran.code
}

#[test]
fn no_file_may_grow_is_an_error_and_not_a_death_by_sigxfsz() {
    assert_eq!(check_limit("ulimit -f 0;"), 74);
}

#[test]
fn little_memory_is_an_error_or_enough() {
    for kilobytes in [20_000, 40_000, 80_000, 200_000] {
        check_limit(&format!("ulimit -v {kilobytes};"));
    }
}

#[test]
fn few_descriptors_by_prlimit_are_an_error_or_enough() {
    for count in [5, 7, 9, 11, 13, 20] {
        check_limit(&format!("prlimit --nofile={count}:{count} --pid $$;"));
    }
}

#[test]
fn a_limit_of_processes_queues_the_task_and_frees_the_lane() {
    if !is_root() {
        return skip(
            "a_limit_of_processes_queues_the_task_and_frees_the_lane",
            "root, whose place another account uses",
        );
    }
    // The limit counts the processes of an account and does not bind root: an account that is nobody else's here.
    let place = Place::new();
    place.open_to_others();
    std::fs::create_dir(place.state()).unwrap();
    std::os::unix::fs::chown(place.state(), Some(54_399), Some(54_399)).unwrap();
    std::os::unix::fs::chown(place.path("work"), Some(54_399), Some(54_399)).unwrap();
    let with = |limit: &str, verb: &str| {
        let script = format!(
            "exec setpriv --reuid 54399 --regid 54399 --clear-groups {limit} env HOME=/ sh -c 'exec $PLACE/program {verb}'"
        );
        place.spawn(&mut place.shell(&script)).end()
    };
    let id = with("prlimit --nproc=1", "enqueue -u a -- sh -c \"echo ran >> $PLACE/work/ran\"").coded(0).line();
    let refused = with("prlimit --nproc=1", "dispatch");
    let refused = refused.coded(74);
    assert!(refused.err.contains("cannot start a supervisor"), "{refused:#?}");
    assert!(!place.path("work/ran").exists());
    with("", "dispatch --drain").coded(0);
    assert_eq!(with("", &format!("wait {id}")).code, 0);
    assert_eq!(crate::support::lines(&place.path("work/ran")), ["ran"]);
    with("", "check a").coded(0);
}
