//! What a command gets of its surroundings, and what it does not: variables, secrets, descriptors, signals, accounts.

use crate::support::{Place, is_root, skip};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

const CANARY: &str = "canary-5a1c3e7d";

#[test]
fn variables_that_change_how_programs_load_are_not_handed_on() {
    let place = Place::new();
    let mut enqueue = place.command(&["enqueue", "-u", "a", "--", "env"]);
    for name in
        ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "BASH_ENV", "ENV", "SHELLOPTS", "PERL5OPT", "NODE_OPTIONS"]
    {
        enqueue.env(name, "/nowhere");
    }
    enqueue.env("GIT_SSH_COMMAND", "kept").env("LUZIA_FENCE", "1").env("LUZIA_ANYTHING", "x");
    let id = place.spawn(&mut enqueue).end().coded(0).line();
    place.drain();
    let seen = place.ok(&["logs", &id, "--stdout"]).out;
    for name in
        ["LD_", "BASH_ENV", "\nENV=", "SHELLOPTS", "PERL5OPT", "NODE_OPTIONS", "LUZIA_ANYTHING", "LUZIA_FENCE=1\n"]
    {
        assert!(!seen.contains(name), "{name}: {seen}");
    }
    // Variables of other programs are the submitter's own, and reach the submitter's own command.
    assert!(seen.contains("GIT_SSH_COMMAND=kept"), "{seen}");
    // The supervisor runs nothing that the environment could choose: a PATH of traps springs none.
    std::fs::create_dir(place.path("traps")).unwrap();
    for name in ["sh", "luzia", "git", "true", "ps", "kill"] {
        let trap = place.path(&format!("traps/{name}"));
        std::fs::write(&trap, "#!/bin/sh\necho sprung >> $PLACE/sprung\n").unwrap();
        std::fs::set_permissions(&trap, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let mut run = place.command(&["run", "-u", "a", "--", "/bin/true"]);
    place.spawn(run.env("PATH", place.path("traps"))).end().coded(0);
    assert!(!place.path("sprung").exists());
}

#[test]
fn a_key_that_holds_an_equals_sign_or_is_no_name_is_refused() {
    let place = Place::new();
    let line = json!({ "user": "a", "env": { "A=B": "C" }, "command": ["env"] }).to_string();
    std::fs::write(place.path("lines"), line).unwrap();
    place.luzia(&["enqueue", "--from", &place.text("lines")]).coded(2);
    for pair in ["=B", "A B=C", "1A=B", "A-B=C"] {
        place.luzia(&["enqueue", "-u", "a", "--env", pair, "--", "env"]).coded(2);
    }
    let id = place.enqueue(&["-u", "a", "--env", "A=B=C", "--", "env"]);
    place.drain();
    assert!(place.ok(&["logs", &id]).out.lines().any(|line| line == "A=B=C"));
}

#[test]
fn a_secret_of_the_environment_lies_in_the_private_record_and_nowhere_else() {
    let place = Place::new();
    place.gate("gate");
    let script = "echo up > $PLACE/up; read _ < $PLACE/gate; test -n \"$TOKEN\"";
    let mut run = place.command(&["run", "-u", "a", "--", "sh", "-c", script]);
    let run = place.spawn(run.env("TOKEN", CANARY));
    place.until_file("up");
    // On no command line: those are open to everybody.
    for pid in crate::support::processes_in(&place.state()) {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&line).contains(CANARY), "{pid}");
    }
    check_files(&place, "while it runs");
    for verb in [&["show", "1"][..], &["list"], &["explain", "1"], &["status"], &["list-locks"]] {
        assert!(!place.ok(verb).out.contains(CANARY), "{verb:?}");
        assert!(!place.json(verb).to_string().contains(CANARY), "{verb:?} --json");
    }
    place.open_gate("gate");
    run.end().coded(0);
    check_files(&place, "when it is over");
    // Without inheritance nothing of the caller's environment is kept at all.
    let mut enqueue = place.command(&["enqueue", "-u", "b", "--env", "OTHER=1", "--", "env"]);
    place.spawn(enqueue.env("TOKEN", "")).end().coded(0);
}

/// The canary stands in records of mode 0600 in the spool, and in no other file of the state directory.
fn check_files(place: &Place, when: &str) {
    let mut holders = 0;
    for (path, text) in place.snapshot() {
        if text.contains(CANARY) {
            holders += 1;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert!(path.contains("/state/spool/") && mode == 0o600, "{when}: {path} {mode:o}");
        }
    }
    assert_eq!(holders, 1, "{when}");
    assert!(!place.events().iter().any(|event| event.to_string().contains(CANARY)), "{when}: events");
}

#[test]
fn a_command_has_three_descriptors_and_its_tree_lock_and_clean_signals() {
    let place = Place::new();
    let look = "for f in /proc/$$/fd/*; do readlink $f; done; grep -E 'Sig(Blk|Ign)' /proc/self/status";
    // Enqueued and dispatched by a caller that blocks, ignores and leaves open whatever it can.
    let spoiled = "exec 9>$PLACE/stray 5</etc/passwd; exec env --block-signal=TERM --ignore-signal=HUP --ignore-signal=INT \
                   \"$LUZIA\" run -u a -- sh -c \"$LOOK\"";
    let mut command = place.shell(spoiled);
    command.env("LOOK", look);
    let out = place.spawn(&mut command).end().coded(0).out;
    let links: Vec<&str> = out.lines().filter(|line| line.starts_with('/') || line.contains(":[")).collect();
    let own =
        |line: &&&str| line.contains("/conductor/") || line.ends_with("/run/1/tree.lock") || **line == "/dev/null";
    let strays: Vec<_> = links.iter().filter(|line| !own(line)).collect();
    // The shell's own list of the folder may be open while it is read.
    assert!(strays.iter().all(|line| line.starts_with("/proc/")), "{strays:?}");
    assert_eq!(links.iter().filter(|line| line.ends_with("/run/1/tree.lock")).count(), 1, "{links:?}");
    for line in out.lines().filter(|line| line.starts_with("Sig")) {
        let bits = u64::from_str_radix(line.split_whitespace().last().unwrap(), 16).unwrap();
        // Signals 32 and 33 are the C library's; who started the tests may have left them ignored.
        assert_eq!(bits & !(0b11 << 31), 0, "{out}");
    }
}

#[test]
fn no_text_of_a_request_is_ever_read_by_a_shell() {
    let agent = json!(["sh", "-c", "for a; do printf '<%s>' \"$a\"; done", "agent", "-p", "{prompt}"]);
    let place = Place::configured(&json!({ "projects": { "p": { "user": "a", "agent": agent } } }));
    for text in [
        "$(touch $PLACE/hit)",
        "`touch $PLACE/hit`",
        "; touch $PLACE/hit",
        "&& touch $PLACE/hit",
        "| cat > $PLACE/hit",
        "> $PLACE/hit",
        "'\"\\",
        "-rf",
        "--",
        "--help",
        "a\tb\n\nc",
        "*",
        "~",
        "%s%n",
        "!!",
        "\u{1b}[2J",
    ] {
        let prompt = format!("--prompt={text}");
        let id = place.enqueue(&["-p", "p", &prompt]);
        let plain = place.enqueue(&["-u", "b", "--", "printf", "%s", text]);
        place.drain();
        assert_eq!(place.ok(&["logs", &id, "--stdout"]).out, format!("<-p><{text}>"));
        if !["--", "--help", "-rf"].contains(&text) {
            assert_eq!(place.ok(&["logs", &plain, "--stdout"]).out, text);
        }
    }
    assert!(!place.path("hit").exists());
}

#[test]
fn run_as_gives_up_every_right_for_good() {
    if !is_root() {
        return skip("run_as_gives_up_every_right_for_good", "root");
    }
    let place = Place::configured(&json!({ "projects": { "p": { "user": "a", "run_as": "nobody" } } }));
    let id = place.enqueue(&["-p", "p", "--cwd", "/", "--", "cat", "/proc/self/status"]);
    place.drain();
    let status = place.ok(&["logs", &id, "--stdout"]).out;
    let field = |name: &str| {
        let line = status
            .lines()
            .find(|line| line.starts_with(&format!("{name}:")))
            .unwrap_or_else(|| panic!("{name}: {status}"));
        line.split_once(':').unwrap().1.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // Real, effective, saved and file-system ids, and no group of root's.
    assert_eq!(field("Uid"), "65534 65534 65534 65534");
    assert_eq!(field("Gid"), "65534 65534 65534 65534");
    assert!(field("Groups").split(' ').all(|group| group == "65534" || group.is_empty()), "{status}");
    assert_eq!(field("NoNewPrivs"), "1");
    for caps in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert_eq!(u64::from_str_radix(&field(caps), 16), Ok(0), "{caps}");
    }
}

/// The right that the tests with [`on_a_host`] need.
const TO_REPLACE_ACCOUNTS: &str = "root, getent(1), nsswitch.conf(5) and the right to mount";
/// The sources of accounts of a host that answers by itself, and of one whose directory may be down.
const LOCAL: &str = "files systemd";
const NETWORK: &str = "files sss";
/// Calls luzia, whose words follow, as an account that is in no file, with a state directory of its own.
const AS_EVE: &str = "install -d -m 700 -o 4242 \"$PLACE/eve\"; export LUZIA_STATE_DIR=\"$PLACE/eve\" HOME=/; \
                      exec setpriv --reuid 4242 --regid 4242 --clear-groups \"$PLACE/program\" --no-input";

fn can_replace_accounts() -> bool {
    let mounts = || std::process::Command::new("unshare").args(["--mount", "true"]).output();
    let is_there = ["/usr/bin/getent", "/etc/nsswitch.conf"].iter().all(|file| std::path::Path::new(file).exists());
    is_root() && is_there && mounts().is_ok_and(|ran| ran.status.success())
}

/// Runs a script in a mount namespace of its own, where accounts have these sources, and getent(1) is what `getent` says;
/// a text that is no script cannot be executed.
fn on_a_host(place: &Place, sources: &str, getent: &str, script: &str) -> crate::support::Ran {
    std::fs::write(place.path("getent"), getent).unwrap();
    std::fs::write(place.path("switch"), format!("passwd: {sources}\n")).unwrap();
    let mode = if getent.starts_with("#!") { "755" } else { "644" };
    let mounts = format!(
        "chmod {mode} \"$PLACE/getent\"; mount --bind \"$PLACE/getent\" /usr/bin/getent; \
         mount --bind \"$PLACE/switch\" /etc/nsswitch.conf"
    );
    place.spawn(&mut place.shell(&format!("exec unshare --mount sh -ec '{mounts}; {script}'"))).end()
}

#[test]
fn run_as_takes_an_account_and_its_groups_from_getent_where_the_files_do_not_have_it() {
    let name = "run_as_takes_an_account_and_its_groups_from_getent_where_the_files_do_not_have_it";
    if !can_replace_accounts() {
        return skip(name, TO_REPLACE_ACCOUNTS);
    }
    let place = Place::configured(&json!({ "projects": { "p": { "user": "a", "run_as": "luzia-eve" } } }));
    let getent = "#!/bin/sh\ncase \"$*\" in\n'passwd luzia-eve') echo luzia-eve:x:20000:20001::/:/bin/sh;;\n\
                  'initgroups luzia-eve') echo luzia-eve 20002 20003;;\n*) exit 2;;\nesac\n";
    let script = "exec \"$LUZIA\" run -p p --cwd / -- sh -c \"id -u; id -G\"";
    assert_eq!(on_a_host(&place, LOCAL, getent, script).coded(0).out, "20000\n20001 20002 20003\n");

    let refused = on_a_host(&place, LOCAL, "not a program", "exec \"$LUZIA\" enqueue -p p -- true").coded(74);
    assert!(refused.err.contains("cannot be looked up: /usr/bin/getent"), "{}", refused.err);
    let absent = on_a_host(&place, LOCAL, "#!/bin/sh\nexit 2", "exec \"$LUZIA\" enqueue -p p -- true");
    assert!(absent.coded(78).err.contains("there is no account"));
    assert_eq!(place.json(&["list"])["items"].as_array().unwrap().len(), 0);
}

#[test]
fn an_account_whose_name_cannot_be_looked_up_is_not_taken_for_another_user() {
    let name = "an_account_whose_name_cannot_be_looked_up_is_not_taken_for_another_user";
    if !can_replace_accounts() {
        return skip(name, TO_REPLACE_ACCOUNTS);
    }
    let place = Place::new();
    place.open_to_others();
    let knows = "#!/bin/sh\ntest \"$*\" = 'passwd 4242' && echo luzia-eve:x:4242:4242::/:/bin/sh";
    let call = |getent: &str, verb: &str| on_a_host(&place, LOCAL, getent, &format!("{AS_EVE} {verb}"));
    assert_eq!(call(knows, "enqueue -- true").coded(0).line(), "task_1");
    for verb in ["enqueue -- true", "run -- true", "lock -- true", "cancel 1"] {
        let refused = call("#!/bin/sh\nexit 3", verb).coded(74);
        assert!(refused.err.contains("the name of this account (uid 4242) cannot be looked up"), "{}", refused.err);
    }
    let homeless = on_a_host(
        &place,
        LOCAL,
        "#!/bin/sh\nexit 3",
        &format!("{} status", AS_EVE.replace("HOME=/", "HOME= XDG_CONFIG_HOME= XDG_STATE_HOME=")),
    )
    .coded(74);
    assert!(homeless.err.contains("the home of this account cannot be looked up"), "{}", homeless.err);
    // Who says the name needs no look, and an account without a name has its number for one.
    assert_eq!(call("#!/bin/sh\nexit 3", "enqueue -u luzia-eve -- true").coded(0).line(), "task_2");
    assert_eq!(call("#!/bin/sh\nexit 2", "enqueue -- true").coded(0).line(), "task_3");
    let listed = call(knows, "list --json").coded(0);
    let users: Vec<String> = serde_json::from_str::<serde_json::Value>(&listed.out).unwrap()["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["user"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(users, ["luzia-eve", "luzia-eve", "uid-4242"]);
}

#[test]
fn who_may_stand_in_a_directory_that_is_down_is_no_other_user() {
    let name = "who_may_stand_in_a_directory_that_is_down_is_no_other_user";
    if !can_replace_accounts() {
        return skip(name, TO_REPLACE_ACCOUNTS);
    }
    let place = Place::configured(&json!({ "projects": { "p": { "user": "a", "run_as": "luzia-eve" } } }));
    place.open_to_others();
    let call = |script: &str| on_a_host(&place, NETWORK, "#!/bin/sh\nexit 2", script);
    let refused = call(&format!("{AS_EVE} enqueue -- true")).coded(74);
    assert!(refused.err.contains("\"sss\" of /etc/nsswitch.conf"), "{}", refused.err);
    assert_eq!(call(&format!("{AS_EVE} enqueue -u eve -- true")).coded(0).line(), "task_1");
    let refused = call("exec \"$LUZIA\" enqueue -p p -- true").coded(74);
    assert!(refused.err.contains("the account \"luzia-eve\" cannot be looked up"), "{}", refused.err);
    assert_eq!(place.json(&["list"])["items"].as_array().unwrap().len(), 0);
}

#[test]
fn a_start_waits_for_a_directory_that_is_down() {
    if !can_replace_accounts() {
        return skip("a_start_waits_for_a_directory_that_is_down", TO_REPLACE_ACCOUNTS);
    }
    let place = Place::configured(&json!({ "projects": { "p": { "user": "a", "run_as": "luzia-eve" } } }));
    let getent = format!(
        "#!/bin/sh\ntest -e {} || exit 2\ncase \"$*\" in\n'passwd luzia-eve') echo luzia-eve:x:20000:20000::/:/bin/sh;;\n\
         'initgroups luzia-eve') echo luzia-eve 20000;;\n*) exit 2;;\nesac\n",
        place.path("up").display()
    );
    let script = "touch \"$PLACE/up\"; \"$LUZIA\" enqueue -p p --cwd / -- id -u; rm \"$PLACE/up\"; \"$LUZIA\" dispatch --once; \
                  until grep -q start_waits \"$LUZIA_STATE_DIR\"/events/*; do sleep 0.01; done; touch \"$PLACE/up\"; \
                  \"$LUZIA\" wait 1; \"$LUZIA\" logs 1 --stdout";
    assert!(on_a_host(&place, NETWORK, &getent, script).coded(0).out.ends_with("20000\n"));
    assert_eq!(place.json(&["show", "1"])["starts"], 1);
}

#[test]
fn a_batch_looks_each_account_up_once() {
    if !can_replace_accounts() {
        return skip("a_batch_looks_each_account_up_once", TO_REPLACE_ACCOUNTS);
    }
    let place = Place::configured(&json!({ "projects": { "p": { "conductor_dir": "/mnt", "run_as": "luzia-eve" } } }));
    let getent = format!(
        "#!/bin/sh\necho \"$*\" >> {}\ncase \"$*\" in 'passwd luzia-eve'|'passwd 20000') \
         echo luzia-eve:x:20000:20000::/:/bin/sh;; *) exit 2;; esac\n",
        place.path("asked").display()
    );
    let line = json!({ "project": "p", "command": ["true"] });
    std::fs::write(place.path("lines"), format!("{line}\n").repeat(5)).unwrap();
    let script = "mount -t tmpfs -o uid=20000 luzia-test /mnt; \"$LUZIA\" enqueue --from \"$PLACE/lines\"";
    on_a_host(&place, LOCAL, &getent, script).coded(0);
    let tasks = place.json(&["list"]);
    let users: Vec<&str> =
        tasks["items"].as_array().unwrap().iter().map(|task| task["user"].as_str().unwrap()).collect();
    assert_eq!(users, ["luzia-eve"; 5]);
    let asked = std::fs::read_to_string(place.path("asked")).unwrap();
    let mut asked: Vec<&str> = asked.lines().collect();
    asked.sort_unstable();
    assert_eq!(asked, ["passwd 20000", "passwd luzia-eve"]);
}

#[test]
fn run_as_root_or_an_unknown_account_is_refused() {
    let place =
        Place::configured(&json!({ "projects": { "r": { "run_as": "root" }, "n": { "run_as": "no-such-account" } } }));
    for project in ["r", "n"] {
        for verb in ["enqueue", "run"] {
            let refused = place.luzia(&[verb, "-u", "a", "-p", project, "--", "true"]);
            // On a host with a directory of accounts, which of the two it is cannot be told.
            let is_in_doubt = project == "n" && refused.code == 74 && refused.err.contains("nsswitch.conf");
            assert!(refused.code == 78 || is_in_doubt, "{refused:?}");
        }
    }
    assert_eq!(place.json(&["list"])["items"].as_array().unwrap().len(), 0);
}
