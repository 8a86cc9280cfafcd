//! The scenes of the sweep about tasks that take several steps, form groups, or go on from the variables of another one.

use super::harness::oracle::{self, Deed};
use super::harness::{Answer, World};
use super::sweep_scenes::{ENQUEUE, PLAIN, Scene, queue_three};

/// Two steps of one claim; the second says that the task is over.
pub const STEPWISE: Scene = Scene {
    name: "stepwise",
    args: &["dispatch", "--once"],
    prepare: queue_stepwise,
    follow: true,
    queued: 1,
    retries: 1,
    judge: steps_are_taken_once,
    ..PLAIN
};

fn queue_stepwise(world: &World) {
    let luzia = env!("CARGO_BIN_EXE_luzia");
    let text = format!(
        "echo $LUZIA_STEP >>effects || exit 1; if [ $LUZIA_STEP = 1 ]; then {luzia} finish --summary done && echo said >>said; fi"
    );
    let options = ["-u", "alice", "--stepwise", "--retries", "0", "--steps-per-run", "2", "--goal", "g"];
    // One grant covers both steps, so both have one fence, which the scripts of the oracle take for two holders.
    world.enqueue(&options, &["bash", "-c", &text].map(str::to_owned));
}

/// Each step runs at most once, since nothing is retried; what was said of the end stands.
fn steps_are_taken_once(world: &World, _: &Answer) -> Vec<String> {
    let text = |name: &str| std::fs::read_to_string(world.work.join(name)).unwrap_or_default();
    let (effects, is_said) = (text("effects"), !text("said").is_empty());
    let status = world.status_of(1);
    let is_in_order = ["", "0\n", "0\n1\n"].contains(&effects.as_str());
    let is_whole = status != "completed" || effects == "0\n1\n";
    // A cancel alone comes before it, and nobody cancels.
    let stands = !is_said || status == "completed";
    if is_in_order && is_whole && stands {
        return Vec::new();
    }
    vec![format!("{status}, effects {effects:?}, said {is_said}")]
}

/// A task of a group is accepted.
pub const ENQUEUE_GROUP: Scene = Scene {
    name: "enqueue-group",
    args: &["enqueue", "-u", "alice", "--group", "g", "--", "true"],
    prepare: queue_group,
    queued: 4,
    ..ENQUEUE
};

/// A group in the queue.
pub const DISPATCH_GROUP: Scene = Scene {
    name: "dispatch-group",
    args: &["dispatch", "--once"],
    prepare: queue_group,
    follow: true,
    queued: 4,
    ..PLAIN
};

/// A task goes on from the variables of another one.
pub const ENQUEUE_REUSE: Scene = Scene {
    name: "enqueue-reuse",
    args: &["enqueue", "-u", "alice", "--reuse", "report", "--", "true"],
    prepare: finish_goal,
    queued: 1,
    judge: has_all_variables_or_none,
    ..ENQUEUE
};

/// A group of one beside the others.
fn queue_group(world: &World) {
    queue_three(world);
    world.enqueue(&["-u", "alice", "--group", "g"], &oracle::command(world, "alice", Deed::Quick));
}

/// A completed task of a goal, with a variable.
fn finish_goal(world: &World) {
    let luzia = env!("CARGO_BIN_EXE_luzia");
    world.enqueue(&["-u", "alice", "--goal", "report"], &["sh", "-c", &format!("{luzia} set n=1")].map(str::to_owned));
    world.luzia(&["dispatch", "--drain"]).ok();
}

/// A task that was accepted and says whose variables it reuses has them.
fn has_all_variables_or_none(world: &World, _: &Answer) -> Vec<String> {
    let listed = world.luzia(&["--json", "list", "-a"]).out;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap_or_default();
    let reused = listed["items"].as_array().into_iter().flatten().filter(|task| task["reuses"] == "task_1");
    let lost = reused.filter(|task| {
        let id = task["id"].as_str().unwrap_or_default();
        world.luzia(&["get", "--task", id, "n"]).out.trim() != "1"
    });
    lost.map(|task| format!("{} lost its variables", task["id"])).collect()
}
