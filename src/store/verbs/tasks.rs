//! The verbs of what a task remembers, and of schedules.

use crate::model::calendar::Schedule;
use crate::model::task::Finish;
use crate::model::{ScheduleKey, TaskId};
use crate::os::Handle;
use crate::store::error::Result;
use crate::store::verbs::verbs;
use crate::store::{
    Beat, Changes, FileStore, Hold, Mail, OpenWait, ScheduleBook, StepRecord, Vars, VarsRead, Waiter, Waits,
};

verbs! {
    /// What a task remembers: variables, steps, mail, waits.
    Steps {
        /// Notes that a task makes progress.
        fn note_beat(id: TaskId, note: Option<String>) -> Result<Beat>;
        /// The last sign of progress of a task.
        fn last_beat(id: TaskId) -> Result<Option<Beat>>;
        /// A finished step of a task.
        fn step(id: TaskId, name: &str) -> Result<Option<StepRecord>>;
        /// The finished steps of a task, in their order.
        fn steps_done(id: TaskId) -> Result<Vec<StepRecord>>;
        /// Takes the lock under which a step runs; `None` when it runs already.
        fn lock_step(id: TaskId, name: &str) -> Result<Option<Hold>>;
        /// The file to which a step writes its standard output, empty.
        fn step_output(id: TaskId, name: &str) -> Result<Box<dyn Handle>>;
        /// Removes that file.
        fn drop_step_output(id: TaskId, name: &str) -> Result<()>;
        /// Records a finished step durably; false when it was recorded before.
        fn record_step(id: TaskId, step: StepRecord) -> Result<bool>;
        /// Like `record_finish`, where `check` says so; `None` where it does not.
        fn record_finish_if(
            id: TaskId,
            start: u32,
            finish: &Finish,
            check: &mut dyn FnMut() -> bool
        ) -> Result<Option<Option<Finish>>>;
        /// How a task said in this start that it ends.
        fn finish_said(id: TaskId, start: u32) -> Result<Option<Finish>>;
        /// Like `deliver`, where `check` says so; `None` where it does not.
        fn deliver_if(id: TaskId, mail: Mail, check: &mut dyn FnMut() -> bool) -> Result<Option<u64>>;
        /// Like `deliver`, unless the mailbox has an event already that `is_same` knows; gives the number of a new one.
        fn deliver_once(id: TaskId, mail: Mail, is_same: &dyn Fn(&Mail) -> bool) -> Result<Option<u64>>;
        /// The numbers of a task's mail, in their order.
        fn mail_numbers(id: TaskId) -> Result<Vec<u64>>;
        /// One event of a task's mail.
        fn mail(id: TaskId, number: u64) -> Result<Option<Mail>>;
        /// Whether a task has a folder of this kind.
        fn has_steps(id: TaskId) -> Result<bool>;
        /// Forgets what a task remembers but for its mail, so that its next start begins from nothing.
        fn forget_steps(id: TaskId) -> Result<()>;
        /// The variables of a task.
        fn vars(id: TaskId) -> Result<VarsRead>;
        /// Changes the variables of a task, where `change` says so; the verb behind `change_vars`.
        fn edit_vars(id: TaskId, change: &mut dyn FnMut(&mut Vars) -> bool) -> Result<Option<VarsRead>>;
        /// Takes the lock of the process that waits for a task; an error where another one of its processes waits.
        fn begin_wait(id: TaskId) -> Result<Waiter>;
        /// The waits of a task.
        fn waits(id: TaskId) -> Result<Waits>;
        /// Replaces them durably.
        fn write_waits(waiter: &Waiter, waits: &Waits) -> Result<()>;
        /// The wait in which a process of a task stands now.
        fn open_wait(id: TaskId) -> Result<Option<OpenWait>>;
        /// The wait that was open in a start of a task.
        fn open_in(id: TaskId, start: u32) -> Option<OpenWait>;
        /// Whether the time of a wait ran out in a start of a task, and was to end it.
        fn has_wait_failed(id: TaskId, start: u32) -> bool;
        /// Watches the mailbox of a task.
        fn watch_mail(id: TaskId) -> Changes;
    }
}

verbs! {
    /// Schedules.
    Schedules {
        /// Every schedule, by name; an error in the place of one that does not read.
        fn schedules() -> Result<Vec<Result<Schedule>>>;
        /// A schedule by its key.
        fn schedule_at(key: &ScheduleKey) -> Result<Option<Schedule>>;
        /// Takes the right to change schedules, and waits for it a little.
        fn enter_schedules() -> Result<Box<dyn ScheduleBook + '_>>;
        /// Like `enter_schedules`, without waiting; `None` while somebody else has it.
        fn try_schedules() -> Result<Option<Box<dyn ScheduleBook + '_>>>;
    }
}
