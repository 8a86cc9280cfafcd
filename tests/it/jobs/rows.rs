//! Rows of the requirements that name members, events and options in the words of their source.

use crate::support::{Place, until};
use serde_json::json;

#[test]
fn a_child_says_whose_it_is_and_whether_it_inherits() {
    // S0.16, S0.22
    let place = Place::new();
    let parent = place.enqueue(&["-u", "p", "--hold", "--", "true"]);
    let asked = [
        "-u",
        "c",
        "--parent",
        &parent,
        "--thread",
        "7",
        "-l",
        "session:telegram:ana",
        "--prompt",
        "hello",
        "--",
        "cat",
    ];
    let child = place.show(&place.enqueue(&asked));
    assert_eq!((&child["parentExecutionId"], &child["canInheritLock"]), (&json!(1), &json!(false)));
    assert_eq!(
        child["context"],
        json!({ "executionId": 2, "threadId": "7", "message": "hello", "channel": "telegram" })
    );
    let alone = place.show(&parent);
    assert_eq!((&alone["parentExecutionId"], &alone["context"]["threadId"]), (&json!(null), &json!(null)));
    // S2.34
    let spawned = place.events_named("spawned");
    assert_eq!((spawned.len(), &spawned[0]["data"]), (1, &json!({ "child": "task_2", "parent": "task_1" })));
}

#[test]
fn a_queued_item_keeps_the_message_and_the_channel_that_it_was_given() {
    // S0.22
    let place = Place::new();
    let given = ["-u", "a", "--thread", "7", "--message", "how are you?", "--channel", "telegram", "--", "true"];
    let context = json!({ "executionId": 1, "threadId": "7", "message": "how are you?", "channel": "telegram" });
    assert_eq!(place.show(&place.enqueue(&given))["context"], context);
    let line = json!({ "user": "b", "message": "hi", "channel": "mail", "command": ["true"] }).to_string();
    std::fs::write(place.path("lines"), line).unwrap();
    place.ok(&["enqueue", "--from", &place.text("lines")]);
    let context = json!({ "executionId": 2, "threadId": null, "message": "hi", "channel": "mail" });
    assert_eq!(place.show("task_2")["context"], context);
    place.drain();
    assert_eq!(place.show("task_2")["context"], context);
}

#[test]
fn only_an_awaited_child_inherits() {
    // S0.19
    let place = Place::new();
    let refused = place.luzia(&["enqueue", "--thread", "7", "--inherit", "--", "true"]).coded(1);
    assert!(refused.err.contains("it is no child"), "{refused:?}");
    let parent = place.enqueue(&["-u", "p", "--hold", "--", "true"]);
    let refused = place.luzia(&["enqueue", "--parent", &parent, "--inherit", "--", "true"]).coded(1);
    assert!(refused.err.contains("nobody waits for it"), "{refused:?}");
    place.luzia(&["enqueue", "--inherit", "--no-inherit", "--", "true"]).coded(2);
    assert_eq!(place.json(&["list"])["items"].as_array().unwrap().len(), 1);
    let script = "\"$LUZIA\" -v enqueue --thread 7 --parent self --wait --inherit -- sh -c 'echo in > $PLACE/in'";
    let id = place.enqueue(&["-u", "q", "--thread", "7", "--", "sh", "-c", script]);
    place.ok(&["dispatch"]);
    place.until_file("in");
    place.until_status(&id, "completed");
    // S0.33, S1.48: in the words of their source, and in their order.
    let said = place.ok(&["logs", &id, "--stderr"]).out;
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("xecution") || line.contains("AGENT")).collect();
    let wanted = [
        "[MessageService] Execution 3 inheriting lock from parent 2 on thread 7",
        "Starting execution 3",
        "Execution 3 completed with result: success",
        "Emitting AGENT_COMPLETED event",
        "[AgentGraph] Released locks on 1 thread(s) for execution 3",
    ];
    assert_eq!(lines, wanted, "{said}");
}

#[test]
fn a_parent_gets_the_variables_of_its_child() {
    // S1.24, S1.35
    let place = Place::new();
    let child = "\"$LUZIA\" set found=3 lastResponse=no; \"$LUZIA\" finish --summary done";
    let script = format!(
        "\"$LUZIA\" set found=0 own=1; \"$LUZIA\" enqueue -u kid --parent self -- sh -ec '{child}'; \"$LUZIA\" await agent"
    );
    let parent = place.enqueue(&["-u", "p", "--", "sh", "-ec", &script]);
    place.drain();
    let shown = place.show(&parent);
    assert_eq!(shown["status"], "completed", "{shown}");
    for (name, value) in [
        ("found", json!("3")),
        ("own", json!("1")),
        // The last message of a person, which the child got here, and never the summary of the child.
        ("lastResponse", json!("no")),
        (
            "childResults",
            json!({ "task_2": { "status": "completed", "exit_code": 0, "summary": "done", "data": null } }),
        ),
        ("childExecutionStatus", json!("completed")),
        ("childExecutionSuccess", json!(true)),
        ("triggeredExecutionId", json!(2)),
    ] {
        assert_eq!((&shown["vars"][name], &shown["variables"][name]), (&value, &value), "{name}");
    }
}

#[test]
fn enqueue_with_wait_inside_a_task_waits_as_await_agent_does() {
    // S1.22, S1.24
    let place = Place::configured(&json!({ "slots": { "max": 1 } }));
    let gate = place.gate("go");
    let child = format!("echo up >$PLACE/up; read _ <{gate}; \"$LUZIA\" set found=3; \"$LUZIA\" finish --summary done");
    let script =
        format!("\"$LUZIA\" enqueue --wait -- sh -ec '{child}'; echo \"code $?, found $(\"$LUZIA\" get found)\"");
    let parent = place.enqueue(&["-u", "p", "--", "sh", "-c", &script]);
    place.ok(&["dispatch", "--once"]);
    place.until_file("up");
    let shown = place.show(&parent);
    assert_eq!(
        (&shown["status"], &shown["waiting_for"], &shown["waitingFor"]),
        (&json!("waiting"), &json!("agent"), &json!("agent"))
    );
    assert!(place.ok(&["explain", &parent]).out.contains("task_2"));
    place.open_gate("go");
    place.until_status(&parent, "completed");
    let vars = &place.show(&parent)["vars"];
    assert_eq!((&vars["found"], &vars["triggeredExecutionId"]), (&json!("3"), &json!(2)), "{vars}");
    let summary = &vars["childResults"]["task_2"];
    assert_eq!((&summary["status"], &summary["exit_code"]), (&vars["childExecutionStatus"], &json!(0)), "{vars}");
    assert!(place.luzia(&["logs", &parent, "--stdout"]).out.ends_with("found 3\n"));
}

#[test]
fn two_waits_of_one_task_for_children_do_not_wait_for_each_other() {
    let place = Place::configured(&json!({ "slots": { "max": 4 } }));
    let child = |own: &str, other: &str| {
        format!("echo >{own}; until [ -e {other} ]; do sleep 0.01; done; \"$LUZIA\" set {own}=1")
    };
    let wait = |user: &str, text: String| format!("\"$LUZIA\" enqueue -u {user} --wait -- sh -ec '{text}'");
    let script = format!("{} & {} & wait", wait("one", child("a", "b")), wait("two", child("b", "a")));
    let parent = place.enqueue(&["-u", "p", "--", "sh", "-ec", &script]);
    place.ok(&["dispatch", "--drain"]);
    let vars = &place.show(&parent)["vars"];
    assert_eq!((&vars["a"], &vars["b"]), (&json!("1"), &json!("1")), "{vars}");
}

#[test]
fn a_parent_has_the_results_of_forty_children_of_two_kilobytes_each() {
    // S2.5
    let place = Place::configured(&json!({ "slots": { "max": 8 } }));
    let child = "\"$LUZIA\" finish --data \"\\\"$(head -c 2048 /dev/zero | tr \"\\0\" x)\\\"\"";
    std::fs::write(place.path("child.sh"), child).unwrap();
    let script = "for n in $(seq 40); do \"$LUZIA\" enqueue -u k$n -- sh $PLACE/child.sh >/dev/null; done; \"$LUZIA\" await agent >/dev/null";
    let parent = place.enqueue(&["-u", "p", "--", "sh", "-ec", script]);
    place.drain();
    let results = place.show(&parent)["vars"]["childResults"].clone();
    let whole =
        results.as_object().unwrap().values().filter(|one| one["data"].as_str().is_some_and(|data| data.len() == 2048));
    assert_eq!(whole.count(), 40, "{}", place.luzia(&["logs", &parent]).err);
}

#[test]
fn the_end_of_a_child_leaves_the_message_of_a_person_alone() {
    // S1.24
    let place = Place::new();
    let script = "\"$LUZIA\" await response; \"$LUZIA\" enqueue -u kid -- true; \"$LUZIA\" await agent";
    let parent = place.enqueue(&["-u", "p", "--", "sh", "-ec", script]);
    place.ok(&["emit", "response", "--task", &parent, "--data", "\"go on\""]);
    place.drain();
    assert_eq!(place.show(&parent)["vars"]["lastResponse"], "go on");
}

#[test]
fn a_wait_for_children_is_for_all_of_them_and_gives_what_each_said() {
    // X15, S1.24, S2.5
    let place = Place::configured(&json!({ "slots": { "max": 8 } }));
    let child = "\"$LUZIA\" set v$n=$n; \"$LUZIA\" finish --summary s$n";
    let script = format!(
        "for n in 1 2 3; do \"$LUZIA\" enqueue -u kid$n --env n=$n -- sh -ec '{child}' >/dev/null; done
         \"$LUZIA\" await agent >/dev/null; \"$LUZIA\" get v1; \"$LUZIA\" get v2; \"$LUZIA\" get v3"
    );
    let parent = place.enqueue(&["-u", "p", "--", "sh", "-ec", &script]);
    place.drain();
    assert_eq!(place.status(&parent), "completed", "{}", place.luzia(&["logs", &parent]).out);
    assert_eq!(place.luzia(&["logs", &parent, "--stdout"]).out, "1\n2\n3\n");
    let results = &place.show(&parent)["vars"]["childResults"];
    for n in 1..=3 {
        let own = &results[format!("task_{}", n + 1)];
        assert_eq!((&own["status"], &own["summary"]), (&json!("completed"), &json!(format!("s{n}"))), "{results}");
    }
}

#[test]
fn a_step_is_told_of_the_children_that_the_last_one_had_no_room_for() {
    // S2.5: 40 children with 2 KB each are more than one step is told of.
    let place = Place::configured(&json!({ "slots": { "max": 16 } }));
    let child = "\"$LUZIA\" finish --data \"\\\"$(head -c 2000 /dev/zero | tr \\\\0 x)\\\"\"";
    std::fs::write(place.path("child.sh"), child).unwrap();
    let script = "if [ $LUZIA_STEP = 0 ]; then
            for n in $(seq 40); do \"$LUZIA\" enqueue -u kid$n -- sh -e $PLACE/child.sh; done >/dev/null
            until [ \"$(\"$LUZIA\" show self --json | grep -c '\"mail\": 40')\" = 1 ]; do sleep 0.1; done
        else
            printf '%s' \"$LUZIA_LAST_RESULT\" | grep -o 'child\":\"task_[0-9]*' >>$PLACE/told || true
            [ $LUZIA_STEP -lt 3 ] || \"$LUZIA\" finish
        fi";
    let parent = place.enqueue(&["-u", "p", "--stepwise", "--", "sh", "-c", script]);
    place.drain();
    assert_eq!(place.status(&parent), "completed");
    let mut told = crate::support::lines(&place.path("told"));
    assert_eq!(told.len(), 40, "each once: {told:?}");
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 40);
}

#[test]
fn a_time_that_ran_out_is_told_as_such_and_takes_the_old_answer_away() {
    for mode in ["", "--park"] {
        let place = Place::new();
        let script = format!(
            "\"$LUZIA\" await response {mode}; \"$LUZIA\" await response {mode} --timeout 300ms --on-timeout continue
             echo \"answer: $(\"$LUZIA\" get lastResponse 2>/dev/null)\""
        );
        let id = place.enqueue(&["-u", "a", "--", "sh", "-ec", &script]);
        place.ok(&["emit", "response", "--task", &id, "--data", "\"first\""]);
        crate::support::until("it is over", || {
            place.ok(&["dispatch", "--once"]);
            (place.status(&id) == "completed").then_some(())
        });
        assert!(place.luzia(&["logs", &id, "--stdout"]).out.ends_with("answer: \n"), "{mode}");
        let told = place.events_named("wait_timeout");
        assert_eq!((told.len(), &told[0]["data"]["means"]), (1, &json!("continue")), "{told:?}");
        let steps = place.ok(&["logs", &id, "--steps"]).out;
        let waits = place.show(&id)["waits"].clone();
        assert_eq!((&waits[0]["timed_out"], &waits[1]["timed_out"]), (&json!(false), &json!(true)), "{waits}");
        assert!(place.ok(&["show", &id]).out.contains("response MESSAGE_RECEIVED: its time ran out at "));
        assert_eq!((steps.matches("completada").count(), steps.matches("vencida").count()), (1, 1), "{steps}");
    }
}

#[test]
fn the_tree_has_each_run_of_a_stepwise_task() {
    // S2.7, S2.19, S2.33
    let place = Place::new();
    let script = "\"$LUZIA\" step tool$LUZIA_STEP -- echo hi; [ $LUZIA_STEP -lt 1 ] || \"$LUZIA\" finish";
    let id = place.enqueue(&["-u", "a", "--stepwise", "--", "sh", "-ec", script]);
    place.drain();
    let tree = place.ok(&["tree", &id]).out;
    for line in ["step 0: exit 0", "step 1: exit 0", "step tool0: exit 0", "step tool1: exit 0"] {
        assert!(tree.contains(line), "{line} in {tree}");
    }
    let runs = place.json(&["tree", &id])["items"][0]["runs"].clone();
    assert_eq!(
        (runs.as_array().unwrap().len(), &runs[1]["name"], &runs[1]["state"]),
        (2, &json!("step 1"), &json!("completed"))
    );
    let steps = place.events_named("step");
    assert_eq!((&steps[0]["data"]["exit_code"], &steps[0]["data"]["stdout_bytes"]), (&json!(0), &json!(3)));
    assert_eq!(steps[0]["data"]["output_ref"], format!("step:{id}/tool0"));
    assert!(steps[0]["data"]["ran_ms"].is_number());
}

#[test]
fn a_schedule_makes_tasks_of_a_goal_that_take_steps() {
    // S2.14
    let place = Place::new();
    place.ok(&["cron", "add", "standup", "0 9 * * *", "--goal", "standup", "--stepwise", "-u", "a", "--", "true"]);
    let id = place.ok(&["cron", "run", "standup"]).line();
    let made = place.show(&id);
    assert_eq!((&made["goal"], &made["retries"]), (&json!("standup"), &json!(3)));
    assert!(made["stepwise"].is_object(), "{made}");
    for option in
        [&["--group", "g"][..], &["--reuse", "goal"], &["--after-any", &id], &["--after-failed", &id], &["--stable"]]
    {
        let refused =
            place.luzia(&[&["cron", "add", "x", "@daily"], option, &["--goal", "g", "--", "true"]].concat()).coded(2);
        assert!(refused.err.contains("is about one task"), "{option:?}: {refused:?}");
    }
    assert_eq!(place.json(&["cron", "list"])["items"].as_array().unwrap().len(), 2, "it and the built-in one");
    until("no more", || (place.json(&["list", "-a"])["items"].as_array().unwrap().len() == 1).then_some(()));
}
