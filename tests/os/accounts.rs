//! Taking on an account. Needs root; elsewhere the refusals alone are shown.

use super::skip::skip;
use super::*;
use luzia::os::real::{account_name, exec_task};

fn code(error: &StartError) -> i32 {
    match error {
        StartError::NotFound(_) => 127,
        StartError::NotExecutable(_) => 126,
        StartError::Short(_) | StartError::Other(_) => 125,
    }
}

fn argv(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn accounts_have_names() {
    assert_eq!(account_name(0).unwrap().as_deref(), Some("root"));
    assert_eq!(account_name(u32::MAX - 7).unwrap(), None);
}

#[test]
fn unknown_accounts_and_what_is_none_are_refused() {
    alone(module_path!(), "unknown_accounts_and_what_is_none_are_refused", PLAINLY, || {
        for account in ["root", "", "65534", "65534:65534", "65534:65534:x", "-1:65534:", "65534:65534:1:2", "65534::"]
        {
            assert_eq!(code(&exec_task(account, &argv(&["true"]))), 125, "{account}");
        }
        for user in ["no-such-account", ""] {
            let mut other = command(&["true"]);
            other.run_as = Some(user.to_owned());
            let dir = tempfile::tempdir().unwrap();
            let file = || std::fs::File::create(dir.path().join("out")).unwrap();
            let streams = Streams { stdin: None, stdout: file(), stderr: file() };
            let error = RealProcesses.start(&other, &streams, None).err().expect("there is no such account");
            assert!(code(&error) == 125 && format!("{error:?}").contains("there is no account"), "{error:?}");
        }
    });
}

/// Not a test of its own: the trampoline that the next test starts, as `luzia exec-task` does.
fn be_the_trampoline(dir: &str) -> ! {
    let command = [
        "sh",
        "-c",
        "id -u; id -g; id -G; env; grep NoNewPrivs /proc/self/status; \
                    grep SigIgn /proc/self/status; for f in /proc/$$/fd/*; do readlink $f; done",
    ];
    let error = exec_task("65534:65534:65534", &argv(&command));
    std::fs::write(format!("{dir}/failed"), format!("{error:?}")).ok();
    std::process::exit(code(&error));
}

#[test]
fn the_trampoline_becomes_the_account_for_good_and_never_sees_the_environment_of_the_task() {
    let name = "the_trampoline_becomes_the_account_for_good_and_never_sees_the_environment_of_the_task";
    if RealProcesses.uid() != 0 && std::env::var_os("LUZIA_TEST_TRAMPOLINE").is_none() {
        return skip(name, "root");
    }
    alone(module_path!(), name, PLAINLY, || {
        if let Ok(dir) = std::env::var("LUZIA_TEST_TRAMPOLINE") {
            be_the_trampoline(&dir);
        }
        let dir = tempfile::tempdir().unwrap();
        let (env, tree) = (dir.path().join("env"), dir.path().join("tree.lock"));
        std::fs::write(&env, b"PATH=/usr/bin:/bin\0SECRET=\xff\0").unwrap();
        let out = std::process::Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 5<"$ENV" 6>"$TREE" 9</etc/passwd"#])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", &format!("{}::{name}", module_path!().split_once("::").unwrap().1)])
            .args(["--test-threads=1", "--nocapture"])
            .env("ENV", &env)
            .env("TREE", &tree)
            .env("LUZIA_TEST_TRAMPOLINE", dir.path())
            .env("LUZIA_EXEC_ENVIRONMENT_FD", "5")
            .env("LUZIA_EXEC_TREE_FD", "6")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let (_, text) = text.split_once("65534\n").expect(&text);
        let expected = "65534\n65534\n";
        assert!(text.starts_with(expected), "{text}");
        let rest: Vec<&str> = text[expected.len()..].lines().collect();
        assert!(rest.contains(&"SECRET=\u{fffd}") && rest.contains(&"NoNewPrivs:\t1"), "{text}");
        // The first of the two signals of the C library is out of reach, if the tests were started with it ignored.
        let clean = ["SigIgn:\t0000000000000000", "SigIgn:\t0000000080000000"];
        assert!(clean.iter().any(|line| rest.contains(line)), "{text}");
        assert!(rest.contains(&tree.to_str().unwrap()), "{text}");
        assert!(!text.contains("LUZIA") && !text.contains("passwd") && !text.contains("/env"), "{text}");
        assert_eq!(out.status.code(), Some(0));
    });
}

#[test]
fn the_trampoline_is_started_with_an_empty_environment_and_the_descriptors_it_is_told() {
    let name = "the_trampoline_is_started_with_an_empty_environment_and_the_descriptors_it_is_told";
    alone(module_path!(), name, PLAINLY, || {
        // The test binary refuses the arguments of the trampoline; what it was given is seen before that.
        let mut other = command(&["true"]);
        other.run_as = Some("nobody".to_owned());
        other.env.push((b"LD_DEBUG".to_vec(), b"help".to_vec()));
        let (exit, text) = run(&other);
        assert_ne!(exit, Exit::Code(0));
        assert!(!text.contains("LD_DEBUG"), "the loader obeyed the task: {text}");
        assert!(text.contains("account"), "{text}");
    });
}
