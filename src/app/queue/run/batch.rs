//! `run --from`: sees several accepted tasks to their ends. They run side by side as their lanes let them; the output of
//! each is passed on in one piece when it is over, in the order of the lines, so that a reader can tell it apart.

use crate::app::admission::own_context;
use crate::app::config_reload::config;
use crate::app::lifecycle::Accepted;
use crate::app::loans::{end_loans, lend_to};
use crate::app::pass::daemon::{is_passing, pass_patiently};
use crate::app::query::cycles::await_in_locks;
use crate::app::query::explain::first_obstacle;
use crate::app::query::logs::Stream;
use crate::app::queue::run::{Audience, Wish, carry_out_or_tell, follow, is_followed, pass_logs_on};
use crate::app::waits::tail::Tail;
use crate::app::{App, AppError, Obstacle};
use crate::model::{Status, Task, TaskId};
use std::time::Duration;

/// Number of unfinished tasks that are looked at in one round. The queue may be long, and those behind them wait.
const LOOKED_AT: usize = 64;

/// A task of the batch.
struct Member {
    id: TaskId,
    /// Whether this very request has queued the task; a task of others is never cancelled.
    is_ours: bool,
    /// Whether the task has been asked to end, as its user wants.
    is_asked: bool,
    /// Whether the task is left alone: the user wants to end, and another process has queued it or waits for it.
    is_left: bool,
    /// The task as of the last look.
    task: Task,
    /// The last report about the task.
    told: Option<(Status, Option<&'static str>)>,
}

/// Sees all tasks to their ends and returns them, in their order. When the user wants to end, or the reader of the output has
/// gone, the tasks are cancelled. Tasks that other processes have queued or wait for are left alone.
pub fn see_all_through(app: &App, accepted: &[Accepted], audience: &mut dyn Audience) -> Result<Vec<Task>, AppError> {
    let member = |one: &Accepted| Member {
        id: one.task.id,
        is_ours: one.created,
        is_asked: false,
        is_left: false,
        task: one.task.clone(),
        told: None,
    };
    let _followed = accepted.iter().map(|one| follow(app, one)).collect::<Result<Vec<_>, AppError>>()?;
    let mut members: Vec<Member> = accepted.iter().map(member).collect();
    let ids: Vec<TaskId> = members.iter().map(|member| member.id).collect();
    let _awaited = await_in_locks(app, &ids)?;
    let lent = lend_to(app, ids.into_iter())?;
    let (mut presence, mut changes) = (None, app.store.watch());
    let (mut wished, mut printed, mut tails) = (Wish::GoOn, 0, None);
    let mut looked_ms = app.host.boot_ms();
    loop {
        let wish = audience.wish();
        carry_out_all(app, &mut members, wish, wish != wished, audience)?;
        wished = wish;
        // A pass at once, and again whenever something may have changed or a supervisor may be dead.
        let waits = members.iter().any(|member| member.task.status() == Status::Pending);
        presence = match (waits, presence) {
            (true, None) => Some(app.store.join_dispatchers(own_context(app).0.id())?),
            (waits, presence) => presence.filter(|_| waits),
        };
        let now = app.host.boot_ms();
        let is_time = now.saturating_sub(looked_ms) >= config(app).poll_interval_ms;
        if is_time {
            looked_ms = now;
        }
        if waits || is_time && is_one_alone(app, &members)? {
            pass_patiently(app, is_passing, &mut |error| audience.failed(error))?;
        }
        look_again(app, &mut members, audience)?;
        let mut is_told = true;
        while is_told && wished != Wish::Unread && members.get(printed).is_some_and(|one| one.task.status().is_final())
        {
            is_told = pass_output_on(app, &members[printed].task, &mut tails, wished, audience)?;
            printed += usize::from(is_told);
        }
        let is_over = |member: &Member| member.task.status().is_final() || member.is_left;
        audience.over(members.iter().filter(|member| is_over(member)).count(), members.len());
        let may_leave = is_told || wished == Wish::Kill;
        if may_leave && members.iter().all(is_over) {
            let is_whole = members.iter().all(|member| member.task.status().is_final());
            end_loans(app, lent, is_whole, None)?;
            return Ok(members.into_iter().map(|member| member.task).collect());
        }
        let pause = if is_told { config(app).poll_interval_ms } else { 20 };
        changes.wait(Duration::from_millis(pause.clamp(1, 1000)));
    }
}

/// Whether one of the unfinished tasks has no supervisor: nothing on disk changes by that.
fn is_one_alone(app: &App, members: &[Member]) -> Result<bool, AppError> {
    for member in members.iter().filter(|member| !member.task.status().is_final()).take(LOOKED_AT) {
        if !app.run_dir.is_supervised(member.id)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Looks at the first unfinished tasks, and reports changes.
fn look_again(app: &App, members: &mut [Member], audience: &mut dyn Audience) -> Result<(), AppError> {
    for member in members.iter_mut().filter(|member| !member.task.status().is_final()).take(LOOKED_AT) {
        member.task = app.existing(member.id)?;
        let task = &member.task;
        let obstacle = if task.status() == Status::Pending { first_obstacle(app, task)? } else { None };
        let word = (task.status(), obstacle.as_ref().map(Obstacle::word));
        if member.told.replace(word) != Some(word) {
            audience.progress(task, obstacle.as_ref(), None);
        }
    }
    Ok(())
}

/// Asks every task of this request to end, if its user wants that. A task that comes to a further attempt is asked again, and so
/// is one for which another process acted just then.
fn carry_out_all(
    app: &App,
    members: &mut [Member],
    wish: Wish,
    is_new: bool,
    audience: &mut dyn Audience,
) -> Result<(), AppError> {
    if matches!(wish, Wish::GoOn | Wish::Leave) {
        return Ok(());
    }
    for member in members.iter_mut().filter(|member| !member.task.status().is_final()) {
        member.is_left = !member.is_ours || is_followed(app, member.id);
        if member.is_left {
            continue;
        }
        if is_new || !member.is_asked || member.task.status() == Status::Pending {
            member.is_asked = carry_out_or_tell(app, member.id, wish, audience)?;
        }
    }
    Ok(())
}

/// Passes output on; false if not all of it could be passed on yet. `tails` keep the place.
fn pass_output_on(
    app: &App,
    task: &Task,
    tails: &mut Option<[Tail; 2]>,
    wished: Wish,
    audience: &mut dyn Audience,
) -> Result<bool, AppError> {
    let open = tails.get_or_insert_with(|| [Tail::new(Stream::Out), Tail::new(Stream::Err)]);
    let is_told = pass_logs_on(app, task, open, Some(wished), audience)?;
    if is_told {
        *tails = None;
    }
    Ok(is_told)
}
