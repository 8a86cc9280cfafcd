//! The scenes of the sweep about tasks that wait, most of them without a process.

use super::harness::checker::rest;
use super::harness::oracle;
use super::harness::{Answer, World, until};
use super::sweep_scenes::{PLAIN, Scene};

/// A task does a step and waits for an event that has come. Killed in its wait, it goes on under the same lock.
pub const STEPS_AND_WAITS: Scene = Scene {
    name: "steps-and-waits",
    args: &["dispatch", "--once"],
    prepare: queue_steps,
    follow: true,
    queued: 1,
    retries: 1,
    resumes: true,
    judge: steps_are_whole,
    ..PLAIN
};

/// A task ends its run for a wait.
pub const PARK: Scene = Scene {
    name: "park",
    args: &["dispatch", "--once"],
    prepare: |world| queue_waiter(world, ""),
    follow: true,
    queued: 1,
    judge: goes_on,
    ..PLAIN
};

/// A task blocks in its wait; another one runs in its slot and sends the event. Its supervisor and its `await` are killed while
/// the slot goes and comes back.
pub const AWAIT_SLOT: Scene = Scene {
    name: "await-slot",
    args: &["dispatch", "--once"],
    prepare: queue_blocked,
    follow: true,
    queued: 2,
    retries: 1,
    resumes: true,
    judge: goes_on_in_its_slot,
    ..PLAIN
};

/// Its event comes while nothing of luzia runs.
pub const EMIT_PARKED: Scene = Scene {
    name: "emit-parked",
    args: &["emit", "GO", "--task", "1"],
    prepare: |world| park_waiter(world, ""),
    follow: true,
    queued: 1,
    judge: goes_on,
    ..PLAIN
};

/// It waits for a line that has been written before.
pub const AWAIT_OUTPUT: Scene = Scene {
    name: "await-output",
    args: &["dispatch", "--once"],
    prepare: queue_reader,
    follow: true,
    queued: 2,
    judge: reads_once,
    ..PLAIN
};

/// The line was written while it waited without a process.
pub const OUTPUT_PARKED: Scene = Scene {
    name: "output-parked",
    args: &["dispatch", "--once"],
    prepare: park_reader,
    follow: true,
    queued: 2,
    judge: reads_once,
    ..PLAIN
};

/// Its time runs out, and a command is run for that.
pub const LATE_PARKED: Scene = Scene {
    name: "late-parked",
    args: &["dispatch", "--once"],
    prepare: |world| park_late_waiter(world, "--on-timeout continue --timeout-do 'echo late >>late'"),
    follow: true,
    queued: 1,
    judge: is_late_once,
    ..PLAIN
};

/// Its time runs out, and it ends.
pub const TIMED_OUT_PARKED: Scene = Scene {
    name: "timed-out-parked",
    args: &["list"],
    prepare: |world| park_late_waiter(world, ""),
    queued: 1,
    reads: true,
    judge: has_timed_out,
    ..PLAIN
};

/// Somebody cancels it.
pub const CANCEL_PARKED: Scene = Scene {
    name: "cancel-parked",
    args: &["cancel", "1", "--yes"],
    prepare: |world| park_waiter(world, ""),
    queued: 1,
    ..PLAIN
};

fn queue_steps(world: &World) {
    let luzia = env!("CARGO_BIN_EXE_luzia");
    let text = format!("{luzia} step one -- sh -c 'echo x >>effects' && {luzia} await event:GO --timeout 5s >>answers");
    world.enqueue(&["-u", "alice"], &oracle::script(world, "alice", &text));
    world.luzia(&["emit", "GO", "--task", "1", "--data", "1"]).ok();
}

fn queue_waiter(world: &World, options: &str) {
    let luzia = env!("CARGO_BIN_EXE_luzia");
    let text = format!(
        "echo begun >>effects; {luzia} step one -- sh -c 'echo one >>steps' || exit 8; \
         {luzia} await event:GO --park {options} || exit $?; echo on >>effects"
    );
    world.enqueue(&["-u", "alice", "--thread", "7"], &["bash", "-c", &text].map(str::to_owned));
}

fn queue_blocked(world: &World) {
    world.configure(r#"{ "slots": { "max": 1 } }"#);
    let luzia = env!("CARGO_BIN_EXE_luzia");
    let text = format!("{luzia} await event:GO --timeout 20s >>answers || exit $?");
    world.enqueue(&["-u", "alice"], &oracle::script(world, "alice", &text));
    let text = format!("{luzia} emit GO --task 1 --data 1 || :");
    world.enqueue(&["-u", "bob"], &oracle::script(world, "bob", &text));
}

/// The event is not lost, and nobody is left without a slot.
fn goes_on_in_its_slot(world: &World, _: &Answer) -> Vec<String> {
    let answers = std::fs::read_to_string(world.work.join("answers")).unwrap_or_default();
    let status = world.status_of(1);
    let is_right = match status.as_str() {
        "completed" => answers.ends_with("1\n"),
        "failed" | "waiting" => true,
        _ => false,
    };
    let is_left = world.state.join("run/1/away").exists();
    if is_right && !is_left { Vec::new() } else { vec![format!("{status}, answers {answers:?}, away {is_left}")] }
}

/// Task 1 has written two lines, and task 2 is to wait for them and for a third one, which never comes.
fn queue_reader(world: &World) {
    world.enqueue(&["-u", "writer"], &["bash", "-c", "echo ready 1; echo ready 2"].map(str::to_owned));
    world.luzia(&["dispatch", "--drain"]).ok();
    rest(world);
    enqueue_reader(world);
}

fn enqueue_reader(world: &World) {
    let luzia = env!("CARGO_BIN_EXE_luzia");
    let wait = |pattern: &str| format!("{luzia} await output --task 1 --match '{pattern}' --park >>lines");
    let text = format!(
        "echo begun >>effects; {} || exit 8; {} || exit 9; {} && exit 10; echo on >>effects",
        wait("^ready"),
        wait("^ready"),
        wait("never")
    );
    world.enqueue(&["-u", "reader"], &["bash", "-c", &text].map(str::to_owned));
}

fn park_reader(world: &World) {
    let write = "until test -e go; do sleep 0.02; done; echo ready 1; echo ready 2";
    world.enqueue(&["-u", "writer"], &["bash", "-c", write].map(str::to_owned));
    enqueue_reader(world);
    world.luzia(&["dispatch", "--once"]).ok();
    until("the task waits", || world.state.join("spool/waiting/2.json").exists().then_some(()));
    std::fs::write(world.work.join("go"), "").expect("a file");
    until("the line is written", || (world.status_of(1) == "completed").then_some(()));
    rest(world);
    // The next look of a reader without a process comes after 1 s.
    let begin = std::time::Instant::now();
    until("its timer is due", || (begin.elapsed() > std::time::Duration::from_millis(1500)).then_some(()));
}

fn park_waiter(world: &World, options: &str) {
    queue_waiter(world, options);
    world.luzia(&["dispatch", "--once"]).ok();
    until("the task waits", || world.state.join("spool/waiting/1.json").exists().then_some(()));
    rest(world);
}

/// One whose time has run out.
fn park_late_waiter(world: &World, options: &str) {
    park_waiter(world, &format!("--timeout 8s {options}"));
    let begin = std::time::Instant::now();
    until("its time has run out", || (begin.elapsed() > std::time::Duration::from_secs(8)).then_some(()));
}

fn lines(world: &World, name: &str) -> usize {
    std::fs::read_to_string(world.work.join(name)).unwrap_or_default().lines().count()
}

/// It goes on behind its wait, and its step is done once unless its record was lost with its process.
fn goes_on(world: &World, _: &Answer) -> Vec<String> {
    let effects = std::fs::read_to_string(world.work.join("effects")).unwrap_or_default();
    let status = world.status_of(1);
    let is_whole = status != "completed" || (effects.ends_with("on\n") && effects.matches("on\n").count() == 1);
    let is_once = status != "completed" || lines(world, "steps") == 1;
    let is_over = ["completed", "failed"].contains(&status.as_str());
    if is_whole && is_once && is_over { Vec::new() } else { vec![format!("{status}, effects {effects:?}")] }
}

/// The two lines came once each and in order, the third wait ended with its task, and it went on.
fn reads_once(world: &World, _: &Answer) -> Vec<String> {
    let text = |name: &str| std::fs::read_to_string(world.work.join(name)).unwrap_or_default();
    let (status, lines, effects) = (world.status_of(2), text("lines"), text("effects"));
    // A run that was killed behind a wait has its lines answered from memory.
    let is_in_order = lines.lines().all(|line| ["ready 1", "ready 2"].contains(&line));
    let is_right = match status.as_str() {
        "completed" => lines.ends_with("ready 1\nready 2\n") && effects.ends_with("on\n"),
        "failed" => !effects.contains("on\n"),
        _ => false,
    };
    if is_right && is_in_order { Vec::new() } else { vec![format!("{status}, lines {lines:?}, effects {effects:?}")] }
}

fn is_late_once(world: &World, answer: &Answer) -> Vec<String> {
    let count = lines(world, "late");
    let mut wrong = goes_on(world, answer);
    let waits = std::fs::read(world.state.join("spool/steps/1/waits.json")).unwrap_or_default();
    let waits: serde_json::Value = serde_json::from_slice(&waits).unwrap_or_default();
    // Once, or at most once and told: a kill may have cut it short, or it could not be started.
    let command = &waits["commands"][0];
    let is_told =
        command["is_lost"] == true || command["ended"].as_str().is_some_and(|how| how.starts_with("it was not run: "));
    wrong.extend((count > 1 || (count == 0 && !is_told)).then(|| format!("the command ran {count} times: {waits}")));
    wrong
}

fn has_timed_out(world: &World, _: &Answer) -> Vec<String> {
    let (status, begun) = (world.status_of(1), lines(world, "effects"));
    if status == "timeout" && begun == 1 { Vec::new() } else { vec![format!("{status}, begun {begun} times")] }
}

/// A step that is recorded has been done, and a task that completed has had its event.
fn steps_are_whole(world: &World, _: &Answer) -> Vec<String> {
    let text = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let steps = world.state.join("spool/steps/1");
    let (effects, answers) = (text(world.work.join("effects")), text(world.work.join("answers")));
    let mut problems = Vec::new();
    for name in ["step.one.json", "waits.json", "vars.json"] {
        let path = steps.join(name);
        let is_whole = serde_json::from_str::<serde_json::Value>(&text(path.clone())).is_ok_and(|file| file["v"] == 1);
        if path.exists() && !is_whole {
            problems.push(format!("{path:?} is not whole: {:?}", text(path.clone())));
        }
    }
    let (is_recorded, is_over) = (steps.join("step.one.json").exists(), !answers.is_empty());
    if (is_recorded && effects != "x\n")
        || effects.lines().count() > 1
        || (is_over && (!is_recorded || answers != "1\n"))
    {
        problems.push(format!("recorded {is_recorded}, effects {effects:?}, answers {answers:?}"));
    }
    problems
}
