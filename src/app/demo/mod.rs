//! `demo`: the main job in a throw-away state directory, with real processes. Three users, six tasks, four of them
//! contending for one user, one supervisor killed on purpose and recovered; then, from the recorded events, who ran when,
//! and whether any user ever had two at once. Every command goes through the binary itself, so that a reader can type it.

mod runs;

pub use crate::os::{Exit as Ended, Output};
pub(crate) use runs::runs as runs_of;
pub use runs::{Closed, Run, Verdict, verdict};

#[cfg(test)]
pub(crate) use runs::tests::runs_of_lines;

use super::{App, AppError, Code, Started};
use crate::model::{Status, TaskId, Timestamp};
use crate::os::{Exit, Signal};
use std::io;
use std::time::Duration;

/// The tasks, in the order in which they are queued: user, options, seconds. The seconds are whole, because not every
/// sleep(1) knows others.
const TASKS: [(&str, &[&str], &str); 6] = [
    ("alice", &["--retries", "1"], "2"),
    ("alice", &[], "1"),
    ("alice", &[], "1"),
    ("alice", &[], "1"),
    ("bob", &[], "2"),
    ("carol", &[], "3"),
];
/// Longest wait for a task that was just dispatched, and for the death of a process that was just killed.
const SOON: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(5);

/// One part of the report of a demo.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// The next step, and its reason.
    Remark(&'a str),
    /// A command that is carried out now, as it can be typed.
    Command(&'a str),
    /// The output of a command.
    Output(&'a Output),
}

/// The stage of a demo: a state directory that is removed afterwards.
pub struct Stage<'a> {
    /// The use cases in the directory of the demo.
    pub app: &'a App,
    /// Runs luzia with arguments.
    pub luzia: &'a dyn Fn(&[String]) -> io::Result<Output>,
    /// Variables that put a shell, and `luzia`, on this stage.
    pub variables: &'a [(String, String)],
}

/// The result of a demo.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Played {
    /// Every run of every task, in the order in which they began.
    pub runs: Vec<Run>,
    /// The statement, computed from the runs.
    pub verdict: Verdict,
    /// Tasks that did not complete.
    pub incomplete: Vec<TaskId>,
    /// The task whose supervisor was killed.
    pub killed: TaskId,
}

/// Plays the demo. `tell` returns whether to continue. If it returns false, and after every error, the queued tasks are
/// cancelled, so that none of them still runs.
pub fn play(stage: &Stage, tell: &mut dyn FnMut(Step) -> bool) -> Result<Played, AppError> {
    let mut play = Play { stage, tell, queued: Vec::new() };
    let played = play.all();
    if played.is_err() {
        play.clear_away();
    }
    played
}

/// A demo that is being played.
struct Play<'a> {
    stage: &'a Stage<'a>,
    tell: &'a mut dyn FnMut(Step) -> bool,
    queued: Vec<TaskId>,
}

impl Play<'_> {
    fn all(&mut self) -> Result<Played, AppError> {
        let begin = self.stage.app.host.now();
        for (name, value) in self.stage.variables {
            self.tell(Step::Command(&format!("export {name}={value}")))?;
        }
        self.remark("three users, six tasks; four of them are alice's, and she has one turn at a time")?;
        for (user, options, seconds) in TASKS {
            let mut words = vec!["enqueue", "-u", user];
            words.extend(options);
            words.extend(["--", "sleep", seconds]);
            let output = self.luzia(&words)?;
            self.queued.push(accepted(&output)?);
        }
        self.remark("one pass starts what may run: the first task of each user")?;
        self.luzia(&["dispatch"])?;
        let (first, second) = (self.queued[0], self.queued[1]);
        self.remark("why does alice's second task wait?")?;
        self.luzia(&["explain", &second.to_string()])?;
        self.kill_supervisor(first)?;
        self.remark("the next pass ends the command, gives alice's lane back, and only then goes on")?;
        self.command("luzia dispatch --drain -v >/dev/null", &["dispatch", "--drain", "-v"])?;
        self.remark("all six are over; the one that was killed ran a second time")?;
        self.luzia(&["list", "-a", "--sort", "id"])?;
        self.conclude(begin, first)
    }

    fn kill_supervisor(&mut self, id: TaskId) -> Result<(), AppError> {
        let name = id.to_string();
        let started = self.await_start(id)?;
        self.remark(&format!("every running task has a supervisor of its own; {name} is about to lose it"))?;
        self.command(&format!("luzia show {name}"), &["show", &name])?;
        let pid = started.supervisor.pid;
        self.tell(Step::Command(&format!("kill -9 {pid}")))?;
        let host = &self.stage.app.host;
        if !host.signal(&started.supervisor, Signal::Kill) || !host.await_death(&started.supervisor, SOON) {
            return Err(failed(format!("process {pid}, the supervisor of {name}, could not be killed")));
        }
        self.remark("its command lives on, and nobody else gets alice's lane while it does")?;
        self.luzia(&["list-locks"])?;
        Ok(())
    }

    /// Waits until an event reports the start of a task's command.
    fn await_start(&self, id: TaskId) -> Result<Started, AppError> {
        let (host, store) = (&self.stage.app.host, &self.stage.app.store);
        let begin = host.boot_ms();
        while u128::from(host.boot_ms().saturating_sub(begin)) < SOON.as_millis() {
            let is_started = self.runs(Timestamp(0))?.iter().any(|run| run.task == id && run.command_pid.is_some());
            if let Some(Some(started)) = store.started(id)?.filter(|_| is_started) {
                return Ok(started);
            }
            host.sleep(PAUSE);
        }
        Err(failed(format!("{id} was not started in time")))
    }

    fn runs(&self, since: Timestamp) -> Result<Vec<Run>, AppError> {
        let events = self.stage.app.store.events_since(since)?;
        Ok(runs::runs(events.iter().map(|event| &event.line)))
    }

    fn conclude(&self, begin: Timestamp, killed: TaskId) -> Result<Played, AppError> {
        let runs = self.runs(begin)?;
        let mut incomplete = Vec::new();
        for id in &self.queued {
            let is_complete = |status| status == Status::Completed;
            if !self.stage.app.find(*id)?.is_some_and(|(_, task)| is_complete(task.status())) {
                incomplete.push(*id);
            }
        }
        Ok(Played { verdict: verdict(&runs), runs, incomplete, killed })
    }

    fn luzia(&mut self, words: &[&str]) -> Result<Output, AppError> {
        self.command(&format!("luzia {}", words.join(" ")), words)
    }

    fn command(&mut self, shown: &str, words: &[&str]) -> Result<Output, AppError> {
        self.tell(Step::Command(shown))?;
        let args: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let run = (self.stage.luzia)(&args);
        let mut output = run.map_err(|error| failed(format!("cannot run \"{shown}\": {error}")))?;
        if shown.ends_with(" >/dev/null") {
            output.stdout.clear();
        }
        self.tell(Step::Output(&output))?;
        match output.exit {
            Exit::Code(0) => Ok(output),
            Exit::Code(code) => Err(failed(format!("\"{shown}\" exited with {code}"))),
            Exit::Signal(signal) => Err(failed(format!("\"{shown}\" was killed by signal {signal}"))),
        }
    }

    fn remark(&mut self, text: &str) -> Result<(), AppError> {
        self.tell(Step::Remark(text))
    }

    fn tell(&mut self, step: Step) -> Result<(), AppError> {
        if (self.tell)(step) { Ok(()) } else { Err(AppError::new(Code::DemoLeft, "the demo was left")) }
    }

    /// Ends the tasks that still run, without output.
    fn clear_away(&self) {
        if self.queued.is_empty() {
            return;
        }
        let mut args: Vec<String> = ["cancel", "--grace", "0"].map(str::to_owned).to_vec();
        args.extend(self.queued.iter().map(TaskId::to_string));
        let drain: Vec<String> = ["dispatch", "--drain"].map(str::to_owned).to_vec();
        for args in [args, drain] {
            // An error cannot be reported here; a task that cannot be cancelled ends by itself within seconds.
            let _ = (self.stage.luzia)(&args);
        }
    }
}

fn accepted(output: &Output) -> Result<TaskId, AppError> {
    let text = String::from_utf8_lossy(&output.stdout);
    TaskId::parse(text.trim()).ok_or_else(|| failed(format!("\"{}\" is not the id of a task", text.trim())))
}

fn failed(message: String) -> AppError {
    AppError::new(Code::DemoFailed, message).hint("luzia doctor looks for what may be wrong")
}
