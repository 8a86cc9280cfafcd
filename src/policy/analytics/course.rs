//! The actions of a task, one after another, as its events tell of them (S1.15). Pure.

use super::record::Record;
use crate::model::Timestamp;

/// What became of an action.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Turn {
    /// It begins.
    Begins,
    /// It waits for an event.
    Waits,
    /// The time of its wait has run out.
    Expired,
    /// It is done.
    Done,
    /// It failed, with this exit code where it has one.
    Failed(Option<i64>),
}

/// A line of the course of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// When.
    pub at: Timestamp,
    /// The number of the action, from 1.
    pub number: u32,
    /// Its name: that of a `luzia step`, the kind of a wait, or the number of a step of a stepwise task.
    pub name: String,
    /// What became of it.
    pub turn: Turn,
    /// Whether it is one run of a stepwise task.
    pub is_run: bool,
    /// How long it took, in milliseconds, where that is known.
    pub ran_ms: Option<i64>,
}

/// Gathers the events of one task, in their order.
#[derive(Default)]
pub struct Course {
    lines: Vec<Line>,
    number: u32,
    /// The wait that goes on: its number and its name.
    waits: Option<(u32, String)>,
    /// When the command was started last, and whether an action of that start was told of.
    started: Option<Timestamp>,
}

impl Course {
    /// Takes an event in.
    pub fn take(&mut self, record: &Record) {
        match record.kind.as_str() {
            "started" => self.started = Some(record.at),
            "step" => {
                let ran = i64::try_from(record.number("ran_ms").unwrap_or(0)).unwrap_or(0);
                let is_done = record.data.get("done").and_then(serde_json::Value::as_bool).unwrap_or(true);
                let code = record.data.get("exit_code").and_then(serde_json::Value::as_i64);
                let turn = if is_done { Turn::Done } else { Turn::Failed(code) };
                self.action(record.at.plus_ms(-ran), record.at, record.text("step").unwrap_or("?"), turn);
            }
            "waiting" => {
                // "Execution 3 entering WAITING state (waitingFor: response)"
                let said = record.message.as_deref().unwrap_or_default();
                let kind = said.split_once("waitingFor: ").map_or("event", |(_, kind)| kind.trim_end_matches(')'));
                let name = format!("wait_for_{kind}");
                if self.waits.as_ref().is_none_or(|(_, open)| *open != name) {
                    self.number += 1;
                    self.push(record.at, &name, Turn::Begins);
                }
                self.push(record.at, &name, Turn::Waits);
                self.waits = Some((self.number, name));
            }
            "wait_timeout" => {
                // A wait that goes on is told of as such.
                let goes_on = record.text("means") == Some("retry");
                let open = if goes_on { self.waits.clone() } else { self.waits.take() };
                if let Some((number, name)) = open {
                    let (at, turn) = (record.at, Turn::Expired);
                    self.lines.push(Line { at, number, name, turn, is_run: false, ran_ms: None });
                }
            }
            "continued" => {
                if let Some((number, name)) = self.waits.take() {
                    let (at, turn) = (record.at, Turn::Done);
                    self.lines.push(Line { at, number, name, turn, is_run: false, ran_ms: None });
                }
            }
            "step_ended" => {
                let step = record.number("step").unwrap_or(0);
                let code = record.data.get("exit_code").and_then(serde_json::Value::as_i64);
                let turn = if code == Some(0) { Turn::Done } else { Turn::Failed(code) };
                let begin = self.started.take().unwrap_or(record.at);
                self.action(begin, record.at, &format!("step {step}"), turn);
                let own = self.number;
                self.lines.iter_mut().filter(|line| line.number == own).for_each(|line| line.is_run = true);
            }
            _ => {}
        }
    }

    /// The lines, in the order of their times; those of one moment in the order of the events. An action has the number of
    /// its begin: a step may have others within.
    pub fn lines(mut self) -> Vec<Line> {
        self.lines.sort_by_key(|line| line.at);
        let mut numbers: Vec<u32> = Vec::new();
        for line in &mut self.lines {
            let known = numbers.iter().position(|number| *number == line.number);
            let place = known.unwrap_or_else(|| {
                numbers.push(line.number);
                numbers.len() - 1
            });
            line.number = u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1);
        }
        self.lines
    }

    fn action(&mut self, begin: Timestamp, end: Timestamp, name: &str, turn: Turn) {
        self.number += 1;
        self.push(begin, name, Turn::Begins);
        self.push(end, name, turn);
        if let Some(last) = self.lines.last_mut() {
            last.ran_ms = Some(end.ms_since(begin));
        }
    }

    fn push(&mut self, at: Timestamp, name: &str, turn: Turn) {
        let (number, name) = (self.number, name.to_owned());
        self.lines.push(Line { at, number, name, turn, is_run: false, ran_ms: None });
    }
}

impl Line {
    /// The line in the words of its source (S1.15), and whether it is the end of the action.
    pub fn text(&self) -> String {
        let turn = match &self.turn {
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
            Turn::Begins => "started",
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
    use serde_json::json;

    #[test]
    fn actions_are_numbered_in_their_order_and_each_has_its_turns() {
        let mut course = Course::default();
        let waiting = "Execution 3 entering WAITING state (waitingFor: response)";
        for (at, line) in [
            (0, json!({ "event": "started" })),
            (
                5000,
                json!({ "event": "step", "data": { "step": "fetch", "exit_code": 0, "ran_ms": 2000, "done": true } }),
            ),
            (6000, json!({ "event": "waiting", "message": waiting })),
            (7000, json!({ "event": "waiting", "message": waiting })),
            (9000, json!({ "event": "continued" })),
            (
                9500,
                json!({ "event": "step", "data": { "step": "send", "exit_code": 4, "ran_ms": 500, "done": false } }),
            ),
            (9900, json!({ "event": "step_ended", "data": { "step": 0, "exit_code": 0 } })),
        ] {
            course.take(&record(at, line));
        }
        let lines: Vec<String> = course.lines().iter().map(|line| line.text()).collect();
        let wanted = [
            "[00:00:00] Accion 1: step 0 - iniciando",
            "[00:00:03] Accion 2: fetch - iniciando",
            "[00:00:05] Accion 2: fetch - completada",
            "[00:00:06] Accion 3: wait_for_response - iniciando",
            "[00:00:06] Accion 3: wait_for_response - esperando...",
            "[00:00:07] Accion 3: wait_for_response - esperando...",
            "[00:00:09] Accion 3: wait_for_response - completada",
            "[00:00:09] Accion 4: send - iniciando",
            "[00:00:09] Accion 4: send - fallida (exit 4)",
            "[00:00:09] Accion 1: step 0 - completada",
        ];
        assert_eq!(lines, wanted);
    }
}
