//! The line in place of a command that waits for tasks.

use super::bar;
use crate::app::queue::run::{InQueue, place_of};
use crate::app::{App, AppError, Obstacle};
use crate::cli::estimate::place_text;
use crate::cli::output::console::{Console, Repeated};
use crate::cli::output::messages;
use crate::cli::output::task::{present_obstacle, state_text, tell_wait};
use crate::model::time::format_duration;
use crate::model::{Status, Task, TaskId, Timestamp};
use std::time::Duration;

/// The rhythm of a line in place: once a second, and less often where a look at the queue takes long.
#[derive(Default)]
pub struct Pulse {
    /// The beginning of the present look.
    asked_ms: Option<u64>,
    /// The time of the next one.
    next_ms: u64,
}

impl Pulse {
    /// The time until the line is due. Where it is due, the look at the queue begins.
    pub fn left(&mut self, now_ms: u64) -> Duration {
        if now_ms >= self.next_ms {
            self.asked_ms = Some(now_ms);
        }
        Duration::from_millis(self.next_ms.saturating_sub(now_ms))
    }

    /// Notes that the line was written.
    pub fn shown(&mut self, now_ms: u64) {
        let cost_ms = self.asked_ms.take().map_or(0, |asked_ms| now_ms.saturating_sub(asked_ms));
        self.next_ms = now_ms + cost_ms.saturating_mul(20).max(1000);
    }
}

/// The line in place for a task that waits: its place first, because the end is cut.
pub fn live_text(task: &Task, obstacle: &Obstacle, place: &InQueue, waited_ms: u64, now: Timestamp) -> String {
    let (text, _) = messages::obstacle_text(obstacle, task, now);
    let length = if waited_ms < 1000 { String::new() } else { format!(" {}", format_duration(waited_ms)) };
    format!("luzia: {} waits{length}{}; {text}", task.id, place_text(Some(place)))
}

/// The line in place of a command that waits for tasks.
pub struct WaitLine {
    of: u64,
    over: u64,
    /// The task that the line shows.
    shown: Option<TaskId>,
    begin_ms: u64,
    pulse: Pulse,
}

impl WaitLine {
    /// For so many tasks. From now on the signals that end this process remove the line first.
    pub fn new(app: &App, of: usize, console: &Console) -> Self {
        if console.is_live() {
            app.host.procs.catch_ends();
        }
        Self { of: of as u64, over: 0, shown: None, begin_ms: app.host.boot_ms(), pulse: Pulse::default() }
    }

    /// Reports a task on the line, or without a line each change of its state.
    pub fn saw(&mut self, app: &App, task: &Task, is_new: bool, console: &mut Console) {
        let told = if console.is_live() {
            self.show(app, task, is_new, console)
        } else if is_new {
            tell_wait(app, task, console)
        } else {
            Ok(())
        };
        if let Err(error) = told {
            console.trouble(Repeated::Pass, &error);
        }
    }

    fn show(&mut self, app: &App, task: &Task, is_new: bool, console: &mut Console) -> Result<(), AppError> {
        if let Some(signal) = app.host.procs.asked_to_end() {
            console.end_live();
            app.host.procs.die_of(signal);
        }
        if task.status().is_final() {
            self.over += u64::from(is_new);
            self.shown = self.shown.filter(|shown| *shown != task.id);
            return Ok(());
        }
        let now_ms = app.host.boot_ms();
        if *self.shown.get_or_insert(task.id) != task.id || !is_new && !self.pulse.left(now_ms).is_zero() {
            return Ok(());
        }
        let many = if self.of > 1 { format!("{} over; ", bar(self.over, self.of)) } else { String::new() };
        let obstacle = if task.status() == Status::Pending { present_obstacle(app, task)? } else { None };
        let place = place_of(app, task, obstacle.as_ref(), true)?;
        let waited_ms = now_ms.saturating_sub(self.begin_ms);
        console.live(&match (obstacle, place) {
            (Some(obstacle), Some(place)) => {
                format!("{many}{}", live_text(task, &obstacle, &place, waited_ms, app.host.now()))
            }
            _ => format!("{many}{}", state_text(app, task)),
        });
        self.pulse.shown(app.host.boot_ms());
        Ok(())
    }
}
