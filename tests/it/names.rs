//! One thing has one lane, by whatever path it is reached.

use crate::support::Place;
use std::path::Path;
use std::process::Command;

fn git(dir: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]).args(args);
    let ran = command.current_dir(dir).env("HOME", dir).output().unwrap();
    assert!(ran.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// Makes a repository with a commit, a subdirectory and a work tree beside it.
fn repository(place: &Place, name: &str) {
    std::fs::create_dir_all(place.path(name).join("sub")).unwrap();
    let dir = place.path(name);
    git(&dir, &["init", "-q"]);
    git(&dir, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&dir, &["worktree", "add", "-q", "-b", "side", &place.text(&format!("{name}-side"))]);
}

#[track_caller]
fn lane(place: &Place, kind: &str, dir: &str) -> String {
    place.ok(&["name", kind, &place.text(dir)]).line()
}

#[test]
fn a_repository_has_one_lane_and_each_work_tree_its_own() {
    let place = Place::new();
    repository(&place, "a");
    repository(&place, "b");
    std::os::unix::fs::symlink(place.path("a/sub"), place.path("link")).unwrap();
    let a = lane(&place, "git-dir", "a");
    assert!(a.len() == 20 && a.starts_with("git:"), "{a}");
    for dir in ["a/sub", "a-side", "link", "a/.git", "a/.git/refs"] {
        assert_eq!(lane(&place, "git-dir", dir), a, "{dir}");
    }
    assert_ne!(lane(&place, "git-dir", "b"), a);
    let tree = lane(&place, "tree", "a");
    assert_eq!((lane(&place, "tree", "a/sub"), lane(&place, "tree", "link")), (tree.clone(), tree.clone()));
    assert_ne!(lane(&place, "tree", "a-side"), tree);
    // The working directory counts where none is named.
    let mut here = place.command(&["--json", "name", "tree"]);
    let told = place.spawn(here.current_dir(place.path("a/sub"))).end().coded(0).json();
    let path = std::fs::canonicalize(place.path("a")).unwrap();
    assert_eq!((&told["lane"], &told["kind"]), (&tree.into(), &"tree".into()));
    assert_eq!(told["path"], path.to_str().unwrap());
    // A renamed repository stays what it is.
    std::fs::rename(place.path("b"), place.path("c")).unwrap();
    assert_ne!(lane(&place, "git-dir", "c"), a);
}

#[test]
fn bare_repositories_and_broken_ones_are_told_apart() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("plain")).unwrap();
    git(&place.path(""), &["init", "-q", "--bare", "bare"]);
    assert!(lane(&place, "git-dir", "bare").starts_with("git:"));
    for (kind, dir, part) in [
        ("tree", "bare", "is a bare repository"),
        ("git-dir", "plain", "is not in a git repository"),
        ("tree", "plain", "is not in a git repository"),
        ("git-ref", "plain", "is not in a git repository"),
        ("git-dir", "absent", "is not a directory"),
        ("dir", "absent", "is not a directory"),
    ] {
        let ran = place.luzia(&["name", kind, &place.text(dir)]).coded(66);
        assert!(ran.err.contains(part) && ran.out.is_empty(), "{kind} {dir}: {}", ran.err);
    }
    for args in [["enqueue", "--repo"], ["run", "--tree"], ["lock", "--repo"]] {
        let ran = place.luzia(&[&args[..], &[place.text("plain").as_str(), "--", "true"]].concat()).coded(66);
        assert!(ran.err.contains("`-l @dir` takes the lane of the directory"), "{args:?}: {}", ran.err);
    }
    for text in ["hello\n", "gitdir: /nowhere\n"] {
        std::fs::write(place.path("plain/.git"), text).unwrap();
        let ran = place.luzia(&["name", "git-dir", &place.text("plain")]).coded(66);
        assert!(ran.err.contains("names no directory of git"), "{}", ran.err);
    }
    repository(&place, "a");
    std::fs::write(place.path("plain/.git"), "gitdir: ../a/.git\n").unwrap();
    assert_eq!(lane(&place, "git-dir", "plain"), lane(&place, "git-dir", "a"));
    assert_ne!(lane(&place, "tree", "plain"), lane(&place, "tree", "a"));
}

#[test]
fn a_branch_is_named_by_its_remote() {
    let place = Place::new();
    repository(&place, "a");
    repository(&place, "b");
    let own = lane(&place, "git-ref", "a");
    assert!(own.starts_with("ref:") && own.ends_with("#main"), "{own}");
    assert!(lane(&place, "git-ref", "a-side").ends_with("#side"));
    assert_ne!(lane(&place, "git-ref", "b"), own);
    git(&place.path("a"), &["remote", "add", "origin", "git@example.org:team/app.git"]);
    git(&place.path("b"), &["remote", "add", "origin", "https://me:secret@example.org/team/app"]);
    for dir in ["a", "b/sub"] {
        assert_eq!(lane(&place, "git-ref", dir), "ref:example.org/team/app#main");
    }
    git(&place.path("a"), &["checkout", "-q", "--detach"]);
    let ran = place.luzia(&["name", "git-ref", &place.text("a")]).coded(66);
    assert!(ran.err.contains("no branch is checked out"), "{}", ran.err);
}

#[test]
fn ports_and_databases_have_lanes_without_secrets() {
    let place = Place::new();
    let of = |kind: &str, arg: &str| place.ok(&["name", kind, arg]).line();
    assert_eq!(of("port", "4010"), "port:4010");
    assert_eq!(of("db", "postgresql://me:secret@127.0.0.1/app?x=y"), "db:postgres://localhost:5432/app");
    let before = of("db", "app.db");
    std::fs::write(place.path("work/app.db"), "").unwrap();
    std::os::unix::fs::symlink("app.db", place.path("work/other.db")).unwrap();
    for text in ["app.db", "./app.db", "other.db", "sqlite:///app.db", &place.text("work/app.db")] {
        assert_eq!(of("db", text), before, "{text}");
    }
    for args in
        [&["name", "port", "99999"][..], &["name", "port"], &["name", "db"], &["name", "db", ""], &["name", "x"]]
    {
        let ran = place.luzia(args).coded(2);
        assert!(ran.out.is_empty() && !ran.err.is_empty(), "{args:?}");
    }
    assert!(!place.state().exists(), "a look makes no state directory");
}

#[test]
fn every_verb_that_takes_a_lane_takes_a_name() {
    let place = Place::new();
    repository(&place, "work/a");
    let tree = lane(&place, "tree", "work/a");
    let in_a = |args: &[&str]| place.spawn(place.command(args).current_dir(place.path("work/a/sub"))).end();
    let id = in_a(&["acquire", "@tree", "--task", "t1"]).coded(0).line();
    in_a(&["check", "@tree"]).coded(75);
    in_a(&["renew", "@tree", "--lock-id", &id]).coded(0);
    let ran = in_a(&["lock", "-l", "@tree", "-n", "--", "true"]).coded(75);
    assert!(ran.err.contains(&tree), "{}", ran.err);
    in_a(&["lock", "--tree", "-n", "--", "true"]).coded(75);
    in_a(&["lock", "--repo", "-n", "--", "true"]).coded(0);
    assert!(in_a(&["explain", "@tree"]).coded(0).out.contains(&tree));
    in_a(&["release", "@tree", "--lock-id", &id]).coded(0);
    in_a(&["check", "@tree"]).coded(0);
    // Relative to the directory of the task.
    place.enqueue(&["-l", "@tree", "--cwd", "a/sub", "--", "true"]);
    place.enqueue(&["--repo=a", "-l", "@port:4010", "--", "true"]);
    place.enqueue(&["-u", "alice", "--tree", "--cwd", "a", "--", "true"]);
    let lines = r#"{"repo":"a","command":["true"]}
{"tree":true,"cwd":"a","command":["true"]}"#;
    std::fs::write(place.path("work/tasks"), lines).unwrap();
    place.ok(&["enqueue", "--from", "tasks"]);
    let repo = lane(&place, "git-dir", "work/a");
    let lanes = |id: &str| place.show(id)["lanes"].clone();
    assert_eq!(lanes("1"), serde_json::json!([tree]));
    assert_eq!(lanes("2"), serde_json::json!([repo, "port:4010"]));
    assert_eq!(lanes("3"), serde_json::json!(["user:alice", tree]));
    assert_eq!((lanes("4"), lanes("5")), (serde_json::json!([repo]), serde_json::json!([tree])));
    let listed = in_a(&["--json", "list", "-l", "@tree"]).coded(0).json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 3, "{listed}");
    let before = place.snapshot();
    for (args, code) in [
        (&["enqueue", "-l", "@port:99999", "--", "true"][..], 2),
        (&["enqueue", "-l", "@nothing", "--", "true"], 2),
        (&["enqueue", "-l", "@", "--", "true"], 2),
        (&["enqueue", "--repo", "--", "true"], 66),
        (&["enqueue", "--repo", "nowhere", "--", "true"], 66),
        (&["lock", "-l", "@tree", "--", "true"], 66),
        (&["acquire", "@port", "--task", "t1"], 2),
    ] {
        place.luzia(args).coded(code);
        place.assert_unchanged(&before, &format!("{args:?}"));
    }
}

#[test]
fn two_repositories_of_one_account_run_side_by_side_and_one_takes_turns() {
    let place = Place::new();
    repository(&place, "a");
    repository(&place, "b");
    place.gate("gate");
    let run = |dir: &str, args: &[&str]| {
        place.spawn(place.command(&[&["run", "--repo"], args].concat()).current_dir(place.path(dir)))
    };
    let first = run("a", &["--", "sh", "-c", "echo up > $PLACE/up; read _ < $PLACE/gate; echo first >> $PLACE/log"]);
    place.until_file("up");
    run("b", &["--", "sh", "-c", "echo other >> $PLACE/log"]).end().coded(0);
    run("a-side", &["--no-wait", "--", "true"]).end().coded(75);
    let second = run("a-side", &["--", "sh", "-c", "echo second >> $PLACE/log"]);
    crate::support::until("the second waits", || (place.json(&["list"])["items"].as_array()?.len() == 2).then_some(()));
    place.open_gate("gate");
    first.end().coded(0);
    second.end().coded(0);
    assert_eq!(std::fs::read_to_string(place.path("log")).unwrap(), "other\nfirst\nsecond\n");
}

#[test]
fn the_path_stands_beside_a_lane_that_was_named_by_one() {
    let place = Place::new();
    let repo = place.path("work/re po");
    std::fs::create_dir(&repo).unwrap();
    let path = repo.to_str().unwrap();
    git(&repo, &["init", "-q"]);
    let lane = place.ok(&["name", "git-dir", path]).line();
    let gate = place.gate("gate");
    let holder = place.start(&["lock", "--repo", path, "--", "sh", "-c", &format!("echo x >held; cat {gate}")]);
    place.until_file("work/held");
    assert!(place.json(&["list-locks"])["items"][0]["path"].as_str().unwrap().starts_with(path));
    place.open_gate("gate");
    holder.end().coded(0);
    place.enqueue(&["--repo", path, "--", "sleep", "600"]);
    place.ok(&["dispatch"]);
    let listed = place.json(&["list-locks"]);
    let lock = listed["items"].as_array().unwrap().iter().find(|lock| lock["lane"] == lane.as_str()).unwrap();
    let told = lock["path"].as_str().unwrap();
    assert!(told.starts_with(path), "{told}");
    assert!(place.ok(&["list-locks"]).out.contains(&format!("{lane} ({told})")));
    assert_eq!(place.json(&["explain", &lane])["path"], told);
    assert!(place.ok(&["explain", &lane]).out.starts_with(&format!("lane \"{lane}\" is of '{told}'\n")));
    // Once is enough, and a file that is damaged is no error.
    place.enqueue(&["--repo", path, "--", "true"]);
    let file = place.path("state/spool/places");
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 1);
    std::fs::write(&file, b"\xff\n\t\nx\t7\n").unwrap();
    assert_eq!(place.json(&["list-locks"])["items"].as_array().unwrap().len(), 2);
    place.ok(&["cancel", "task_1", "--yes"]);
}
