//! The actions of a task, one after another, as its events report them (S1.15). Pure.

use super::record::Record;
use crate::model::Timestamp;
use crate::model::sorted::sort_by_key;
use std::collections::BTreeMap;

/// State of an action.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Turn {
    /// The first start of the task, which is not an action.
    Execution,
    /// The action begins.
    Begins,
    /// The action waits for an event.
    Waits,
    /// The time of the wait has run out.
    Expired,
    /// The action is done.
    Done,
    /// The action failed, with this exit code if it has one.
    Failed(Option<i64>),
}

/// A line of the course of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The time.
    pub at: Timestamp,
    /// The number of the action, from 1; 0 for the line of the task itself.
    pub number: u32,
    /// The name of the line: the name of a `luzia step`, the kind of a wait, or the name or the number of a step of a
    /// stepwise task.
    pub name: String,
    /// The state of the action.
    pub turn: Turn,
    /// Whether the line is one run of a stepwise task.
    pub is_run: bool,
    /// The duration of the line in milliseconds, if known.
    pub ran_ms: Option<i64>,
}

/// A step of a task that is started once per step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The name of the step; empty if it has none.
    pub name: String,
    /// Whether the step's command is a wait.
    pub is_wait: bool,
}

/// Gathers the events of one task, in their order. Numbers do not nest: events within an action get the number of the action.
#[derive(Default)]
pub struct Course {
    lines: Vec<Line>,
    /// The known steps of a task that is started once per step; `None` for any other task.
    steps: Option<Vec<Step>>,
    /// The current or next run of such a task, from 0, and whether it has begun.
    run: (u32, bool),
    /// The highest number.
    number: u32,
    /// The numbers of the `luzia step`s: a step that is tried again keeps its number.
    named: BTreeMap<String, u32>,
    /// The current wait: its number and its name.
    waits: Option<(u32, String)>,
    /// The time of the last start of the command.
    started: Option<Timestamp>,
}

impl Course {
    /// The course of a task; `steps` are those of a task that is started once per step.
    pub fn of(steps: Option<Vec<Step>>) -> Self {
        Self { steps, ..Self::default() }
    }

    /// Adds an event.
    pub fn take(&mut self, record: &Record) {
        let at = record.at;
        match record.kind.as_str() {
            "started" => {
                if self.started.replace(at).is_none() {
                    self.push(at, 0, "", Turn::Execution);
                }
                self.begin_run(at);
            }
            "step" => self.step(record),
            "waiting" => {
                // "Execution 3 entering WAITING state (waitingFor: response)"
                let said = record.message.as_deref().unwrap_or_default();
                let kind = said.split_once("waitingFor: ").map_or("event", |(_, kind)| kind.trim_end_matches(')'));
                let name = self.own_wait().unwrap_or_else(|| format!("wait_for_{kind}"));
                if self.waits.as_ref().is_none_or(|(_, open)| *open != name) {
                    let number = self.next_number();
                    if self.own_wait().is_none() {
                        self.push(at, number, &name, Turn::Begins);
                    }
                    self.waits = Some((number, name.clone()));
                }
                let number = self.waits.as_ref().map_or(self.number, |(number, _)| *number);
                self.push(at, number, &name, Turn::Waits);
            }
            "wait_timeout" => {
                // A wait that continues is reported as such.
                let goes_on = record.text("means") == Some("retry");
                let open = if goes_on { self.waits.clone() } else { self.waits.take() };
                if let Some((number, name)) = open {
                    self.push(at, number, &name, Turn::Expired);
                }
            }
            "continued" => {
                if let Some((number, name)) = self.waits.take()
                    && self.own_wait().is_none()
                {
                    self.push(at, number, &name, Turn::Done);
                }
            }
            "step_ended" => self.end_run(record),
            _ => {}
        }
    }

    /// Handles the end of a `luzia step`. No event reports its beginning.
    fn step(&mut self, record: &Record) {
        let name = record.text("step").unwrap_or("?");
        let ran = i64::try_from(record.number("ran_ms").unwrap_or(0)).unwrap_or(0);
        let begin = record.text("begun_at").and_then(Timestamp::parse).unwrap_or_else(|| record.at.plus_ms(-ran));
        let is_done = record.data.get("done").and_then(serde_json::Value::as_bool).unwrap_or(true);
        let turn = if is_done { Turn::Done } else { Turn::Failed(exit_code(record)) };
        let number = match self.named.get(name) {
            Some(known) => *known,
            None => self.next_number(),
        };
        self.named.insert(name.to_owned(), number);
        // Actions that began meanwhile are a part of it.
        let at = self.lines.len() - self.lines.iter().rev().take_while(|line| line.at >= begin).count();
        let (before, within) = self.lines.split_at_mut(at);
        let is_part = |line: &&mut Line| before.iter().all(|earlier| earlier.number != line.number);
        within.iter_mut().filter(|line| line.number > 0).filter(is_part).for_each(|line| line.number = number);
        self.push(begin, number, name, Turn::Begins);
        self.push(record.at, number, name, turn);
        self.last(|line| line.ran_ms = Some(ran));
    }

    /// Handles the beginning of a run of a stepwise task. An interrupted run continues.
    fn begin_run(&mut self, at: Timestamp) {
        if self.steps.is_some() && !std::mem::replace(&mut self.run.1, true) {
            let (number, name) = (self.next_number(), self.name_of_run());
            self.push(at, number, &name, Turn::Begins);
            self.last(|line| line.is_run = true);
        }
    }

    fn end_run(&mut self, record: &Record) {
        let step = u32::try_from(record.number("step").unwrap_or(0)).unwrap_or(u32::MAX);
        if self.run.0 != step {
            // Events before this one are no longer kept.
            self.run = (step, false);
        }
        self.steps.get_or_insert_default();
        self.begin_run(record.at);
        let (number, name) = (self.next_number(), self.name_of_run());
        let began = self.lines.iter().rfind(|line| line.number == number && line.is_run && line.turn == Turn::Begins);
        let took = began.map(|line| record.at.ms_since(line.at));
        let ran_ms = record.number("ran_ms").and_then(|ms| i64::try_from(ms).ok()).or(took);
        let turn = if exit_code(record) == Some(0) { Turn::Done } else { Turn::Failed(exit_code(record)) };
        let is_done = turn == Turn::Done;
        match self.lines.last_mut() {
            // Its wait has run out, so it is over.
            Some(last) if last.turn == Turn::Expired && last.name == name && turn == Turn::Done => {
                (last.is_run, last.ran_ms) = (true, ran_ms);
            }
            _ => {
                self.push(record.at, number, &name, turn);
                self.last(|line| (line.is_run, line.ran_ms) = (true, ran_ms));
            }
        }
        self.run = (step.saturating_add(u32::from(is_done)), false);
    }

    /// The name of the current run of a task.
    fn name_of_run(&self) -> String {
        let name = self.step_of_run().map(|step| step.name.clone()).filter(|name| !name.is_empty());
        name.unwrap_or_else(|| format!("step {}", self.run.0))
    }

    fn step_of_run(&self) -> Option<&Step> {
        self.steps.as_ref()?.get(usize::try_from(self.run.0).ok()?)
    }

    /// The name of a step that is a wait, while it runs.
    fn own_wait(&self) -> Option<String> {
        self.step_of_run().filter(|step| step.is_wait).map(|_| self.name_of_run())
    }

    /// The number of an action that begins now: the number of the run around it, or else the next number.
    fn next_number(&mut self) -> u32 {
        self.number = if self.steps.is_some() { self.run.0 } else { self.number }.saturating_add(1);
        self.number
    }

    /// The lines, in the order of their times. Lines of one moment are in the order of the events. Actions are numbered in the
    /// order of their beginnings.
    pub fn lines(mut self) -> Vec<Line> {
        sort_by_key(&mut self.lines, |line| line.at);
        let mut numbers: Vec<u32> = vec![0];
        for line in self.lines.iter_mut().filter(|_| self.steps.is_none()) {
            let known = numbers.iter().position(|number| *number == line.number);
            let place = known.unwrap_or_else(|| {
                numbers.push(line.number);
                numbers.len() - 1
            });
            line.number = u32::try_from(place).unwrap_or(u32::MAX);
        }
        self.lines
    }

    fn last(&mut self, change: impl FnOnce(&mut Line)) {
        if let Some(last) = self.lines.last_mut() {
            change(last);
        }
    }

    fn push(&mut self, at: Timestamp, number: u32, name: &str, turn: Turn) {
        self.lines.push(Line { at, number, name: name.to_owned(), turn, is_run: false, ran_ms: None });
    }
}

fn exit_code(record: &Record) -> Option<i64> {
    record.data.get("exit_code").and_then(serde_json::Value::as_i64)
}

impl Line {
    /// The line in the words of its source (S1.15), and whether it is the end of the action.
    pub fn text(&self) -> String {
        let turn = match &self.turn {
            Turn::Execution => return format!("[{}] Ejecucion iniciada", self.at.clock()),
            Turn::Begins => "iniciando".to_owned(),
            Turn::Waits => "esperando...".to_owned(),
            Turn::Expired => "vencida".to_owned(),
            Turn::Done => "completada".to_owned(),
            Turn::Failed(Some(code)) => format!("fallida (exit {code})"),
            Turn::Failed(None) => "fallida".to_owned(),
        };
        format!("[{}] Accion {}: {} - {turn}", self.at.clock(), self.number, self.name)
    }

    /// The word in JSON.
    pub fn word(&self) -> &'static str {
        match self.turn {
            Turn::Execution | Turn::Begins => "started",
            Turn::Waits => "waiting",
            Turn::Expired => "expired",
            Turn::Done => "completed",
            Turn::Failed(_) => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;
    use serde_json::{Value, json};

    const WAITING: &str = "Execution 3 entering WAITING state (waitingFor: response)";

    fn told(steps: Option<Vec<Step>>, events: &[(i64, Value)]) -> Vec<String> {
        let mut course = Course::of(steps);
        events.iter().for_each(|(at, line)| course.take(&record(*at, line.clone())));
        course.lines().iter().map(|line| line.text().split_off(11)).collect()
    }

    fn step(name: &str, code: i32, ran_ms: u64) -> Value {
        json!({ "event": "step", "data": { "step": name, "exit_code": code, "ran_ms": ran_ms, "done": code == 0 } })
    }

    #[test]
    fn actions_are_numbered_in_their_order_and_each_has_its_turns() {
        let lines = told(
            None,
            &[
                (0, json!({ "event": "started" })),
                (5000, step("fetch", 0, 2000)),
                (6000, json!({ "event": "waiting", "message": WAITING })),
                (7000, json!({ "event": "waiting", "message": WAITING })),
                (9000, json!({ "event": "continued" })),
                (9500, step("send", 4, 500)),
                (9600, json!({ "event": "started" })),
                (9700, json!({ "event": "waiting", "message": WAITING })),
                (9750, json!({ "event": "wait_timeout", "data": { "means": "continue" } })),
                (9760, json!({ "event": "continued" })),
                (9900, step("send", 0, 100)),
            ],
        );
        let wanted = [
            "Ejecucion iniciada",
            "Accion 1: fetch - iniciando",
            "Accion 1: fetch - completada",
            "Accion 2: wait_for_response - iniciando",
            "Accion 2: wait_for_response - esperando...",
            "Accion 2: wait_for_response - esperando...",
            "Accion 2: wait_for_response - completada",
            "Accion 3: send - iniciando",
            "Accion 3: send - fallida (exit 4)",
            "Accion 4: wait_for_response - iniciando",
            "Accion 4: wait_for_response - esperando...",
            "Accion 4: wait_for_response - vencida",
            "Accion 3: send - iniciando",
            "Accion 3: send - completada",
        ];
        assert_eq!(lines, wanted);
    }

    #[test]
    fn what_happens_within_an_action_has_its_number() {
        let lines = told(
            None,
            &[
                (0, json!({ "event": "started" })),
                (1000, json!({ "event": "waiting", "message": WAITING })),
                (2000, json!({ "event": "continued" })),
                (3000, step("ask", 0, 2500)),
            ],
        );
        assert!(lines[1..].iter().all(|line| line.starts_with("Accion 1: ")), "{lines:?}");
        assert_eq!((lines[1].as_str(), lines.len()), ("Accion 1: ask - iniciando", 6));
    }

    #[test]
    fn the_steps_of_a_list_have_their_names_and_a_step_that_is_a_wait_is_one_action() {
        let named = |name: &str, is_wait| Step { name: name.to_owned(), is_wait };
        let steps = vec![named("build", false), named("ask", true), named("wait_for_test", true), named("", false)];
        let ended =
            |step: u32, code: i32| json!({ "event": "step_ended", "data": { "step": step, "exit_code": code } });
        let start = || json!({ "event": "started" });
        let lines = told(
            Some(steps),
            &[
                (0, start()),
                (100, ended(0, 1)),
                (200, start()),
                (300, ended(0, 0)),
                (400, start()),
                (500, json!({ "event": "waiting", "message": WAITING })),
                (550, start()),
                (600, json!({ "event": "continued" })),
                (700, ended(1, 0)),
                (800, start()),
                (810, json!({ "event": "waiting", "message": WAITING })),
                (820, json!({ "event": "wait_timeout", "data": { "means": "retry" } })),
                (830, json!({ "event": "wait_timeout", "data": { "means": "continue" } })),
                (840, ended(2, 0)),
                (900, start()),
            ],
        );
        let wanted = [
            "Ejecucion iniciada",
            "Accion 1: build - iniciando",
            "Accion 1: build - fallida (exit 1)",
            "Accion 1: build - iniciando",
            "Accion 1: build - completada",
            "Accion 2: ask - iniciando",
            "Accion 2: ask - esperando...",
            "Accion 2: ask - completada",
            "Accion 3: wait_for_test - iniciando",
            "Accion 3: wait_for_test - esperando...",
            "Accion 3: wait_for_test - vencida",
            "Accion 3: wait_for_test - vencida",
            "Accion 4: step 3 - iniciando",
        ];
        assert_eq!(lines, wanted);
    }
}
