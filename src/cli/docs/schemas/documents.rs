//! One document a verb.

/// The documents by the names of their schemas.
pub(super) const DOCUMENTS: &str = "\
= error An error, on standard error.
code text The error in one word, e.g. LOCK_HELD.
message text The error for people.
hint text~ The way out.
next [text] Commands that help; the first harms nobody.
exit int The exit code.
only_this_sandbox? bool Whether only a process of the caller's own sandbox starts the task.
override? [text] Commands that take something by force from a dead, stopped or overdue holder.

= enqueue The tasks that were queued.
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

= run The end of the task, on standard error; --result-file writes it to a file.
+task

= wait The tasks that are over.
items [@task] The tasks.

= cancel The cancelled tasks.
items [@task] The tasks.

= pause The pauses that were set.
items [@pause] Each with paused, changed and next beside these members.

= resume The pauses that were lifted.
items [@pause] Each with paused, changed and next beside these members.

= edit The changed task.
+task

= move The moved task.
+task
moved bool Whether its priority was changed.
priority_before int~ The priority before, if it was changed.

= retry The tasks that are queued again.
items [@task] The tasks.

= cron Schedules, or the task that a schedule made.
--- add
+schedule
--- run
+task
--- rm
name text The schedule.
removed bool Always true.
--- list and next
items [object] Schedules, or slots with name, slot and local.

= set The variables of the task.
id text The task.
vars {any} All its variables.

= get Variables of a task.
--- One variable
id text The task.
name text The variable.
value any Its value.
--- All variables
id text The task.
vars {any} The variables.

= beat The sign of progress.
id text The task.
at time When.
note text~ The note.

= await The event that came.
id text The task.
kind text The kind of the wait.
event text The event.
timed_out bool Whether the time ran out.
remembered bool Whether an earlier start had the answer already.
items [object] The events, with event and data.
task? text The task with the output that was waited for.
outcome? text Of a wait for output: matched, silent, or ended where that task was over first.
line? text~ The line that matched.

= emit The tasks that got the event.
event text The event.
delivered [object] The tasks that keep it: id, number, whether the task waited for it (awaited), and for what it waits (waits_for).

= finish The end that was noted.
id text The task.
status text The state in which it will end.
summary text~ The summary.
data any The data.

= list Tasks.
items [@task] The tasks.

= show Everything that is known of a task.
+task
+remembered
waited_ms int~ The time that it waited before its first start.
waited_for [object] The last holders that it waited for: holder, and the lane that the holder gave back before the task began.
prompt text~ The prompt.
folder text~ Its folder in the conductor directory.
logs {@log} Its logs: stdout and stderr.
lock_files [object] The lock files that it holds: lane and path.
events [@event] Its events.
started? object~ The start that is recorded: start and at.

= tree A task, and the tasks that it has queued.
items [@task] The tasks, each with its depth and what it remembers.

= logs The output of tasks.
id text~ The task; null of several.
ids [text] The tasks.
dropped_bytes int The number of bytes that were cut.
items [object] The lines: id, stream, attempt, at and line.

= explain Why a task, a user or a lane waits.
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
known bool Whether a rule, a pause, a lock or a kept task names it, or luzia has worked for that user.
pending int The number of tasks that wait for it.
waiters [@waiter] Those who wait for it with lock or acquire, in their order.
first text~ The first of them.
reasons [@reason] Why the first does not run.
--- Without an argument
items [@task] The first tasks that wait, as in list, each with its reason.
more bool Whether more tasks wait.
waiters [object] Those who wait for lanes with lock or acquire: lane, and the members of a waiter.

= status The queue, the slots and the locks.
--- The overview
pending object Numbers of waiting tasks: high, normal, low, total, and parked beside these.
active object The running tasks: slots_used, slots_max, slots_from, by_project and by_user.
user_locks object The locks of users: active, and details as in list-locks.
lane_locks [@lock] The locks of other lanes, without global.
waiters [object] Those who wait for lanes with lock or acquire: lane, and the members of a waiter.
by_user {int} The slots that each user has.
users [object] Users with tasks: user, pending and active.
oldest_wait object~ The task that waits longest: task, since and waited_ms.
last_hour object Numbers of tasks that ended: completed, failed and cancelled.
tasks [@task] The tasks that run or wait for an event.
paused [@pause] The pauses.
set_aside int The number of damaged records that were set aside.
has_dispatcher bool Whether something runs that starts tasks.
needs_pass text~ A task that the next pass would start.
other_sandboxes object Tasks that were queued in other sandboxes, the first of each queue: lives, ended and unseen.
user_exclusion bool Whether the tasks of one user take turns.
state_dir text The state directory.
state_dir_rule text The rule by which it was found.
store? text The database with the tasks of several hosts, if one is named. The document then describes its tasks.

= top The first tasks and all locks.
at time The moment.
slots object The slots: max and used.
tasks [@task] The first tasks that are not over, as many as --limit says.
locks [@lock] The locks.
unread int The number of records that cannot be read.

= events Events, the oldest first.
items [@event] The events.

= stats Times for which lanes were waited for and held, and ends of tasks.
--- The numbers
topic text lanes, locks or tasks.
since time~ The beginning of the time that is counted.
items [object] One for each lane or state. The members that end in s with count, p50_ms, p95_ms and max_ms are spreads.
requeued? int The number of times that tasks were queued again.
--- --svg
svg text The file.

= timeline The holders of lanes over time.
--- The holds
items [object] One for each hold: lane, holder, user, host, asked_at, from, to, run_from, run_to, ended_by, lent_by and waits.
--- --svg
svg text The file.
--- --html
html text The file.

= metrics Numbers for Prometheus.
--- Standard output
text text The numbers in the text format.
items [@sample] Each number of the text.
--- --textfile
textfile text The file.

= acquire A lease, or that the lane is held.
acquired bool Whether the caller has the lane.
lock_id text~ The id of the lock; null where the lane is held.
fence int~ The token of the grant.
lane text The lane; of several, the first one that is taken.
grants [@grant] The grants of the caller, one for each lane, in the order in which they are taken; empty where one is held.
refreshed? bool Whether the caller had all of it before.
session? text~ The session with which the lease ends.
session_pid? int~ The process with which it ends.

= renew A lease that was extended.
renewed bool Always true.
lock_id text The id of the lock.
fence int~ Its token.
lane text The lane; of several, the first one that is taken.
lanes? [any] These members for each lane, in the order in which lanes are taken.

= release The lock that was released.
lane text The lane.
released bool Whether a lock was released; false where the lane was free.
kept_by text~ The task around the caller, which keeps the lane.
lock @broken~ The lock that was released.
lanes? [any] These members for each lane, in the order in which lanes are taken.

= check Whether a lane is free.
lane text The lane.
free bool Whether the next acquirer would get it.
limit int~ The limit; null for none.
activeExecutionId any The number of the task that holds it, or the name of the holder; null where it is free.
executionLockedAt time~ The last refresh of that lock.
waiters [@waiter] Those who wait for it with lock or acquire, in their order.
locks [@lock] Its locks.

= list-locks Locks.
items [@lock] The locks.

= lanes Lanes and their rules.
--- list
items [@lane] The lanes, each with pattern, active, queue, draining, paused and paused_until beside these members.
--- show, set and rm
+lane
changed? bool Whether the rule was changed.
pattern? bool Whether it is a pattern.
active? int The number of its holders.
queue? int The number of tasks that wait for it.
draining? bool Whether it has more holders than its limit.
paused? bool Whether it is paused.
paused_until? time~ The end of the pause.

= check-project The locks that the claims of a project released.
project text The project.
dry_run bool Whether nothing was changed.
released [@broken] The locks that were released.
refused [object] Claims that were not believed: dir and why.

= name The lane of a thing.
lane text The lane.
path text~ The path that it stands for.
kind text The kind of the lane.

= dispatch The changes that a pass made.
started [text] The tasks that were started.
recovered [text] The tasks that were recovered.
set_aside [text] Damaged records.
slots_not_made [text] Schedules that could not be looked at.
left [text] Records of a newer luzia.
unseen [text] Tasks whose processes cannot be seen from here.
next_due time~ When the next delayed task is due.
ended? [object] With --drain, the tasks that ended: id, status and exit_code.

= cleanup-stale The locks that were removed, and the tasks that were recovered.
removed int The number of locks that were removed.
dry_run bool Whether nothing was changed.
locks [@broken] Those locks.
recovered [text] The tasks that were recovered.
closed [text] The tasks whose conductor directories were closed.
released [@broken] The locks that the claims of projects released.
debris [text] Files of dead processes that were removed.
rebuilt [any] Sidecars that were written anew.
skipped [any] Lanes that were busy.
failed [object] Directories that could not be looked through: project, path and why.

= config-show The configuration in force; luzia-config(5).
per_user_serialization object The rule by which tasks of a user take turns.
slots object The number of tasks that run at once.
tier_shares object The shares of the tiers.
retention object The limits up to which finished tasks are kept.
poll_interval_seconds number The seconds between two looks of a daemon.
logs object The size of logs.
dispatch object Which tasks are started.
projects {object} Projects.
lanes {object} Rules of lanes.
allow_root bool Whether projects may run as root.
allow_loader_env bool Whether --env may change how programs are loaded.

= config-path Which configuration applies.
path text~ The file.
rule text The rule by which it was found.

= config-check Whether the configuration is right.
ok bool Whether there is no mistake; with --strict also no warning.
path text~ The file.
warnings [text] Keys without effect.

= hook Hooks, and what a hook reads on its standard input.
--- add
+hook
--- list and rm
items [@hook] The hooks.
--- What a hook reads
event text The kind of event.
hook text The name of the hook.

= doctor The checks, and the problems that they found.
ok bool Whether nothing is wrong.
items [object] The checks: check, level (ok, warn or fail), message and hint.

= shim-list The shims.
items [object] The shims: tool, lane, program and problem.

= shim-doctor The shims that do not work.
items [object] The shims: tool, lane, program and problem.

= store-migrate The change of the tables of a store.
store text The database.
from int~ The version of the tables before; null without tables.
to int The version of this luzia.
changed bool Whether tables were made.
dry_run bool Whether the call was to change nothing.

= store-recover The database that was accepted.
store text The database.

= store-status The state of a store.
store text The database.
server text The version of PostgreSQL.
schema_version int The version of the tables.
hosts int The number of hosts that have joined.
living_hosts int The number of hosts with a lease in force.
queued int The number of tasks that wait for a host.
active int The number of tasks that hosts have.
duty text~ The host that decides whose turn it is.

= fleet-trial The trial of several hosts on this machine.
status text running, stopped or absent.
changed bool Whether anything was started, stopped or removed.
folder text Its folder.
store? text The word for --store.
url? text The URL of its database.
server? text The folder of its server.
hosts? [text] The names of its hosts.
next? [text] Commands that show both hosts.

= hosts The hosts of a store.
items [object] The hosts: name, alive, renewed_ms_ago, lease_ms, free, tasks, draining, duty and labels; of drain and undrain the host, with changed.

= agent-setup The files that were changed.
items [object] The files: path, action and backup.

= daemon The unit of systemd that --install has written.
path text The file.
changed bool Whether it was written; false where it is there already.
next [text] The commands that start the daemon.

= install-docs The files that were written or removed.
items [text] The paths.
";
