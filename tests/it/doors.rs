//! Mistakes that would lose exclusion, or fail late, are told before anything is queued.

use crate::support::{Place, is_root, skip};
use serde_json::json;

#[test]
fn a_project_that_is_not_configured_is_refused_where_projects_are() {
    let place = Place::configured(&json!({ "projects": { "alice_project": { "user": "alice" } } }));
    place.enqueue(&["-p", "alice_project", "--", "true"]);
    let before = place.snapshot();
    for verb in ["enqueue", "run"] {
        let ran = place.luzia(&[verb, "-p", "alice_projct", "--", "true"]).coded(66);
        assert!(ran.err.contains("no project \"alice_projct\" is configured"), "{}", ran.err);
        assert!(ran.err.contains("did you mean alice_project?"), "{}", ran.err);
    }
    place.assert_unchanged(&before, "a mistyped project");
    let all = Place::configured(&json!({ "projects": { "*": { "user": "alice" } } }));
    all.enqueue(&["-p", "any", "--", "true"]);
    Place::new().enqueue(&["-p", "any", "--", "true"]);
}

#[test]
fn users_known_refuses_other_users_in_every_verb_that_takes_a_lane() {
    let config = json!({ "users": { "known": ["alice"] }, "projects": { "p": { "user": "bob" } } });
    let place = Place::configured(&config);
    for args in [
        &["enqueue", "-u", "alcie", "--", "true"][..],
        &["run", "-u", "alcie", "--", "true"],
        &["lock", "-u", "alcie", "--", "true"],
        &["acquire", "alcie", "--task", "t"],
    ] {
        let ran = place.luzia(args).coded(66);
        assert!(ran.err.contains("\"alcie\" is not a known user"), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("did you mean alice?"), "{args:?}: {}", ran.err);
    }
    assert!(!place.state().join("spool/sequence").exists(), "no number was taken");
    place.enqueue(&["-u", "alice", "--", "true"]);
    place.enqueue(&["-u", "bob", "--", "true"]);
    place.enqueue(&["-l", "cron", "--", "true"]);
    let bad = Place::new();
    for known in [json!([]), json!("alice"), json!([1]), json!(["a\u{1}"])] {
        bad.configure(&json!({ "users": { "known": known } }));
        bad.luzia(&["enqueue", "--", "true"]).coded(78);
    }
}

#[test]
fn the_first_task_of_a_user_with_almost_the_name_of_another_is_told() {
    let place = Place::new();
    let note = |args: &[&str]| place.ok(args).err.contains("did you mean");
    assert!(!note(&["enqueue", "-u", "alice", "--", "true"]));
    assert!(note(&["enqueue", "-u", "alcie", "--", "true"]));
    assert!(!note(&["enqueue", "-u", "alcie", "--", "true"]), "it is told once");
    assert!(!note(&["enqueue", "-u", "agent-1", "--", "true"]) && !note(&["enqueue", "-u", "agent-2", "--", "true"]));
    assert!(note(&["run", "-u", "Alice", "--", "true"]));
    assert!(note(&["lock", "-u", "allice", "--", "true"]));
    assert!(note(&["acquire", "alicee", "--task", "t"]));
    assert!(!note(&["enqueue", "-q", "-u", "alic", "--", "true"]));
    // A file that is torn, or no file, is a hint that is lost, and never an error.
    std::fs::write(place.state().join("spool/users"), b"al\xff\nal=zz\n\n").unwrap();
    assert!(!note(&["enqueue", "-u", "bobby", "--", "true"]));
    std::fs::remove_file(place.state().join("spool/users")).unwrap();
    std::fs::create_dir(place.state().join("spool/users")).unwrap();
    assert!(!note(&["enqueue", "-u", "bobbi", "--", "true"]));
}

#[test]
fn a_batch_of_users_is_told_by_name() {
    let place = Place::new();
    place.enqueue(&["-u", "alice", "--", "true"]);
    let lines = "{\"user\":\"alcie\",\"command\":[\"true\"]}\n{\"user\":\"bob\",\"command\":[\"true\"]}\n";
    std::fs::write(place.path("lines"), lines).unwrap();
    let ran = place.ok(&["enqueue", "--from", &place.text("lines")]);
    assert_eq!(ran.err.matches("did you mean \"alice\"").count(), 1, "{}", ran.err);
    std::fs::write(place.path("lines"), "{\"command\":[\"true\"]}\n{\"command\":[\"nosuch\"]}\n").unwrap();
    let ran = place.luzia(&["enqueue", "--from", &place.text("lines")]).coded(2);
    assert!(ran.err.contains("line 2: there is no such command"), "{}", ran.err);
    std::fs::write(place.path("lines"), "{\"command\":[\"nosuch\"],\"no_check\":true}\n").unwrap();
    place.ok(&["enqueue", "--from", &place.text("lines")]);
}

#[test]
fn a_directory_or_a_command_that_is_not_there_is_refused_and_changes_nothing() {
    let place = Place::new();
    place.enqueue(&["--", "true"]);
    std::fs::write(place.path("plain"), "").unwrap();
    let plain = place.text("plain");
    let before = place.snapshot();
    for (args, of_run, part) in [
        (&["--cwd", "/nosuch", "--", "true"][..], 125, "\"/nosuch\""),
        (&["--cwd", "/nosuch", "--", "true"], 125, "name an existing directory with --cwd"),
        (&["--cwd", &plain, "--", "true"], 125, "Not a directory"),
        (&["/tmp"], 126, "name a file that this account can execute"),
        (&["nosuch-command"], 127, "name an existing program; --no-check is for one that will exist"),
        (&["nosuch-command"], 127, "there is no such command: nosuch-command"),
        (&["./nosuch"], 127, "there is no such command: ./nosuch"),
        (&[&plain], 126, "the command cannot be executed"),
        (&["--env", "PATH=/nosuch", "--", "true"], 127, "there is no such command: true"),
        (&["make && make install"], 127, "to run a shell line, use --shell 'make && make install'"),
        (&["--timeout", "10", "minutes", "--", "true"], 127, "a part of the value of an option"),
    ] {
        for (verb, code) in [("enqueue", 2), ("run", of_run)] {
            let ran = place.luzia(&[&[verb], args].concat()).coded(code);
            assert!(ran.err.contains(part), "{verb} {args:?}: {}", ran.err);
            assert!(!ran.err.contains("os error"), "{verb} {args:?}: {}", ran.err);
            let may_come = ran.err.contains("No such file or directory");
            assert!(may_come || !ran.err.contains("--no-check"), "{verb} {args:?}: {}", ran.err);
        }
        place.assert_unchanged(&before, &format!("{args:?}"));
    }
    place.enqueue(&["--no-check", "--cwd", "/nosuch", "--", "true"]);
    let id = place.enqueue(&["--no-check", "nosuch-command"]);
    place.drain();
    assert_eq!(place.show(&id)["exit_code"], 127);
    for (program, code) in [("nosuch-command", 127), (plain.as_str(), 126)] {
        let ran = place.luzia(&["lock", "-l", "build", "--", program]).coded(code);
        assert_eq!(ran.err.matches(program).count(), 1, "{}", ran.err);
        assert!(ran.err.contains("hint: name a"), "{}", ran.err);
    }
}

#[test]
fn what_another_task_makes_need_not_be_there_yet() {
    let place = Place::new();
    let script = "printf '#!/bin/sh\\nexit 7\\n' > made; chmod +x made";
    let first = place.enqueue(&["--cwd", &place.text(""), "--shell", script]);
    let then = place.enqueue(&["--after", &first, "--cwd", &place.text(""), "--", "./made"]);
    place.drain();
    assert_eq!(place.show(&then)["exit_code"], 7);
}

#[test]
fn an_option_behind_the_command_word_is_told_and_left_to_the_command() {
    let place = Place::new();
    let ran = place.ok(&["enqueue", "echo", "1", "--priority", "1"]);
    assert!(ran.err.contains("--priority comes after the command word"), "{}", ran.err);
    assert_eq!(place.show("task_1")["command"], json!(["echo", "1", "--priority", "1"]));
    assert_eq!(place.ok(&["enqueue", "--", "echo", "1", "--priority", "1"]).err, "");
    assert_eq!(place.ok(&["enqueue", "echo", "--jobs", "1"]).err, "");
}

#[test]
fn a_directory_that_is_none_of_luzia_is_refused_by_every_verb() {
    let place = Place::new();
    let home = place.path("home");
    std::fs::create_dir_all(home.join("Documents")).unwrap();
    for args in
        [&["enqueue", "--", "true"][..], &["lock", "-u", "a", "--", "true"], &["list"], &["status"], &["check", "a"]]
    {
        let mut command = place.command(args);
        let ran = place.spawn(command.env("LUZIA_STATE_DIR", &home)).end().coded(78);
        assert!(ran.err.contains("is not a state directory: it holds \"Documents\""), "{args:?}: {}", ran.err);
    }
    assert_eq!(std::fs::read_dir(&home).unwrap().count(), 1, "nothing was made there");
    // The root of a file system of its own is as good as empty.
    let disk = place.path("disk");
    std::fs::create_dir_all(disk.join("lost+found")).unwrap();
    place.spawn(place.command(&["enqueue", "--", "true"]).env("LUZIA_STATE_DIR", &disk)).end().coded(0);
}

#[test]
fn a_new_directory_gets_mode_0700_and_an_old_one_is_left_to_doctor() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let dir = place.path("wide");
    std::fs::create_dir(&dir).unwrap();
    let set = |mode| std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(mode)).unwrap();
    let mode = || std::fs::metadata(&dir).unwrap().permissions().mode() & 0o7777;
    let ran = |args: &[&str]| place.spawn(place.command(args).env("LUZIA_STATE_DIR", &dir)).end();
    set(0o777);
    ran(&["enqueue", "--", "true"]).coded(0);
    assert_eq!(mode(), 0o700);
    set(0o755);
    ran(&["enqueue", "--", "true"]).coded(0);
    assert_eq!(mode(), 0o755);
    assert!(ran(&["doctor"]).out.contains("0755"));
    set(0o777);
    ran(&["enqueue", "--", "true"]).coded(77);
}

#[test]
fn a_look_at_a_directory_that_does_not_exist_says_so() {
    let place = Place::new();
    for args in [&["list"][..], &["status"], &["check", "a"], &["list-locks"], &["explain", "a"]] {
        let mut command = place.command(args);
        let ran = place.spawn(command.env("LUZIA_STATE_DIR", place.path("absent"))).end().coded(0);
        assert!(ran.err.contains("there is no state directory"), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("LUZIA_STATE_DIR"), "{args:?}: {}", ran.err);
    }
    assert!(!place.path("absent").exists());
}

#[test]
fn a_configuration_without_exclusion_is_told() {
    let place = Place::configured(&json!({ "per_user_serialization": { "enabled": false } }));
    let told = |args: &[&str]| place.ok(args).err.contains("per_user_serialization.enabled is false");
    assert!(told(&["run", "--", "true"]));
    assert!(told(&["enqueue", "-v", "--", "true"]) && !told(&["enqueue", "--", "true"]));
    assert!(told(&["status"]) && told(&["doctor"]));
    assert_eq!(place.json(&["status"])["user_exclusion"], false);
    place.configure(&json!({}));
    assert_eq!(place.json(&["status"])["user_exclusion"], true);
    assert!(!told(&["run", "--", "true"]));
}

#[test]
fn the_directory_of_the_host_is_the_queue_of_its_owner_only() {
    const TEST: &str = "the_directory_of_the_host_is_the_queue_of_its_owner_only";
    if !is_root() {
        return skip(TEST, "root, for a file system of its own at /var/lib");
    }
    let place = Place::new();
    let script = "mount -t tmpfs none /var/lib && mkdir -m 0700 /var/lib/luzia && chown 12345 /var/lib/luzia && unset LUZIA_STATE_DIR && \
                  export HOME=$PLACE/home XDG_STATE_HOME= && \"$LUZIA\" enqueue -u a -- true && \"$LUZIA\" status && \
                  chown 0 /var/lib/luzia && \"$LUZIA\" status && unset HOME XDG_STATE_HOME && chown 12345 /var/lib/luzia";
    let mut command = std::process::Command::new("unshare");
    command.args(["-m", "--propagation", "private", "sh", "-ec", script]);
    let shell = place.shell("");
    for (key, value) in shell.get_envs() {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    let ran = place.spawn(&mut command).end().coded(0);
    assert!(ran.out.contains("because /var/lib/luzia belongs to another account"), "{}", ran.out);
    assert!(ran.out.contains("(~/.local/state/luzia, because"), "XDG_STATE_HOME is not set: {}", ran.out);
    assert!(ran.out.contains("(/var/lib/luzia exists)"), "the owner has it: {}", ran.out);
    assert!(place.path("home/.local/state/luzia/spool").is_dir());
}
