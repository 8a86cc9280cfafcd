//! Groups in a store: their tasks run in a row at the place of the first one, on whatever host.

use crate::hosts::{Host, assert_whole};
use crate::server::Fleet;

#[test]
fn tasks_of_a_group_run_in_a_row_at_the_place_of_the_first() {
    let Some(fleet) = Fleet::new("tasks_of_a_group") else { return };
    let log = fleet.place.text("order");
    let note = |name: &str, options: &[&str]| {
        let script = format!("echo {name} >>{log}");
        let place = &["enqueue", "--anywhere", "-u", "alice"][..];
        fleet.luzia(&[place, options, &["--shell", &script]].concat()).coded(0).line()
    };
    // Everything waits before the only host joins. A group is of one set of lanes and one priority.
    let of = |group: &'static str| ["--group", group];
    let ids = [
        note("a1", &[]),
        note("g1", &of("g")),
        note("a2", &[]),
        note("h1", &of("h")),
        note("g2", &of("g")),
        note("x1", &["--group", "g", "--priority", "4"]),
        note("a3", &[]),
        note("g3", &of("g")),
        note("h2", &of("h")),
    ];
    let shown = fleet.json(&["show", &ids[7]]);
    assert_eq!((&shown["group"], &shown["group_first"]), (&"g".into(), &ids[1].as_str().into()), "{shown:#}");
    assert_eq!(fleet.json(&["show", &ids[5]])["group_first"], ids[5].as_str());
    // The place that is shown is the one that is kept: x1, a1, g1 and g2 come first.
    let explained = fleet.luzia(&["explain", &ids[7]]).coded(0).out;
    assert!(explained.contains("4 tasks"), "{explained}");
    let host = Host::new(&fleet, "one", None);
    fleet.luzia(&[&["wait"], &ids.each_ref().map(String::as_str)[..]].concat()).coded(0);
    let order = std::fs::read_to_string(&log).unwrap();
    assert_eq!(order.split_whitespace().collect::<Vec<_>>(), ["x1", "a1", "g1", "g2", "g3", "a2", "h1", "h2", "a3"]);
    // The host has the group as well, and the next task of the name begins a group of its own.
    assert_eq!(host.place.show(&ids[7])["group_first"], ids[1].as_str());
    let next = note("g4", &of("g"));
    assert_eq!(fleet.json(&["show", &next])["group_first"], next.as_str());
    assert_whole(&fleet);
}

#[test]
fn a_group_takes_sixteen_tasks_and_a_batch_or_a_race_makes_one_group() {
    let Some(fleet) = Fleet::new("a_group_takes_sixteen") else { return };
    let first_of = |id: &str| fleet.json(&["show", id])["group_first"].as_str().unwrap().to_owned();
    let line = "{\"user\":\"alice\",\"group\":\"g\",\"command\":[\"true\"]}\n";
    std::fs::write(fleet.place.path("batch"), line.repeat(18)).unwrap();
    let ids = fleet.luzia(&["enqueue", "--from", &fleet.place.text("batch")]).coded(0).out;
    let ids: Vec<&str> = ids.lines().collect();
    let firsts: Vec<String> = ids.iter().map(|id| first_of(id)).collect();
    assert!(firsts[..16].iter().all(|first| first == ids[0]) && firsts[16..].iter().all(|first| first == ids[16]));
    let racers: Vec<_> = (0..8)
        .map(|_| {
            let mut command = fleet.place.command(&["enqueue", "-u", "bob", "--group", "r", "--json", "--", "true"]);
            fleet.place.spawn(command.env("LUZIA_STORE", fleet.url()))
        })
        .collect();
    let answers: Vec<_> = racers.into_iter().map(|racer| racer.end().coded(0).json()).collect();
    let ids: Vec<&str> = answers.iter().map(|answer| answer["id"].as_str().unwrap()).collect();
    let firsts: Vec<String> = ids.iter().map(|id| first_of(id)).collect();
    // A request whose number was drawn before that of the first task, and that comes later, begins a group of its own.
    assert!(firsts.iter().zip(&ids).all(|(first, id)| first == id || ids.contains(&first.as_str())), "{firsts:?}");
    assert_eq!(fleet.luzia(&["enqueue", "--group", "", "--", "true"]).code, 2);
}
