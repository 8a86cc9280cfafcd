//! The statements of luzia. What each holds is said in `schema.sql`, whose functions they call by primary keys only.

/// The version of the schema. With the first statement of each connection: a program of another version changes nothing.
pub const VERSION: &str = "SELECT luzia_1.version()";
/// A random word: the name of a request, of a session or of an assignment. Drawn before the statement that uses it, so that a
/// repetition has the same name.
pub const WORD: &str = "SELECT gen_random_uuid()::text";
/// Numbers for new tasks: none is given twice.
pub const NUMBERS: &str = "SELECT luzia_1.numbers($1)";
/// Queues tasks, all or none; a repetition of the request has the same answer.
pub const ENQUEUE: &str = "SELECT task_id, is_new FROM luzia_1.enqueue($1::text::uuid, $2::text::jsonb)";
/// Ends a task that no host has; a repetition of the request has the same answer.
pub const CANCEL: &str = "SELECT luzia_1.cancel($1::text::uuid, $2, $3)";
/// A page of tasks with their records, by number.
pub const TASKS: &str = "SELECT id, record FROM luzia_1.tasks($1, $2, $3, $4)";
/// One task with its record.
pub const TASK: &str = "SELECT id, record FROM luzia_1.task($1)";
/// The newest task.
pub const NEWEST: &str = "SELECT luzia_1.newest($1)";
/// The number of tasks of the same user before a task.
pub const AHEAD: &str = "SELECT luzia_1.ahead($1)";
/// The first thing that keeps a queued task.
pub const WHY: &str = "SELECT place, hosts, lane, is_paused, used, capacity, holder FROM luzia_1.why($1)";
/// The hosts.
pub const HOSTS: &str =
    "SELECT name, is_alive, age_ms, lease_ms, free, tasks, is_draining, has_duty FROM luzia_1.hosts()";
/// The numbers of unfinished tasks, of one snapshot.
pub const COUNTS: &str = "SELECT usr, state, tier, is_due, tasks, first FROM luzia_1.counts()";
/// The ends of the last hour.
pub const RECENT: &str = "SELECT ending, tasks FROM luzia_1.recent()";
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
