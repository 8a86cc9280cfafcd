//! Finding everything that belongs to a task.

use super::*;
use luzia::os::TreeMark;
use std::collections::BTreeSet;

fn mark(dir: &Path) -> TreeMark {
    TreeMark {
        state_dir: dir.to_str().unwrap().to_owned(),
        task_id: "task_7".to_owned(),
        tree_lock: None,
        since: None,
        is_own: false,
        has_outsiders: false,
    }
}

fn marked(mut command: Command, mark: &TreeMark) -> Command {
    for (key, value) in [("LUZIA_STATE_DIR", &mark.state_dir), ("LUZIA_TASK_ID", &mark.task_id)] {
        command.env.push((key.into(), value.clone().into()));
    }
    command
}

fn found(mark: &TreeMark, spared: &[u32]) -> BTreeSet<u32> {
    let tree = RealProcesses.tree(mark, spared).unwrap();
    tree.iter().map(|who| who.pid).collect()
}

fn end(mark: &TreeMark) {
    eventually("the tree is dead", || {
        let tree = RealProcesses.tree(mark, &[]).unwrap();
        for who in &tree {
            RealProcesses.signal(who, Signal::Kill).unwrap();
        }
        RealProcesses.reap();
        tree.is_empty()
    });
}

/// Runs a command that leaves something behind, which prints its pid, be it after the end of the command.
fn leave(command: &Command, tree: Option<File>) -> u32 {
    let dir = tempfile::tempdir().unwrap();
    let mut child = RealProcesses.start(command, &streams(dir.path()), tree).unwrap();
    assert_eq!(end_of(child.as_mut()), Exit::Code(0));
    pid_said_in(dir.path())
}

#[test]
fn an_escapee_with_a_session_of_its_own_is_found_by_its_environment() {
    let name = "an_escapee_with_a_session_of_its_own_is_found_by_its_environment";
    alone(module_path!(), name, PLAINLY, || {
        let dir = tempfile::tempdir().unwrap();
        let mark = mark(dir.path());
        let escape = sh("setsid sh -c 'echo $$; exec sleep 1000 >/dev/null' & exit 0");
        let other = TreeMark { task_id: "task_77".to_owned(), ..mark.clone() };
        let elsewhere = TreeMark { state_dir: format!("{}x", mark.state_dir), ..mark.clone() };
        let pid = leave(&marked(escape.clone(), &mark), None);
        eventually("sleeping", || found(&mark, &[]).contains(&pid));
        assert_ne!(parent(pid), std::process::id());
        for stranger in [&other, &elsewhere] {
            assert_eq!(found(stranger, &[]), BTreeSet::new());
        }
        assert!(!found(&mark, &[pid]).contains(&pid), "spared");
        end(&mark);
    });
}

#[test]
fn an_escapee_without_environment_is_found_by_the_tree_lock() {
    let name = "an_escapee_without_environment_is_found_by_the_tree_lock";
    alone(module_path!(), name, PLAINLY, || {
        let dir = tempfile::tempdir().unwrap();
        let mut mark = mark(dir.path());
        let lock = File::create(dir.path().join("tree.lock")).unwrap();
        let escape = sh("env -i setsid sh -c 'echo $$; exec sleep 1000 >/dev/null' & exit 0");
        let pid = leave(&marked(escape, &mark), Some(lock.try_clone().unwrap()));
        eventually("away", || {
            let comm = std::fs::read_to_string(format!("/proc/{pid}/comm"));
            comm.is_ok_and(|comm| comm == "sleep\n")
        });
        assert!(!found(&mark, &[]).contains(&pid), "it has no environment");
        let meta = vfs(dir.path()).meta("tree.lock").unwrap().unwrap();
        mark.tree_lock = Some(meta.ident);
        assert_eq!(found(&mark, &[]), BTreeSet::from([pid]), "and not this process, which has it open");
        end(&mark);
        drop(lock);
    });
}

#[test]
fn a_subreaper_finds_every_descendant_but_the_spared_and_theirs() {
    let name = "a_subreaper_finds_every_descendant_but_the_spared_and_theirs";
    alone(module_path!(), name, PLAINLY, || {
        RealProcesses.become_supervisor().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mark = mark(dir.path());
        // Neither an environment nor a descriptor: only descent tells.
        let orphan = leave(&sh("(env -i setsid sleep 1000 >/dev/null & echo $!)"), None);
        let start = |script: &str| RealProcesses.start(&sh(script), &streams(dir.path()), None).unwrap();
        let nested = start("sh -c 'sleep 1000; :'; :");
        let nested = nested.pid();
        eventually("four processes", || found(&mark, &[]).len() == 4);
        let all = found(&mark, &[]);
        assert!(all.contains(&orphan) && all.contains(&nested));
        assert_eq!(found(&mark, &[nested]), BTreeSet::from([orphan]));
        let mut zombie = start("exit 0");
        end_of(zombie.as_mut());
        assert_eq!(found(&mark, &[]), all, "a zombie is no member");
        end(&mark);
    });
}

#[test]
fn a_supervisor_that_was_inherited_is_no_member_and_what_it_runs_is_none_either() {
    let name = "a_supervisor_that_was_inherited_is_no_member_and_what_it_runs_is_none_either";
    let through = r#"cd "$(mktemp -d)" && mkdir 7 77 && : >7/lock && : >77/lock && exec "$@" <7/lock"#;
    alone(module_path!(), name, through, || {
        RealProcesses.become_supervisor().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mark = mark(dir.path());
        let start = |script: &str| RealProcesses.start(&sh(script), &streams(dir.path()), None).unwrap();
        let input = |pid: u32| std::fs::read_link(format!("/proc/{pid}/fd/0")).unwrap();
        let here = input(std::process::id()).parent().unwrap().parent().unwrap().to_owned();
        let other = here.join("77/lock");
        let supervisor =
            leave(&sh(&format!("(sh -c 'sleep 1000 & wait' <{} >/dev/null & echo $!)", other.display())), None);
        let own = start(&format!("exec sleep 1000 <{}", here.join("7/lock").display())).pid();
        eventually("only what is ours", || input(supervisor) == other && found(&mark, &[]) == BTreeSet::from([own]));
        std::fs::remove_file(&other).unwrap();
        assert_eq!(found(&mark, &[]), BTreeSet::from([own]), "and after it removed its lock");
        let supervisor = identity(supervisor);
        RealProcesses.signal(&supervisor, Signal::Kill).unwrap();
        // Only then is what it ran a child of this process, and found.
        assert!(RealProcesses.await_death(&supervisor, SOON).unwrap());
        end(&mark);
        std::fs::remove_dir_all(here).unwrap();
    });
}
