//! The rules of the statements, each by a scene, and each with a planted fault that the scene must notice.

mod batches;
mod later;
mod patterns;

use crate::server::Fleet;
use postgres::Client;

/// A scene: true if the promise holds.
type Scene = fn(&mut Client) -> bool;

const SESSION: [&str; 2] = ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"];

/// A rule, its text in the statements, a fault in its place, and the scene.
type Rule = (&'static str, &'static str, &'static str, Scene);

const RULES: [Rule; 23] = [
    (
        "an older token is refused",
        "SELECT * INTO t FROM task WHERE id = p_task AND token = p_token FOR NO KEY UPDATE",
        "SELECT * INTO t FROM task WHERE id = p_task FOR NO KEY UPDATE",
        an_older_token_is_refused,
    ),
    (
        "an older session is refused",
        "PERFORM 1 FROM host WHERE id = p_host AND session = p_session FOR NO KEY UPDATE; IF NOT FOUND THEN RETURN false; END IF;\n  SELECT",
        "PERFORM 1 FROM host WHERE id = p_host FOR NO KEY UPDATE; IF NOT FOUND THEN RETURN false; END IF;\n  SELECT",
        an_older_session_is_refused,
    ),
    (
        "an older session renews nothing",
        "WHERE id = p_host AND session = p_session RETURNING beat",
        "WHERE id = p_host RETURNING beat",
        an_older_session_renews_nothing,
    ),
    ("fences rise", "greatest(l.fence + 1, now_us)", "l.fence", fences_rise),
    (
        "a lane has no more holds than its capacity",
        "WHEN (SELECT count(*) FROM hold h WHERE h.lane_id = l.id) + a.slots > least(l.capacity, cardinality(l.names)) THEN",
        "WHEN false THEN",
        a_lane_is_full,
    ),
    (
        "several slots are granted or none",
        "h.lane_id = l.id) + a.slots > least",
        "h.lane_id = l.id) >= least",
        several_slots_or_none,
    ),
    (
        "nothing is granted in a paused lane",
        "WHEN l.paused_until > clock_timestamp() THEN 'paused'\n",
        "\n",
        nothing_is_granted_in_a_paused_lane,
    ),
    (
        "nothing is granted to a paused user",
        "u.name = 'user:' || t.usr AND u.paused_until > clock_timestamp()",
        "false",
        nothing_is_granted_to_a_paused_user,
    ),
    (
        "rules are changed as they were seen",
        "WHERE name = p_name AND rules::jsonb IN (p_seen::jsonb, p_rules::jsonb);",
        "WHERE name = p_name;",
        rules_are_changed_as_they_were_seen,
    ),
    (
        "a drained host is given nothing",
        "AND NOT is_draining ORDER BY id FOR NO KEY",
        "ORDER BY id FOR NO KEY",
        a_drained_host_is_given_nothing,
    ),
    (
        "a task that was given back costs no attempt",
        "starts = starts - 1",
        "starts = starts",
        a_declined_task_costs_nothing,
    ),
    (
        "an older token gives nothing back",
        "WHERE id = p_task AND token = p_token AND host_id = p_host AND state = 'a' FOR NO KEY UPDATE; IF",
        "WHERE id = p_task AND host_id = p_host AND state = 'a' FOR NO KEY UPDATE; IF",
        an_older_token_gives_nothing_back,
    ),
    (
        "hosts that have declined are asked again once all have",
        "AND o.id <> ALL (task.refused)",
        "",
        all_hosts_decline_before_any_is_asked_again,
    ),
    (
        "a change that commits late is seen",
        "t.xid = ANY (ARRAY(SELECT pg_snapshot_xip(p_seen::pg_snapshot)))",
        "false",
        a_late_commit_is_seen,
    ),
    ("no two holders have one value", "AND h.value = n.name)", "AND false)", no_two_holders_have_one_value),
    (
        "a repeated request queues nothing",
        "IF NOT FOUND THEN\n    RETURN QUERY SELECT x.id",
        "IF false THEN\n    RETURN QUERY SELECT x.id",
        a_repeated_request_queues_nothing,
    ),
    (
        "a host is lost by the beat that was seen",
        "free = 0 WHERE id = p_host AND beat = p_seen;\n  RETURN FOUND",
        "free = 0 WHERE id = p_host;\n  RETURN FOUND",
        a_host_that_beats_is_not_lost,
    ),
    (
        "an older holder of the duty grants nothing",
        "PERFORM 1 FROM duty WHERE session = p_duty FOR KEY SHARE; IF NOT FOUND THEN RETURN 'duty'; END IF;",
        "",
        an_older_holder_of_the_duty_grants_nothing,
    ),
    (
        "one of two takes the duty",
        "beat = beat + 1 WHERE beat = p_seen;",
        "beat = beat + 1;",
        one_of_two_takes_the_duty,
    ),
    (
        "a name belongs to the session that beats",
        "IF h.session = p_session OR h.beat = p_seen THEN",
        "IF true THEN",
        a_name_belongs_to_the_session_that_beats,
    ),
    (
        "a task that a host has is not cancelled beside it",
        "WHERE id = p_task AND state IN ('q', 'd');",
        "WHERE id = p_task;",
        a_task_of_a_host_is_not_cancelled_beside_it,
    ),
    ("a database with an older beat is refused", "< p_beat;\n    RETURN", "< 0;\n    RETURN", an_older_beat_is_refused),
    (
        "numbers go on above those that a host has seen",
        "IF last < p_task THEN PERFORM setval",
        "IF false THEN PERFORM setval",
        numbers_go_on_above_those_of_a_host,
    ),
];

fn joined(client: &mut Client, name: &str, session: &str) -> i32 {
    let row =
        client.query_one("SELECT id FROM luzia_1.join($1, $2::text::uuid, -1, 60000)", &[&name, &session]).unwrap();
    let host: i32 = row.get(0);
    client.execute("SELECT luzia_1.renew($1, $2::text::uuid, 9)", &[&host, &session]).unwrap();
    host
}

fn queue(client: &mut Client, request: &str, number: i64) -> Vec<i64> {
    queue_in(client, request, number, r#"["user:a"]"#, "")
}

/// Queues a task with some lanes, and with further members.
fn queue_in(client: &mut Client, request: &str, number: i64, lanes: &str, more: &str) -> Vec<i64> {
    let id = (1_i64 << 40) + number;
    let tasks = format!(
        r#"[{{"id":{id},"state":"q","place":"one","user":"a","lanes":{lanes},"own":true,"tier":1,"priority":5,"conflict":"queue","record":"{{}}","spec":"{{}}"{more}}}]"#
    );
    let rows =
        client.query("SELECT task_id FROM luzia_1.enqueue($1::text::uuid, $2::text::jsonb)", &[&request, &tasks]);
    rows.unwrap_or_default().iter().map(|row| row.get(0)).collect()
}

/// A host with the duty, and a task in the queue.
fn ready(client: &mut Client) -> (i32, i64) {
    let host = joined(client, "one", SESSION[0]);
    take(client, host, SESSION[0], 0);
    (host, queue(client, "00000000-0000-0000-0000-00000000000a", 1)[0])
}

fn take(client: &mut Client, host: i32, session: &str, seen: i64) -> bool {
    client.query_one("SELECT luzia_1.take_duty($1, $2::text::uuid, $3)", &[&host, &session, &seen]).unwrap().get(0)
}

fn assign(client: &mut Client, task: i64, host: i32) -> Option<String> {
    assign_all(client, &[task], host).pop()
}

/// The answers to a batch of proposals for one host; none after an error.
fn assign_all(client: &mut Client, tasks: &[i64], host: i32) -> Vec<String> {
    let (hosts, sessions) = (vec![host; tasks.len()], vec![SESSION[0]; tasks.len()]);
    let values: [&(dyn postgres::types::ToSql + Sync); 4] = [&SESSION[0], &tasks, &hosts, &sessions];
    let sql = "SELECT luzia_1.assign_all($1::text::uuid, $2, $3, $4::text[]::uuid[])";
    client.query(sql, &values).unwrap_or_default().iter().map(|row| row.get(0)).collect()
}

fn token(client: &mut Client, task: i64) -> String {
    client.query_one("SELECT token::text FROM luzia.task WHERE id = $1", &[&task]).unwrap().get(0)
}

fn leave(client: &mut Client, host: i32, session: &str, task: i64, token: &str, state: &str) -> bool {
    let sql = "SELECT luzia_1.leave($1, $2::text::uuid, $3, $4::text::uuid, $5, 'completed', '{}', NULL, 'completed', 1, NULL, NULL)";
    client.query_one(sql, &[&host, &session, &task, &token, &state]).unwrap().get(0)
}

fn state(client: &mut Client, task: i64) -> String {
    client.query_one("SELECT state::text FROM luzia.task WHERE id = $1", &[&task]).unwrap().get(0)
}

fn an_older_token_is_refused(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    assign(client, task, host);
    let old = token(client, task);
    assert!(leave(client, host, SESSION[0], task, &old, "q"));
    assert!(leave(client, host, SESSION[0], task, &old, "q"), "a repetition is true, too");
    assign(client, task, host);
    !leave(client, host, SESSION[0], task, &old, "e") && state(client, task) == "a"
}

fn an_older_session_is_refused(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    assign(client, task, host);
    let token = token(client, task);
    client.execute("UPDATE luzia.host SET session = gen_random_uuid()", &[]).unwrap();
    !leave(client, host, SESSION[0], task, &token, "e") && state(client, task) == "a"
}

fn an_older_session_renews_nothing(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    client.query("SELECT * FROM luzia_1.renew($1, $2::text::uuid, 1)", &[&host, &SESSION[1]]).unwrap().is_empty()
}

fn fences_rise(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    let mut fences = Vec::new();
    for _ in 0..3 {
        assign(client, task, host);
        fences.push(client.query_one("SELECT fence FROM luzia.hold", &[]).unwrap().get::<_, i64>(0));
        let token = token(client, task);
        leave(client, host, SESSION[0], task, &token, "q");
    }
    fences.windows(2).all(|pair| pair[0] < pair[1])
}

fn a_lane_is_full(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    let next = queue(client, "00000000-0000-0000-0000-00000000000b", 2)[0];
    assign(client, task, host);
    assign(client, next, host).as_deref() == Some("full")
        && client.query("SELECT * FROM luzia_1.broken", &[]).unwrap().is_empty()
}

const REQUESTS: [&str; 2] = ["00000000-0000-0000-0000-00000000000b", "00000000-0000-0000-0000-00000000000c"];

/// Sets the rule of the lane gpu, or of a pattern; nothing is a rule without members.
fn set(client: &mut Client, name: &str, seen: &str, rule: &str) -> bool {
    let [seen, rule] =
        [seen, rule].map(|rule| if rule.is_empty() { "{}".to_owned() } else { format!("{{\"{name}\":{{{rule}}}}}") });
    client.query_one("SELECT luzia_1.set_lane($1, $2, $3)", &[&name, &seen, &rule]).unwrap().get(0)
}

fn several_slots_or_none(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    assert!(set(client, "gpu", "", r#""max":3"#));
    let [wide, next] = [(2, REQUESTS[0]), (3, REQUESTS[1])]
        .map(|(number, request)| queue_in(client, request, number, r#"["gpu"]"#, r#","counts":{"gpu":2}"#)[0]);
    assert_eq!(assign(client, wide, host).as_deref(), Some(""));
    assign(client, next, host).as_deref() == Some("full")
        && client.query("SELECT * FROM luzia_1.broken", &[]).unwrap().is_empty()
}

fn nothing_is_granted_in_a_paused_lane(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    let task = queue_in(client, REQUESTS[0], 2, r#"["gpu"]"#, "")[0];
    client.execute("SELECT luzia_1.pause_lane('gpu', NULL, '{}')", &[]).unwrap();
    let is_held = assign(client, task, host).as_deref() == Some("paused");
    client.execute("SELECT luzia_1.resume_lane('gpu')", &[]).unwrap();
    is_held && assign(client, task, host).as_deref() == Some("")
}

fn nothing_is_granted_to_a_paused_user(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    let task = queue_in(client, REQUESTS[0], 2, r#"["gpu"]"#, "")[0];
    client.execute("SELECT luzia_1.pause_lane('user:a', NULL, '{}')", &[]).unwrap();
    assign(client, task, host).as_deref() == Some("paused")
}

fn rules_are_changed_as_they_were_seen(client: &mut Client) -> bool {
    let (_, _) = ready(client);
    let two = r#""max":2"#;
    assert!(set(client, "gpu", "", two) && set(client, "gpu", "", two), "a repetition is true, too");
    !set(client, "gpu", "", r#""max":3"#)
}

fn no_two_holders_have_one_value(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    assert!(set(client, "gpu", "", r#""values":["a","b"]"#));
    let first = queue_in(client, REQUESTS[0], 2, r#"["gpu"]"#, "")[0];
    assign(client, first, host);
    let next = queue_in(client, REQUESTS[1], 3, r#"["gpu"]"#, "")[0];
    assign(client, next, host);
    let values: i64 = client.query_one("SELECT count(DISTINCT value) FROM luzia.hold", &[]).unwrap().get(0);
    values == 2 && client.query("SELECT * FROM luzia_1.broken", &[]).unwrap().is_empty()
}

fn a_drained_host_is_given_nothing(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    client.execute("SELECT luzia_1.drain('one', true)", &[]).unwrap();
    let answer = assign(client, task, host);
    client.execute("SELECT luzia_1.drain('one', false)", &[]).unwrap();
    answer.as_deref() == Some("host") && assign(client, task, host).as_deref() == Some("")
}

fn decline(client: &mut Client, host: i32, task: i64, token: &str) -> bool {
    let sql = "SELECT luzia_1.decline($1, $2::text::uuid, $3, $4::text::uuid, 30000)";
    client.query_one(sql, &[&host, &SESSION[0], &task, &token]).unwrap().get(0)
}

fn a_declined_task_costs_nothing(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    assign(client, task, host);
    let token = token(client, task);
    assert!(decline(client, host, task, &token) && state(client, task) == "q");
    let row = client.query_one(
        "SELECT starts, (SELECT count(*) FROM luzia.hold), (SELECT free FROM luzia.host) FROM luzia.task",
        &[],
    );
    let row = row.unwrap();
    (row.get::<_, i32>(0), row.get::<_, i64>(1), row.get::<_, i32>(2)) == (0, 0, 9)
}

fn an_older_token_gives_nothing_back(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    assign(client, task, host);
    let old = token(client, task);
    leave(client, host, SESSION[0], task, &old, "q");
    assign(client, task, host);
    !decline(client, host, task, &old) && state(client, task) == "a"
}

fn all_hosts_decline_before_any_is_asked_again(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    joined(client, "two", SESSION[1]);
    client.execute("UPDATE luzia.task SET place = ''", &[]).unwrap();
    assign(client, task, host);
    let first = token(client, task);
    decline(client, host, task, &first);
    let due = |client: &mut Client| client.query_one("SELECT due_at IS NOT NULL FROM luzia.task", &[]).unwrap().get(0);
    let is_early: bool = due(client);
    client.execute("SELECT luzia_1.drain('two', true)", &[]).unwrap();
    assign(client, task, host);
    let second = token(client, task);
    decline(client, host, task, &second);
    let is_late: bool = due(client);
    !is_early && is_late
}

/// A second connection to the database of a scene.
fn beside(client: &mut Client) -> Client {
    let row =
        client.query_one("SELECT current_setting('unix_socket_directories'), current_database()::text", &[]).unwrap();
    let (folder, database): (String, String) = (row.get(0), row.get(1));
    Client::connect(&format!("postgres:///{database}?host={folder}&user=luzia"), postgres::NoTls).unwrap()
}

fn a_late_commit_is_seen(client: &mut Client) -> bool {
    let (_, task) = ready(client);
    let mut other = beside(client);
    let mut open = other.transaction().unwrap();
    open.execute("UPDATE luzia.task SET xid = pg_current_xact_id()", &[]).unwrap();
    // Another transaction begins and ends meanwhile.
    queue(client, REQUESTS[0], 2);
    let seen = client.query_one("SELECT snapshot, at_us FROM luzia_1.changes(NULL, NULL)", &[]).unwrap();
    open.commit().unwrap();
    let sql = "SELECT id FROM luzia_1.changes($1, $2) WHERE id IS NOT NULL";
    let rows = client.query(sql, &[&seen.get::<_, String>(0), &seen.get::<_, i64>(1)]).unwrap();
    rows.iter().map(|row| row.get::<_, i64>(0)).eq([task])
}

fn a_repeated_request_queues_nothing(client: &mut Client) -> bool {
    let (_, task) = ready(client);
    // The client draws new numbers for a repetition.
    queue(client, "00000000-0000-0000-0000-00000000000a", 7) == [task]
        && client.query_one("SELECT count(*) FROM luzia.task", &[]).unwrap().get::<_, i64>(0) == 1
}

fn a_host_that_beats_is_not_lost(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    let lost = client.query_one("SELECT luzia_1.lose($1::text::uuid, $2, 0)", &[&SESSION[0], &host]).unwrap();
    !lost.get::<_, bool>(0)
}

fn an_older_holder_of_the_duty_grants_nothing(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    let other = joined(client, "two", SESSION[1]);
    assert!(take(client, other, SESSION[1], 1));
    assign(client, task, host).as_deref() == Some("duty") && state(client, task) == "q"
}

fn one_of_two_takes_the_duty(client: &mut Client) -> bool {
    let one = joined(client, "one", SESSION[0]);
    let two = joined(client, "two", SESSION[1]);
    take(client, one, SESSION[0], 0) && !take(client, two, SESSION[1], 0)
}

fn a_name_belongs_to_the_session_that_beats(client: &mut Client) -> bool {
    let (host, _) = ready(client);
    let join = "SELECT is_joined FROM luzia_1.join('one', $1::text::uuid, $2, 60000)";
    let beat: i64 = client.query_one("SELECT beat FROM luzia.host WHERE id = $1", &[&host]).unwrap().get(0);
    let stranger: bool = client.query_one(join, &[&SESSION[1], &(beat - 1)]).unwrap().get(0);
    let own: bool = client.query_one(join, &[&SESSION[0], &-1_i64]).unwrap().get(0);
    !stranger && own
}

fn a_task_of_a_host_is_not_cancelled_beside_it(client: &mut Client) -> bool {
    let (host, task) = ready(client);
    assign(client, task, host);
    let cancel = "SELECT luzia_1.cancel('00000000-0000-0000-0000-00000000000c', $1, '{}')";
    !client.query_one(cancel, &[&task]).unwrap().get::<_, bool>(0) && state(client, task) == "a"
}

const MEET: &str = "SELECT epoch, is_older FROM luzia_1.meet('one', $1::text::uuid, $2, $3)";

fn an_older_beat_is_refused(client: &mut Client) -> bool {
    ready(client);
    let epoch: String = client.query_one(MEET, &[&SESSION[0], &0_i64, &0_i64]).unwrap().get(0);
    let is_older =
        |client: &mut Client, beat: i64| -> bool { client.query_one(MEET, &[&epoch, &beat, &0_i64]).unwrap().get(1) };
    let beat: i64 = client.query_one("SELECT beat FROM luzia.host", &[]).unwrap().get(0);
    let is_refused = !is_older(client, beat) && is_older(client, beat + 1);
    client.execute("SELECT luzia_1.recover()", &[]).unwrap();
    is_refused && !is_older(client, beat + 1)
}

fn numbers_go_on_above_those_of_a_host(client: &mut Client) -> bool {
    let seen = (1_i64 << 40) + 5000;
    client.query_one(MEET, &[&SESSION[0], &0_i64, &seen]).unwrap();
    let next: i64 = client.query_one("SELECT luzia_1.numbers(1)", &[]).unwrap().get(0);
    next > seen
}

#[test]
fn each_rule_of_the_statements_holds_and_its_fault_is_noticed() {
    let script = include_str!("../../src/fleet/schema.sql");
    let rules = RULES.into_iter().chain(later::RULES).chain(batches::RULES).chain(patterns::RULES);
    for (rule, right, wrong, scene) in rules {
        assert_eq!(script.matches(right).count(), 1, "{rule}: the text of the rule");
        for (text, holds) in [(script.to_owned(), true), (script.replace(right, wrong), false)] {
            let Some(fleet) = Fleet::empty("each_rule_of_the_statements") else { return };
            fleet.sql(&format!("BEGIN; {text} COMMIT;"));
            assert_eq!(scene(&mut fleet.client()), holds, "{rule}, with a fault: {}", !holds);
        }
    }
}
