//! What a task writes into its own outward directory is a claim, and never authority.

use super::identity;
use crate::support::{Place, lives, until};
use serde_json::{Value, json};

/// What alice's task does to its own `meta.json` (`$M`), with what it knows of bob's running task in `$BOB_*`.
const FORGERIES: [(&str, &str); 14] = [
    (
        "another lock id",
        r#"echo "{\"id\":\"task_2\",\"status\":\"completed\",\"user\":\"bob\",\"lock_id\":\"$BOB_LOCK\"}" > $M"#,
    ),
    (
        "another task",
        r#"echo "{\"id\":\"task_1\",\"status\":\"failed\",\"user\":\"bob\",\"lock_id\":\"$BOB_LOCK\"}" > $M"#,
    ),
    ("another pid", r#"echo "{\"id\":\"task_2\",\"supervisor_pid\":$BOB_PID,\"acquired_by_pid\":$BOB_PID}" > $M"#),
    ("another user", r#"sed -i 's/"alice"/"bob"/' $M"#),
    ("over before its time", r#"sed -i 's/"running"/"completed"/' $M"#),
    ("an unknown state", r#"sed -i 's/"running"/"Completed"/' $M"#),
    ("wrong types", r#"echo '{"id":2,"status":[],"user":{},"lock_id":null,"fence":"x","lock_released":"yes"}' > $M"#),
    ("a link to an endless device", "ln -sf /dev/zero $M"),
    ("a link to the lock of bob", "ln -sf $PLACE/state/locks/user_bob.json $M"),
    ("ten gigabytes of nothing", "rm $M; truncate -s 10G $M"),
    ("a FIFO", "rm $M; mkfifo $M"),
    ("nothing at all", "rm $M"),
    ("the whole directory gone", "rm -rf $LUZIA_CONDUCTOR_DIR"),
    ("a link to the directory of bob", "D=$LUZIA_CONDUCTOR_DIR; rm -rf $D; ln -s ${D%2}1 $D"),
];

fn bob(place: &Place) -> Value {
    serde_json::from_slice(&std::fs::read(place.lock("user_bob.json")).unwrap()).unwrap()
}

/// Runs bob's task and then alice's, which forges; both lanes are looked at while bob's still runs.
fn check_forgery(what: &str, forgery: &str) {
    let place = Place::new();
    place.gate("gate");
    let bobs = place.enqueue(&["-u", "bob", "--", "sh", "-c", "echo up > $PLACE/up; read _ < $PLACE/gate"]);
    place.ok(&["dispatch"]);
    place.until_file("up");
    until("its supervisor has taken the lock over", || {
        (bob(&place)["acquired_by_pid"] == place.show(&bobs)["supervisor_pid"]).then_some(())
    });
    let (lock, record) = (identity(&place.lock("user_bob.lock")), bob(&place));
    let pid = u32::try_from(record["acquired_by_pid"].as_u64().unwrap()).unwrap();
    let meta = std::fs::read(place.state().join("conductor/_/active/task_1/meta.json")).unwrap();
    let setting =
        format!("BOB_LOCK={}; BOB_PID={pid}; M=$LUZIA_CONDUCTOR_DIR/meta.json; ", record["lock_id"].as_str().unwrap());
    let run = place.start(&["run", "-u", "alice", "--", "sh", "-c", &format!("{setting}{forgery}")]);
    // A log that is reached through a link is refused, so the one that shows it may end with an error; the task does not.
    let shown = run.end();
    assert!([0, 74].contains(&shown.code), "{what}: {shown:#?}");
    place.until_status("task_2", "completed");
    // It is over, its own lane is free, and the clean-ups that believe a meta.json leave bob alone.
    until("alice is free", || (place.luzia(&["check", "alice"]).code == 0).then_some(()));
    place.ok(&["cleanup-stale"]);
    place.ok(&["dispatch"]);
    assert_eq!(identity(&place.lock("user_bob.lock")), lock, "{what}");
    assert_eq!(bob(&place), record, "{what}");
    assert!(lives(pid) && place.status(&bobs) == "running", "{what}");
    assert_eq!(std::fs::read(place.state().join("conductor/_/active/task_1/meta.json")).unwrap(), meta, "{what}");
    place.open_gate("gate");
    place.until_status(&bobs, "completed");
}

#[test]
fn a_forged_meta_json_harms_no_other_lane_and_keeps_no_own_lock() {
    for (what, forgery) in FORGERIES {
        check_forgery(what, forgery);
    }
}

#[test]
fn a_meta_json_rewritten_while_it_is_read_is_taken_for_one_of_its_versions_or_refused() {
    let place = Place::new();
    let conductor = place.text("conductor");
    place.configure(&json!({ "projects": { "p": { "user": "alice", "conductor_dir": conductor } } }));
    let dir = place.path("conductor/active/task_9");
    std::fs::create_dir_all(&dir).unwrap();
    let bob = place.ok(&["acquire", "bob", "--task", "task_9"]).line();
    let alice = place.ok(&["acquire", "alice", "--task", "task_8"]).line();
    let before = (identity(&place.lock("user_bob.lock")), identity(&place.lock("user_alice.lock")));
    // One version names bob's lock, the other alice's; neither may end anything, nor may a mixture.
    let versions = [("bob", bob), ("alice", alice)].map(|(user, lock_id)| {
        json!({ "id": "task_9", "status": "completed", "user": user, "lock_id": lock_id, "pad": "x".repeat(9000) })
            .to_string()
    });
    let end = std::time::Instant::now() + std::time::Duration::from_secs(2);
    let writer = std::thread::spawn(move || {
        for at in (0..2).cycle().take_while(|_| std::time::Instant::now() < end) {
            std::fs::write(dir.join("meta.json"), &versions[at]).unwrap();
        }
    });
    while std::time::Instant::now() < end {
        assert_eq!(place.ok(&["check-project", "p"]).line(), "0");
    }
    writer.join().unwrap();
    assert_eq!((identity(&place.lock("user_bob.lock")), identity(&place.lock("user_alice.lock"))), before);
}

#[test]
fn a_record_that_names_another_user_than_its_folder_takes_that_users_turn_and_no_other() {
    // Within one account a queue can be edited by its owner; what is edited takes the lane that it names all the same.
    let place = Place::new();
    let id = place.enqueue(&["-u", "alice", "--", "sh", "-c", "echo $LUZIA_USER >> $PLACE/ran"]);
    let path = place.state().join("spool/pending/5").join(crate::support::queue("alice")).join("1.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"user\":\"alice\"", "\"user\":\"bob\"")).unwrap();
    place.ok(&["acquire", "bob", "--task", "t1"]);
    let lock = identity(&place.lock("user_bob.lock"));
    place.ok(&["dispatch"]);
    assert_eq!(place.status(&id), "pending");
    assert_eq!(identity(&place.lock("user_bob.lock")), lock);
    place.ok(&["release", "bob"]);
    place.drain();
    assert_eq!(crate::support::lines(&place.path("ran")), ["bob"]);
    place.ok(&["check", "alice"]);
    place.ok(&["check", "bob"]);
}

/// The start time of a process, in clock ticks.
fn start_of(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().parse().unwrap()
}

#[test]
fn a_forged_sidecar_signals_nobody_and_frees_nothing_that_lives() {
    // A sidecar of `luzia lock` is proof of nothing: `release --force` ends what has the lock file open, and no other.
    let place = Place::new();
    let mut innocent = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    place.gate("gate");
    let held = place.start(&["lock", "-u", "alice", "--", "sh", "-c", "echo up > $PLACE/up; read _ < $PLACE/gate"]);
    place.until_file("up");
    let path = place.lock("user_alice.json");
    let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    record["acquired_by_pid"] = innocent.id().into();
    record["pid_start"] = start_of(innocent.id()).into();
    std::fs::write(&path, record.to_string()).unwrap();
    place.luzia(&["release", "alice"]).coded(1);
    place.ok(&["cleanup-stale", "0"]);
    place.luzia(&["check", "alice"]).coded(75);
    // While the named process lives the lane counts as held: that much a forger can do to a lane of their own.
    // A `luzia lock` whose command was ended may also release the lane itself, before the judge looks.
    let code = place.luzia(&["release", "alice", "--force"]).code;
    assert!([0, 75].contains(&code), "{code}");
    assert!(innocent.try_wait().unwrap().is_none(), "a process that the sidecar named was signalled");
    innocent.kill().unwrap();
    innocent.wait().unwrap();
    place.ok(&["check", "alice"]);
    drop(held);
}
