//! `timeline` with a store: every run on every host, also one that the loss of its host has interrupted.

use crate::hosts::{Host, assert_whole};
use crate::server::Fleet;
use crate::support::until;
use serde_json::{Value, json};

/// The holds of a lane, in the order of their grants.
fn holds(fleet: &Fleet, lane: &str) -> Vec<Value> {
    let all = fleet.json(&["timeline"]);
    all["items"].as_array().unwrap().iter().filter(|hold| hold["lane"] == lane).cloned().collect()
}

/// A member of each hold.
fn each(holds: &[Value], member: &str) -> Vec<Value> {
    holds.iter().map(|hold| hold[member].clone()).collect()
}

/// A moment in a document.
fn at<'a>(hold: &'a Value, member: &str) -> &'a str {
    hold[member].as_str().unwrap_or_else(|| panic!("no {member}: {hold:#}"))
}

#[test]
fn each_run_is_shown_on_its_host_also_one_that_was_interrupted() {
    let Some(fleet) = Fleet::new("each_run_is_shown_on_its_host") else { return };
    let mut one = Host::new(&fleet, "one", Some("5s"));
    let file = fleet.place.text("tries");
    let script = format!("echo run >>{file}; test $(wc -l <{file}) -ge 2 || sleep 60");
    // Its back-off is over before the next pass; else the task behind it comes first.
    let options = ["--anywhere", "-l", "gpu", "--retries", "1", "--backoff", "1ms"];
    let again = one.enqueue("alice", &script, &options);
    until("its start is seen", || (fleet.json(&["show", &again])["starts"] == 1).then_some(()));
    let behind = one.enqueue("alice", "exit 3", &["--anywhere"]);
    let open = holds(&fleet, "user:alice");
    assert_eq!(json!([open[0]["to"], open[0]["run_to"], open[0]["ended_by"]]), json!([null, null, null]));
    assert!(at(&open[0], "run_from") >= at(&open[0], "from"));
    let _two = Host::new(&fleet, "two", Some("5s"));
    one.kill();
    fleet.luzia(&["wait", &again, &behind, "--timeout", "25s"]).coded(1);
    assert_whole(&fleet);

    let runs = holds(&fleet, "gpu");
    assert_eq!(json!(each(&runs, "holder")), json!([again, again]));
    assert_eq!(json!(each(&runs, "host")), json!(["one", "two"]));
    assert_eq!(json!(each(&runs, "ended_by")), json!(["interrupted", "completed"]));
    assert_eq!(runs[1]["asked_at"], runs[0]["to"], "it waited again from the loss of its host");
    assert_eq!(holds(&fleet, "global").len(), 3);
    let all = holds(&fleet, "user:alice");
    assert_eq!(json!(each(&all, "ended_by")), json!(["interrupted", "completed", "failed"]));
    for hold in &all {
        let moments = ["asked_at", "from", "run_from", "run_to", "to"].map(|member| at(hold, member));
        assert!(moments.is_sorted(), "{hold:#}");
    }
    assert!(
        all.windows(2).all(|pair| at(&pair[0], "to") <= at(&pair[1], "from")),
        "two runs of a user at once: {all:#?}"
    );

    let rows = |by: &str| {
        let text = fleet.luzia(&["timeline", "--by", by]).coded(0).out;
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let hosts = rows("host");
    assert!(hosts.len() == 2 && hosts[0].starts_with("one ") && hosts[0].ends_with('x'), "{hosts:#?}");
    assert!(hosts[1].starts_with("two ") && hosts[1].matches('|').count() == 2, "{hosts:#?}");
    assert!(rows("user").len() == 1 && rows("user")[0].starts_with("alice "));
    let lanes = rows("lane").join("\n");
    assert!(["global on one", "global on two", "gpu", "user:alice"].iter().all(|lane| lanes.contains(lane)), "{lanes}");
    let picture = fleet.place.text("picture.svg");
    fleet.luzia(&["timeline", "--svg", &picture]).coded(0);
    let picture = std::fs::read_to_string(picture).unwrap();
    assert!(picture.contains("global on two") && picture.contains(&format!("{again} alice on one interrupted")));
    // Only what lasted in the time that is asked for.
    fleet.sql("UPDATE luzia.run SET left_at = left_at - interval '2 hours' WHERE ending = 'interrupted'");
    assert_eq!(holds(&fleet, "gpu").len(), 1);
}

#[test]
fn a_run_without_a_start_has_no_command_and_hosts_need_a_store() {
    let Some(fleet) = Fleet::new("a_run_without_a_start") else { return };
    assert_eq!(fleet.json(&["timeline"])["items"], json!([]));
    let host = Host::new(&fleet, "one", None);
    let id = host.enqueue("alice", "exit 3", &["--retries", "1", "--backoff", "100ms"]);
    fleet.luzia(&["wait", &id]).coded(1);
    let runs = holds(&fleet, "user:alice");
    assert_eq!(json!(each(&runs, "ended_by")), json!(["pending", "failed"]), "an attempt was left after the first");
    assert_ne!(runs[0]["run_from"], runs[1]["run_from"]);
    // As after a loss between the grant and the start: the record still has the begin of an earlier run.
    fleet.sql(
        "UPDATE luzia.task SET state = 'r'; SELECT luzia_1.part(t.id, t.token, 'e', 'failed', r.body, NULL, 'interrupted',
           (SELECT luzia_1.ms_of(max(begun_at)) FROM luzia.run), NULL) FROM luzia.task t JOIN luzia.record r ON r.task_id = t.id",
    );
    let lost = holds(&fleet, "user:alice").into_iter().find(|run| run["ended_by"] == "interrupted").unwrap();
    assert_eq!(json!([lost["run_from"], lost["run_to"]]), json!([null, null]), "{lost:#}");
    let of_host = host.luzia(&["timeline", "--store", "local", "--json"]).coded(0).json();
    assert!(of_host["items"].as_array().unwrap().iter().all(|hold| hold["host"].is_null()), "{of_host:#}");
    let refused = host.luzia(&["timeline", "--store", "local", "--by", "host"]).coded(2);
    assert!(refused.err.contains("no store"), "{refused:?}");
}
