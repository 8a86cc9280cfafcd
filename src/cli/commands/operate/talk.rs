//! The log of a dispatcher on the console.

use crate::app::lifecycle::Pass;
use crate::app::pass::daemon::Log;
use crate::app::query::events::Record;
use crate::app::{AppError, Code};
use crate::cli::args::OutputFormat;
use crate::cli::output::console::{Console, Repeated, Stop};
use crate::cli::output::json;
use crate::cli::output::live::bar;
use crate::model::{Status, Task, TaskId};
use std::time::Duration;

/// The terminal as the log of a dispatcher.
pub struct Talk<'a, 'b> {
    pub console: &'a mut Console<'b>,
    pub ended: &'a mut dyn FnMut() -> bool,
    pub total: Pass,
    /// The tasks that have ended, where they are counted.
    pub ends: Vec<(TaskId, Status, Option<i32>)>,
    /// Whether each end is reported.
    pub tells_ends: bool,
    /// The failure by which an answer could not be written.
    pub stop: Option<Stop>,
    is_first: bool,
}

impl<'a, 'b> Talk<'a, 'b> {
    /// A log that reports passes, and with `tells_ends` the end of each task.
    pub fn new(console: &'a mut Console<'b>, ended: &'a mut dyn FnMut() -> bool, tells_ends: bool) -> Self {
        Self { console, ended, total: Pass::default(), ends: Vec::new(), tells_ends, stop: None, is_first: true }
    }
}

impl Log for Talk<'_, '_> {
    fn pass(&mut self, pass: &Pass) {
        if let Some(what) = pass.not_made.first() {
            let error = AppError::new(Code::Schedule, format!("a schedule was not looked at: {what}"));
            self.console.trouble(Repeated::Pass, &error.hint("the next pass tries again"));
        } else if pass.in_vain == 0 {
            self.console.all_is_well(Repeated::Pass);
        }
        for id in &pass.started {
            self.console.log(&format!("started {id}"));
        }
        for id in &pass.recovered {
            self.console.log(&format!("recovered {id}"));
        }
        self.total.started.extend(&pass.started);
        self.total.recovered.extend(&pass.recovered);
        self.total.set_aside.extend(pass.set_aside.iter().cloned());
        self.total.not_made.clone_from(&pass.not_made);
        self.total.left.clone_from(&pass.left);
        self.total.unseen.clone_from(&pass.unseen);
    }

    fn failed(&mut self, error: &AppError) {
        self.console.trouble(Repeated::Pass, error);
    }

    fn shared(&mut self, failure: Option<&AppError>) {
        match failure {
            Some(error) => self.console.trouble(Repeated::Round, error),
            None if self.console.all_is_well(Repeated::Round) => self.console.say("luzia: the store answers again"),
            None => {}
        }
    }

    fn waits(&mut self, running: usize, waiting: u64) {
        // A wait that is over within a moment is not worth a line.
        if self.console.is_live() {
            let over = self.ends.len() as u64;
            let bar = bar(over, over + running as u64 + waiting);
            return self.console.live(&format!("luzia: {bar} over; {running} running, {waiting} waiting"));
        }
        let is_first = std::mem::take(&mut self.is_first);
        if !self.console.is_json() && (!is_first || running as u64 + waiting > self.total.started.len() as u64) {
            self.console.say(&format!("luzia: waiting for {running} running and {waiting} waiting tasks"));
        }
    }

    fn interval(&self) -> Duration {
        Duration::from_secs(if self.console.is_live() { 1 } else { 60 })
    }

    fn ended(&mut self, task: &Task) {
        if !self.tells_ends {
            return;
        }
        let outcome = task.outcome();
        self.ends.push((task.id, task.status(), outcome.and_then(|outcome| outcome.exit_code)));
        let summary = outcome.map_or("", |outcome| outcome.summary.as_str());
        let written = match self.console.format {
            OutputFormat::Json => Ok(()),
            OutputFormat::Jsonl => self.console.line("list", &json::task(task)),
            _ => {
                self.console.say(&format!("{} {}: {summary}", task.id, task.status()));
                self.console.out(&format!("{}\n", task.id))
            }
        };
        self.stop = self.stop.take().or(written.err());
    }

    fn news(&mut self, record: &Record) {
        let Some(task) = record.task else { return };
        let user = record.user.as_deref().map(|user| format!(" of {user}")).unwrap_or_default();
        let code = record.number("exit_code").map(|code| format!(", exit {code}")).unwrap_or_default();
        let signal = record.number("signal").map(|signal| format!(", signal {signal}")).unwrap_or_default();
        let said = match record.kind.as_str() {
            "started" => format!("started, attempt {}", record.number("attempt").unwrap_or(1)),
            "finished" => format!("{}{code}{signal}", record.text("status").unwrap_or("over")),
            "requeued" => format!("failed {} times, and is queued again", record.number("failures").unwrap_or(1)),
            "recovered" => "was recovered: its supervisor had died".to_owned(),
            "withdrawn" => "was not accepted".to_owned(),
            _ => record.message.clone().unwrap_or_else(|| record.kind.clone()),
        };
        self.console.say(&format!("{task}{user} {said}"));
    }

    fn is_ended(&mut self) -> bool {
        self.stop.is_some() || (self.ended)()
    }
}
