//! Shims: links on PATH by which tools take turns.

use crate::support::{LUZIA, Place, lives, until};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A place with programs of its own before those of the system.
pub(super) struct Tools {
    pub(super) place: Place,
}

impl Tools {
    pub(super) fn new(shims: &[&str]) -> Self {
        let place = Place::new();
        std::fs::create_dir(place.path("bin")).unwrap();
        let tools = Self { place };
        if !shims.is_empty() {
            tools.place.ok(&[&["shim", "add"], shims].concat());
        }
        tools
    }

    /// Writes a program.
    pub(super) fn program(&self, name: &str, script: &str) {
        let path = self.place.path("bin").join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn folder(&self) -> String {
        let line = self.place.ok(&["shim", "env"]).line();
        line.strip_prefix("export PATH=").unwrap().strip_suffix(":\"$PATH\"").unwrap().to_owned()
    }

    /// A shell with the shims first on PATH.
    pub(super) fn shell(&self, script: &str) -> Command {
        let mut shell = self.place.shell(script);
        let path = format!("{}:{}:/usr/bin:/bin", self.folder(), self.place.text("bin"));
        shell.env("PATH", path);
        shell
    }

    #[track_caller]
    fn run(&self, script: &str) -> crate::support::Ran {
        self.place.spawn(&mut self.shell(script)).end()
    }
}

/// How many programs were in the part between `+` and `-` at once at most.
fn most_at_once(log: &str) -> i32 {
    let (mut now, mut most) = (0, 0);
    for line in log.lines() {
        now += if line.starts_with('+') { 1 } else { -1 };
        most = most.max(now);
    }
    most
}

#[test]
fn three_shells_in_three_directories_take_turns() {
    for (limit, config) in [(1, serde_json::json!({})), (2, serde_json::json!({ "lanes": { "build": { "max": 2 } } }))]
    {
        let tools = Tools::new(&["make"]);
        tools.place.configure(&config);
        tools.program("make", "echo + >> $PLACE/log; sleep 0.05; echo - >> $PLACE/log; exit $1");
        let start = |number: i32| {
            let dir = tools.place.path(&format!("d{number}"));
            std::fs::create_dir(&dir).unwrap();
            let mut shell = tools.shell(&format!("for i in 1 2 3; do make {number}; echo $?; done"));
            (number, tools.place.spawn(shell.current_dir(dir)))
        };
        for (number, shell) in [1, 2, 3].map(start) {
            assert_eq!(shell.end().coded(0).out, format!("{number}\n").repeat(3));
        }
        let log = std::fs::read_to_string(tools.place.path("log")).unwrap();
        assert_eq!(log.lines().count(), 18);
        assert!(most_at_once(&log) <= limit, "{limit}: {log}");
    }
}

#[test]
fn a_shim_is_the_program_itself() {
    let tools = Tools::new(&["make"]);
    tools.program("make", "echo \"$@\"; cat; case $1 in kill) kill -TERM $$;; *) exit 7;; esac");
    let bare = format!("{}/make", tools.place.text("bin"));
    for words in ["'a b' c", "kill", "--version", "-j8 x"] {
        let script = |make: &str| format!("echo in | {make} {words}; echo $?");
        let (with, without) = (tools.run(&script("make")), tools.run(&script(&bare)));
        assert_eq!((with.out, with.code), (without.out, without.code), "{words}");
    }
    // By a link of any other place, too.
    std::os::unix::fs::symlink(LUZIA, tools.place.path("make")).unwrap();
    let ran = tools.run("echo in | $PLACE/make x; echo $?");
    assert_eq!(ran.out, "x\nin\n7\n", "{}", ran.err);
}

#[test]
fn a_shim_never_starts_a_shim() {
    let tools = Tools::new(&["make"]);
    tools.program("make", "echo made");
    let (copy, other) = (tools.place.open_to_others(), tools.place.path("other/luzia/shims"));
    std::fs::create_dir_all(&other).unwrap();
    std::os::unix::fs::symlink(copy, other.join("make")).unwrap();
    for call in ["make x", "make --version"] {
        let ran = tools.run(&format!("PATH=$PLACE/other/luzia/shims:$PATH timeout 20 {call}"));
        assert_eq!(ran.coded(0).out, "made\n", "{call}");
        // An empty entry of PATH is the working directory.
        let ran = tools.run(&format!("cd $PLACE/bin; PATH=${{PATH%%:*}}::/usr/bin:/bin timeout 20 {call}"));
        assert_eq!(ran.coded(0).out, "made\n", "{call}");
    }
}

#[test]
fn light_calls_and_nested_ones_do_not_wait() {
    let tools = Tools::new(&["make", "cargo"]);
    tools.program("make", "cargo build");
    tools.program("cargo", "echo $1");
    tools.place.gate("gate");
    let holder =
        tools.place.start(&["lock", "-l", "build", "--", "sh", "-c", "echo up > $PLACE/up; read _ < $PLACE/gate"]);
    tools.place.until_file("up");
    assert_eq!(tools.run("cargo fmt").coded(0).out, "fmt\n");
    let waiting = tools.place.spawn(&mut tools.shell("cargo build; echo built >> $PLACE/order"));
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(!tools.place.path("order").exists(), "a heavy call waits");
    tools.place.open_gate("gate");
    holder.end().coded(0);
    waiting.end().coded(0);
    // make holds the lane, so cargo starts at once; also where the lock file was closed between them.
    assert_eq!(tools.run("timeout 20 make").coded(0).out, "build\n");
    let closing = "exec bash -c 'for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ $fd -le 2 ] || eval \"exec $fd>&-\"; done; cargo build'";
    tools.program("make", closing);
    assert_eq!(tools.run("timeout 20 make").coded(0).out, "build\n");
    // A task that holds the lane is around it.
    let mut run = tools.shell("$LUZIA run -l build -- timeout 20 make");
    assert_eq!(tools.place.spawn(&mut run).end().coded(0).out, "build\n");
}

#[test]
fn a_shim_without_a_state_directory_starts_the_program() {
    let tools = Tools::new(&["make"]);
    tools.program("make", "echo made; exit 3");
    std::fs::write(tools.place.path("file"), "").unwrap();
    let mut shell = tools.shell("make");
    let ran = tools.place.spawn(shell.env("LUZIA_STATE_DIR", tools.place.path("file/state"))).end().coded(3);
    assert_eq!((ran.out.as_str(), ran.err.lines().count()), ("made\n", 1), "{}", ran.err);
    let mut shell = tools.shell("make");
    shell.env("LUZIA_STATE_DIR", tools.place.path("file/state")).env("LUZIA_SHIM", "closed");
    let ran = tools.place.spawn(&mut shell).end().coded(77);
    assert!(ran.out.is_empty() && ran.err.contains("LUZIA_SHIM=closed"), "{}", ran.err);
}

#[test]
fn a_server_that_a_build_leaves_behind_keeps_nobody_waiting() {
    let tools = Tools::new(&["make"]);
    // It inherits everything that make has, as sccache does.
    tools.program("make", "setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo $! > $PLACE/server; exit 3");
    let ran = tools.run("make; echo $?").coded(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("3\n", ""));
    let server: u32 = std::fs::read_to_string(tools.place.path("server")).unwrap().trim().parse().unwrap();
    assert!(lives(server));
    tools.place.ok(&["lock", "-l", "build", "-n", "--", "true"]);
    // While the program works the lane is held by what it has started, too, if luzia is killed.
    tools.place.gate("gate");
    tools.program("make", "(echo up > $PLACE/up; read _ < $PLACE/gate) & kill -9 $PPID $$");
    tools.run("make; true");
    tools.place.until_file("up");
    tools.place.luzia(&["check", "lane:build"]).coded(75);
    tools.place.open_gate("gate");
    until("the lane is free", || (tools.place.luzia(&["check", "lane:build"]).code == 0).then_some(()));
}

#[test]
fn a_shim_that_waits_names_the_tool_and_the_holder() {
    let tools = Tools::new(&["make"]);
    tools.program("make", "echo made");
    tools.place.gate("gate");
    let holder =
        tools.place.start(&["lock", "-l", "build", "--label", "Ann deploys", "--", "sh", "-c", "read _ < $PLACE/gate"]);
    until("the lane is held", || (tools.place.luzia(&["check", "lane:build"]).code == 75).then_some(()));
    let waiting = tools.place.spawn(&mut tools.shell("make"));
    let told = until("it says whom it waits for", || Some(waiting.err()).filter(|told| told.contains("waits")));
    assert!(told.starts_with("luzia: make waits: lane \"build\" is held by") && told.contains("Ann deploys"), "{told}");
    tools.place.open_gate("gate");
    holder.end().coded(0);
    assert_eq!(waiting.end().coded(0).out, "made\n");
}

#[test]
fn shims_are_added_listed_and_removed() {
    let tools = Tools::new(&[]);
    tools.program("mytool", "exit 5");
    tools.place.ok(&["shim", "add", "mytool", "--lane", "gpu"]);
    let added = tools.place.ok(&["shim", "add", "nowhere-tool"]);
    assert!(added.err.contains("warning: there is no program \"nowhere-tool\" on PATH"), "{}", added.err);
    assert!(!tools.place.ok(&["shim", "add", "sh"]).err.contains("warning"));
    tools.place.ok(&["shim", "rm", "sh"]);
    let listed = tools.run("$LUZIA --json shim list").coded(0).json();
    assert_eq!((&listed["items"][0]["tool"], &listed["items"][0]["lane"]), (&"mytool".into(), &"gpu".into()));
    assert_eq!(listed["items"][0]["program"], tools.place.text("bin/mytool"));
    tools.run("$LUZIA lock -l gpu -- sh -c 'mytool; exit $?'").coded(5);
    let told = tools.run("$LUZIA shim doctor").coded(1);
    assert!(told.out.contains("nowhere-tool: there is no such program on PATH"), "{}", told.out);
    let ran = tools.run("nowhere-tool x").coded(127);
    assert!(ran.err.contains("no other program of that name") && ran.err.lines().count() == 1, "{}", ran.err);
    let shadowed = tools.run("PATH=$PLACE/bin:$PATH $LUZIA shim doctor").coded(1);
    assert!(shadowed.out.contains("mytool: ") && shadowed.out.contains("comes before it"), "{}", shadowed.out);
    for (args, code) in [
        (&["shim", "add", "mytool"][..], 73),
        (&["shim", "add", "go", "go"], 2),
        (&["shim", "add", "../x"], 2),
        (&["shim", "add", "luzia"], 2),
        (&["shim", "add", "go", "--lane", "A:b"], 2),
        (&["shim", "add", "go", "mytool"], 73),
        (&["shim", "rm", "go"], 66),
        (&["shim", "rm", "mytool", "go"], 66),
        (&["shim", "rm"], 2),
        (&["shim", "add"], 2),
    ] {
        let ran = tools.place.luzia(args).coded(code);
        assert!(!ran.err.is_empty(), "{args:?}");
        assert_eq!(tools.place.ok(&["shim", "list"]).out.lines().count(), 2, "{args:?}");
    }
    assert_eq!(tools.place.ok(&["shim", "list", "-o", "name"]).out, "mytool\nnowhere-tool\n");
    tools.place.ok(&["shim", "rm", "nowhere-tool"]);
    tools.run("$LUZIA shim doctor").coded(0);
    tools.place.ok(&["shim", "add", "go", "make"]);
    tools.place.ok(&["shim", "rm", "go", "make", "go"]);
    assert_eq!(tools.place.ok(&["shim", "list"]).out.lines().count(), 1);
    tools.place.ok(&["shim", "rm", "mytool"]);
    let env = tools.place.ok(&["shim", "env"]).out;
    let folder = env.strip_prefix("export PATH=").and_then(|rest| rest.split(':').next()).unwrap();
    assert!(!std::path::Path::new(folder).exists(), "the last shim takes the file of the lanes and the folder with it");
    assert!(!tools.place.state().join("locks/nothing").exists());
}

#[test]
fn a_shim_is_replaced_and_what_is_not_luzias_is_not() {
    let tools = Tools::new(&[]);
    tools.program("mytool", "exit 5");
    tools.place.ok(&["shim", "add", "mytool"]);
    let refused = tools.place.luzia(&["shim", "add", "mytool", "--lane", "gpu"]).coded(73);
    assert!(refused.err.contains("--replace"), "{refused:?}");
    // The link of a luzia that was moved leads nowhere.
    let link = std::path::Path::new(&tools.folder()).join("mytool");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("/nowhere/luzia", &link).unwrap();
    tools.place.ok(&["shim", "add", "mytool", "new-tool", "--lane", "gpu", "--replace"]);
    let listed = tools.run("$LUZIA --json shim list").coded(0).json();
    assert_eq!((&listed["items"][0]["lane"], &listed["items"][1]["tool"]), (&"gpu".into(), &"new-tool".into()));
    tools.run("mytool x").coded(5);
    assert_eq!(std::fs::canonicalize(&link).unwrap(), std::fs::canonicalize(LUZIA).unwrap());
    for make in [&(|| std::os::unix::fs::symlink("/bin/true", &link)) as &dyn Fn() -> std::io::Result<()>, &|| {
        std::fs::write(&link, "mine")
    }] {
        std::fs::remove_file(&link).unwrap();
        make().unwrap();
        let refused = tools.place.luzia(&["shim", "add", "mytool", "--replace"]).coded(73);
        assert!(refused.err.contains("it is not a link to luzia"), "{refused:?}");
    }
    assert_eq!(std::fs::read_to_string(&link).unwrap(), "mine");
}
