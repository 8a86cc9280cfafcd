//! The rules of grants in a batch.

use super::{REQUESTS, Rule, SESSION, assign_all, queue_in, ready, set, state};
use postgres::Client;

pub(super) const RULES: [Rule; 9] = [
    (
        "a refusal in a batch keeps no other from its grant",
        "IF word IN ('', 'duty') OR most = 1 THEN",
        "IF true THEN",
        a_refusal_keeps_no_other_from_its_grant,
    ),
    (
        "a lane is not granted twice in a batch",
        "(SELECT lane, count(*) AS slots,",
        "(SELECT lane, 1 AS slots,",
        a_lane_is_not_granted_twice_in_a_batch,
    ),
    (
        "a batch has as many grants as its host has room",
        "h.free < a.tasks THEN",
        "h.free < 1 THEN",
        a_host_has_as_many_as_it_has_room_for,
    ),
    (
        "a task that was proposed twice is granted once",
        "IF queued < cardinality(p_tasks) THEN RETURN 'gone'; ELSIF",
        "IF",
        a_task_that_was_proposed_twice_is_granted_once,
    ),
    (
        "a batch takes the lowest free slots with rising fences",
        "ORDER BY array_position(p_tasks, id)) - 1 AS before",
        "ORDER BY id) - 1 AS before",
        a_batch_takes_the_lowest_free_slots,
    ),
    (
        "an older session of a host is given nothing",
        "h ON h.id = a.host AND h.session = a.session;",
        "h ON h.id = a.host;",
        an_older_session_is_given_nothing,
    ),
    (
        "a lane that another transaction has locked is waited for by nobody",
        "FOR NO KEY UPDATE SKIP LOCKED);",
        "FOR NO KEY UPDATE);",
        a_locked_lane_is_busy,
    ),
    (
        "a fence is not below those that its lane has given",
        "UPDATE lane SET fence = (SELECT max(h.fence) FROM hold h WHERE h.lane_id = lane.id) WHERE id = ANY (mine);",
        "",
        a_lane_keeps_its_fence,
    ),
    (
        "a wide task has several values",
        "slot int, value text)\nLANGUAGE sql STABLE",
        "slot int, value text)\nLANGUAGE sql",
        a_wide_task_has_several_values,
    ),
];

/// Queues a task for each place in a list of lanes, from number 10 on.
fn queued(client: &mut Client, lanes: &[&str]) -> Vec<i64> {
    let one = |(at, lanes): (usize, &&str)| {
        let request = format!("00000000-0000-0000-0000-0000000000{}", 30 + at);
        queue_in(client, &request, 10 + i64::try_from(at).unwrap(), lanes, "")[0]
    };
    lanes.iter().enumerate().map(one).collect()
}

fn slots(client: &mut Client) -> Vec<(i64, i32, i64)> {
    let rows = client.query("SELECT task_id, slot, fence FROM luzia.hold ORDER BY lane_id, slot", &[]).unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
}

fn is_whole(client: &mut Client) -> bool {
    client.query("SELECT * FROM luzia_1.broken", &[]).unwrap().is_empty()
}

fn a_refusal_keeps_no_other_from_its_grant(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    let tasks = queued(client, &[r#"["x"]"#, r#"["x"]"#, r#"["x","y"]"#, r#"["y"]"#, r#"[]"#]);
    assign_all(client, &tasks, host) == ["", "full", "full", "", ""] && is_whole(client)
}

fn a_lane_is_not_granted_twice_in_a_batch(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    let tasks = queued(client, &[r#"["x"]"#; 2]);
    assign_all(client, &tasks, host) == ["", "full"]
}

fn a_host_has_as_many_as_it_has_room_for(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    client.execute("SELECT luzia_1.renew($1, $2::text::uuid, 2)", &[&host, &SESSION[0]]).unwrap();
    let tasks = queued(client, &[r#"["x"]"#, r#"["y"]"#, r#"["z"]"#]);
    assign_all(client, &tasks, host) == ["", "", "host"]
}

fn a_task_that_was_proposed_twice_is_granted_once(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    assert!(set(client, "gpu", "", r#""max":3"#));
    let task = queue_in(client, REQUESTS[0], 2, r#"["gpu"]"#, "")[0];
    assign_all(client, &[task, task], host) == ["", "gone"] && is_whole(client)
}

fn a_batch_takes_the_lowest_free_slots(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    assert!(set(client, "gpu", "", r#""max":5"#));
    let tasks = queued(client, &[r#"["gpu"]"#; 5]);
    assign_all(client, &tasks[..3], host);
    client.execute("DELETE FROM luzia.hold WHERE slot = 1", &[]).unwrap();
    client.execute("UPDATE luzia.task SET state = 'e' WHERE id = $1", &[&tasks[1]]).unwrap();
    assert_eq!(assign_all(client, &[tasks[4], tasks[3]], host), ["", ""]);
    let found = slots(client);
    let last = found.iter().filter(|(task, _, _)| [tasks[0], tasks[2]].contains(task)).map(|hold| hold.2).max();
    let at = |task| found.iter().find(|hold| hold.0 == task).map(|hold| (hold.1, hold.2)).unwrap();
    let (first, second) = (at(tasks[4]), at(tasks[3]));
    (first.0, second.0) == (1, 3) && last < Some(first.1) && first.1 < second.1 && is_whole(client)
}

fn an_older_session_is_given_nothing(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    client.execute("UPDATE luzia.host SET session = gen_random_uuid()", &[]).unwrap();
    assign_all(client, &[task], host) == ["host"] && state(client, task) == "q"
}

fn a_locked_lane_is_busy(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    let mut other = super::beside(client);
    let mut open = other.transaction().unwrap();
    open.execute("UPDATE luzia.lane SET rules = rules", &[]).unwrap();
    client.batch_execute("SET lock_timeout = '300ms'").unwrap();
    assign_all(client, &[task], host) == ["busy"]
}

fn a_lane_keeps_its_fence(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    assign_all(client, &[task], host) == [""] && is_whole(client)
}

fn a_wide_task_has_several_values(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    assert!(set(client, "gpu", "", r#""values":["a","b","c"]"#));
    let wide = queue_in(client, REQUESTS[0], 2, r#"["gpu"]"#, r#","counts":{"gpu":2}"#)[0];
    let next = queue_in(client, REQUESTS[1], 3, r#"["gpu"]"#, "")[0];
    assert_eq!(assign_all(client, &[wide, next], host), ["", ""]);
    let rows = client.query("SELECT value FROM luzia.hold ORDER BY slot", &[]).unwrap();
    rows.iter().map(|row| row.get::<_, Option<String>>(0).unwrap_or_default()).eq(["a", "b", "c"]) && is_whole(client)
}
