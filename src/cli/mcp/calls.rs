//! Carries out calls of tools, by the commands of luzia.

use super::lean;
use super::tools::{RUN_WAIT_S, Tool};
use super::wire::{Request, progress};
use super::words;
use crate::app::admission::turns::position;
use crate::app::agent::{admits, admits_name};
use crate::app::locks::acquire::check;
use crate::app::pass::pass;
use crate::app::query::logs::Stream;
use crate::app::queue::inside::refuse_or_take_back;
use crate::app::queue::run::{Audience, InQueue, Wish, see_through};
use crate::app::queue::wait;
use crate::app::{App, AppError, Code, Kind, Obstacle, config_reload};
use crate::cli::estimate::place_text;
use crate::cli::output::messages;
use crate::model::{Status, Task, TaskId, Timestamp};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval at which a call that waits reports its progress, in milliseconds.
const PROGRESS_MS: u64 = 5_000;
/// Interval at which a waiting call checks whether it was cancelled, in milliseconds.
const SLICE_MS: u64 = 500;
/// Interval between two looks at a lane that is to become free.
const LANE_LOOK: Duration = Duration::from_millis(200);
/// The most lines of a log in an answer, and the most bytes of these lines.
const LOG_LINES: u64 = 60;
const LOG_BYTES: usize = 12_000;

/// The answer of a command of luzia.
pub struct Answered {
    /// The exit code of the command.
    pub code: u8,
    /// The standard output of the command.
    pub out: Vec<u8>,
    /// The standard error of the command.
    pub err: Vec<u8>,
}

/// A piece of work on a state directory.
pub type Work<'a> = &'a mut dyn FnMut(&App) -> Result<(), AppError>;

/// The access of the server to this host.
pub struct Host<'a> {
    /// Carries out a command line of luzia.
    pub call: &'a (dyn Fn(&[String]) -> Answered + Sync),
    /// Opens the state directory for a piece of work.
    pub with_app: &'a (dyn Fn(Work) -> Result<(), AppError> + Sync),
    /// Writes a message.
    pub write: &'a (dyn Fn(&Value) + Sync),
    /// The time since the host was started, in milliseconds.
    pub now_ms: &'a (dyn Fn() -> u64 + Sync),
    /// The name under which the server holds leases that end by time.
    pub holder: String,
    /// The time of day.
    pub now: &'a (dyn Fn() -> Timestamp + Sync),
}

impl Host<'_> {
    /// Does a piece of work on the state directory, and returns its result.
    pub fn work<T>(&self, mut act: impl FnMut(&App) -> Result<T, AppError>) -> Result<T, AppError> {
        let mut done = None;
        (self.with_app)(&mut |app| {
            done = Some(act(app)?);
            Ok(())
        })?;
        done.ok_or_else(|| AppError::new(Code::Bug, "the state directory was not opened"))
    }
}

/// Whether a call is to stop waiting, and why.
#[derive(Default)]
pub struct Stop {
    is_cancelled: AtomicBool,
    is_over: AtomicBool,
}

impl Stop {
    /// Notes that the client does not want the answer any more.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
    }

    /// Notes that the client sends nothing more. It may still read.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Whether the client does not want the answer any more.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::SeqCst)
    }

    fn is_set(&self) -> bool {
        self.is_cancelled() || self.is_over.load(Ordering::SeqCst)
    }
}

/// A call on its way.
pub struct Call<'a> {
    host: &'a Host<'a>,
    stop: &'a Stop,
    token: Option<&'a Value>,
    begin_ms: u64,
    told_ms: u64,
    step: u64,
    message: String,
}

/// Outcome of a call.
pub enum Outcome {
    /// A document, and whether it is an error.
    Document(Value, bool),
    /// Tasks that are not over.
    Unfinished(Vec<TaskId>, Value),
}

impl<'a> Call<'a> {
    /// A call that begins now.
    pub fn new(host: &'a Host<'a>, request: &'a Request, stop: &'a Stop) -> Self {
        let now = (host.now_ms)();
        let token = request.params.get("_meta").and_then(|meta| meta.get("progressToken"));
        Self { host, stop, token, begin_ms: now, told_ms: now, step: 0, message: "queued".to_owned() }
    }

    /// Carries out a tool.
    pub fn carry_out(&mut self, tool: &Tool, arguments: &Map<String, Value>) -> Outcome {
        self.outcome(tool, arguments).unwrap_or_else(|error| Outcome::Document(error_document(&error), true))
    }

    fn outcome(&mut self, tool: &Tool, arguments: &Map<String, Value>) -> Result<Outcome, AppError> {
        if tool.starts() {
            self.check_allowed(arguments)?;
        }
        match tool.name {
            // The client has cancelled the call before it began.
            _ if self.stop.is_cancelled() => Ok(Outcome::Document(json!({}), false)),
            "run" | "enqueue" => {
                let (accepted, is_error) = document((self.host.call)(&words::enqueue(tool, arguments)));
                let id = accepted.get("id").and_then(Value::as_str).and_then(TaskId::parse);
                let Some(id) = id.filter(|_| !is_error) else { return Ok(Outcome::Document(accepted, is_error)) };
                let wait_ms = if tool.name == "run" { words::wait_ms(arguments, RUN_WAIT_S) } else { 0 };
                if tool.name == "enqueue" {
                    // It starts when it is its turn: that may be now.
                    let _ = self.host.work(pass);
                    return Ok(Outcome::Document(self.report(id), false));
                }
                let is_created = accepted.get("created") == Some(&json!(true));
                if is_created {
                    self.host.work(|app| refuse_or_take_back(app, id))?;
                }
                // A client that cancels the call identifies the task by this.
                self.tell(&format!("queued as {id}"));
                let outcome = self.await_tasks(&[id], wait_ms);
                if is_created && self.stop.is_cancelled() {
                    self.take_back(id);
                }
                outcome
            }
            "logs" => self.logs(arguments),
            "wait" => self.wait(arguments),
            name => {
                let line = words::direct(name, arguments, &self.host.holder).unwrap_or_default();
                let (value, is_error) = document((self.host.call)(&line));
                let value = if name == "list" && !is_error { lean::tasks(&value) } else { lean::answer(value) };
                Ok(Outcome::Document(value, is_error))
            }
        }
    }

    /// Cancels a task of a call that was cancelled, where it has not started.
    fn take_back(&self, id: TaskId) {
        if self.host.work(|app| app.existing(id)).is_ok_and(|task| task.status() == Status::Pending) {
            let words = ["cancel", "--reason", "its call was cancelled", "--", &id.to_string()];
            drop((self.host.call)(&words.map(str::to_owned)));
        }
    }

    /// The end of the log of a task.
    fn logs(&self, arguments: &Map<String, Value>) -> Result<Outcome, AppError> {
        let text = words::text(arguments, "task").unwrap_or_default();
        let task = self.host.work(|app| app.existing(app.task_id(text)?))?;
        let lines = arguments.get("lines").and_then(Value::as_u64).unwrap_or(LOG_LINES);
        let (id, status) = (task.id, task.status());
        let log = self.log(id, lines);
        Ok(Outcome::Document(json!({ "task": id.to_string(), "status": status.word(), "log": log }), false))
    }

    /// Refuses a command if the configuration does not allow commands of its kind.
    fn check_allowed(&self, arguments: &Map<String, Value>) -> Result<(), AppError> {
        let argv = words::argv(arguments);
        let refusal = self.host.work(|app| {
            let config = config_reload::config(app);
            let variable = words::variables(arguments).find(|name| !admits_name(&config.mcp_env, name));
            Ok(match variable {
                _ if !admits(&config.mcp_allow, &argv) => {
                    let pattern = match argv.as_slice() {
                        [only] => only.clone(),
                        [first, ..] => format!("{first} *"),
                        [] => String::new(),
                    };
                    Some(("allow", format!("no pattern of mcp.allow admits {argv:?}"), pattern))
                }
                Some(name) => Some(("env", format!("no pattern of mcp.env admits the variable {name}"), name.clone())),
                None => None,
            })
        })?;
        let Some((name, message, pattern)) = refusal else { return Ok(()) };
        let hint = format!(
            "a person may add it to the configuration: {}; `luzia config path` names the file. Or run it with your own shell: luzia lock -l build --wait 90s -- COMMAND",
            json!({ "mcp": { name: [pattern] } })
        );
        Err(AppError::new(Code::NotAllowed, message).hint(hint))
    }

    fn wait(&mut self, arguments: &Map<String, Value>) -> Result<Outcome, AppError> {
        let wait_ms = words::wait_ms(arguments, RUN_WAIT_S);
        if let Some(lane) = words::lane(arguments) {
            return self.await_lane(&lane, wait_ms);
        }
        let texts = words::texts(arguments, "tasks");
        let id = |app: &App, text: &String| Ok(app.existing(app.task_id(text)?)?.id);
        let ids = self.host.work(|app| texts.iter().map(|text| id(app, text)).collect::<Result<Vec<_>, AppError>>())?;
        match ids.as_slice() {
            [] => Ok(Outcome::Document(usage("wait", "tasks is empty"), true)),
            ids => self.await_tasks(ids, wait_ms),
        }
    }

    fn await_lane(&mut self, lane: &str, wait_ms: u64) -> Result<Outcome, AppError> {
        let is_free = self.host.work(|app| {
            let lane = app.lane(lane)?;
            loop {
                let checked = check(app, &lane)?;
                if checked.is_free() || self.is_over(wait_ms) {
                    return Ok(checked.is_free());
                }
                if let Some(holder) = checked.living().next() {
                    self.message = format!("lane \"{lane}\" is held by {}", holder.shown().unwrap_or_default());
                }
                app.host.sleep(LANE_LOOK);
            }
        })?;
        let line = ["check", "--", lane].map(str::to_owned);
        let (mut value, _) = document((self.host.call)(&line));
        if let Some(members) = value.as_object_mut().filter(|_| !is_free) {
            members.insert("still_waiting".to_owned(), json!(true));
        }
        Ok(Outcome::Document(lean::answer(value), false))
    }

    /// Waits until tasks are over, and meanwhile starts tasks that can start.
    fn await_tasks(&mut self, ids: &[TaskId], wait_ms: u64) -> Result<Outcome, AppError> {
        let open: Vec<TaskId> = self.host.work(|app| {
            loop {
                let tasks = ids.iter().map(|id| app.existing(*id)).collect::<Result<Vec<Task>, _>>()?;
                let unfinished: Vec<&Task> = tasks.iter().filter(|task| !task.status().is_final()).collect();
                let open = || unfinished.iter().map(|task| task.id).collect();
                let Some(first) = unfinished.first() else { return Ok(open()) };
                if self.is_over(wait_ms) {
                    return Ok(open());
                }
                match unfinished.iter().find(|task| task.status() == Status::Pending) {
                    Some(pending) => {
                        drop(see_through(app, pending.id, true, &mut Watch { call: self, wait_ms, is_started: false })?)
                    }
                    None => {
                        self.message = format!("{} is {}", first.id, first.status());
                        let slice = SLICE_MS.min(self.left_ms(wait_ms)).max(1);
                        match wait::wait(app, &[first.id], false, Some(slice), &mut |_, _| {}) {
                            Err(error) if error.code() != Code::WaitTimedOut => return Err(error),
                            _ => {}
                        }
                    }
                }
            }
        })?;
        let value = match ids {
            [only] => self.report(*only),
            all => json!({ "tasks": all.iter().map(|id| self.report(*id)).collect::<Vec<_>>() }),
        };
        Ok(if open.is_empty() { Outcome::Document(value, false) } else { Outcome::Unfinished(open, value) })
    }

    /// The result of a task: its state, why it waits, its place, the end of its log, and how to go on.
    pub fn report(&self, id: TaskId) -> Value {
        let (task, _) = document((self.host.call)(&["explain", "--", &id.to_string()].map(str::to_owned)));
        let position = self.host.work(|app| {
            let task = app.existing(id)?;
            let is_pending = task.status() == Status::Pending;
            if is_pending { Ok(Some(position(app, &task)?.saturating_add(1))) } else { Ok(None) }
        });
        let position = position.ok().flatten();
        let mut members = Map::from_iter([("task".to_owned(), json!(id.to_string()))]);
        members.extend(lean::report(&task));
        members.extend(position.map(|position| ("position".to_owned(), json!(position))));
        if task.get("starts").and_then(Value::as_u64).unwrap_or(0) > 0 {
            members.insert("log".to_owned(), self.log(id, LOG_LINES));
        }
        if !members.contains_key("completed_at") {
            let next = json!([{ "tool": "wait", "arguments": { "tasks": [id.to_string()] } }]);
            members.insert("next".to_owned(), next);
        }
        Value::Object(members)
    }

    fn log(&self, id: TaskId, lines: u64) -> Value {
        let words = ["logs", "-n", &lines.to_string(), "--", &id.to_string()];
        let answered = (self.host.call)(&words.map(str::to_owned));
        let text = String::from_utf8_lossy(&answered.out);
        let mut from = text.len().saturating_sub(LOG_BYTES);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let mut log = Map::from_iter([("tail".to_owned(), json!(&text[from..]))]);
        log.extend((from > 0).then(|| ("is_cut".to_owned(), json!(true))));
        Value::Object(log)
    }

    fn left_ms(&self, wait_ms: u64) -> u64 {
        wait_ms.saturating_sub((self.host.now_ms)().saturating_sub(self.begin_ms))
    }

    /// Whether the wait is over; reports the progress of a wait that goes on.
    fn is_over(&mut self, wait_ms: u64) -> bool {
        if self.stop.is_set() || self.left_ms(wait_ms) == 0 {
            return true;
        }
        if (self.host.now_ms)().saturating_sub(self.told_ms) >= PROGRESS_MS {
            let message = self.message.clone();
            self.tell(&message);
        }
        false
    }

    /// Reports the progress of the call, where the client has asked for that.
    fn tell(&mut self, message: &str) {
        self.told_ms = (self.host.now_ms)();
        if let Some(token) = self.token {
            self.step += 1;
            (self.host.write)(&progress(token, self.step, message));
        }
    }
}

/// Watches a task until it has started.
struct Watch<'a, 'b> {
    call: &'a mut Call<'b>,
    wait_ms: u64,
    is_started: bool,
}

impl Audience for Watch<'_, '_> {
    fn output(&mut self, _: Stream, _: &[u8]) -> bool {
        true
    }

    fn dropped(&mut self, _: Stream, _: u64) {}

    fn progress(&mut self, task: &Task, obstacle: Option<&Obstacle>, place: Option<&InQueue>) {
        self.is_started = task.status() != Status::Pending;
        let place = place_text(place);
        self.call.message = match obstacle {
            Some(obstacle) => {
                let now = (self.call.host.now)();
                format!("{} waits: {}{place}", task.id, messages::obstacle_text(obstacle, task, now).0)
            }
            None => format!("{} is {}{place}", task.id, task.status()),
        };
    }

    fn failed(&mut self, error: &AppError) {
        error.message().clone_into(&mut self.call.message);
    }

    fn wish(&mut self) -> Wish {
        if self.is_started || self.call.is_over(self.wait_ms) { Wish::Leave } else { Wish::GoOn }
    }

    fn waits_on(&self) -> bool {
        true
    }
}

/// The document that a command wrote, with its error and its notes, and whether that is an error. A busy lane is an answer.
fn document(answered: Answered) -> (Value, bool) {
    let out = String::from_utf8_lossy(&answered.out);
    let err = String::from_utf8_lossy(&answered.err);
    let mut value = serde_json::from_str::<Value>(&out).unwrap_or_else(|_| json!({}));
    let (notes, error) = match err.find("{") {
        Some(at) if at == 0 || err[..at].ends_with('\n') => err.split_at(at),
        _ => (&*err, ""),
    };
    let error = serde_json::from_str::<Value>(error).ok();
    let notes: Vec<&str> = notes.lines().filter(|line| !line.is_empty()).collect();
    if let Some(members) = value.as_object_mut() {
        if let Some(mut error) = error {
            // The reader of this answer sees no exit code, as with the errors of other calls.
            if let Some(error) = error.as_object_mut() {
                error.retain(|name, _| !["schema", "exit"].contains(&name.as_str()));
            }
            members.insert("error".to_owned(), error);
        }
        if !notes.is_empty() {
            members.insert("notes".to_owned(), json!(notes));
        }
    }
    let is_busy = answered.code == Kind::Busy.code();
    (value, answered.code != 0 && !is_busy)
}

/// The error of a call whose arguments do not fit.
pub fn usage(tool: &str, message: &str) -> Value {
    let hint = format!("nothing was done; tools/list describes the arguments of {tool}");
    error_document(&AppError::usage(message).hint(hint))
}

/// An error of the program as commands write it.
pub fn error_document(error: &AppError) -> Value {
    let error = error.refusal();
    json!({ "error": { "code": error.code.word(), "message": error.message, "hint": error.hint, "next": error.next } })
}
