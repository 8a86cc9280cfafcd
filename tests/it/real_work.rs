//! luzia at real work: agents that commit into shared working trees, and builds.

use super::harness::checker::{Checker, intervals, settle};
use super::harness::{World, oracle, run};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const USERS: [&str; 3] = ["alice", "bob", "carol"];
const TASKS_EACH: usize = 20;
const DISPATCHERS: usize = 12;

/// Reads a counter, changes it, and commits, as if nobody else were there.
const COMMIT: &str = "n=$(cat counter) && echo $((n+1)) >counter && \
                      git -c user.name=t -c user.email=t@t -c gc.auto=0 commit -q -a -m \"$LUZIA_TASK_ID\"";

fn git(tree: &Path, args: &[&str]) -> String {
    let home = crate::support::home_variables(tree);
    let out = Command::new("git").arg("-C").arg(tree).args(args).envs(home).output().unwrap();
    assert!(out.status.success(), "git {args:?}: {out:?}");
    String::from_utf8(out.stdout).unwrap()
}

fn make_tree(world: &World, user: &str) {
    let tree = world.work.join(user);
    std::fs::create_dir(&tree).unwrap();
    std::fs::write(tree.join("counter"), "0\n").unwrap();
    git(&tree, &["init", "-q"]);
    git(&tree, &["add", "counter"]);
    git(&tree, &["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "begin"]);
}

fn enqueue_commit(world: &World, user: &str) -> u64 {
    let tree = world.work.join(user);
    let command = oracle::script(world, user, COMMIT);
    world.enqueue(&["-u", user, "--cwd", tree.to_str().unwrap()], &command)
}

#[test]
fn sixty_commits_by_three_users_under_twelve_dispatchers_are_all_there() {
    let world = World::new("commits");
    let mut checker = Checker::default();
    USERS.iter().for_each(|user| make_tree(&world, user));
    let mut ids: Vec<Vec<u64>> = vec![Vec::new(); USERS.len()];
    let mut dispatchers: Vec<Child> = Vec::new();
    for round in 0..TASKS_EACH {
        for (at, user) in USERS.iter().enumerate() {
            ids[at].push(enqueue_commit(&world, user));
        }
        // They come while work still arrives, and the later ones compete from the start.
        if round >= TASKS_EACH - DISPATCHERS {
            dispatchers.push(world.command(&["dispatch", "--drain"]).stdout(Stdio::null()).spawn().unwrap());
        }
    }
    for mut dispatcher in dispatchers {
        assert!(dispatcher.wait().unwrap().success());
    }
    settle(&world);

    for (user, ids) in USERS.iter().zip(&ids) {
        let tree = world.work.join(user);
        assert_eq!(std::fs::read_to_string(tree.join("counter")).unwrap(), format!("{TASKS_EACH}\n"), "{user}");
        let log = git(&tree, &["log", "--reverse", "--format=%s"]);
        // Every commit is there, once, and in the order of the queue.
        let expected: Vec<String> =
            std::iter::once("begin".to_owned()).chain(ids.iter().map(|id| format!("task_{id}"))).collect();
        assert_eq!(log.lines().collect::<Vec<_>>(), expected, "{user}");
        git(&tree, &["fsck", "--strict"]);
        assert_eq!(git(&tree, &["status", "--porcelain", "--untracked-files=no"]), "");
        ids.iter().for_each(|id| checker.promise(*id, 0));
    }
    let spans = intervals(&world.events());
    assert!(USERS.iter().all(|user| spans[*user].len() == TASKS_EACH), "every run was recorded: {spans:?}");
    checker.assert_quiet(&world);
}

#[test]
fn a_task_after_others_starts_once_they_have_completed() {
    let world = World::new("after");
    let quick = oracle::command(&world, "alice", oracle::Deed::Quick);
    let first = world.enqueue(&["-u", "alice"], &quick);
    let second = world.enqueue(&["-u", "bob", "--in", "20ms"], &oracle::command(&world, "bob", oracle::Deed::Work));
    let after = ["--after", &first.to_string(), "--after", &second.to_string()];
    let last = world.enqueue(&[&["-u", "alice", "--thread", "7"][..], &after[..]].concat(), &quick);
    let never = world.enqueue(&["-u", "alice"], &oracle::command(&world, "alice", oracle::Deed::Fail));
    let cancelled = world.enqueue(&["-u", "alice", "--after", &never.to_string()], &quick);
    settle(&world);
    let ends = [first, second, last, never, cancelled].map(|id| world.status_of(id));
    assert_eq!(ends, ["completed", "completed", "completed", "failed", "cancelled"]);
    Checker::default().assert_quiet(&world);
}

#[test]
fn a_retried_task_has_one_directory_with_the_logs_of_all_its_attempts() {
    let world = World::new("retried");
    let id = world.enqueue(&["-u", "alice"], &oracle::script(&world, "alice", "echo again; [ -e gate ]"));
    settle(&world);
    assert_eq!(world.status_of(id), "failed");
    world.touch("gate");
    world.luzia(&["retry", &id.to_string()]).ok();
    settle(&world);
    assert_eq!(world.status_of(id), "completed");
    assert_eq!(world.luzia(&["logs", &id.to_string()]).ok().out, "again\nagain\n");
    let mut checker = Checker::default();
    checker.promise(id, 1);
    checker.assert_quiet(&world);
}

fn make_crate(world: &World, main: &str) -> std::path::PathBuf {
    let dir = world.work.join("small");
    std::fs::create_dir_all(dir.join("src")).unwrap();
    let manifest = "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    std::fs::write(dir.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(dir.join("src/main.rs"), main).unwrap();
    dir
}

fn build(world: &World, main: &str) -> super::harness::Answer {
    let dir = make_crate(world, main);
    let mut command = world.command(&["run", "-u", "builder", "-p", "small", "--"]);
    command.args([env!("CARGO"), "build", "--offline", "--target-dir", "out"]).current_dir(&dir);
    // The compiler lies where it was installed.
    let installed = std::env::var_os("HOME").map(std::path::PathBuf::from).unwrap_or_default();
    for (name, below) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        command.env(name, std::env::var_os(name).unwrap_or_else(|| installed.join(below).into()));
    }
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "RUSTC_WRAPPER", "LLVM_PROFILE_FILE"] {
        command.env_remove(name);
    }
    run(command, super::harness::PATIENCE).expect("the build ends")
}

#[test]
fn a_build_through_run_gives_its_code_and_its_log_and_its_program() {
    let world = World::new("build");
    let good = build(&world, "fn main() { println!(\"built\"); }");
    assert_eq!(good.code(), Some(0), "{good:?}");
    assert!(good.err.contains("Compiling small"), "{good:?}");
    let made = Command::new(world.work.join("small/out/debug/small")).output().unwrap();
    assert_eq!(made.stdout, b"built\n");
    assert!(world.luzia(&["logs", "1"]).ok().out.contains("Compiling small"));
    assert_eq!(world.status_of(1), "completed");

    let bad = build(&world, "fn main() { let x: u32 = \"no\"; }");
    assert_eq!(bad.code(), Some(101), "the code of cargo itself: {bad:?}");
    assert!(bad.err.contains("mismatched types"), "{bad:?}");
    assert!(world.luzia(&["logs", "2", "--stderr"]).ok().out.contains("mismatched types"));
    assert_eq!(world.status_of(2), "failed");
    let mut checker = Checker::default();
    settle(&world);
    checker.promise(1, 0);
    checker.promise(2, 0);
    checker.assert_quiet(&world);
}

#[test]
fn three_agents_work_in_two_repositories_and_take_turns() {
    let name = "three_agents_work_in_two_repositories_and_take_turns";
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents");
    let ran = Command::new(script).arg(env!("CARGO_BIN_EXE_luzia")).output().unwrap();
    if ran.status.code() == Some(3) {
        crate::support::skip(name, "the right to `unshare -m -p -f --mount-proc`");
        return;
    }
    let (told, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{told}{err}");
    assert!(told.starts_with("60 commits of 3 agents in 2 repositories"), "{told}{err}");
}
