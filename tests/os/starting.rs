//! Starting the commands of tasks.

use super::*;
use luzia::os::InPlace;
use luzia::os::real::prepare_process;
use luzia::os::real::term::{own_program, umask};
use std::os::unix::fs::PermissionsExt;

fn in_place<'a>(argv: &'a [String], env: &'a [(String, String)], held: Vec<std::fs::File>) -> InPlace<'a> {
    InPlace { argv, env, cwd: None, has_input: true, held, output: None }
}

/// Starts the test from a copy of its program, which it may remove.
const FROM_A_COPY: &str = r#"copy=$(mktemp) && cp "$1" "$copy" && chmod 755 "$copy" && shift && exec "$copy" "$@""#;

fn script(dir: &Path, name: &str, text: &str, mode: u32) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The exit code that a failure to start will become.
fn refusal(command: &Command) -> (i32, String) {
    let dir = tempfile::tempdir().unwrap();
    match RealProcesses.start(command, &streams(dir.path()), None) {
        Err(StartError::NotFound(error)) => (127, error.to_string()),
        Err(StartError::NotExecutable(error)) => (126, error.to_string()),
        Err(StartError::Short(error) | StartError::Other(error)) => (125, error.to_string()),
        Ok(_) => (0, String::new()),
    }
}

fn with_path(mut command: Command, path: &str) -> Command {
    command.env = vec![(b"PATH".to_vec(), path.as_bytes().to_vec())];
    command
}

#[test]
fn exit_codes_and_signals_are_told_apart() {
    alone(module_path!(), "exit_codes_and_signals_are_told_apart", PLAINLY, || {
        assert_eq!(run(&sh("exit 0")).0, Exit::Code(0));
        assert_eq!(run(&sh("exit 255")).0, Exit::Code(255));
        assert_eq!(run(&sh("kill -9 $$")).0, Exit::Signal(9));
        assert_eq!(run(&sh("ulimit -c 0; kill -SEGV $$")).0, Exit::Signal(11));
    });
}

#[test]
fn a_program_is_searched_in_the_path_of_the_task() {
    alone(module_path!(), "a_program_is_searched_in_the_path_of_the_task", PLAINLY, || {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        for sub in ["first", "second", "here", "other"] {
            std::fs::create_dir(at(sub)).unwrap();
        }
        script(&dir.path().join("first"), "luzia-tool", "#!/bin/sh\necho no", 0o644);
        script(&dir.path().join("second"), "luzia-tool", "#!/bin/sh\necho second $0", 0o755);
        script(&dir.path().join("here"), "luzia-tool", "#!/bin/sh\necho here", 0o755);
        let tool = command(&["luzia-tool"]);
        let path = format!("{}:{}:/bin", at("first"), at("second"));
        let expected = format!("second {}/luzia-tool\n", at("second"));
        assert_eq!(run(&with_path(tool.clone(), &path)), (Exit::Code(0), expected));
        // Where this process would find it is of no interest.
        assert_eq!(refusal(&with_path(command(&["sh"]), "/nowhere")).0, 127);
        assert_eq!(refusal(&with_path(tool.clone(), &at("first"))).0, 126);
        let mut bare = command(&["sh", "-c", "echo by default"]);
        bare.env.clear();
        assert_eq!(run(&bare).1, "by default\n");
        // Relative things are relative to the working directory of the task.
        for (argv, path) in [("luzia-tool", ""), ("./luzia-tool", "/bin"), ("luzia-tool", "../here")] {
            let mut relative = with_path(command(&[argv]), path);
            relative.cwd = at("here");
            assert_eq!(run(&relative).1, "here\n", "{argv} {path}");
            relative.cwd = at("other");
            let expected = if path == "../here" { 0 } else { 127 };
            assert_eq!(refusal(&relative).0, expected, "{argv} {path}");
        }
    });
}

#[test]
fn a_refused_start_says_what_its_exit_code_will_say() {
    alone(module_path!(), "a_refused_start_says_what_its_exit_code_will_say", PLAINLY, || {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        let text = script(dir.path(), "text", "echo ran by a shell\n", 0o755);
        assert_eq!(run(&command(&[&text])), (Exit::Code(0), "ran by a shell\n".to_owned()));
        let closed = script(dir.path(), "closed", "#!/bin/sh\n", 0o600);
        let orphan = script(dir.path(), "orphan", "#!/no/such/interpreter\n", 0o755);
        for (program, code) in [
            (at("missing"), 127),
            (format!("{closed}/x"), 127),
            (orphan.clone(), 127),
            ("no-such-program".to_owned(), 127),
            (String::new(), 127),
            (closed, 126),
            (at(""), 126),
        ] {
            assert_eq!(refusal(&command(&[&program])).0, code, "{program}");
        }
        assert!(refusal(&command(&[&orphan])).1.contains("interpreter"));
        assert_eq!(refusal(&command(&[])).0, 125);
        assert_eq!(refusal(&command(&["echo", "a\0b"])).0, 125);
        for cwd in [at("missing"), at("text")] {
            let mut lost = command(&["true"]);
            lost.cwd = cwd.clone();
            let (code, message) = refusal(&lost);
            assert_eq!(code, 125);
            assert!(message.contains(&cwd), "{message}");
        }
    });
}

#[test]
fn a_command_has_its_own_environment_umask_group_and_no_input() {
    let name = "a_command_has_its_own_environment_umask_group_and_no_input";
    alone(module_path!(), name, PLAINLY, || {
        let mut asked = command(&["env"]);
        asked.env.push((b"ODD".to_vec(), b"\xff=1\n2".to_vec()));
        let dir = tempfile::tempdir().unwrap();
        let child = RealProcesses.start(&asked, &streams(dir.path()), None);
        assert_eq!(end_of(child.unwrap().as_mut()), Exit::Code(0));
        let bytes = std::fs::read(dir.path().join("out")).unwrap();
        assert!(bytes == b"PATH=/usr/bin:/bin\nODD=\xff=1\n2\n" || bytes == b"ODD=\xff=1\n2\nPATH=/usr/bin:/bin\n");
        let before = umask();
        let mut masked = sh("umask; read x; echo $?; readlink /proc/self/fd/0; pwd");
        masked.umask = 0o137;
        masked.cwd = "/usr".to_owned();
        assert_eq!(run(&masked).1, "0137\n1\n/dev/null\n/usr\n");
        assert_eq!(umask(), before);
        let leads = sh("read pid name state parent group rest < /proc/$$/stat; test $group = $$");
        assert_eq!(run(&leads).0, Exit::Code(0));
    });
}

#[test]
fn a_given_input_is_read() {
    alone(module_path!(), "a_given_input_is_read", PLAINLY, || {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("in"), "a prompt").unwrap();
        let mut streams = streams(dir.path());
        streams.stdin = Some(File::open(dir.path().join("in")).unwrap());
        let child = RealProcesses.start(&command(&["cat"]), &streams, None);
        assert_eq!(end_of(child.unwrap().as_mut()), Exit::Code(0));
        assert_eq!(std::fs::read_to_string(dir.path().join("out")).unwrap(), "a prompt");
    });
}

#[test]
fn a_signal_reaches_the_whole_group_even_after_its_leader() {
    let name = "a_signal_reaches_the_whole_group_even_after_its_leader";
    alone(module_path!(), name, PLAINLY, || {
        let dir = tempfile::tempdir().unwrap();
        let leader = sh("sleep 1000 & echo $!");
        let mut child = RealProcesses.start(&leader, &streams(dir.path()), None).unwrap();
        assert_eq!(end_of(child.as_mut()), Exit::Code(0));
        let left = identity(pid_said_in(dir.path()));
        let leader = RealProcesses.probe(child.pid());
        assert_eq!(leader, Probe::Zombie, "not waited for: its number is the group's");
        child.signal(Signal::Term).unwrap();
        eventually("the second member is dead", || RealProcesses.probe(left.pid).proves_death_of(left.start));
        assert_eq!(end_of(child.as_mut()), Exit::Code(0), "and its end is still known");
    });
}

#[test]
fn a_wait_ends_with_its_time() {
    alone(module_path!(), "a_wait_ends_with_its_time", PLAINLY, || {
        let dir = tempfile::tempdir().unwrap();
        let child = RealProcesses.start(&command(&["sleep", "1000"]), &streams(dir.path()), None);
        let mut child = child.unwrap();
        assert_eq!(child.wait(Some(Duration::ZERO)).unwrap(), Woken::TimeUp);
        assert_eq!(child.wait(Some(Duration::from_millis(30))).unwrap(), Woken::TimeUp);
        child.signal(Signal::Kill).unwrap();
        assert_eq!(child.wait(Some(Duration::MAX)).unwrap(), Woken::Exited(Exit::Signal(9)));
    });
}

#[test]
fn the_end_of_a_child_is_known_although_the_caller_ignores_dead_children() {
    let name = "the_end_of_a_child_is_known_although_the_caller_ignores_dead_children";
    // dash cannot ignore SIGCHLD for others, env can.
    let through = r#"exec env --ignore-signal=CHLD "$@""#;
    alone(module_path!(), name, through, || {
        let is_ignored = || signals(&status("thread-self"), "SigIgn") & 1 << 16 != 0;
        assert!(is_ignored(), "the spoiling worked");
        prepare_process().unwrap();
        assert!(!is_ignored(), "and was seen");
        assert_eq!(run(&sh("exit 3")).0, Exit::Code(3));
        let argv = ["sh", "-c", "exit 4"].map(str::to_owned);
        let mut here = RealProcesses.start_here(in_place(&argv, &[], Vec::new())).unwrap();
        assert_eq!(end_of(here.as_mut()), Exit::Code(4));
    });
}

#[test]
fn a_command_in_place_inherits_the_lock_and_everything_else() {
    let name = "a_command_in_place_inherits_the_lock_and_everything_else";
    alone(module_path!(), name, PLAINLY, || {
        let dir = tempfile::tempdir().unwrap();
        let files = vfs(dir.path());
        let mut lock = files.open("lock", Open::CreateNew(0o600)).unwrap().unwrap();
        assert!(lock.try_lock(false).unwrap());
        let go = dir.path().join("go");
        let text = format!(
            "read p n s parent group rest < /proc/$$/stat; read p n s g2 own rest < /proc/{}/stat; \
             test $group = $own && test $MARK = 1 && test -n \"$LUZIA_TEST_ALONE\" || exit 9; \
             while ! test -e {}; do sleep 0.01; done; exit 5",
            std::process::id(),
            go.display()
        );
        let argv = ["sh".to_owned(), "-c".to_owned(), text];
        let env = [("MARK".to_owned(), "1".to_owned())];
        let mut child = RealProcesses.start_here(in_place(&argv, &env, lock.share().into_iter().collect())).unwrap();
        drop(lock);
        let mut other = files.open("lock", Open::Existing).unwrap().unwrap();
        assert!(!other.try_lock(false).unwrap(), "the command holds it");
        std::fs::write(go, "").unwrap();
        assert_eq!(end_of(child.as_mut()), Exit::Code(5));
        eventually("the lock is free", || other.try_lock(false).unwrap());
    });
}

#[test]
fn a_command_in_place_is_left_to_the_keyboard_and_termination_is_told() {
    let name = "a_command_in_place_is_left_to_the_keyboard_and_termination_is_told";
    alone(module_path!(), name, PLAINLY, || {
        let argv = ["sleep", "1000"].map(str::to_owned);
        let mut child = RealProcesses.start_here(in_place(&argv, &[], Vec::new())).unwrap();
        for signal in ["INT", "QUIT", "TERM"] {
            let me = std::process::id().to_string();
            let sent = std::process::Command::new("kill").args(["-s", signal, &me]).status();
            assert!(sent.unwrap().success());
        }
        assert_eq!(child.wait(Some(SOON)).unwrap(), Woken::Terminate);
        // It has no group of its own: a signal to "its group" must not hit us.
        child.signal(Signal::Int).unwrap();
        assert_eq!(end_of(child.as_mut()), Exit::Signal(2));
    });
}

#[test]
fn a_replaced_program_is_still_found_as_itself() {
    let name = "a_replaced_program_is_still_found_as_itself";
    alone(module_path!(), name, FROM_A_COPY, || {
        let own = std::env::current_exe().unwrap();
        assert_eq!(own_program(), own.to_str().unwrap());
        assert!(RealProcesses.is_program_current());
        std::fs::remove_file(&own).unwrap();
        let link = "/proc/self/exe";
        assert_eq!(own_program(), link);
        std::fs::write(&own, "another program").unwrap();
        assert_eq!(own_program(), link);
        assert!(RealProcesses.is_program_current(), "what cannot be executed is no program");
        std::fs::set_permissions(&own, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(own_program(), link);
        assert!(!RealProcesses.is_program_current());
        std::fs::remove_file(&own).unwrap();
    });
}

#[test]
fn only_a_program_that_nobody_else_can_change_comes_into_the_place_of_this_program() {
    let name = "only_a_program_that_nobody_else_can_change_comes_into_the_place_of_this_program";
    alone(module_path!(), name, FROM_A_COPY, || {
        let own = std::env::current_exe().unwrap();
        let luzia = env!("CARGO_BIN_EXE_luzia");
        let copy = || assert!(std::fs::copy(luzia, &own).unwrap() > 0);
        let put = |mode, write: &dyn Fn()| {
            std::fs::remove_file(&own).unwrap();
            write();
            std::fs::set_permissions(&own, PermissionsExt::from_mode(mode)).unwrap();
            RealProcesses.is_program_current()
        };
        assert!(put(0o775, &copy), "one that others can change");
        assert!(put(0o644, &copy), "one that cannot be executed");
        assert!(!put(0o755, &copy), "one that is as good");
        std::fs::remove_file(&own).unwrap();
    });
}
