//! The statements of luzia. What each holds is said in `schema.sql`, whose functions they call by primary keys only.

/// The version of the schema. With the first statement of each connection: a program of another version changes nothing.
pub const VERSION: &str = "SELECT luzia_1.version()";
/// A random word: the name of a request, of a session or of an assignment. Drawn before the statement that uses it, so that a
/// repetition has the same name.
pub const WORD: &str = "SELECT gen_random_uuid()::text";
/// Numbers for new tasks: none is given twice.
pub const NUMBERS: &str = "SELECT luzia_1.numbers($1)";
/// Queues tasks, all or none; a repetition of the request has the same answer.
pub const ENQUEUE: &str = "SELECT task_id, is_new, turn FROM luzia_1.enqueue($1::text::uuid, $2::text::jsonb)";
/// Ends a task that no host has; a repetition of the request has the same answer.
pub const CANCEL: &str = "SELECT luzia_1.cancel($1::text::uuid, $2, $3)";
/// Queues a task that is over again, if its record is the one that was seen; a repetition of the request has the same answer.
pub const RETRY: &str = "SELECT luzia_1.retry($1::text::uuid, $2, $3, $4, $5)";
/// Replaces the record of a task that no host has, if it is the one that was seen, and holds or queues the task.
pub const CHANGE: &str = "SELECT luzia_1.change($1, $2, $3, $4, $5)";
/// The time for which the environment of a task that did not complete is kept, in words.
pub const KEPT: &str = "SELECT luzia_1.kept()";
/// Begins to read of one snapshot: a task that goes from one state to another between two pages is in one of them.
pub const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// Ends it.
pub const SNAPSHOT_END: &str = "COMMIT";
/// A page of tasks with their records, by number.
pub const TASKS: &str = "SELECT id, record FROM luzia_1.tasks($1, $2, $3, $4)";
/// One task with its record.
pub const TASK: &str = "SELECT id, record FROM luzia_1.task($1)";
/// The newest task.
pub const NEWEST: &str = "SELECT luzia_1.newest($1)";
/// The number of tasks of the same user before a task.
pub const AHEAD: &str = "SELECT luzia_1.ahead($1)";
/// The first thing that keeps a queued task.
pub const WHY: &str = "SELECT place, hosts, lane, pause, used, capacity, needed, holder, declined, rate, limited_ms, free FROM luzia_1.why($1)";
/// The hosts.
pub const HOSTS: &str =
    "SELECT name, is_alive, age_ms, lease_ms, free, tasks, is_draining, has_duty, labels FROM luzia_1.hosts()";
/// The numbers of unfinished tasks, of one snapshot.
pub const COUNTS: &str = "SELECT usr, state, tier, is_due, tasks, first FROM luzia_1.counts()";
/// The ends of the last hour.
pub const RECENT: &str = "SELECT ending, tasks FROM luzia_1.recent()";
/// Lanes with their rules and pauses, and the numbers of their holders and of the tasks that wait for them.
pub const LANES: &str =
    "SELECT name, rules, used, waiting, pause, limited_ms, is_counted FROM luzia_1.lanes($1, $2, $3)";
/// The rules, the pause and the limit in force of a lane, also of one that no task has named.
pub const IN_FORCE: &str = "SELECT rules, pause, limited_ms FROM luzia_1.in_force($1)";
/// Replaces the rules of a lane or a pattern if they are as they were seen; a repetition changes nothing.
pub const SET_LANE: &str = "SELECT luzia_1.set_lane($1, $2, $3)";
/// The names that are paused, with their pauses.
pub const PAUSES: &str = "SELECT name, pause FROM luzia_1.pauses()";
/// Pauses a lane; a repetition keeps the beginning.
pub const PAUSE_LANE: &str = "SELECT luzia_1.pause_lane($1, $2, $3)";
/// Ends the pause of a lane, or those of the names that a pattern means.
pub const RESUME_LANE: &str = "SELECT luzia_1.resume_lane($1)";
/// The state of the store, of one snapshot.
pub const STATE: &str = "SELECT hosts, living, queued, active, duty FROM luzia_1.state()";

/// Whether the database has tables of luzia. Reads the catalogue only, so that it works in any database.
pub const HAS_SCHEMA: &str = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'luzia')";
/// The version of the schema as its table has it, also of a schema whose functions are of another protocol.
pub const FOUND_VERSION: &str = "SELECT value::int FROM luzia.setting WHERE name = 'schema'";
/// The version of the server.
pub const SERVER: &str = "SELECT current_setting('server_version'), current_setting('server_version_num')::int";
/// Of two migrations at once the second waits, and then finds the work done. No other statement waits for a migration longer than
/// a second.
pub const MIGRATE_LOCK: &str = "SET LOCAL lock_timeout = '1s'; SELECT pg_advisory_xact_lock(7858236391)";

/// A host joins, with a session of its own. A name belongs to one session as long as its beat moves.
pub const JOIN: &str = "SELECT id, beat, lease_ms, is_joined FROM luzia_1.join($1, $2::text::uuid, $3, $4, $5)";
/// The epoch of the database, and whether it is older than what a host has seen of it.
pub const MEET: &str = "SELECT epoch, is_older FROM luzia_1.meet($1, $2::text::uuid, $3, $4)";
/// Accepts a database that is older than its hosts.
pub const RECOVER: &str = "SELECT luzia_1.recover()";
/// Renews the lease of a host; no row for an older session, else the beat.
pub const RENEW: &str = "SELECT * FROM luzia_1.renew($1, $2::text::uuid, $3)";
/// The tasks that a host has to accept, with their grants.
pub const ASSIGNED: &str =
    "SELECT id, token, record, spec, lanes, slots, fences, names FROM luzia_1.assigned($1, $2::text::uuid)";
/// Whether a host has to accept tasks, and whether something is asked of it.
pub const NEWS: &str = "SELECT is_assigned, is_asked FROM luzia_1.news($1)";
/// The tasks of a host, to be compared with its state directory.
pub const HELD: &str = "SELECT id, token, state, record FROM luzia_1.held($1, $2::text::uuid)";
/// A host has a task, with this record; true for the present session and token.
pub const RUNNING: &str = "SELECT luzia_1.running($1, $2::text::uuid, $3, $4::text::uuid, $5)";
/// A host gives back a task that it cannot start; true for the present session and token.
pub const DECLINE: &str = "SELECT luzia_1.decline($1, $2::text::uuid, $3, $4::text::uuid, $5)";
/// The request of a cancel, of a task that its host has not ended.
pub const END_ASKED: &str = "SELECT luzia_1.end_asked($1)";
/// Lets a host take no further tasks, or take tasks again.
pub const DRAIN: &str = "SELECT luzia_1.drain($1, $2)";
/// A task leaves its host, once for each assignment; true for the present session and token.
pub const LEAVE: &str =
    "SELECT luzia_1.leave($1, $2::text::uuid, $3, $4::text::uuid, $5, $6, $7, $8, $9, $10, $11, $12)";
/// Notes the id and the end of a lease; false if its task has left its host.
pub const NOTE_LEASE: &str = "SELECT luzia_1.note_lease($1, $2, $3)";
/// Asks the host of a task for something, once for each request.
pub const WISH: &str = "SELECT host, id FROM luzia_1.wish($1::text::uuid, $2, $3, $4)";
/// The requests to a host.
pub const WISHES: &str = "SELECT id, task_id, token, what, args FROM luzia_1.wishes($1, $2::text::uuid)";
/// The host of a task.
pub const HOST_OF: &str = "SELECT luzia_1.host_of($1)";
/// The last part of the output of a task.
pub const TAIL: &str = "SELECT host, body FROM luzia_1.tail($1)";
/// The holder of the duty.
pub const DUTY: &str = "SELECT session, beat FROM luzia_1.duty()";
/// Takes or keeps the duty: one of several that saw the same beat gets it.
pub const TAKE_DUTY: &str = "SELECT luzia_1.take_duty($1, $2::text::uuid, $3)";
/// The tasks that have changed since a snapshot: exact, each change once.
pub const CHANGES: &str = "SELECT id, state, usr, place, tier, priority, lanes, counts, takes_user_lane, refused, is_due, \
                           snapshot, at_us, server, next_ms, turn, has_rules FROM luzia_1.changes($1, $2)";
/// Begins to read by the order of an index, and ends it.
pub const IN_ORDER: &str =
    "BEGIN READ ONLY; SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL jit = off";
pub const IN_ORDER_END: &str = "COMMIT";
/// The first tasks of each queue.
pub const HEADS: &str = "SELECT id, state, usr, place, tier, priority, lanes, counts, takes_user_lane, refused, is_due, nth, turn \
                         FROM luzia_1.heads($1)";
/// The first tasks of some queues.
pub const MORE: &str = "SELECT id, state, usr, place, tier, priority, lanes, counts, takes_user_lane, refused, is_due, nth, turn \
                        FROM luzia_1.more($1, $2, $3, $4, $5)";
/// The lanes whose rules have changed since a snapshot, or all with rules.
pub const LANE_RULES: &str = "SELECT id, capacity, paused_ms, usr, limited_ms, weight FROM luzia_1.lane_rules($1)";
/// The slots of tasks that hosts have.
pub const HELD_SLOTS: &str = "SELECT task_id, lanes, counts FROM luzia_1.held_slots()";
/// The hosts with their room and their beats.
pub const ROOMS: &str =
    "SELECT id, name, session, beat, lease_ms, free, is_draining, has_tasks, labels FROM luzia_1.rooms()";
/// Grants a batch of tasks their lanes on hosts, each all or none.
pub const ASSIGN_ALL: &str = "SELECT luzia_1.assign_all($1::text::uuid, $2, $3, $4::text[]::uuid[])";
/// The use of users.
pub const LEDGER: &str = "SELECT body FROM luzia.ledger";
/// Keeps the use of users.
pub const KEEP_LEDGER: &str = "SELECT luzia_1.keep_ledger($1::text::uuid, $2)::text";
/// Ends the session of a host whose beat was seen unchanged for longer than its lease.
pub const LOSE: &str = "SELECT luzia_1.lose($1::text::uuid, $2, $3)";
/// The tasks of a lost host.
pub const LOST: &str = "SELECT id, token, state, record FROM luzia_1.lost($1)";
/// Takes a task from a lost host, by the token of its assignment.
pub const REAP: &str = "SELECT luzia_1.reap($1::text::uuid, $2, $3::text::uuid, $4, $5, $6, $7, $8, $9, $10)";

/// The holders of a lane, or of all lanes.
pub const HOLDS: &str = "SELECT lane, slot, value, fence, task_id, record, host, is_silent, age_ms, held_ms, lock_id, expires_ms FROM luzia_1.holds($1)";
/// The number of queued tasks that take a lane, and the first of them.
pub const WAITING_IN: &str = "SELECT tasks, first FROM luzia_1.waiting_in($1)";

/// The runs of tasks that lasted at a moment or later.
pub const RUNS: &str = "SELECT task_id, usr, host, lanes, asked_ms, granted_ms, left_ms, begun_ms, ended_ms, ending, record FROM luzia_1.runs($1)";

/// Tells the agents of some hosts, or of none the holder of the duty, that a look is worth while. Its own transaction, after the
/// commit of what they are to find: a NOTIFY makes its commit wait for those of all others. It need not be durable, because agents
/// look each second anyway.
pub const HINT: &str = "SELECT set_config('synchronous_commit', 'off', true), luzia_1.hint($1)";
/// Whether the server keeps what it has committed.
pub const KEEPS: &str = "SELECT current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on' AND current_setting('synchronous_commit') <> 'off'";
/// Listens to hints.
pub const LISTEN: &str = "LISTEN luzia_1";
