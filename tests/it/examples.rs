//! The recipes of `examples/` keep the promises of their heads. Stubs take the place of the programs that they start.

use crate::support::{LUZIA, Place, Ran, Running, lines, until};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A stub that says `+ NAME`, waits at the gate NAME, says `- NAME`, and ends with 7. NAME is its last argument.
const WORK: &str =
    "for name; do :; done; echo + $name >>$PLACE/log; read _ <$PLACE/$name; echo - $name >>$PLACE/log; exit 7";

/// A place with stubs, in which recipes are called by name.
struct Kitchen {
    place: Place,
}

impl Kitchen {
    fn new(gates: &[&str]) -> Self {
        let place = Place::new();
        fs::create_dir(place.path("bin")).unwrap();
        for gate in gates {
            place.gate(gate);
        }
        Self { place }
    }

    /// Writes a program that comes behind luzia on PATH, and before those of the system.
    fn stub(&self, name: &str, script: &str) {
        write_program(&self.place.path("bin").join(name), script);
    }

    /// A shell with a script, in the work directory. `$EXAMPLES` is the folder of the recipes.
    fn shell(&self, script: &str) -> Command {
        let mut shell = self.place.shell(script);
        let luzia = Path::new(LUZIA).parent().unwrap().display();
        let rest = std::env::var("PATH").unwrap();
        shell.env("PATH", format!("{luzia}:{}:{rest}", self.place.text("bin"))).env("EXAMPLES", examples());
        shell
    }

    fn start(&self, script: &str) -> Running {
        self.place.spawn(&mut self.shell(script))
    }

    #[track_caller]
    fn run(&self, script: &str) -> Ran {
        self.start(script).end()
    }

    /// The lines that stubs have written until now.
    fn log(&self) -> Vec<String> {
        lines(&self.place.path("log"))
    }

    fn until_logged(&self, line: &str) {
        until(&format!("the log has {line:?}"), || self.log().iter().any(|found| found == line).then_some(()));
    }
}

fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples")
}

fn write_program(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn until_said(running: &Running, words: &str) {
    until(&format!("it says {words:?}"), || running.err().contains(words).then_some(()));
}

/// Checks that each `+` is followed by its own `-`: nothing overlaps.
#[track_caller]
fn assert_turns(log: &[String], count: usize) {
    assert_eq!(log.len(), 2 * count, "{log:?}");
    for pair in log.chunks(2) {
        assert!(pair[0].starts_with('+') && pair[1] == pair[0].replace('+', "-"), "{log:?}");
    }
}

/// The paths of the files below `examples/`, from there.
fn recipes() -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![examples()]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(examples()).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found
}

#[test]
fn every_recipe_has_a_test_and_a_line_in_the_contents() {
    let contents = fs::read_to_string(examples().join("README.md")).unwrap();
    let tests: String = ["examples.rs", "documents.rs", "agent_packaging.rs"]
        .map(|file| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(file)).unwrap())
        .concat();
    let recipes = recipes();
    assert!(recipes.len() > 10, "{recipes:?}");
    for recipe in recipes {
        let is_tested = [format!("$EXAMPLES/{recipe}"), format!("(\"{recipe}\")"), format!("examples/{recipe}\"")]
            .iter()
            .any(|name| tests.contains(name));
        assert!(is_tested, "no test runs examples/{recipe}");
        assert!(recipe == "README.md" || contents.contains(&format!("`{recipe}`")), "{recipe} is not in the contents");
    }
}

#[test]
fn three_agents_think_together_and_build_and_commit_in_turn() {
    let kitchen = Kitchen::new(&[]);
    kitchen.stub("make", "echo + $1 >>$PLACE/log; sleep 0.05; echo - $1 >>$PLACE/log");
    kitchen.stub("commit", "echo + $1 >>$PLACE/commits; sleep 0.05; echo - $1 >>$PLACE/commits");
    kitchen.stub(
        "claude",
        "[ \"$1 $3\" = '-p --append-system-prompt' ] || exit 9\n\
         case $4 in *'luzia lock -l @tree'*) ;; *) exit 9 ;; esac\n\
         echo $2 >>$PLACE/thinking\n\
         until [ $(wc -l <$PLACE/thinking) -ge 3 ]; do sleep 0.01; done\n\
         [ $2 != fail ] || exit 4\n\
         make $2\n\
         luzia lock -l @tree --wait 90s -- commit $2",
    );
    kitchen.run("git init -q .").coded(0);
    kitchen.run("sh $EXAMPLES/three-agents.sh one two three").coded(0);
    assert_turns(&kitchen.log(), 3);
    assert_turns(&lines(&kitchen.place.path("commits")), 3);
    kitchen.run("sh $EXAMPLES/three-agents.sh fail").coded(1);
}

#[test]
fn two_builds_run_on_a_laptop_and_a_third_waits() {
    let kitchen = Kitchen::new(&["a", "b", "c"]);
    kitchen.stub("make", WORK);
    let build = |name: &str| kitchen.start(&format!("sh $EXAMPLES/build-slot.sh make {name}"));
    let (first, second) = (build("a"), build("b"));
    kitchen.until_logged("+ a");
    kitchen.until_logged("+ b");
    let third = build("c");
    until_said(&third, "waits");
    assert_eq!(kitchen.log().len(), 2);
    kitchen.place.open_gate("a");
    kitchen.until_logged("+ c");
    kitchen.place.open_gate("b");
    kitchen.place.open_gate("c");
    for build in [first, second, third] {
        build.end().coded(7);
    }
    assert_eq!(kitchen.log()[2..4], ["- a", "+ c"]);
    let lane = kitchen.place.json(&["lanes", "show", "build"]);
    assert_eq!((&lane["max_concurrent"], &lane["cpu_budget"]), (&json!(2), &json!("auto")), "{lane}");
}

#[test]
fn a_nightly_report_waits_for_the_backup() {
    let kitchen = Kitchen::new(&["backup"]);
    write_program(&kitchen.place.path("work/backup.sh"), &format!("set backup\n{}", WORK.replace("exit 7", "exit 0")));
    write_program(&kitchen.place.path("work/report.sh"), "echo + report >>$PLACE/log; echo - report >>$PLACE/log");
    kitchen.run("sh $EXAMPLES/nightly.sh").coded(0);
    let listed = kitchen.run("sh $EXAMPLES/nightly.sh").coded(0).out;
    for (name, line) in [("backup", "0 2 * * *"), ("report", "0 3 * * *")] {
        assert_eq!(listed.lines().filter(|row| row.starts_with(name) && row.contains(line)).count(), 1, "{listed}");
    }
    let backup = kitchen.place.ok(&["cron", "run", "backup"]).line();
    kitchen.place.ok(&["dispatch"]);
    kitchen.until_logged("+ backup");
    let report = kitchen.place.ok(&["cron", "run", "report"]).line();
    kitchen.place.ok(&["dispatch"]);
    assert_eq!(kitchen.place.status(&report), "pending");
    assert_eq!(kitchen.place.show(&report)["retries"], 1);
    kitchen.place.open_gate("backup");
    kitchen.place.ok(&["wait", &backup, &report]);
    assert_turns(&kitchen.log(), 2);
}

#[test]
fn a_step_of_ci_that_is_asked_for_twice_runs_once_and_another_step_waits() {
    let kitchen = Kitchen::new(&["test", "lint"]);
    kitchen.stub("make", WORK);
    let step = |name: &str| {
        let mut shell = kitchen.shell(&format!("sh $EXAMPLES/ci.sh make {name}"));
        kitchen.place.spawn(shell.env("CI_COMMIT", "abc").env("CI_JOB_NAME", name))
    };
    let first = step("test");
    kitchen.until_logged("+ test");
    let (again, other) = (step("test"), step("lint"));
    until_said(&again, "has that key already");
    until_said(&other, "waits");
    kitchen.place.open_gate("test");
    kitchen.place.open_gate("lint");
    for step in [first, again, other] {
        step.end().coded(7);
    }
    assert_turns(&kitchen.log(), 2);
}

#[test]
fn a_program_gets_a_gpu_of_its_own_and_the_next_one_gets_that_which_is_free() {
    let kitchen = Kitchen::new(&["a", "b", "c"]);
    kitchen.stub("nvidia-smi", "printf '0\\n1\\n'");
    kitchen.stub("python", &format!("echo $CUDA_VISIBLE_DEVICES >$PLACE/gpu-$1; {WORK}"));
    let train = |name: &str| kitchen.start(&format!("sh $EXAMPLES/gpu.sh python {name}"));
    let (first, second) = (train("a"), train("b"));
    let own = kitchen.place.until_file("gpu-a");
    let mut both = [own.clone(), kitchen.place.until_file("gpu-b")];
    both.sort();
    assert_eq!(both, ["0", "1"]);
    let third = train("c");
    until_said(&third, "waits");
    kitchen.place.open_gate("a");
    assert_eq!(kitchen.place.until_file("gpu-c"), own);
    kitchen.place.open_gate("b");
    kitchen.place.open_gate("c");
    for training in [first, second, third] {
        training.end().coded(7);
    }
    kitchen.stub("nvidia-smi", "exit 9");
    kitchen.run("sh $EXAMPLES/gpu.sh true").coded(9);
}

#[test]
fn deploys_take_turns_and_a_late_one_is_refused() {
    let kitchen = Kitchen::new(&[]);
    let host = kitchen.place.path("host");
    fs::create_dir(&host).unwrap();
    kitchen.run("cp $EXAMPLES/deploy/receive.sh $PLACE/host; echo one >a; echo two >b").coded(0);
    kitchen.stub(
        "ssh",
        "[ $1 = web ] || exit 9; shift; cd $PLACE/host\n\
         echo + >>$PLACE/log; sleep 0.05; \"$@\"; code=$?; echo - >>$PLACE/log; exit $code",
    );
    let deploy = |archive: &str| kitchen.start(&format!("sh $EXAMPLES/deploy/deploy.sh web {archive}"));
    deploy("a").end().coded(0);
    let first = fs::read_to_string(host.join("fence")).unwrap();
    for running in [deploy("a"), deploy("a")] {
        running.end().coded(0);
    }
    assert_turns(&kitchen.log(), 3);
    deploy("b").end().coded(0);
    let number = |text: &str| text.trim().parse::<u64>().unwrap();
    assert!(number(&fs::read_to_string(host.join("fence")).unwrap()) > number(&first));
    let late = kitchen.run(&format!("cd $PLACE/host; ./receive.sh {} <../work/a", first.trim())).coded(1);
    assert!(late.err.starts_with("refused: fence "), "{}", late.err);
    assert_eq!(fs::read_to_string(host.join("release")).unwrap(), "two\n");
}

#[test]
fn installs_in_one_directory_take_turns_and_those_elsewhere_do_not_wait() {
    let kitchen = Kitchen::new(&["app-npm", "app-pip", "web-npm"]);
    for tool in ["npm", "pip"] {
        let light = "case $1 in run | --version) exit 5 ;; esac";
        kitchen.stub(tool, &format!("{light}\nset $(basename $PWD)-{tool}\n{WORK}"));
    }
    let call = |folder: &str, line: &str| {
        fs::create_dir_all(kitchen.place.path("work").join(folder)).unwrap();
        kitchen.start(&format!("eval \"$(sh $EXAMPLES/npm-pip.sh)\"; cd {folder}; {line}"))
    };
    let first = call("app", "npm install");
    kitchen.until_logged("+ app-npm");
    let second = call("app", "pip install x");
    until_said(&second, "pip waits");
    let elsewhere = call("web", "npm install");
    kitchen.until_logged("+ web-npm");
    call("app", "npm run dev").end().coded(5);
    call("app", "pip --version").end().coded(5);
    assert_eq!(kitchen.log(), ["+ app-npm", "+ web-npm"]);
    for gate in ["app-npm", "app-pip", "web-npm"] {
        kitchen.place.open_gate(gate);
    }
    for install in [first, second, elsewhere] {
        install.end().coded(7);
    }
    assert_eq!(kitchen.log()[2..4], ["- app-npm", "+ app-pip"]);
}

#[test]
fn prompts_of_a_chat_take_turns_and_two_chats_are_served_at_once() {
    let kitchen = Kitchen::new(&["a1", "a2", "b", "c"]);
    kitchen.stub("codex", &format!("[ $1 = exec ] || exit 9\n{WORK}"));
    let prompt = |chat: &str, text: &str| kitchen.start(&format!("sh $EXAMPLES/codex.sh {chat} {text}"));
    let first = prompt("7", "a1");
    kitchen.until_logged("+ a1");
    let second = prompt("7", "a2");
    until_said(&second, "waits");
    let other = prompt("8", "b");
    kitchen.until_logged("+ b");
    let third = prompt("9", "c");
    until_said(&third, "waits");
    assert_eq!(kitchen.log(), ["+ a1", "+ b"]);
    for gate in ["a1", "b", "a2", "c"] {
        kitchen.place.open_gate(gate);
    }
    for codex in [first, second, other, third] {
        codex.end().coded(7);
    }
    let log = kitchen.log();
    let at = |line: &str| log.iter().position(|found| found == line).unwrap();
    assert!(at("- a1") < at("+ a2") && log.len() == 8, "{log:?}");
}

#[test]
fn the_commands_beside_those_of_other_tools_work_from_top_to_bottom() {
    let page = fs::read_to_string(examples().join("coming-from.md")).unwrap();
    let mut count = 0;
    for table in page.split("\n## ").skip(1) {
        let cells = table.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.rsplit(" | ").next());
        let commands: Vec<&str> = cells
            .flat_map(|cell| cell.split('`').skip(1).step_by(2))
            .filter(|span| span.starts_with("luzia "))
            .collect();
        assert!(commands.len() >= 10, "{commands:?}");
        count += 1;
        let kitchen = Kitchen::new(&[]);
        kitchen.stub("make", "echo made");
        kitchen.run(&format!("set -eux\n{}", commands.join("\n"))).coded(0);
    }
    assert_eq!(count, 3, "{page}");
}
