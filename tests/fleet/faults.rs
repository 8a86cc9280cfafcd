//! A database that is away, a clock that jumps, and state that is lost or older than the database: what runs is what the database counts
//! on, and no longer.

use crate::hosts::{Host, assert_two_fences_rise, assert_whole, status, until_status};
use crate::proxy::Proxy;
use crate::server::Fleet;
use crate::support::{LUZIA, until};
use std::time::Duration;

/// The session of the only host.
fn session(fleet: &Fleet) -> String {
    fleet.client().query_one("SELECT session::text FROM luzia.host", &[]).unwrap().get(0)
}

#[test]
fn tasks_run_on_while_the_database_is_away_for_less_than_the_lease() {
    let Some(fleet) = Fleet::new("tasks_run_on") else { return };
    let proxy = Proxy::new(fleet.socket());
    let host = Host::by(&fleet, &fleet.url_at(proxy.folder()), "one", Some("60s"));
    let id = host.enqueue("alice", "sleep 1; echo done", &[]);
    until_status(&fleet, &id, "running");
    proxy.shut(true);
    let ran = host.luzia(&["list"]).coded(69);
    assert!(ran.err.contains("away since"), "{}", ran.err);
    until("it is over on its host", || (host.place.status(&id) == "completed").then_some(()));
    assert_eq!(status(&fleet, &id), "running", "the end waits on the host");
    proxy.shut(false);
    until_status(&fleet, &id, "completed");
    host.luzia(&["list"]).coded(0);
    assert_whole(&fleet);
}

#[test]
fn a_command_that_loses_the_database_says_what_goes_on() {
    let Some(fleet) = Fleet::new("a_command_that_loses_the_database") else { return };
    let proxy = Proxy::new(fleet.socket());
    let host = Host::by(&fleet, &fleet.url_at(proxy.folder()), "one", Some("60s"));
    let [begun, goes] = ["begun", "goes"].map(|name| fleet.place.text(name));
    let script = format!("echo x >>{begun}; until test -e {goes}; do sleep 0.05; done; exit 3");
    let run = host.start_luzia(&["run", "-u", "alice", "--shell", &script]);
    let lock = host.start_luzia(&["lock", "-l", "gpu", "--", "sh", "-c", &script]);
    until("both have begun", || std::fs::read_to_string(&begun).is_ok_and(|text| text == "x\nx\n").then_some(()));
    let waits = host.start_luzia(&["lock", "-l", "gpu", "--", "true"]);
    until("it waits", || waits.err().contains("is busy").then_some(()));
    let id = fleet.json(&["list", "-u", "alice"])["items"][0]["id"].as_str().unwrap().to_owned();
    proxy.shut(true);
    let ran = run.end().coded(69);
    assert!(ran.err.contains(&format!("luzia wait {id}")) && ran.err.contains("away since"), "{}", ran.err);
    assert!(!ran.err.contains("nothing was changed"), "{}", ran.err);
    let ran = waits.end().coded(69);
    assert!(ran.err.contains("nothing was run"), "{}", ran.err);
    std::fs::write(&goes, "").unwrap();
    lock.end().coded(3);
    proxy.shut(false);
    let open = || fleet.json(&["list"])["items"].as_array().unwrap().len();
    until("the request has ended by itself", || (open() == 0).then_some(()));
    until_status(&fleet, &id, "failed");
    assert_whole(&fleet);
}

#[test]
fn a_task_that_queues_another_one_is_refused_with_the_way() {
    let Some(fleet) = Fleet::new("a_task_that_queues_another_one") else { return };
    let host = Host::new(&fleet, "one", None);
    let script = format!("{LUZIA} run -- echo within; {LUZIA} enqueue -u bob --json -- true 2>&1; exit $?");
    let ran = host.luzia(&["run", "-u", "alice", "--shell", &script]).coded(2);
    assert!(ran.out.contains("within") && ran.out.contains("LOCAL_ONLY") && !ran.out.contains("try again"), "{ran:?}");
}

#[test]
fn tasks_end_by_their_own_clock_when_the_database_is_away_for_longer() {
    let Some(fleet) = Fleet::new("tasks_end_by_their_own_clock") else { return };
    let proxy = Proxy::new(fleet.socket());
    let host = Host::by(&fleet, &fleet.url_at(proxy.folder()), "one", Some("5s"));
    let tries = fleet.place.text("tries");
    let script = format!("echo $LUZIA_FENCE >>{tries}; test $(wc -l <{tries}) -ge 2 || exec sleep 60");
    let again = host.enqueue("alice", &script, &["--retries", "1", "--backoff", "100ms"]);
    let once = host.enqueue("bob", "sleep 60", &["--on-interrupt", "fail"]);
    until_status(&fleet, &again, "running");
    until_status(&fleet, &once, "running");
    proxy.shut(true);
    until("it is ended on its host", || (host.place.status(&once) == "failed").then_some(()));
    assert!(host.place.show(&once)["result_summary"].as_str().unwrap().contains("HostCutOff"));
    proxy.shut(false);
    until_status(&fleet, &once, "failed");
    fleet.luzia(&["wait", &again, "--timeout", "25s"]).coded(0);
    assert_two_fences_rise(&tries);
    assert_whole(&fleet);
}

#[test]
fn a_restart_of_the_server_ends_no_verb_that_waits() {
    // P11
    let Some(fleet) = Fleet::new("a_restart_ends_no_verb") else { return };
    let (host, proxy) = (Host::new(&fleet, "one", Some("60s")), Proxy::new(fleet.socket()));
    let url = fleet.url_at(proxy.folder());
    let start =
        |args: &[&str]| host.place.spawn(host.place.command(args).env("LUZIA_STORE", &url).env("LUZIA_HOST", "one"));
    let script = |name: &str, code: u8| {
        host.place.gate(name);
        format!("echo up >$PLACE/up.{name}; read _ <$PLACE/{name}; exit {code}")
    };
    let run = start(&["run", "-u", "a", "--shell", &script("run", 4)]);
    let lock = start(&["lock", "-l", "lk", "--", "sh", "-c", &script("lock", 3)]);
    let id = host.enqueue("b", &script("task", 0), &[]);
    let wait = start(&["wait", &id]);
    for name in ["run", "lock", "task"] {
        host.place.until_file(&format!("up.{name}"));
    }
    proxy.shut(true);
    until("each that waits has asked again", || (proxy.refused() >= 10).then_some(()));
    // The command of a lock is over, whatever the store knows.
    host.place.open_gate("lock");
    lock.end().coded(3);
    proxy.shut(false);
    host.place.open_gate("run");
    host.place.open_gate("task");
    run.end().coded(4);
    wait.end().coded(0);
}

#[test]
fn an_agent_tells_once_that_its_store_is_away_and_once_that_it_answers() {
    let Some(fleet) = Fleet::new("an_agent_tells_once") else { return };
    let proxy = Proxy::new(fleet.socket());
    let mut host = Host::by(&fleet, &fleet.url_at(proxy.folder()), "one", Some("60s"));
    proxy.shut(true);
    until("it has tried often", || (proxy.refused() >= 6).then_some(()));
    proxy.shut(false);
    until("it says so", || host.daemon().err().contains("the store answers again").then_some(()));
    let said = host.daemon().err();
    assert_eq!(said.matches("does not answer").count(), 1, "{said}");
}

#[test]
fn a_step_of_the_server_s_clock_loses_no_host() {
    let Some(fleet) = Fleet::new("a_step_of_the_server_s_clock") else { return };
    let host = Host::new(&fleet, "one", Some("6s"));
    let _other = Host::new(&fleet, "two", Some("6s"));
    let id = host.enqueue("alice", "sleep 60", &["--on-interrupt", "fail"]);
    until_status(&fleet, &id, "running");
    let of_one = || -> String {
        let row = fleet.client().query_one("SELECT session::text FROM luzia.host WHERE name = 'one'", &[]).unwrap();
        row.get(0)
    };
    let before = of_one();
    // Longer than the lease and what follows it.
    for _ in 0..62 {
        fleet.sql("UPDATE luzia.host SET renewed_at = renewed_at - interval '1 hour'");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!((of_one(), status(&fleet, &id)), (before, "running".to_owned()));
    fleet.luzia(&["cancel", &id, "--yes"]).coded(0);
}

#[test]
fn a_task_that_was_assigned_anew_ends_here() {
    let Some(fleet) = Fleet::new("a_task_that_was_assigned_anew") else { return };
    let host = Host::new(&fleet, "one", Some("6s"));
    let id = host.enqueue("alice", "sleep 60", &["--on-interrupt", "fail"]);
    until_status(&fleet, &id, "running");
    // As after a restore of an older database.
    fleet.sql("UPDATE luzia.task SET token = gen_random_uuid(); UPDATE luzia.hold h SET token = t.token FROM luzia.task t WHERE t.id = h.task_id");
    until("it is ended on its host", || (host.place.status(&id) == "cancelled").then_some(()));
    until_status(&fleet, &id, "failed");
    let task = fleet.json(&["show", &id]);
    assert!(task["result_summary"].as_str().unwrap().contains("no record of it"), "{task:#}");
    let next = host.enqueue("alice", "true", &[]);
    fleet.luzia(&["wait", &next]).coded(0);
    assert_whole(&fleet);
}

#[test]
fn a_host_without_its_state_directory_begins_anew() {
    let Some(fleet) = Fleet::new("a_host_without_its_state_directory") else { return };
    let mut host = Host::new(&fleet, "one", Some("5s"));
    let tries = fleet.place.text("tries");
    let script = format!("echo x >>{tries}; test $(wc -l <{tries}) -ge 2 || exec sleep 60");
    let id = host.enqueue("alice", &script, &["--retries", "1", "--backoff", "100ms"]);
    until_status(&fleet, &id, "running");
    let before = session(&fleet);
    host.kill();
    std::fs::remove_dir_all(host.place.state()).unwrap();
    host.start(Some("5s"));
    fleet.luzia(&["wait", &id, "--timeout", "28s"]).coded(0);
    assert_ne!(session(&fleet), before, "a new session, once the old one was silent for its lease");
    assert_whole(&fleet);
}

#[test]
fn another_agent_takes_the_duty_over() {
    let Some(fleet) = Fleet::new("another_agent_takes_the_duty_over") else { return };
    let mut first = Host::new(&fleet, "one", Some("5s"));
    let second = Host::new(&fleet, "two", Some("5s"));
    until("one has the duty", || first.row().filter(|row| row["duty"] == true));
    first.kill();
    let id = second.enqueue("alice", "true", &[]);
    fleet.luzia(&["wait", &id, "--timeout", "25s"]).coded(0);
    assert!(second.row().unwrap()["duty"] == true && fleet.json(&["store", "status"])["duty"] == "two");
}
