//! The variables of git that are about one repository: a task in another directory has none of them.

use crate::support::Place;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const AS_SOMEBODY: &str = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@x";

#[test]
fn a_task_that_a_hook_of_git_queues_for_another_repository_commits_there() {
    let place = Place::new();
    let hook = place.path("post-commit");
    fs::write(&hook, "#!/bin/sh\n$LUZIA enqueue -l post --cwd ../b -- git commit -q --allow-empty -m from-a\n")
        .unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let script = format!(
        "{AS_SOMEBODY}; git init -q a && git init -q b && git -C a commit -q --allow-empty -m first && \
         git -C a worktree add -q ../linked && mv $PLACE/post-commit a/.git/hooks && \
         git -C linked commit -q --allow-empty -m second && $LUZIA dispatch --drain && git -C b log --format=%s && \
         git -C a log --all --format=%s"
    );
    let ran = place.spawn(&mut place.shell(&script)).end().coded(0);
    let said: Vec<&str> = ran.out.lines().filter(|line| !line.starts_with("task_")).collect();
    assert_eq!(said, ["from-a", "second", "first"], "{ran:#?}");
}

#[test]
fn variables_of_one_repository_stay_in_its_directory_or_where_they_are_given() {
    let place = Place::new();
    fs::create_dir(place.path("work/sub")).unwrap();
    let print = "-- sh -c 'echo $GIT_DIR-$GIT_AUTHOR_NAME'";
    for (options, said) in
        [("", "here-a"), ("--cwd .", "here-a"), ("--cwd sub", "-a"), ("--cwd sub --env GIT_DIR=given", "given-a")]
    {
        let script = format!("{AS_SOMEBODY} GIT_DIR=here; $LUZIA run -u a {options} {print}");
        assert_eq!(place.spawn(&mut place.shell(&script)).end().line(), said, "{options}");
        // As a part of the task around it.
        let script = format!("export GIT_DIR=here; $LUZIA run {options} {print}");
        let around = format!("{AS_SOMEBODY}; $LUZIA run -u b --shell \"$SCRIPT\"");
        let ran = place.spawn(place.shell(&around).env("SCRIPT", &script)).end();
        assert_eq!(ran.line(), said, "{options}: {ran:#?}");
    }
}
