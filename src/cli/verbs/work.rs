//! `enqueue`, `run`, `wait`, `cancel` and `retry`.

use super::Account;
use super::look::running_json;
use crate::app::accepted::are_queued;
use crate::app::enqueue::{Accepted, Caller, NewTask};
use crate::app::inside::RanWithin;
use crate::app::logs::Stream;
use crate::app::retry::Order;
use crate::app::run::{Audience, Wish};
use crate::app::{App, AppError, Kind, Obstacle};
use crate::cli::args::{CancelArgs, EnqueueArgs, OutputFormat, RetryArgs, RunArgs, WaitArgs};
use crate::cli::console::{Answer, Console, Stop};
use crate::cli::exit::Exit;
use crate::cli::{door, json, words};
use crate::model::{Status, Task, TaskId};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;

/// `luzia enqueue`.
pub fn enqueue(
    args: &EnqueueArgs,
    app: &App,
    caller: &Caller,
    read: &dyn Fn(&str) -> Result<String, AppError>,
    console: &mut Console,
) -> Answer {
    if let Some(path) = &args.from {
        if door::new_task(&args.task, &args.command) != NewTask::default() {
            return Err(AppError::usage("the options of one task do not go together with --from")
                .hint("what a task of the batch is to have stands in its line")
                .into());
        }
        return enqueue_lines(&read(path)?, app, caller, console);
    }
    let new = NewTask { is_waited_for: args.wait, ..door::new_task(&args.task, &args.command) };
    if args.wait {
        app.refuse_waiting_inside(&new, caller)?;
    }
    let accepted = app.enqueue(&new, caller)?;
    print_accepted(app, &accepted, console).map_err(|stop| unprinted(stop, app, std::slice::from_ref(&accepted)))?;
    if !args.wait {
        return Ok(Exit::Done.code());
    }
    let id = accepted.task.id;
    wait_for_accepted(id, app, console).map_err(|error| app.after_accepting(id, error).into())
}

fn wait_for_accepted(id: TaskId, app: &App, console: &mut Console) -> Result<u8, AppError> {
    app.refuse_waiting_for(&[id], false)?;
    if app.inside.is_none() && !app.has_dispatcher()? {
        console.hint("nothing runs that would start it; luzia dispatch --drain does");
    }
    let over = app.wait(&[id], false, None, &mut |task| progress(task, None, console))?;
    Ok(over.first().map_or(Exit::No.code(), words::wait_code))
}

/// Names tasks whose ids could not be printed: they are queued all the same.
fn unprinted(stop: Stop, app: &App, accepted: &[Accepted]) -> Stop {
    let [first, ..] = accepted else { return stop };
    let error = match stop {
        Stop::Unwritten(error) => error.to_string(),
        Stop::Refused(error) if accepted.len() == 1 => {
            return Stop::Refused(app.after_accepting(first.task.id, error));
        }
        Stop::Refused(error) => error.to_string(),
        other => return other,
    };
    let which = are_queued(&accepted.iter().map(|one| one.task.id).collect::<Vec<_>>());
    let message = format!("{which}, but could not be printed: {error}");
    Stop::Refused(AppError::new(Kind::Io, "OUTPUT", message).next(format!("luzia show {}", first.task.id)))
}

fn print_accepted(app: &App, accepted: &Accepted, console: &mut Console) -> Result<(), Stop> {
    let task = &accepted.task;
    if !console.is_json() {
        if !accepted.created {
            console.say(&has_key(task));
        }
        return console.out(&format!("{}\n", task.id));
    }
    let position = if task.status == Status::Pending { Some(app.position(task)?) } else { None };
    console.document(&json::single("enqueue", accepted_json(app, accepted, position)?))
}

/// Why nothing was queued: another task has the key.
fn has_key(task: &Task) -> String {
    format!("{} has that key already and is {}", task.id, task.status)
}

fn accepted_json(app: &App, accepted: &Accepted, position: Option<u64>) -> Result<Value, AppError> {
    let task = &accepted.task;
    let mut value = json!({
        "success": true,
        "queued": task.status == Status::Pending,
        "created": accepted.created,
        "id": task.id.to_string(),
        "task_id": task.id.to_string(),
        "position": position,
    });
    if let (Value::Object(members), Value::Object(more)) = (&mut value, running_json(app, task)?) {
        for (key, value) in more {
            members.entry(key).or_insert(value);
        }
    }
    Ok(value)
}

fn enqueue_lines(text: &str, app: &App, caller: &Caller, console: &mut Console) -> Answer {
    let batch = door::task_lines(text)?;
    if batch.is_empty() {
        console.say("there was no line, so nothing was queued");
        return Ok(Exit::Done.code());
    }
    let accepted = app.enqueue_batch(&batch, caller)?;
    print_batch(app, &accepted, console).map_err(|stop| unprinted(stop, app, &accepted))?;
    Ok(Exit::Done.code())
}

fn print_batch(app: &App, accepted: &[Accepted], console: &mut Console) -> Result<(), Stop> {
    if console.is_json() {
        let items: Result<Vec<Value>, AppError> =
            accepted.iter().map(|accepted| accepted_json(app, accepted, None)).collect();
        return console.items("enqueue", items?);
    }
    let ids: String = accepted.iter().map(|accepted| format!("{}\n", accepted.task.id)).collect();
    console.out(&ids)
}

/// `luzia run`.
pub fn run(args: &RunArgs, app: &App, caller: &Caller, terminal: &mut Terminal, console: &mut Console) -> Answer {
    let new =
        NewTask { is_grouped: args.group_output, is_waited_for: true, ..door::new_task(&args.task, &args.command) };
    if let Some(within) = app.run_within(&new, caller)? {
        return Ok(told_within(&within, console));
    }
    app.refuse_waiting_inside(&new, caller)?;
    let accepted = app.enqueue(&new, caller)?;
    if args.no_wait && accepted.created {
        let id = accepted.task.id;
        let blocked = app.start_or_take_back(id).map_err(|error| app.after_accepting(id, error))?;
        if let Some((task, obstacle)) = blocked {
            let (text, next) = words::obstacle_text(&obstacle, &task, console.now);
            // The task itself is out of the queue by now.
            let next = next.filter(|_| !matches!(obstacle, Obstacle::Delayed { .. }));
            let mut error = AppError::new(Kind::Busy, "CANNOT_START", format!("it cannot start at once: {text}"))
                .hint("without --no-wait it would wait for its turn");
            error.0.next = next.into_iter().collect();
            error.0.log = words::locked_line(&obstacle, &task).into_iter().collect();
            return Err(error.into());
        }
    }
    if accepted.created {
        console.log(&format!("{} is queued for user \"{}\"", accepted.task.id, accepted.task.user));
    } else {
        console.say(&has_key(&accepted.task));
        app.refuse_waiting_for(&[accepted.task.id], false)?;
    }
    let unread = if accepted.created { Wish::Unread } else { Wish::Leave };
    let mut room = Room { console, terminal, unread, closed: None, rest: VecDeque::new() };
    let task = app.see_through(accepted.task.id, args.group_output, &mut room)?;
    match room.closed {
        // Its own end, where it came to one, is the better answer.
        Some(Stop::Closed) if !task.status.is_final() || task.status == Status::Cancelled => return Err(Stop::Closed),
        None | Some(Stop::Closed) => {}
        Some(stop) => return Err(stop),
    }
    if console.verbose {
        app.event_messages(task.id, task.created_at)?.iter().for_each(|line| console.log(line));
    }
    if console.is_json() {
        let value = json::single("run", json::task(&task));
        console.err_bytes(json::line(&value).as_bytes());
    } else if let Some(outcome) = task.outcome.as_ref().filter(|outcome| outcome.status != Status::Completed) {
        console.say(&format!("luzia: {} {}: {}", task.id, task.status, outcome.summary));
    }
    Ok(words::run_code(&task))
}

/// A command that was no task of its own: its output has gone where that of the task around it goes.
fn told_within(within: &RanWithin, console: &mut Console) -> u8 {
    let code = words::end_code(within.end);
    console.log(&format!("{} holds every lane of it, so it ran as a part of that", within.task.id));
    if console.is_json() {
        let mut value = json::task(&within.task);
        if let Value::Object(members) = &mut value {
            members.extend([("within".to_owned(), true.into()), ("exit_code".to_owned(), code.into())]);
        }
        console.err_bytes(json::line(&json::single("run", value)).as_bytes());
    }
    code
}

/// What `run` asks of its terminal.
pub struct Terminal<'a> {
    /// How often its user has interrupted it.
    pub interrupts: &'a mut dyn FnMut() -> u32,
    /// Waits for so long, or for ever, until a stream takes a piece; false when the time is over or its user interrupts.
    pub has_room: &'a dyn Fn(Stream, Option<Duration>) -> bool,
    /// How many bytes a piece has.
    pub piece: usize,
}

/// The terminal as the audience of a run.
struct Room<'a, 'b, 'c> {
    console: &'a mut Console<'b>,
    terminal: &'a mut Terminal<'c>,
    /// What is to be done when the reader of the output has gone.
    unread: Wish,
    closed: Option<Stop>,
    /// What the reader has not taken yet.
    rest: VecDeque<(Stream, Vec<u8>)>,
}

impl Room<'_, '_, '_> {
    /// How much of it was passed on before its user interrupted.
    fn pass_on(&mut self, stream: Stream, bytes: &[u8]) -> usize {
        // Whoever has interrupted twice does not wait for a reader that has paused.
        let patience = ((self.terminal.interrupts)() > 1).then_some(Duration::ZERO);
        let mut done = 0;
        for piece in bytes.chunks(self.terminal.piece) {
            if self.closed.is_none() {
                if !(self.terminal.has_room)(stream, patience) {
                    break;
                }
                // Where it cannot be written the task goes on: its log has all of it.
                let passed = match stream {
                    Stream::Out => self.console.out_bytes(piece),
                    Stream::Err => self.console.pass_err_on(piece),
                };
                self.closed = passed.err();
            }
            done += piece.len();
        }
        done
    }
}

impl Audience for Room<'_, '_, '_> {
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        self.rest.push_back((stream, bytes.to_vec()));
        while let Some((stream, bytes)) = self.rest.pop_front() {
            let done = self.pass_on(stream, &bytes);
            if done < bytes.len() {
                self.rest.push_front((stream, bytes[done..].to_vec()));
                return false;
            }
        }
        true
    }

    fn progress(&mut self, task: &Task, obstacle: Option<&Obstacle>) {
        progress(task, obstacle, self.console);
    }

    fn failed(&mut self, error: &AppError) {
        self.console.trouble(&words::report_of(error));
    }

    fn wish(&mut self) -> Wish {
        match (self.terminal.interrupts)() {
            0 if matches!(self.closed, Some(Stop::Closed)) => self.unread,
            0 => Wish::GoOn,
            1 => Wish::Cancel,
            _ => Wish::Kill,
        }
    }
}

/// One line a change, and only where there is something to wait for.
fn progress(task: &Task, obstacle: Option<&Obstacle>, console: &mut Console) {
    let is_news = console.verbose || console.streams.is_err_terminal || obstacle.is_some();
    if !is_news || console.is_json() {
        return;
    }
    match obstacle {
        Some(Obstacle::NoDispatcher) | None if task.status == Status::Pending && !console.verbose => {}
        Some(obstacle) => {
            let (text, _) = words::obstacle_text(obstacle, task, console.now);
            if let Some(line) = words::locked_line(obstacle, task) {
                console.log(&line);
            }
            console.say(&format!("luzia: {} waits: {text}", task.id));
        }
        None if task.status == Status::Running && !console.verbose => {}
        None if task.status.is_final() => {}
        None => console.say(&format!("luzia: {} {}", task.id, task.status)),
    }
}

fn ids(app: &App, texts: &[String]) -> Result<Vec<TaskId>, AppError> {
    let mut ids = Vec::with_capacity(texts.len());
    for text in texts {
        let id = app.task_id(text)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// `luzia wait`.
pub fn wait(args: &WaitArgs, app: &App, console: &mut Console) -> Answer {
    let ids = ids(app, &args.tasks)?;
    let timeout_ms = door::duration("timeout", args.timeout.as_deref())?;
    // Who waits for a time only does not wait for ever.
    if timeout_ms.is_none() {
        app.refuse_waiting_for(&ids, args.any)?;
    }
    for id in &ids {
        let task = app.existing(*id)?;
        let waits = task.status == Status::Pending && app.inside.is_none();
        if waits && (!app.has_dispatcher()? || app.first_obstacle(&task)? == Some(Obstacle::NoDispatcher)) {
            console.hint("nothing runs that would start pending tasks; luzia dispatch --drain does");
            break;
        }
    }
    let over = app.wait(&ids, args.any, timeout_ms, &mut |task| progress(task, None, console))?;
    if console.is_json() {
        console.items("wait", over.iter().map(json::task))?;
    } else if console.format == OutputFormat::Name {
        over.iter().try_for_each(|task| console.out(&format!("{}\n", task.id)))?;
    } else {
        for task in &over {
            if let Some(outcome) = &task.outcome {
                console.say(&format!("{} {}: {}", task.id, task.status, outcome.summary));
            }
        }
    }
    let worst = if args.any { over.first().map(words::wait_code) } else { over.iter().map(words::wait_code).max() };
    Ok(worst.unwrap_or(Exit::Done.code()))
}

/// `luzia cancel`.
pub fn cancel(args: &CancelArgs, app: &App, account: Account, console: &mut Console) -> Answer {
    let grace_ms = door::duration("grace", args.grace.as_deref())?;
    let ids = ids(app, &args.tasks)?;
    for id in &ids {
        app.existing(*id)?;
    }
    let by = args.by.clone().map_or_else(account, Ok)?;
    each(&ids, "cancel", console, |id| app.cancel(id, &by, args.reason.as_deref(), grace_ms))
}

/// `luzia retry`.
pub fn retry(args: &RetryArgs, app: &App, console: &mut Console) -> Answer {
    let mut ids = ids(app, &args.tasks)?;
    for id in &ids {
        app.existing(*id)?;
    }
    // A task comes after older ones only, which are to be in the queue by then.
    ids.sort_unstable();
    let order = if args.no_after { Order::Dropped } else { Order::Kept };
    each(&ids, "retry", console, |id| app.retry(id, order))
}

/// Does one thing to each task; the first refusal decides the exit code, and does not keep the others from their turn.
fn each(
    ids: &[TaskId],
    schema: &str,
    console: &mut Console,
    mut act: impl FnMut(TaskId) -> Result<Task, AppError>,
) -> Answer {
    let (mut items, mut refused) = (Vec::new(), None);
    for id in ids {
        match act(*id) {
            Ok(task) if console.is_json() => items.push(json::task(&task)),
            Ok(task) if console.format == OutputFormat::Name => console.out(&format!("{}\n", task.id))?,
            Ok(task) => console.say(&format!("{} {}", task.id, task.status)),
            Err(error) if refused.is_none() => refused = Some(error),
            Err(error) => {
                let _ = console.report(&words::report_of(&error));
            }
        }
    }
    if console.is_json() && (refused.is_none() || !items.is_empty()) {
        console.items(schema, items)?;
    }
    match refused {
        Some(error) => Err(error.into()),
        None => Ok(Exit::Done.code()),
    }
}
