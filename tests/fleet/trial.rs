//! `luzia fleet trial`: two commands on one machine give a working fleet.

use crate::server::{Server, check};
use crate::support::{Place, Ran, is_root, lives, processes_in, signal, skip, until};
use rustix::process::Signal;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A home in which a trial is made. The trial is removed with it.
struct Home {
    place: Place,
}

impl Home {
    /// A home; `None`, and said, where no PostgreSQL is installed.
    fn new(test: &str) -> Option<Self> {
        Server::shared(test)?;
        let home = Self { place: Place::new() };
        // The account of the server makes its folder in the data of luzia.
        std::fs::create_dir_all(home.data("")).unwrap();
        home.place.open_to_others();
        std::fs::set_permissions(home.data(""), std::fs::Permissions::from_mode(0o777)).unwrap();
        Some(home)
    }

    /// A path below the data of luzia.
    fn data(&self, name: &str) -> PathBuf {
        self.place.path("home/.local/share/luzia").join(name)
    }

    /// Makes the trial, which must succeed; its document.
    #[track_caller]
    fn start(&self) -> Value {
        let account: &[&str] = if is_root() { &["--as", "nobody"] } else { &[] };
        self.json(&[&["fleet", "trial"], account].concat())
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        let document = self.place.json(args);
        check(&self.place, &document);
        document
    }

    /// The agent of a host.
    fn agent(&self, name: &str) -> u32 {
        let text = std::fs::read_to_string(self.data(&format!("trial/{name}.json"))).unwrap();
        u32::try_from(serde_json::from_str::<Value>(&text).unwrap()["pid"].as_u64().unwrap()).unwrap()
    }

    /// The server.
    fn server(&self) -> u32 {
        let text = std::fs::read_to_string(self.data("trial-server/postmaster.pid")).unwrap();
        text.lines().next().unwrap().parse().unwrap()
    }

    /// Runs a command on a host of the trial.
    #[track_caller]
    fn run(&self, place: &[&str]) -> Ran {
        let script = ["--", "sh", "-c", "echo $LUZIA_STATE_DIR"];
        self.place.ok(&[&["--store", "trial", "run", "-u", "a"], place, &script].concat())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let removed = self.place.luzia(&["fleet", "trial", "--rm"]);
        assert!(std::thread::panicking() || removed.code == 0, "{removed:?}");
    }
}

#[test]
fn two_commands_give_two_hosts_and_a_repetition_changes_nothing() {
    let Some(home) = Home::new("two_commands_give_two_hosts") else { return };
    let made = home.start();
    assert_eq!((&made["status"], &made["changed"]), (&"running".into(), &true.into()), "{made:#}");
    for name in ["trial-1", "trial-2"] {
        let ran = home.run(&["--on", name]);
        assert_eq!(ran.out.trim(), home.data("trial").join(name).to_str().unwrap());
    }
    assert!(home.run(&["--anywhere"]).out.contains("/trial/trial-"));
    let named = home.place.spawn(home.place.command(&["hosts", "--json"]).env("LUZIA_STORE", "trial")).end().coded(0);
    assert_eq!(named.json()["items"].as_array().unwrap().len(), 2, "{named:?}");
    let mode = |name: &str| std::fs::metadata(home.data(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("trial"), mode("trial-server")), (0o700, 0o700));
    let ports = std::fs::read_to_string(home.data("trial-server/postmaster.pid")).unwrap();
    assert_eq!(ports.lines().nth(5), Some(""), "it listens at no address: {ports}");

    let before = [home.server(), home.agent("trial-1"), home.agent("trial-2")];
    assert_eq!(home.start()["changed"], false);
    assert_eq!(before, [home.server(), home.agent("trial-1"), home.agent("trial-2")]);
    let said = home.place.ok(&["fleet", "trial"]);
    assert!(said.err.contains("the trial is running") && said.out.starts_with("luzia --store trial run"), "{said:?}");
}

#[test]
fn a_killed_agent_and_a_killed_server_are_started_again() {
    let Some(home) = Home::new("a_killed_agent") else { return };
    home.start();
    let killed = home.agent("trial-2");
    signal(killed, Signal::KILL);
    assert_eq!(home.start()["changed"], true);
    assert_ne!(home.agent("trial-2"), killed);
    home.run(&["--on", "trial-2"]);
    let killed = home.server();
    signal(killed, Signal::KILL);
    assert_eq!(home.start()["changed"], true);
    assert_ne!(home.server(), killed);
    home.run(&["--on", "trial-1"]);
}

#[test]
fn a_stop_keeps_the_tasks_and_rm_leaves_nothing() {
    let Some(home) = Home::new("a_stop_keeps_the_tasks") else { return };
    home.start();
    home.run(&["--on", "trial-1"]);
    let before = [home.server(), home.agent("trial-1"), home.agent("trial-2")];
    let stopped = home.json(&["fleet", "trial", "--stop"]);
    assert_eq!((&stopped["status"], &stopped["changed"]), (&"stopped".into(), &true.into()));
    assert!(before.into_iter().all(|pid| !lives(pid)));
    assert_eq!(home.json(&["fleet", "trial", "--stop"])["changed"], false);
    home.place.luzia(&["--store", "trial", "list"]).coded(69);
    home.start();
    assert_eq!(home.json(&["--store", "trial", "list", "-a"])["items"].as_array().unwrap().len(), 1);

    let task = ["--store", "trial", "enqueue", "-u", "a", "--on", "trial-2", "--", "sleep", "1000"];
    let id = home.place.ok(&task).line();
    until("it runs", || (home.json(&["--store", "trial", "show", &id])["status"] == "running").then_some(()));
    let removed = home.json(&["fleet", "trial", "--rm"]);
    assert_eq!((&removed["status"], &removed["changed"]), (&"absent".into(), &true.into()));
    assert!(!home.data("trial").exists() && !home.data("trial-server").exists());
    let is_empty = |name: &str| processes_in(&home.data("trial").join(name)).is_empty();
    until("no process is left", || (is_empty("trial-1") && is_empty("trial-2")).then_some(()));
    assert_eq!(home.json(&["fleet", "trial", "--rm"])["changed"], false);
    let absent = home.place.luzia(&["--store", "trial", "list"]).coded(69);
    assert!(absent.err.contains("luzia fleet trial"), "{absent:?}");
}

#[test]
fn a_folder_of_somebody_else_is_left_alone() {
    let Some(home) = Home::new("a_folder_of_somebody_else") else { return };
    for folder in ["trial", "trial-server"] {
        let file = home.data(folder).join("mine");
        std::fs::create_dir(home.data(folder)).unwrap();
        std::fs::write(&file, "x").unwrap();
        let account: &[&str] = if is_root() { &["--as", "nobody"] } else { &[] };
        let refused = home.place.luzia(&[&["fleet", "trial"], account].concat()).coded(78);
        assert!(refused.err.contains("was not made by"), "{refused:?}");
        let end = home.place.luzia(&["fleet", "trial", "--rm"]);
        assert_eq!(end.code, if folder == "trial" { 78 } else { 0 }, "{end:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "x");
        std::fs::remove_dir_all(home.data(folder)).unwrap();
    }
}

#[test]
fn root_is_told_the_account_and_a_wrong_account_is_refused() {
    let place = Place::new();
    if !is_root() {
        let refused = place.luzia(&["fleet", "trial", "--as", "nobody"]).coded(2);
        assert!(refused.err.contains("--as is for root"), "{refused:?}");
        return;
    }
    let refused = place.luzia(&["fleet", "trial"]).coded(2);
    let has_postgres = std::fs::read_to_string("/etc/passwd").unwrap().contains("\npostgres:");
    let account = if has_postgres { "postgres" } else { "ACCOUNT" };
    assert!(refused.err.contains(&format!("luzia fleet trial --as {account}")), "{refused:?}");
    for account in ["root", "nosuchaccount"] {
        place.luzia(&["fleet", "trial", "--as", account]).coded(2);
    }
    assert!(!place.path("home/.local").exists());
}

#[test]
fn a_machine_without_postgresql_is_told_the_package() {
    let place = Place::new();
    let hide = "mount -t tmpfs none /usr/lib/postgresql 2>/dev/null || ! test -e /usr/lib/postgresql";
    // In a user namespace of its own the caller is root, too.
    let namespace = if is_root() { "-m" } else { "-rm" };
    let script = |then: &str| format!("unshare {namespace} sh -c '{{ {hide}; }} && {then}'");
    if place.spawn(&mut place.shell(&script("true"))).end().code != 0 {
        return skip("a_machine_without_postgresql", "a mount namespace: kernel.unprivileged_userns_clone");
    }
    let asked = script("exec env PATH=/nowhere \"$LUZIA\" fleet trial --as nobody");
    let refused = place.spawn(&mut place.shell(&asked)).end().coded(69);
    assert!(refused.err.contains("install the package `postgresql`"), "{refused:?}");
    assert!(!place.path("home/.local").exists());
}
