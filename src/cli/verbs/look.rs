//! `show`, `logs` and `explain`.

use crate::app::explain::{LaneWhy, Supervisor, TaskWhy, Why};
use crate::app::list::{Shown, Stuck};
use crate::app::logs::Stream;
use crate::app::{App, AppError, Obstacle};
use crate::cli::args::{ExplainArgs, LogsArgs, OutputFormat, ShowArgs};
use crate::cli::console::{Answer, Console, Stop};
use crate::cli::escape::escape_lines;
use crate::cli::exit::Exit;
use crate::cli::style::Tone;
use crate::cli::table::{Column, Table};
use crate::cli::{json, words};
use crate::model::time::format_duration;
use crate::model::{Status, Task, TaskId};
use serde_json::{Value, json};

pub(super) fn tone(status: Status) -> Tone {
    match status {
        Status::Pending | Status::Waiting => Tone::Plain,
        Status::Running | Status::Completed => Tone::Good,
        Status::Failed | Status::Timeout => Tone::Bad,
        Status::Cancelled => Tone::Faint,
    }
}

/// A task as JSON, and its supervisor while it runs.
pub fn running_json(app: &App, task: &Task) -> Result<Value, AppError> {
    let mut value = json::task(task);
    if let (Value::Object(members), Some(pid)) = (&mut value, app.supervisor_pid(task)?) {
        members.insert("supervisor_pid".into(), pid.into());
    }
    Ok(value)
}

pub(super) fn task_json(
    app: &App,
    task: &Task,
    reason: Option<Obstacle>,
    stuck: Option<Stuck>,
    console: &Console,
) -> Result<Value, AppError> {
    let mut value = running_json(app, task)?;
    let waits = reason.map(|obstacle| words::obstacle_json(&obstacle, task, console.now));
    if let (Value::Object(members), Some(detail)) = (&mut value, waits.or(stuck.map(words::stuck_json))) {
        members.insert("reason".into(), detail["reason"].clone());
        members.insert("reason_detail".into(), detail);
    }
    Ok(value)
}

/// `luzia show`.
pub fn show(args: &ShowArgs, app: &App, console: &mut Console) -> Answer {
    let Shown { task, started, obstacle, stuck } = app.show(app.task_id(&args.task)?)?;
    if console.is_json() {
        let mut value = task_json(app, &task, obstacle, stuck, console)?;
        if let (Value::Object(members), Some(started)) = (&mut value, &started) {
            members.insert("started".into(), json!({ "start": started.start, "at": started.at.to_string() }));
        }
        console.document(&json::single("show", value))?;
        return Ok(Exit::Done.code());
    }
    if console.format == OutputFormat::Name {
        console.out(&format!("{}\n", task.id))?;
        return Ok(Exit::Done.code());
    }
    let mut table = Table::new(&[Column::new("FIELD"), Column::new("VALUE")]);
    let waits = obstacle.map(|obstacle| words::obstacle_text(&obstacle, &task, console.now).0);
    let reason = waits.or(stuck.map(|stuck| words::stuck_text(stuck).1));
    let extra = [("reason", reason), ("supervisor_pid", started.map(|started| started.supervisor.pid.to_string()))];
    for (field, value) in extra.into_iter().filter_map(|(field, value)| Some((field, value?))) {
        table.row([field.to_owned(), value]);
    }
    if let Value::Object(members) = json::task(&task) {
        for (field, value) in members {
            let text = match value {
                Value::Null => continue,
                Value::String(text) => text,
                other => other.to_string(),
            };
            table.row([field, text]);
        }
    }
    console.table(&table)?;
    Ok(Exit::Done.code())
}

/// `luzia logs`.
pub fn logs(args: &LogsArgs, app: &App, console: &mut Console) -> Answer {
    let id = app.task_id(&args.task)?;
    if args.follow {
        app.refuse_waiting_for(&[id], false)?;
    }
    let streams: &[Stream] = match (args.stdout, args.stderr) {
        (true, _) => &[Stream::Out],
        (_, true) => &[Stream::Err],
        (false, false) => &[Stream::Out, Stream::Err],
    };
    let pattern = args.grep.clone();
    let mut printer = Printer { console, pattern, rest: [Vec::new(), Vec::new()], items: Vec::new(), stop: None };
    app.logs(id, streams, args.lines, args.follow, &mut |stream, bytes| printer.print(stream, bytes))?;
    printer.finish(id)?;
    Ok(Exit::Done.code())
}

/// Prints what a command wrote: as it is into a pipe, with control characters escaped on a terminal, and line by line in
/// JSON.
struct Printer<'a, 'b> {
    console: &'a mut Console<'b>,
    pattern: Option<String>,
    /// The beginnings of lines whose ends have not come yet, of standard output and of standard error.
    rest: [Vec<u8>; 2],
    /// The lines of the one document of `--json`.
    items: Vec<Value>,
    stop: Option<Stop>,
}

impl Printer<'_, '_> {
    fn print(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        if self.pattern.is_none() && !self.console.streams.is_out_terminal && !self.console.is_json() {
            self.stop = self.console.out_bytes(bytes).err();
            return self.stop.is_none();
        }
        let mut rest = std::mem::take(self.rest_of(stream));
        rest.extend_from_slice(bytes);
        let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in rest[..whole].split_inclusive(|byte| *byte == b'\n') {
            self.line(stream, line);
        }
        rest.drain(..whole);
        *self.rest_of(stream) = rest;
        self.stop.is_none()
    }

    fn rest_of(&mut self, stream: Stream) -> &mut Vec<u8> {
        match stream {
            Stream::Out => &mut self.rest[0],
            Stream::Err => &mut self.rest[1],
        }
    }

    fn line(&mut self, stream: Stream, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        if self.stop.is_some() || self.pattern.as_ref().is_some_and(|pattern| !text.contains(pattern)) {
            return;
        }
        let result = if self.console.is_json() {
            let name = match stream {
                Stream::Out => "stdout",
                Stream::Err => "stderr",
            };
            let item = json!({ "stream": name, "line": text.strip_suffix('\n').unwrap_or(&text) });
            if self.console.format == OutputFormat::Jsonl {
                self.console.out(&json::line(&item))
            } else {
                self.items.push(item);
                Ok(())
            }
        } else if self.console.streams.is_out_terminal {
            let text = escape_lines(&text).into_owned();
            self.console.out(&text)
        } else {
            self.console.out_bytes(line)
        };
        self.stop = result.err();
    }

    fn finish(mut self, id: TaskId) -> Result<(), Stop> {
        for stream in [Stream::Out, Stream::Err] {
            let rest = std::mem::take(self.rest_of(stream));
            if !rest.is_empty() {
                self.line(stream, &rest);
            }
        }
        if let Some(stop) = self.stop {
            return Err(stop);
        }
        if self.console.format != OutputFormat::Json {
            return Ok(());
        }
        let members = [("id", json!(id.to_string())), ("items", self.items.into())];
        self.console.document(&json::document("logs", members))
    }
}

/// `luzia explain`.
pub fn explain(args: &ExplainArgs, app: &App, console: &mut Console) -> Answer {
    match app.explain(&app.target(&args.target)?)? {
        Why::Task(why) => explain_task(&why, console)?,
        Why::Lane(why) => explain_lane(&why, app, console)?,
    }
    Ok(Exit::Done.code())
}

fn explain_task(why: &TaskWhy, console: &mut Console) -> Result<(), Stop> {
    let (task, now) = (&why.task, console.now);
    if console.is_json() {
        let mut value = json::task(task);
        if let Value::Object(members) = &mut value {
            let reasons: Vec<Value> = why.obstacles.iter().map(|o| words::obstacle_json(o, task, now)).collect();
            members.insert("reasons".into(), reasons.into());
            members.insert("lanes_now".into(), why.lanes.iter().map(lane_json).collect::<Vec<_>>().into());
            let supervisor =
                why.supervisor.map(|who| json!({ "pid": who.pid, "alive": who.is_alive, "stopped": who.is_stopped, "unseen": who.blind.map(|blind| blind.reason().text()) }));
            members.insert("supervisor".into(), supervisor.unwrap_or_default());
            if let Some(pid) = why.supervisor.and_then(|supervisor| supervisor.pid) {
                members.insert("supervisor_pid".into(), pid.into());
            }
        }
        return console.document(&json::single("explain", value));
    }
    let mut text = String::new();
    match (task.status, &task.outcome, why.supervisor) {
        (Status::Pending, ..) if why.obstacles.is_empty() => {
            text += &format!("{} waits for nothing: it starts at the next scheduling pass\n", task.id);
        }
        (Status::Pending, ..) => text += &format!("{} of user \"{}\" waits:\n", task.id, task.user),
        (_, Some(outcome), _) => {
            text += &format!("{} is over: {} at {}, {}\n", task.id, task.status, outcome.completed_at, outcome.summary);
        }
        (status, None, Some(supervisor)) => text += &format!("{} is {status}; {}\n", task.id, supervised(supervisor)),
        (status, None, None) => text += &format!("{} is {status}\n", task.id),
    }
    for obstacle in &why.obstacles {
        let (reason, next) = words::obstacle_text(obstacle, task, now);
        text += &format!("  {}: {reason}\n", obstacle.word());
        if let Some(next) = next {
            text += &format!("      try: {next}\n");
        }
    }
    console.out(&escape_lines(&text))
}

fn supervised(supervisor: Supervisor) -> String {
    if let Some(blind) = supervisor.blind {
        return format!("it has lost its supervisor; {}", blind.reason().text());
    }
    match (supervisor.pid, supervisor.is_alive) {
        (Some(pid), true) if supervisor.is_stopped => {
            format!("its supervisor, process {pid}, is stopped: nobody watches it\n      try: kill -CONT {pid}")
        }
        (Some(pid), true) => format!("its supervisor, process {pid}, is alive (supervisor.lock is held)"),
        (Some(pid), false) => format!("its supervisor, process {pid}, is dead; the next pass recovers the task"),
        (None, true) => "its command has not started yet".to_owned(),
        (None, false) => {
            "nobody supervises it and its command was not started; the next pass queues it again".to_owned()
        }
    }
}

fn lane_json(lane: &crate::app::LaneNow) -> Value {
    json!({
        "lane": lane.lane.to_string(),
        "limit": if lane.limit == u32::MAX { Value::Null } else { lane.limit.into() },
        "holders": lane.holders.iter().map(words::holder_json).collect::<Vec<_>>(),
    })
}

fn explain_lane(why: &LaneWhy, app: &App, console: &mut Console) -> Result<(), Stop> {
    let now = console.now;
    let first = why.first.map(|id| app.existing(id)).transpose()?;
    if console.is_json() {
        let mut value = lane_json(&why.lane);
        if let Value::Object(members) = &mut value {
            members.insert("pending".into(), why.pending.into());
            members.insert("first".into(), json!(why.first.map(|id| id.to_string())));
            let reasons: Vec<Value> = first
                .iter()
                .flat_map(|task| why.obstacles.iter().map(|obstacle| words::obstacle_json(obstacle, task, now)))
                .collect();
            members.insert("reasons".into(), reasons.into());
        }
        return console.document(&json::single("explain", value));
    }
    let lane = &why.lane.lane;
    let mut text = String::new();
    if why.lane.holders.is_empty() {
        text += &format!("lane \"{lane}\" is free\n");
    }
    for holder in &why.lane.holders {
        text += &format!("lane \"{lane}\" is held by {}\n", words::holder_text(holder, now));
        if let Some(expires) = holder.expires_at.filter(|at| *at > now) {
            let left = u64::try_from(expires.ms_since(now)).unwrap_or(0);
            text += &format!("  expires_at {expires}, in {}\n", format_duration(left));
        }
        text += &format!("  try: {}\n", words::release_command(&lane.to_string(), holder));
    }
    if why.pending > 0 {
        text += &format!("{} pending", why.pending);
        if let Some(task) = &first {
            text += &format!(", first {}", task.id);
        }
        text += "\n";
    }
    for (task, obstacle) in first.iter().flat_map(|task| why.obstacles.iter().map(move |obstacle| (task, obstacle))) {
        let (reason, _) = words::obstacle_text(obstacle, task, now);
        text += &format!("  {}: {reason}\n", obstacle.word());
    }
    console.out(&escape_lines(&text))
}
