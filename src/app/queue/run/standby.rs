//! Waits of a `run` while another one has the duty of making the passes.

use crate::app::admission::own_context;
use crate::app::{App, AppError};
use crate::model::{SandboxId, Task};
use crate::store::{Duty, Standby};
use std::time::Duration;

/// Time for which a `run` on standby relies on the holder of the duty. A stopped holder delays timers and recoveries that long.
/// The n-th `run` on standby relies on it n times longer, so all of them together cost little.
const LONGEST_TRUST: Duration = Duration::from_secs(60);
/// The first and the longest pause while the duty changes hands.
const HANDS: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(1)];

/// Returns the longest time until a `run` on standby is to be asked again, and `None` to end its wait.
pub(super) type Stays<'a> = dyn FnMut() -> Option<Duration> + 'a;

/// Waits while another `run` has the duty and the record of the task stays in its place. False if that took so long that the
/// holder of the duty may be stopped: then this `run` makes one pass without it.
pub(super) fn stand_by(app: &App, task: &Task, duty: &mut Option<Duty>, stays: &mut Stays) -> Result<bool, AppError> {
    let context = own_context(app).0;
    let Some(mut standby) = app.store.join_standby(context.id(), task.id) else {
        return stand_by_looks(app, task, duty, stays);
    };
    let stood = stand_with(app, task, context.id(), &mut standby, duty, stays);
    // The next one finds the holder shown.
    if let Some(duty) = duty {
        app.store.show_duty(duty, context.id());
    }
    app.store.leave_standby(standby);
    stood
}

/// Waits with a place among those on standby.
fn stand_with(
    app: &App,
    task: &Task,
    sandbox: &SandboxId,
    standby: &mut Standby,
    duty: &mut Option<Duty>,
    stays: &mut Stays,
) -> Result<bool, AppError> {
    // A process that moves the record from here on wakes this one.
    if !app.store.is_pending(task)? {
        return Ok(false);
    }
    let begin = app.host.boot_ms();
    let mut pause = HANDS[0];
    while app.store.is_pending(task)? {
        let Some(longest) = stays() else { break };
        *duty = app.store.try_duty(sandbox)?;
        if duty.is_some() {
            break;
        }
        let Some(ahead) = app.store.watch_before_standby(standby)? else {
            app.store.wait_on_standby(standby, pause);
            pause = pause.saturating_mul(2).min(HANDS[1]);
            continue;
        };
        pause = HANDS[0];
        let trust = LONGEST_TRUST.saturating_mul(u32::try_from(ahead).unwrap_or(u32::MAX).saturating_add(1));
        let passed = Duration::from_millis(app.host.boot_ms().saturating_sub(begin));
        let left = trust.saturating_sub(passed);
        if left.is_zero() || !app.store.wait_on_standby(standby, left.min(longest)) && left <= longest {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Waits without a place, by looks.
fn stand_by_looks(app: &App, task: &Task, duty: &mut Option<Duty>, stays: &mut Stays) -> Result<bool, AppError> {
    let begin = app.host.boot_ms();
    let mut record = app.store.watch_record(task)?;
    if !app.store.is_pending(task)? {
        return Ok(false);
    }
    // The record may have moved, and the duty may have become free, before the watch began.
    while app.store.is_pending(task)? && stays().is_some() {
        *duty = app.store.try_duty(own_context(app).0.id())?;
        if duty.is_some() {
            break;
        }
        if Duration::from_millis(app.host.boot_ms().saturating_sub(begin)) >= LONGEST_TRUST {
            return Ok(false);
        }
        app.store.stand_by(&mut record);
    }
    Ok(true)
}
