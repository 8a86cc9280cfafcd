//! One document a verb.

use super::Shape;

const fn document(name: &'static str, about: &'static str, lines: &'static str) -> Shape {
    Shape { name, about, lines }
}

const TASKS: &str = "items [@task] The tasks.\n";
const ONE_TASK: &str = "+task\n";
const MOVE: &str = "+task\nmoved bool Whether its priority was changed.\npriority_before int~ The priority before, if it was changed.\n";

/// The documents by the names of their schemas.
pub const DOCUMENTS: [Shape; 51] = [
    document("error", "An error, on standard error.", ERROR),
    document("enqueue", "What was queued.", ENQUEUE),
    document("run", "How the task ended, on standard error; --result-file writes it to a file.", ONE_TASK),
    document("wait", "The tasks that are over.", TASKS),
    document("cancel", "The cancelled tasks.", TASKS),
    document("pause", "What was paused.", PAUSE),
    document("resume", "What was resumed.", PAUSE),
    document("edit", "The changed task.", ONE_TASK),
    document("move", "The moved task.", MOVE),
    document("retry", "The tasks that are queued again.", TASKS),
    document("cron", "Schedules, or the task that a schedule made.", CRON),
    document("set", "The variables of the task.", SET),
    document("get", "Variables of a task.", GET),
    document("beat", "The sign of progress.", "id text The task.\nat time When.\nnote text~ The note.\n"),
    document("await", "The event that came.", AWAIT),
    document("emit", "Who got the event.", EMIT),
    document("finish", "The end that was noted.", FINISH),
    document("list", "Tasks.", TASKS),
    document("show", "Everything that is known of a task.", SHOW),
    document("tree", "A task, and the tasks that it has queued.", TREE),
    document("logs", "The output of tasks.", LOGS),
    document("explain", "Why a task, a user or a lane waits.", EXPLAIN),
    document("status", "The queue, the slots and the locks.", STATUS),
    document("top", "The first tasks and all locks.", TOP),
    document("events", "Events, the oldest first.", "items [@event] The events.\n"),
    document("stats", "How long lanes were waited for and held, and how tasks ended.", STATS),
    document("timeline", "Who held which lane when.", TIMELINE),
    document("metrics", "Numbers for Prometheus.", METRICS),
    document("acquire", "A lease, or that the lane is held.", ACQUIRE),
    document("renew", "A lease that was extended.", RENEW),
    document("release", "What was released.", RELEASE),
    document("check", "Whether a lane is free.", CHECK),
    document("list-locks", "Locks.", "items [@lock] The locks.\n"),
    document("lanes", "Lanes and their rules.", LANES),
    document("check-project", "What the claims of a project released.", CHECK_PROJECT),
    document("name", "The lane of a thing.", NAME),
    document("dispatch", "What a pass did.", DISPATCH),
    document("cleanup-stale", "What was removed and recovered.", CLEANUP),
    document("config-show", "The configuration in force; luzia-config(5).", CONFIG),
    document(
        "config-path",
        "Which configuration applies.",
        "path text~ The file.\nrule text The rule by which it was found.\n",
    ),
    document("config-check", "Whether the configuration is right.", CONFIG_CHECK),
    document("hook", "Hooks, and what a hook reads on its standard input.", HOOK),
    document("doctor", "What was looked at, and what is wrong.", DOCTOR),
    document("shim-list", "The shims.", SHIMS),
    document("shim-doctor", "The shims that do not work.", SHIMS),
    document("store-migrate", "What was done with the tables of a store.", STORE_MIGRATE),
    document("store-status", "The state of a store.", STORE_STATUS),
    document("hosts", "The hosts of a store.", HOSTS),
    document("agent-setup", "The files that were changed.", SETUP),
    document("daemon", "The unit of systemd that --install has written.", UNIT),
    document("install-docs", "The files that were written or removed.", "items [text] The paths.\n"),
];

const ERROR: &str = "\
code text The error in one word, e.g. LOCK_HELD.
message text The error for people.
hint text~ What would help.
next [text] Commands that help; the first harms nobody.
exit int The exit code.
only_this_sandbox? bool Whether only a process of the caller's own sandbox starts the task.
override? [text] Commands that take something by force from a dead, stopped or overdue holder.
";

const ENQUEUE: &str = "\
--- One task
success bool Always true.
queued bool Whether the task waits in the queue.
created bool Whether it is a new task; false where another has its key.
only_this_sandbox bool Whether only a process of the caller's own sandbox starts the task, and none is at work that does.
task_id text The id, as in id.
position int~ Its place in the queue.
+task
--- --from
items [@task] The tasks, each with the members of the first form.
--- --dry-run
dry_run bool Always true.
reasons [@reason] Why it would wait.
";

const PAUSE: &str = "\
items [@pause] Each with paused, changed and next beside these members.
";

const CRON: &str = "\
--- add
+schedule
--- run
+task
--- rm
name text The schedule.
removed bool Always true.
--- list and next
items [object] Schedules, or slots with name, slot and local.
";

const SET: &str = "\
id text The task.
vars {any} All its variables.
";

const GET: &str = "\
--- One variable
id text The task.
name text The variable.
value any Its value.
--- All variables
id text The task.
vars {any} The variables.
";

const AWAIT: &str = "\
id text The task.
kind text What was waited for.
event text The event.
timed_out bool Whether the time ran out.
remembered bool Whether an earlier start had the answer already.
items [object] The events, with event and data.
task? text Whose output was waited for.
outcome? text Of a wait for output: matched, silent, or ended where that task was over first.
line? text~ The line that matched.
";

const EMIT: &str = "\
event text The event.
delivered [object] The tasks that keep it: id, number, whether the task waited for it (awaited), and for what it waits (waits_for).
";

const FINISH: &str = "\
id text The task.
status text How it will end.
summary text~ The summary.
data any The data.
";

const SHOW: &str = "\
+task
+remembered
waited_ms int~ How long it waited before its first start.
waited_for [object] For whom it waited, the last ones: holder, and the lane that the holder gave back before the task began.
prompt text~ The prompt.
folder text~ Its folder in the conductor directory.
logs {@log} Its logs: stdout and stderr.
lock_files [object] The lock files that it holds: lane and path.
events [@event] Its events.
started? object~ The start that is recorded: start and at.
";

const TREE: &str = "\
items [@task] The tasks, each with its depth and what it remembers.
";

const LOGS: &str = "\
id text~ The task; null of several.
ids [text] The tasks.
dropped_bytes int How many bytes were cut.
items [object] The lines: id, stream, attempt, at and line.
";

const EXPLAIN: &str = "\
--- A task
+task
reasons [@reason] Why it does not run, the most important first.
lanes_now? [@lane_now] Its lanes.
supervisor? object~ Its supervisor: pid, alive, stopped and unseen.
wait? object~ The event that it waits for.
unset? [text] The variables of its command that have no value.
--- A user or a lane
+lane_now
path text~ The repository or directory that the lane is named after.
known bool Whether a rule, a pause, a lock or a task that is kept names it, or luzia has worked for that user.
pending int How many tasks wait for it.
waiters [@waiter] Those who wait for it with lock or acquire, in their order.
first text~ The first of them.
reasons [@reason] Why the first does not run.
--- Without an argument
items [@task] The first tasks that wait, as in list, each with its reason.
more bool Whether more tasks wait.
waiters [object] Those who wait for lanes with lock or acquire: lane, and the members of a waiter.
";

const STATUS: &str = "\
--- The overview
pending object How many tasks wait: high, normal, low, total, and parked beside these.
active object What runs: slots_used, slots_max, slots_from, by_project and by_user.
user_locks object The locks of users: active, and details as in list-locks.
lane_locks [@lock] The locks of other lanes, without global.
waiters [object] Those who wait for lanes with lock or acquire: lane, and the members of a waiter.
by_user {int} The slots that each user has.
users [object] Users with tasks: user, pending and active.
oldest_wait object~ The task that waits longest: task, since and waited_ms.
last_hour object How tasks ended: completed, failed and cancelled.
tasks [@task] The tasks that run or wait for an event.
paused [@pause] The pauses.
set_aside int How many damaged records were set aside.
has_dispatcher bool Whether something runs that starts tasks.
needs_pass text~ A task that a pass would start.
other_sandboxes object Tasks that were queued in other sandboxes, the first of each queue: lives, ended and unseen.
user_exclusion bool Whether the tasks of one user take turns.
state_dir text The state directory.
state_dir_rule text The rule by which it was found.
store? text The database with the tasks of several hosts, if one is named. The document is about its tasks then.
";

const TOP: &str = "\
at time The moment.
slots object The slots: max and used.
tasks [@task] The first tasks that are not over, as many as --limit says.
locks [@lock] The locks.
unread int How many records were met that do not read.
";

const STATS: &str = "\
--- The numbers
topic text lanes, locks or tasks.
since time~ The beginning of the time that is counted.
items [object] One for each lane or state. The members that end in s with count, p50_ms, p95_ms and max_ms are spreads.
requeued? int How often tasks were queued again.
--- --svg
svg text The file.
";

const TIMELINE: &str = "\
--- The holds
items [object] One for each hold: lane, holder, user, asked_at, from, to, run_from, run_to, ended_by, lent_by and waits.
--- --svg
svg text The file.
--- --html
html text The file.
";

const METRICS: &str = "\
--- Standard output
text text The numbers in the text format.
items [@sample] Each number of the text.
--- --textfile
textfile text The file.
";

const ACQUIRE: &str = "\
acquired bool Whether the caller has the lane.
lock_id text~ The id of the lock; null where the lane is held.
fence int~ The token of the grant.
lane text The lane; of several, the first one that is taken.
grants [@grant] What the caller has of each lane, in the order in which they are taken; empty where one is held.
refreshed? bool Whether the caller had all of it before.
session? text~ The session with which the lease ends.
session_pid? int~ The process with which it ends.
";

const RENEW: &str = "\
renewed bool Always true.
lock_id text The id of the lock.
fence int~ Its token.
lane text The lane; of several, the first one that is taken.
lanes? [any] These members for each lane, in the order in which lanes are taken.
";

const RELEASE: &str = "\
lane text The lane.
released bool Whether a lock was released; false where the lane was free.
kept_by text~ The task around the caller, which keeps the lane.
lock @broken~ The lock that was released.
lanes? [any] These members for each lane, in the order in which lanes are taken.
";

const CHECK: &str = "\
lane text The lane.
free bool Whether the next acquirer would get it.
limit int~ The limit; null for none.
activeExecutionId any The number of the task that holds it, or the name of the holder; null where it is free.
executionLockedAt time~ The last refresh of that lock.
waiters [@waiter] Those who wait for it with lock or acquire, in their order.
locks [@lock] Its locks.
";

const LANES: &str = "\
--- list
items [@lane] The lanes, each with pattern, active, queue, draining, paused and paused_until beside these members.
--- show, set and rm
+lane
changed? bool Whether the rule was changed.
pattern? bool Whether it is a pattern.
active? int How many hold it.
queue? int How many tasks wait for it.
draining? bool Whether more hold it than its limit.
paused? bool Whether it is paused.
paused_until? time~ Until when.
";

const CHECK_PROJECT: &str = "\
project text The project.
dry_run bool Whether nothing was changed.
released [@broken] The locks that were released.
refused [object] Claims that were not believed: dir and why.
";

const NAME: &str = "\
lane text The lane.
path text~ The path that it stands for.
kind text The kind of the lane.
";

const DISPATCH: &str = "\
started [text] The tasks that were started.
recovered [text] The tasks that were recovered.
set_aside [text] Damaged records.
slots_not_made [text] Schedules that could not be looked at.
left [text] Records of a newer luzia.
unseen [text] Tasks whose processes cannot be seen from here.
next_due time~ When the next delayed task is due.
ended? [object] With --drain, the tasks that ended: id, status and exit_code.
";

const CLEANUP: &str = "\
removed int How many locks were removed.
dry_run bool Whether nothing was changed.
locks [@broken] Those locks.
recovered [text] The tasks that were recovered.
closed [text] The tasks whose conductor directories were closed.
released [@broken] What the claims of projects released.
debris [text] Files of dead processes that were removed.
rebuilt [any] Sidecars that were written anew.
skipped [any] Lanes that were busy.
failed [object] Directories that could not be looked through: project, path and why.
";

const UNIT: &str = "\
path text The file.
changed bool Whether it was written; false where it is there already.
next [text] The commands that start the daemon.
";

const CONFIG: &str = "\
per_user_serialization object How users take turns.
slots object How many tasks run at once.
tier_shares object The shares of the tiers.
retention object How long finished tasks are kept.
poll_interval_seconds number How often a daemon looks.
logs object The size of logs.
dispatch object Which tasks are started.
projects {object} Projects.
lanes {object} Rules of lanes.
allow_root bool Whether projects may run as root.
allow_loader_env bool Whether --env may change how programs are loaded.
";

const CONFIG_CHECK: &str = "\
ok bool Whether there is no mistake; with --strict also no warning.
path text~ The file.
warnings [text] Keys without effect.
";

const HOOK: &str = "\
--- add
+hook
--- list and rm
items [@hook] The hooks.
--- What a hook reads
event text The kind of event.
hook text The name of the hook.
";

const DOCTOR: &str = "\
ok bool Whether nothing is wrong.
items [object] What was looked at: check, level (ok, warn or fail), message and hint.
";

const SHIMS: &str = "\
items [object] The shims: tool, lane, program and problem.
";

const STORE_MIGRATE: &str = "\
store text The database.
from int~ The version of the tables before; null without tables.
to int The version of this luzia.
changed bool Whether tables were made.
dry_run bool Whether nothing was to be changed.
";

const STORE_STATUS: &str = "\
store text The database.
server text The version of PostgreSQL.
schema_version int The version of the tables.
hosts int How many hosts have joined.
living_hosts int How many of them have a lease in force.
queued int How many tasks wait for a host.
active int How many tasks a host has.
duty text~ The host that decides whose turn it is.
";

const HOSTS: &str = "\
items [object] The hosts: name, alive, renewed_ms_ago, lease_ms, free, tasks, draining and duty.
";

const SETUP: &str = "\
items [object] The files: path, action and backup.
";
