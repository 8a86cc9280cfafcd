//! `--group`: related tasks run one after another on their lane, and keep nobody waiting for ever (S3.F3).

use crate::support::{Place, lines};

fn note(place: &Place, options: &[&str], name: &str) -> String {
    let script = format!("echo {name} >> $PLACE/order");
    place.enqueue(&[options, &["--", "sh", "-c", &script]].concat())
}

#[test]
fn tasks_of_a_group_run_in_a_row_at_the_place_of_the_first() {
    // S3.F3
    let place = Place::new();
    for (name, group) in [
        ("a1", None),
        ("g1", Some("g")),
        ("a2", None),
        ("h1", Some("h")),
        ("g2", Some("g")),
        ("a3", None),
        ("g3", Some("g")),
        ("h2", Some("h")),
    ] {
        let grouped = ["-u", "alice", "--group", group.unwrap_or("x")];
        note(&place, if group.is_some() { &grouped } else { &grouped[..2] }, name);
    }
    let shown = place.show("task_7");
    assert_eq!((&shown["group"], &shown["group_first"]), (&"g".into(), &"task_2".into()));
    // The place that is told is the one that is kept: a1, g1 and g2 come first.
    assert!(place.ok(&["explain", "7"]).out.contains("3 tasks"), "{:?}", place.ok(&["explain", "7"]));
    place.drain();
    assert_eq!(lines(&place.path("order")), ["a1", "g1", "g2", "g3", "a2", "h1", "h2", "a3"]);
    // Nothing is left of the groups.
    assert_eq!(std::fs::read_dir(place.state().join("spool/keys")).unwrap().count(), 0);
}

#[test]
fn a_group_keeps_its_row_in_a_lane_of_several_users() {
    let place = Place::new();
    let on = |user: &str, group: &str, name: &str| {
        let group: &[&str] = if group.is_empty() { &[] } else { &["--group", group] };
        note(&place, &[&["-u", user, "--thread", "7"], group].concat(), name)
    };
    on("alice", "g", "g1");
    on("bob", "", "b1");
    on("alice", "g", "g2");
    on("alice", "", "a1");
    on("alice", "g", "g3");
    place.drain();
    assert_eq!(lines(&place.path("order")), ["g1", "g2", "g3", "b1", "a1"]);
}

#[test]
fn a_group_that_grows_for_ever_keeps_nobody_waiting_for_ever() {
    let place = Place::new();
    let grouped = ["-u", "alice", "--group", "g"];
    note(&place, &grouped, "g0");
    note(&place, &["-u", "alice"], "other");
    for number in 1..20 {
        note(&place, &grouped, &format!("g{number}"));
    }
    place.drain();
    let order = lines(&place.path("order"));
    assert_eq!(order.iter().position(|name| name == "other"), Some(16), "{order:?}");
    assert_eq!(order.len(), 21);
}

#[test]
fn a_group_whose_tasks_are_over_begins_anew() {
    let place = Place::new();
    let grouped = ["-u", "alice", "--group", "g"];
    note(&place, &grouped, "g1");
    place.drain();
    let next = note(&place, &grouped, "g2");
    assert_eq!(place.show(&next)["group_first"], next.as_str());
    // Lines of a batch join it, too.
    let line = r#"{"user":"alice","group":"g","command":["true"]}"#;
    std::fs::write(place.path("lines"), format!("{line}\n{line}\n")).unwrap();
    let more = place.ok(&["enqueue", "--from", &place.text("lines")]).out;
    for id in more.lines() {
        assert_eq!(place.show(id)["group_first"], next.as_str());
    }
    place.luzia(&["enqueue", "--group", "", "--", "true"]).coded(2);
}
