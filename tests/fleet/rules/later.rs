//! The rules of retries, leases and hints.

use super::{REQUESTS, Rule, SESSION, assign, beside, decline, joined, leave, queue_in, ready, state, token};
use postgres::Client;
use postgres::fallible_iterator::FallibleIterator;
use std::time::Duration;

pub(super) const RULES: [Rule; 15] = [
    (
        "a task that leaves after a cancel does not wait again",
        "IF t.host_id <> p_host THEN RETURN false; END IF;\n  IF p_state = 'q' AND luzia_1.end_asked(p_task) IS NOT NULL THEN RETURN NULL; END IF;",
        "IF t.host_id <> p_host THEN RETURN false; END IF;",
        a_task_that_leaves_after_a_cancel_does_not_wait_again,
    ),
    (
        "a task that is given back after a cancel does not wait again",
        "  IF luzia_1.end_asked(p_task) IS NOT NULL THEN RETURN NULL; END IF;",
        "",
        a_task_that_is_given_back_after_a_cancel_does_not_wait_again,
    ),
    (
        "a repeated retry queues once",
        "RETURN (SELECT CASE WHEN r.is_new = '{t}' THEN 'again' ELSE 'changed' END FROM request r WHERE r.uuid = p_request); END IF;",
        "END IF;",
        a_repeated_retry_queues_once,
    ),
    (
        "a retry follows the end that was seen",
        "WHERE task_id = p_task AND body = p_seen; IF NOT FOUND THEN RETURN 'changed'",
        "WHERE task_id = p_task; IF NOT FOUND THEN RETURN 'changed'",
        a_retry_follows_the_end_that_was_seen,
    ),
    (
        "the environment of a completed task is not kept",
        "THEN DELETE FROM spec WHERE task_id = p_task;",
        "THEN DELETE FROM spec WHERE false;",
        the_environment_of_a_completed_task_is_not_kept,
    ),
    (
        "an end gives its host room once",
        "p_ended_ms);\n  UPDATE host SET free = free + 1 WHERE id = p_host;",
        "p_ended_ms);",
        an_end_gives_its_host_room_once,
    ),
    (
        "a lease is noted while a host has its task",
        "RETURN FOUND;\nEND $$;\n\n-- Asks the host of a task",
        "RETURN true;\nEND $$;\n\n-- Asks the host of a task",
        a_lease_is_noted_while_a_host_has_its_task,
    ),
    (
        "a hint that names no host is for the holder of the duty",
        "WHEN '{}' THEN (SELECT ARRAY[d.host_id] FROM duty d)",
        "WHEN '{}' THEN ARRAY[0]",
        a_hint_is_for_the_holder_of_the_duty,
    ),
    (
        "all hosts with a label decline before any is asked again",
        "OR task.place = ANY (o.labels)",
        "",
        all_hosts_with_a_label_decline,
    ),
    (
        "a task for a label waits for no other host",
        "t.place IN ('', h.name) OR t.place = ANY (h.labels)",
        "t.place IN ('', h.name)",
        a_label_is_the_place_of_a_host,
    ),
    (
        "a group has no more tasks than it may have",
        "HAVING count(*) < (one.x->>'most')::int AND",
        "HAVING",
        a_group_has_no_more_tasks_than_it_may,
    ),
    (
        "of two requests with one group one sees the other",
        "unnest(ARRAY[x->>'key', x->>'group']) k",
        "unnest(ARRAY[x->>'key']) k",
        one_of_two_requests_sees_the_group_of_the_other,
    ),
    (
        "a task that replaces another one is not queued beside it",
        "->>'conflict' = 'replace' THEN",
        "->>'conflict' = '' THEN",
        a_replaced_task_is_over_first,
    ),
    (
        "a run has no command of an earlier one",
        "IF EXISTS (SELECT FROM run r WHERE r.task_id = p_task AND r.begun_at = begun) THEN begun := NULL; END IF;",
        "",
        a_run_has_no_command_of_an_earlier_one,
    ),
    (
        "a run keeps the moment of its grant",
        "RETURNING h.at) SELECT min(gone.at) INTO granted",
        "RETURNING h.at) SELECT NULL INTO granted",
        a_run_keeps_the_moment_of_its_grant,
    ),
];

/// The runs of the task: whether each has a command, and whether it was granted after it was asked for.
fn runs(client: &mut Client) -> Vec<(bool, bool)> {
    let (host, task) = ready(client);
    for _ in 0..2 {
        assign(client, task, host);
        let token = token(client, task);
        assert!(leave(client, host, SESSION[0], task, &token, "q"));
    }
    let sql = "SELECT begun_at IS NOT NULL, granted_at > asked_at FROM luzia.run ORDER BY left_at";
    client.query(sql, &[]).unwrap().iter().map(|row| (row.get(0), row.get(1))).collect()
}

fn a_run_has_no_command_of_an_earlier_one(client: &mut Client) -> bool {
    runs(client).iter().map(|(has_command, _)| *has_command).eq([true, false])
}

fn a_run_keeps_the_moment_of_its_grant(client: &mut Client) -> bool {
    runs(client).iter().all(|(_, is_after)| *is_after)
}

fn retry(client: &mut Client, request: &str, task: i64, seen: &str) -> String {
    let sql = "SELECT luzia_1.retry($1::text::uuid, $2, $3, '{\"n\":2}', NULL)";
    client.query_one(sql, &[&request, &task, &seen]).unwrap().get(0)
}

/// A task that was cancelled before a host had it.
fn cancelled(client: &mut Client) -> (i32, i64) {
    let (host, task) = ready(client);
    let cancel = "SELECT luzia_1.cancel('00000000-0000-0000-0000-00000000000d', $1, '{\"n\":1}')";
    assert!(client.query_one(cancel, &[&task]).unwrap().get::<_, bool>(0));
    (host, task)
}

fn a_repeated_retry_queues_once(client: &mut Client) -> bool {
    let (host, task) = cancelled(client);
    assert_eq!(retry(client, REQUESTS[0], task, r#"{"n":1}"#), "again");
    assign(client, task, host);
    retry(client, REQUESTS[0], task, r#"{"n":1}"#) == "again" && state(client, task) == "a"
}

fn a_retry_follows_the_end_that_was_seen(client: &mut Client) -> bool {
    let (_, task) = cancelled(client);
    retry(client, REQUESTS[0], task, "{}") == "changed" && state(client, task) == "e"
}

fn the_environment_of_a_completed_task_is_not_kept(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    assign(client, task, host);
    let token = token(client, task);
    assert!(leave(client, host, SESSION[0], task, &token, "e"));
    let kept: i64 = client.query_one("SELECT count(*) FROM luzia.spec", &[]).unwrap().get(0);
    kept == 0 && retry(client, REQUESTS[0], task, "{}") == "gone"
}

fn an_end_gives_its_host_room_once(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    let free = |client: &mut Client| -> i32 {
        client.query_one("SELECT free FROM luzia.host WHERE id = $1", &[&host]).unwrap().get(0)
    };
    let before = free(client);
    assign(client, task, host);
    assert_eq!(free(client), before - 1);
    let token = token(client, task);
    for _ in 0..2 {
        assert!(leave(client, host, SESSION[0], task, &token, "e"));
    }
    free(client) == before
}

fn a_lease_is_noted_while_a_host_has_its_task(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    assign(client, task, host);
    let note = |client: &mut Client| {
        client.query_one("SELECT luzia_1.note_lease($1, 'x_1', 1795486342677)", &[&task]).unwrap().get::<_, bool>(0)
    };
    assert!(note(client) && note(client), "a repetition is true, too");
    let seen = client.query_one("SELECT lock_id, expires_ms FROM luzia_1.holds('user:a')", &[]).unwrap();
    assert_eq!((seen.get(0), seen.get(1)), ("x_1", 1_795_486_342_677_i64));
    let token = token(client, task);
    leave(client, host, SESSION[0], task, &token, "e");
    !note(client)
}

fn a_hint_is_for_the_holder_of_the_duty(client: &mut Client) -> bool {
    let heard = |client: &mut Client, hosts: &str| {
        client.batch_execute(&format!("SELECT luzia_1.hint('{hosts}')")).unwrap();
        let hint = client.notifications().timeout_iter(Duration::from_secs(20)).next().unwrap();
        hint.unwrap().payload().to_owned()
    };
    client.batch_execute("LISTEN luzia_1").unwrap();
    let unknown = heard(client, "{}");
    let (host, _) = ready(client);
    assert_eq!(heard(client, "{7,9}"), "7,9");
    unknown.is_empty() && heard(client, "{}") == host.to_string()
}

fn all_hosts_with_a_label_decline(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    joined(client, "two", SESSION[1]);
    client.batch_execute("UPDATE luzia.host SET labels = '{gpu}'; UPDATE luzia.task SET place = 'gpu'").unwrap();
    assign(client, task, host);
    let token = token(client, task);
    assert!(decline(client, host, task, &token));
    client.query_one("SELECT due_at IS NULL FROM luzia.task", &[]).unwrap().get(0)
}

fn a_label_is_the_place_of_a_host(client: &mut Client) -> bool {
    let (_, task) = ready(client);
    client.batch_execute("UPDATE luzia.host SET labels = '{cpu,gpu}'; UPDATE luzia.task SET place = 'gpu'").unwrap();
    client.query_one("SELECT hosts FROM luzia_1.why($1)", &[&task]).unwrap().get::<_, i64>(0) == 1
}

fn grouped(client: &mut Client, request: &str, number: i64) -> bool {
    !queue_in(client, request, number, r#"["user:a"]"#, r#","group":"g","most":2"#).is_empty()
}

fn a_group_has_no_more_tasks_than_it_may(client: &mut Client) -> bool {
    for number in 1..=3 {
        assert!(grouped(client, &format!("00000000-0000-0000-0000-{number:012}"), number));
    }
    let sql = "SELECT count(DISTINCT turn) FROM luzia.task WHERE turn = id OR grp = 'g'";
    client.query_one(sql, &[]).unwrap().get::<_, i64>(0) == 2
}

fn one_of_two_requests_sees_the_group_of_the_other(client: &mut Client) -> bool {
    // The lane is known, so that nothing else is waited for.
    ready(client);
    let mut other = beside(client);
    client.batch_execute("BEGIN").unwrap();
    assert!(grouped(client, REQUESTS[0], 2));
    other.batch_execute("SET lock_timeout = '300ms'").unwrap();
    let is_first = !grouped(&mut other, REQUESTS[1], 3);
    client.batch_execute("COMMIT").unwrap();
    is_first
}

fn a_replaced_task_is_over_first(client: &mut Client) -> bool {
    let queue = |client: &mut Client, request: &str, number: i64, more: &str| {
        let more = format!(r#","key":"k","conflict":"replace"{more}"#);
        queue_in(client, request, number, r#"["user:a"]"#, &more).len()
    };
    assert_eq!(queue(client, REQUESTS[0], 1, ""), 1);
    let first = (1_i64 << 40) + 1;
    let is_kept = queue(client, REQUESTS[1], 2, "") == 0;
    is_kept && queue(client, REQUESTS[1], 2, &format!(r#","beside":[{first}]"#)) == 1
}

/// A task of a host, with its token, whose end was asked for.
fn asked_to_end(client: &mut Client) -> (i32, i64, String) {
    let (host, task) = ready(client);
    assign(client, task, host);
    client.query_one("SELECT luzia_1.wish($1::text::uuid, $2, 'cancel', '{}')", &[&REQUESTS[0], &task]).unwrap();
    let token = token(client, task);
    (host, task, token)
}

fn a_task_that_leaves_after_a_cancel_does_not_wait_again(client: &mut Client) -> bool {
    let (host, task, token) = asked_to_end(client);
    let sql = "SELECT luzia_1.leave($1, $2::text::uuid, $3, $4::text::uuid, $5, 'cancelled', '{}', NULL, 'cancelled', 1, NULL, NULL)";
    let mut leave = |state: &str| -> Option<bool> {
        client.query_one(sql, &[&host, &SESSION[0], &task, &token, &state]).unwrap().get(0)
    };
    leave("q").is_none() && leave("e") == Some(true) && state(client, task) == "e"
}

fn a_task_that_is_given_back_after_a_cancel_does_not_wait_again(client: &mut Client) -> bool {
    let (host, task, token) = asked_to_end(client);
    let sql = "SELECT luzia_1.decline($1, $2::text::uuid, $3, $4::text::uuid, 30000)";
    let answer: Option<bool> = client.query_one(sql, &[&host, &SESSION[0], &task, &token]).unwrap().get(0);
    answer.is_none() && state(client, task) == "a"
}
