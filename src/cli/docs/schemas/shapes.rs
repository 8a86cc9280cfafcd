//! The shapes that several documents share.

/// The shapes by their names.
pub(super) const SHAPES: &str = "\
= task A task, and its end once it is over.
id text The id, e.g. task_12.
status text pending, running, waiting, completed, failed, timeout or cancelled.
user text Its user.
project text~ Its project.
lanes [text] Its lanes, that of the user first. The lane global, which all tasks take, is left out.
priority int From 0, the first, to 9.
tier text high, normal or low.
command [text] The command and its arguments.
label text~ The note of the caller.
agent text~ The agent that queued it.
session text~ The session of that agent.
key text~ The key that makes a repeated request one task.
goal text~ The goal.
stepwise object~ The progress of a stepwise task.
schedule text~ The schedule that made it.
slot time~ The moment for which the schedule made it.
cwd text The working directory.
created_at time The time at which it was queued.
due_at time~ The time before which it does not start.
after [text] The tasks that must complete before it starts.
parent text~ The task that queued it.
can_inherit_lock bool Whether the parent lends its lanes.
comes_after [text] Tasks that had its key when it was queued.
timeout_ms int~ Its time limit.
grace_ms int The time between SIGTERM and SIGKILL.
start_by time~ The time at which it is cancelled if it has not started.
slot_count? int The number of slots that it takes of each capacity lane, if more than one.
retries int The number of failed attempts after which another one follows.
attempt int The number of the attempt, from 1.
starts int The number of starts of the command.
started_at time~ The last start.
lock_id text~ The lock id of the last start.
fence int~ The fence of the last start.
conductor_dir text The conductor directory.
variables object Its variables, in show; empty elsewhere.
supervisor_pid? int The process of its supervisor, while it runs.
beat? object The last sign of progress: at and note.
waiting_for? text The kind of its wait, while it waits.
waiting_event? text The event that ends the wait.
waiting_since? text The beginning of the wait.
waiting_until? any The latest end of the wait.
waiting_data? object The members that the event must have.
waiting_hours? number The time that it has waited, in hours.
agentId? text The agent that queued it, or its user.
waitingFor? text An older spelling of waiting_for.
waitingUntil? any An older spelling of waiting_until.
waitingData? object waiting_data, and threadId, expectedFrom and timeout.
waiting_timeouts? int The number of times that the time of the wait has run out.
context? object Members of its request, in the words of older programs.
reason? text Why it does not run, in one word.
reason_detail? @reason Why it does not run.
completed_at? time The time of its end.
result_type? text success, failure, timeout or cancelled.
result_summary? text Its end, in words.
result_data? any The data that the task gave to its end.
exit_code? int~ The exit code of the command.
signal? int~ The signal that ended the command.
ran_ms? int~ The run time of the last start.
earlier? [object] Its ends before it was retried: status, completed_at, result_summary, exit_code, signal, ran_ms.
error_message? text~ Why it failed.
failed_action_id? int The number of the step that failed, from 0; 0 without steps.
cancelled_by? text~ The user or program that cancelled it.
cancel_reason? text~ Why it was cancelled.
completedAt? time An older spelling of completed_at.
resultType? text An older spelling of result_type.
resultSummary? text An older spelling of result_summary.
errorMessage? text~ An older spelling of error_message.
failedActionId? int An older spelling of failed_action_id.
cancelledBy? text~ An older spelling of cancelled_by.
cancelReason? text~ An older spelling of cancel_reason.
parentExecutionId? int~ The number of parent, as older programs name it.
canInheritLock? bool An older spelling of can_inherit_lock.

= lock A lock, and whether its holder lives.
user text~ The user, if the lane is that of a user.
lane text The lane.
slot int The slot, from 0.
lock_id text~ The id of the lock.
holder text~ Its holder: a task, or the name given to acquire.
shown text~ The holder for people, with its command.
task_id text~ The holder as the sidecar names it.
fence int~ The token of the grant.
kind text~ task, process, lease or wait.
acquired_at time~ When it was taken.
refreshed_at time~ When it was refreshed last.
expires_at time~ When a lease ends without a refresh.
acquired_by_pid int~ The process that took it.
state text held, stale, orphan or overdue.
evidence text The proof of the state.
age_ms int The time since the last refresh.
held_ms int The time since the grant.
agent text~ The agent that holds it.
session text~ The session of that agent.
command text~ The command that runs under it.
label text~ The note of the holder.
lender any The task that lends the lane.
borrowers [any] The tasks that borrow the lane.
path? text~ The repository or directory that the lane is named after.
host? text~ The host of the lock, in a store of several hosts.
waiters? [@waiter] Those who wait for the lane with lock or acquire, in their order.
owner text~ An older name of holder.
threadId text~ The thread, if the lane is that of a thread.
activeExecutionId any The number of the task that holds it, or the name of the holder.
executionLockedAt time~ An older name of refreshed_at.
lockMinutes int age_ms in minutes.

= grant A lane that the caller was granted.
lane text The lane.
lock_id text The id of the lock.
fence int The token of the grant.
slot int The slot, from 0.
value text~ The value of the slot, in a lane whose slots have values.
path text~ The repository or directory that the lane is named after.
refreshed bool Whether the caller had it before.

= waiter Somebody who waits for a lane with lock or acquire.
position int The place in the line, from 1.
pid int The process.
since time The begin of its wait.
agent text~ The agent.
label text~ The note for people.

= holder The holder of a slot of a lane.
holder text~ A task, or the name given to acquire.
shown text~ The holder for people, with its command.
agent text~ The agent.
session text~ The session of that agent.
command text~ The command that runs under the lock.
label text~ The note of the holder.
lock_id text~ The id of the lock.
acquired_at time~ When the lock was taken.
expires_at time~ When a lease ends without a refresh.
age_ms int The time since the last refresh.
state text held, stale, orphan or overdue.
alive bool Whether the holder is known to live.
stopped bool Whether its process is stopped.
evidence text The proof of the state.

= reason One reason why a task does not run.
reason text The reason in one word, e.g. UserLockHeld.
message? text The reason for people.
next [text] Commands that help; the first harms nobody.
override? [text] Commands that take the lane by force from a dead, stopped or overdue holder.
override_ends? text The holder whose work those commands end.
lock? @holder The holder that is in the way.
lane? text The lane that is full.
used? int The number of its slots in use.
max? int The number of its slots.
free? int The number of its free slots.
needed? int The number of its slots that the task takes.

= broken A lock that was released or removed.
lane text The lane.
slot int The slot, from 0.
lock_id text~ The id of the lock.
holder text~ Its last holder.
why text~ The proof that the holder was dead; null for a release.
age_ms int The time since the last refresh.

= event One event of the journal; luzia-spool(5) lists the kinds.
kind text The kind of the event, e.g. enqueued.
at time When.
boot_ms int The time of the event in milliseconds since the boot.
pid int The process that wrote it.
task? text The task.
user? text The user.
lane? text The lane.
message? text The event for people.
data? object Further members, by kind.

= step A finished step of a task.
name text The name.
done bool Whether it is done; its last try failed otherwise.
exit_code int~ The exit code of its command.
ended_at time When it ended.
start int The start of the task in which it ran.
tries int The number of its tries.
ran_ms int Its run time.
stdout_bytes int The size of the output that is kept.

= remembered The memory of a task between its starts.
vars? {any}~ Its variables.
steps? [@step] Its steps that have ended.
mail? int The number of events that it keeps.
waits? [object] Its waits that are over: kind, event, at, and timed_out where the time ran out.
timeout_commands? [object] The commands of --timeout-do that were begun: wait, begun_at, ended in words, and is_lost if the end is unknown.

= lane The rules of a lane that are in force.
lane text The lane or pattern.
max_concurrent int~ The limit; null for none.
weight int~ The weight in fair share.
lock_timeout_ms int~ The time after which a lease expires.
rate text~ The number of grants in a time at most, e.g. 10/1m.
reserve int The number of slots that are kept for it.
hold text~ Whether a task keeps it while it waits: keep or release.
warn_after_ms int~ The time after which a wait is reported.
on_wait text~ The command for such a wait.
on_overdue text~ The treatment of an overdue holder: report or terminate.
rule text Where its rule is from: default, config or set.

= lane_now A lane and its holders.
lane text The lane.
limit int~ The limit; null for none.
holders [@holder] Its holders.

= hook A hook.
name text The name.
event text The kind of event that runs it.
command [text]~ The command.
url text~ The address that is called instead.
user text~ Only events of this user.
lane text~ Only events of this lane.
timeout_ms int Its time limit.
cwd text The working directory.
added_at time When it was added.
by text The user who added it.

= schedule A schedule.
name text The name.
expression text~ The cron line.
tz? text~ The time zone.
next_at time~ The next slot.
next_local? text~ The next slot in that time zone.
last_slot? time~ The last slot.
last_task? text~ The task of the last slot.
last_status? text~ The state of that task.
last_skipped? any The last skipped slot.
last_missed? time~ The last missed slot: nothing was running to make its task.
missed? int The number of missed slots.
paused? bool Whether it is paused.
paused_until? time~ The end of the pause.
pause_reason? text~ The reason of the pause.
overlap? text skip or queue.
fill_ms? int~ The time for which missed slots are made up.
fill_once? bool Whether the last missed slot is made up, whatever its age.
created_at? time When it was added.
user? text The user of its tasks.
project? text~ The project of its tasks.
lanes? [text] The lanes of its tasks.
priority? int The priority of its tasks.
command? [text] The command of its tasks.
cwd? text The working directory of its tasks.
label? text~ The note of its tasks.
built_in bool Whether luzia has it by itself.

= pause A pause.
what text The paused thing: a user, a lane, a task, or * for all.
since time~ The begin; null if nothing was paused.
until time~ The end.
reason text~ The reason.
by text~ The user who paused it.

= log A log file.
path text The file.
bytes int Its size.

= sample A number for Prometheus.
name text The series, e.g. luzia_tasks.
labels {text} Its labels.
value number The number.
";
