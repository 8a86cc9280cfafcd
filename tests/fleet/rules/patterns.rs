//! The rules of rates, of patterns and of tasks that are held.

use super::{REQUESTS, Rule, assign, assign_all, beside, queue_in, ready, set, state};
use postgres::Client;

pub(super) const RULES: [Rule; 7] = [
    (
        "a lane is granted no more often than its rate allows",
        "WHEN l.limited_until > clock_timestamp() OR l.rate",
        "WHEN l.rate",
        a_rate_limits_the_grants,
    ),
    (
        "a rate limits the grants of one batch, too",
        " OR l.rate IS NOT NULL AND a.tasks > 1 THEN",
        " THEN",
        a_rate_limits_the_grants_of_a_batch,
    ),
    (
        "a lane that is new follows the patterns that mean it",
        "OR EXISTS (SELECT FROM luzia_1.meaning(n) m WHERE m.name <> n)",
        "",
        a_new_lane_follows_its_pattern,
    ),
    (
        "a pattern that is set meanwhile means a lane that is new",
        "PERFORM pg_advisory_xact_lock_shared(7858236392);",
        "",
        a_pattern_waits_for_new_lanes,
    ),
    (
        "the rule of a lane counts before those of its patterns",
        "w.own_until, 0 AS nth",
        "w.own_until, 99 AS nth",
        the_own_rule_counts_first,
    ),
    (
        "a resume of everything leaves other pauses as they are",
        "p_name LIKE '_%*' AND starts_with(l.name",
        "p_name LIKE '%*' AND starts_with(l.name",
        a_resume_of_everything_leaves_other_pauses,
    ),
    (
        "a task that waits is changed as it was seen",
        "AND body::jsonb IN (p_seen::jsonb, p_record::jsonb);",
        ";",
        a_waiting_task_is_changed_as_it_was_seen,
    ),
];

fn capacity(client: &mut Client, lane: &str) -> i32 {
    client.query_one("SELECT capacity FROM luzia.lane WHERE name = $1", &[&lane]).unwrap().get(0)
}

fn a_rate_limits_the_grants(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    assert!(set(client, "gpu", "", r#""max":3,"rate":"1/1h""#));
    let [first, next] = [(2, REQUESTS[0]), (3, REQUESTS[1])]
        .map(|(number, request)| queue_in(client, request, number, r#"["gpu"]"#, "")[0]);
    assert_eq!(assign(client, first, host).as_deref(), Some(""));
    assign(client, next, host).as_deref() == Some("limited")
}

fn a_rate_limits_the_grants_of_a_batch(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    assert!(set(client, "gpu", "", r#""max":3,"rate":"1/1h""#));
    let tasks = [(2, REQUESTS[0]), (3, REQUESTS[1])]
        .map(|(number, request)| queue_in(client, request, number, r#"["gpu"]"#, "")[0]);
    assign_all(client, &tasks, host) == ["", "limited"]
}

fn a_new_lane_follows_its_pattern(client: &mut Client) -> bool {
    assert!(set(client, "session:*", "", r#""max":3"#));
    queue_in(client, REQUESTS[0], 1, r#"["session:7"]"#, "");
    capacity(client, "session:7") == 3
}

fn a_pattern_waits_for_new_lanes(client: &mut Client) -> bool {
    let mut other = beside(client);
    client.batch_execute("BEGIN").unwrap();
    queue_in(client, REQUESTS[0], 1, r#"["session:7"]"#, "");
    let waits = std::thread::spawn(move || set(&mut other, "session:*", "", r#""max":3"#));
    std::thread::sleep(std::time::Duration::from_millis(300));
    client.batch_execute("COMMIT").unwrap();
    assert!(waits.join().unwrap());
    capacity(client, "session:7") == 3
}

fn the_own_rule_counts_first(client: &mut Client) -> bool {
    assert!(set(client, "g*", "", r#""max":3"#) && set(client, "gpu", "", r#""max":2"#));
    assert!(set(client, "gpu*", "", r#""max":4"#));
    queue_in(client, REQUESTS[0], 1, r#"["gpus"]"#, "");
    assert_eq!(capacity(client, "gpus"), 4, "the longest pattern counts");
    capacity(client, "gpu") == 2
}

fn a_resume_of_everything_leaves_other_pauses(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    let task = queue_in(client, REQUESTS[0], 2, r#"["gpu"]"#, "")[0];
    for name in ["gpu", "*"] {
        client.execute("SELECT luzia_1.pause_lane($1, NULL, '{}')", &[&name]).unwrap();
    }
    assert_eq!(assign(client, task, host).as_deref(), Some("paused"));
    client.query("SELECT luzia_1.resume_lane('*')", &[]).unwrap();
    let is_kept = assign(client, task, host).as_deref() == Some("paused");
    client.query("SELECT luzia_1.resume_lane('gp*')", &[]).unwrap();
    is_kept && assign(client, task, host).as_deref() == Some("")
}

fn a_waiting_task_is_changed_as_it_was_seen(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    let change = |client: &mut Client, seen: &str| -> bool {
        let sql = "SELECT luzia_1.change($1, $2, '{\"held\":1}', 'd', NULL)";
        client.query_one(sql, &[&task, &seen]).unwrap().get(0)
    };
    let is_refused = !change(client, "{\"other\":1}") && state(client, task) == "q";
    assert!(change(client, "{}") && change(client, "{}"), "a repetition is true, too");
    assert_eq!(assign(client, task, host).as_deref(), Some("gone"), "a held task is not granted");
    is_refused
}
