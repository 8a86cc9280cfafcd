//! Kinds of events in the event log, each with its meaning. The list is append-only.

/// Every kind of event, in the order of its name.
pub const KINDS: &[(&str, &str)] = &[
    ("agent_completed", "a task ended that another task had asked for"),
    ("alert", "a task has failed three times or more, or a command of --timeout-do may not have run to its end"),
    ("background_ended", "processes that a command had left running were ended"),
    ("borrowed", "a task has borrowed a lane from its parent"),
    ("cancel_requested", "somebody asked a running task to end"),
    ("cancelled", "a task that had not started was cancelled"),
    ("checkpoint", "a task saves for what it waits"),
    ("claim_refused", "a conductor directory claims a lock that is not its own"),
    ("clock_moved", "the wall clock was set, and the delay of a task goes on by the boot clock"),
    ("conductor_failed", "a conductor directory could not be written"),
    ("continued", "a task goes on after a wait"),
    ("cpu_share_failed", "the share of processors of a holder could not be changed"),
    ("dispatched", "a supervisor is about to start the command of a task"),
    ("edited", "a task that had not started was changed"),
    ("emitted", "a task was sent an event"),
    ("ended", "the command of a task ended, and nothing of it lives"),
    ("enqueued", "a task was accepted"),
    ("finish_said", "a task has said how it ends"),
    ("finished", "a task is over, and others have its lanes"),
    ("gate_opened", "a lane grants again: the host is no more too busy for it"),
    ("gate_shut", "a lane grants nothing, because the host is too busy for it"),
    ("gave_up", "a task that waits for an event has given up slots for others"),
    ("guard_busy", "a pass left a lane alone, because a process was stopped in its guard"),
    ("guard_lost", "the lock of a guarded command was lost"),
    ("hook_failed", "a hook failed; no task depends on it"),
    ("hook_ran", "a hook ran"),
    ("lane_set", "a rule of a lane was set"),
    ("lane_unset", "the rules of a lane were removed"),
    ("limit_ignored", "what a task said of a usage limit cannot be meant"),
    ("limited", "a usage limit of a provider keeps a task"),
    ("line_passed", "a lane went to somebody before others who did not take their turn"),
    ("lock_acquired", "a lane was taken by `lock`, `acquire` or a session"),
    ("lock_broken", "a lock was removed whose holder was proven dead"),
    ("lock_file_put_back", "another program removed the lock file of a holder, and it is back"),
    ("lock_refused", "a lane was not given"),
    ("lock_released", "a lane was given back by `lock`, `release` or a session"),
    ("lock_waiting", "a `lock` or an `acquire` waits for a lane"),
    ("locked", "a task has all its lanes"),
    ("logs_cut", "the oldest output of a task was dropped"),
    ("logs_not_cut", "the logs of a task could not be cut"),
    ("parked", "a task waits for an event without a process"),
    ("pass_failed", "a scheduling pass ended with an error"),
    ("paused", "a task, a lane, a user or the host was paused"),
    ("polled", "a pass has looked at the queue of a task"),
    ("preempted", "a running task was asked to make room for another one"),
    ("prompt", "what a start of a task was asked, where its starts are sampled"),
    ("prune_failed", "what is kept no longer could not be removed"),
    ("pruned", "finished tasks that are kept no longer were removed"),
    ("recovered", "a task whose supervisor had died was recovered"),
    ("released", "a task has given its lanes back"),
    ("requeued", "a task is queued again after an attempt"),
    ("response", "the end of what a start of a task wrote, where its starts are sampled"),
    ("result_failed", "the result of a task could not be written yet"),
    ("resume_ready", "a task has what it waited for, and waits for its lanes"),
    ("resumed", "a wait of a task, or a pause, is over"),
    ("retried", "a task that was over was queued again"),
    ("schedule_added", "a schedule was added or replaced"),
    ("schedule_failed", "a schedule could not make its task"),
    ("schedule_removed", "a schedule was removed"),
    ("schedule_skipped", "a schedule passed over a moment, because its last task was not over"),
    ("selected", "a pass has chosen a task"),
    ("session_ended", "a session of an agent ended"),
    ("session_started", "a session of an agent began"),
    ("set_aside", "a record that does not read was set aside"),
    ("sidecar_rebuilt", "a holder wrote a lost sidecar of its lock anew"),
    ("slot_missed", "a moment of a schedule passed while nobody looked; its task is late, or is not made"),
    ("spawned", "a task has asked for another one"),
    ("start_waits", "the start of a task waits for space, memory or processes"),
    ("started", "the command of a task runs"),
    ("state_updated", "what a task waited for has been recorded"),
    ("step", "a step of a task ended"),
    ("step_ended", "a run of a stepwise task ended"),
    ("subject_changed", "the work tree of a task changed after the task was queued"),
    ("subject_unknown", "whether the work tree of a task changed cannot be told"),
    ("supervisor_failed", "a supervisor ended with an error"),
    ("taken_here", "a task was taken out of a sandbox that has ended into the context of the caller"),
    ("timeout_command", "the command for the end of the time of a wait was run"),
    ("took_again", "a task has the slots again that it gave up while it waited"),
    ("vars_damaged", "the newest variables of a task do not read"),
    ("vars_left_out", "what an event brought is too large for a variable"),
    ("vars_set", "variables of a task were set"),
    ("vars_unset", "places of variables in a command have no value, and stay as they are written"),
    ("wait_needed", "a task asks to wait"),
    ("wait_timeout", "the time of a wait ran out"),
    ("wait_warning", "a task or a lock has waited for as long as its lane says"),
    ("waiting", "a task waits"),
    ("withdrawn", "a task could not be accepted after all"),
];

/// Whether events of a name are written.
pub fn is_kind(name: &str) -> bool {
    KINDS.iter().any(|(kind, _)| *kind == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_sorted_and_each_stands_once() {
        assert!(KINDS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(is_kind("enqueued") && !is_kind("enqueue"));
    }
}
