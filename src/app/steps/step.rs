//! `step`: a part of a task that is done once, however often the task is started again.

use crate::app::locks::lock::{End, not_started, wait_for};
use crate::app::steps::words::check_step_name;
use crate::app::steps::{own_task, start_of, unfinished};
use crate::app::{App, AppError, Code};
use crate::model::{Task, TaskId};
use crate::os::{Exit, Handle, InPlace, Woken};
use crate::policy::outcome::backoff_ms;
use crate::policy::steps::names::MOST_OUTPUT_BYTES;
use crate::store::Hold;
use crate::store::{Event, StepRecord, StoreError};
use serde_json::json;
use std::time::Duration;

/// Size of the pieces in which a step's output is passed on.
const PIECE: usize = 64 * 1024;
/// Interval between two looks at the output of a command if no event reports it.
const LOOK: Duration = Duration::from_millis(200);

/// The meaning of a failure of a step's command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnError {
    /// The step is not done; its code is passed on.
    Fail,
    /// The step is done, and its code is kept.
    Store,
    /// The step is tried again, with growing pauses, this many times; then as `Fail`.
    Retry(u32),
}

/// A step as it was asked for.
pub struct StepOrder<'a> {
    /// The name of the step.
    pub name: &'a str,
    /// The meaning of a failure.
    pub on_error: OnError,
    /// The command of the step.
    pub command: &'a [String],
    /// The step around this process, if any.
    pub around: Option<&'a str>,
}

/// Messages of a step while it goes on.
pub enum StepNews<'a> {
    /// Output of the command of the step.
    Output(&'a [u8]),
    /// A sentence for people.
    Says(String),
}

/// The result of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StepEnd {
    /// The end of the step's command.
    pub end: End,
    /// Whether the step was done in an earlier start, so that nothing ran now.
    pub is_remembered: bool,
    /// Whether the step is done.
    pub is_done: bool,
}

type Tell<'a> = dyn FnMut(StepNews) -> Result<(), AppError> + 'a;

/// Runs a step of the task inside which this process runs, unless the step is done already.
pub fn step(app: &App, order: &StepOrder, tell: &mut Tell) -> Result<StepEnd, AppError> {
    check_step_name(order.name, "a step; nothing was run")?;
    let id = own_task(app, "luzia step test -- make test")?;
    let task = unfinished(app, id)?;
    let start = start_of(app, &task, "nothing was run")?;
    let lock = app.store.lock_step(id, order.name)?.ok_or_else(|| runs_already(id, order))?;
    if let Some(done) = done_step(app, id, order.name)? {
        return remembered(id, start, &done, tell);
    }
    do_step(app, &task, start, order, &lock, tell)
}

fn runs_already(id: TaskId, order: &StepOrder) -> AppError {
    let name = order.name;
    if order.around == Some(name) {
        return AppError::usage(format!("step \"{name}\" of {id} runs this step of the same name; nothing was run"))
            .hint("give the inner step a name of its own");
    }
    AppError::new(Code::StepRuns, format!("step \"{name}\" of {id} runs already; nothing was run"))
        .hint("its command, or a process that it left behind, has not ended")
}

fn done_step(app: &App, id: TaskId, name: &str) -> Result<Option<StepRecord>, AppError> {
    app.store.step(id, name).map_err(|error| match error {
        StoreError::Corrupt { thing, why } => AppError::new(
            Code::StepCorrupt,
            format!("the record of step \"{name}\" of {id} cannot be read: \"{thing}\": {why}"),
        )
        .hint("the step was done once; nothing was run; move the file away if the step may run again"),
        other => other.into(),
    })
}

fn do_step(
    app: &App,
    task: &Task,
    start: u32,
    order: &StepOrder,
    lock: &Hold,
    tell: &mut Tell,
) -> Result<StepEnd, AppError> {
    let (id, name) = (task.id, order.name);
    let mut tries = 0;
    loop {
        tries += 1;
        let (begun, begun_at) = (app.host.boot_ms(), app.host.now());
        let mut output = app.store.step_output(id, name)?;
        let exit = run_step(app, task, order, lock, output.as_mut(), tell)?;
        let end = End::from(exit);
        let code = code_of(end);
        let is_done = code == 0 || order.on_error == OnError::Store;
        let kept = output.read_part(0, MOST_OUTPUT_BYTES).map_err(|error| unread(name, &error))?;
        let mut record = StepRecord {
            name: name.to_owned(),
            exit_code: code,
            stdout_bytes: output.meta().map_err(|error| unread(name, &error))?.size,
            start: u64::from(start),
            tries,
            ended_at: app.host.now().to_string(),
            ran_ms: app.host.boot_ms().saturating_sub(begun),
            ..StepRecord::default()
        };
        record.keep_output(&kept);
        // The place of the output: `luzia logs TASK --step NAME` prints it.
        let data = json!({ "step": name, "exit_code": code, "begun_at": begun_at.to_string(), "ran_ms": record.ran_ms,
            "tries": tries, "done": is_done, "stdout_bytes": record.stdout_bytes,
            "output_ref": format!("step:{id}/{name}") });
        if is_done {
            app.store.record_step(id, record).map_err(|error| not_recorded(name, code, error.into()))?;
        } else if let Err(error) = app.store.record_failed_step(id, record) {
            tell(StepNews::Says(format!("warning: the failure of step \"{name}\" is not recorded: {error}")))?;
        }
        app.store.note(&Event::of("step", task).with(data));
        drop(output);
        app.store.drop_step_output(id, name)?;
        match order.on_error {
            OnError::Retry(most) if !is_done && tries <= most => {
                let pause = u64::try_from(backoff_ms(&Task { failures: tries, ..task.clone() })).unwrap_or(0);
                tell(StepNews::Says(format!(
                    "luzia: step \"{name}\" ended with {code}; try {} of {} in {:.1} s",
                    tries + 1,
                    u64::from(most) + 1,
                    Duration::from_millis(pause).as_secs_f64()
                )))?;
                app.host.sleep(Duration::from_millis(pause));
            }
            _ => return Ok(StepEnd { end, is_remembered: false, is_done }),
        }
    }
}

/// Runs the command of a step, and passes its output on while it comes.
fn run_step(
    app: &App,
    task: &Task,
    order: &StepOrder,
    lock: &Hold,
    output: &mut dyn Handle,
    tell: &mut Tell,
) -> Result<Exit, AppError> {
    let word = order.command.first().map_or("", String::as_str);
    let env = step_variables(app, task.id, order.name)?;
    let place = InPlace {
        argv: order.command,
        env: &env,
        cwd: None,
        has_input: true,
        held: lock.share().into_iter().collect(),
        output: output.share(),
    };
    let mut child = app.host.start_here(place).map_err(|error| not_started(word, &error))?;
    child.heed(output.share().into_iter().collect());
    let (mut told, mut reader) = (0, Ok(()));
    loop {
        let woken = wait_for(child.as_mut(), word, Some(LOOK))?;
        if reader.is_ok() {
            // A reader that has gone does not end the command, which must come to be recorded.
            reader = pass_on(order.name, output, &mut told, tell);
        }
        if let Woken::Exited(exit) = woken {
            return Ok(exit);
        }
    }
}

/// The variables that the command of a step gets in addition.
fn step_variables(app: &App, id: TaskId, name: &str) -> Result<Vec<(String, String)>, AppError> {
    let mut env = vec![("LUZIA_STEP_NAME".to_owned(), name.to_owned())];
    if let Some(last) = app.store.last_step(id)? {
        let output = last.output();
        let result = String::from_utf8_lossy(&output).replace('\0', "");
        let left_out = last.stdout_bytes.saturating_sub(output.len() as u64);
        env.push(("LUZIA_LAST_STEP".to_owned(), last.name));
        env.push(("LUZIA_LAST_EXIT".to_owned(), last.exit_code.to_string()));
        env.push(("LUZIA_LAST_RESULT_LEFT_OUT".to_owned(), left_out.to_string()));
        env.push(("LUZIA_LAST_RESULT".to_owned(), result.trim_end_matches('\n').to_owned()));
    }
    Ok(env)
}

fn pass_on(name: &str, output: &mut dyn Handle, told: &mut u64, tell: &mut Tell) -> Result<(), AppError> {
    loop {
        let bytes = output.read_part(*told, PIECE).map_err(|error| unread(name, &error))?;
        if bytes.is_empty() {
            return Ok(());
        }
        *told += bytes.len() as u64;
        tell(StepNews::Output(&bytes))?;
    }
}

fn remembered(id: TaskId, start: u32, done: &StepRecord, tell: &mut Tell) -> Result<StepEnd, AppError> {
    if done.start == u64::from(start) {
        return Err(AppError::usage(format!(
            "{id} has done step \"{}\" already in this start; nothing was run",
            done.name
        ))
        .hint("every step needs a name of its own, such as fetch-1 and fetch-2 in a loop"));
    }
    tell(StepNews::Says(format!(
        "luzia: step \"{}\" was done in start {}; its output is printed again, and nothing was run",
        done.name, done.start
    )))?;
    let kept = done.output();
    tell(StepNews::Output(&kept))?;
    if done.stdout_bytes > kept.len() as u64 {
        tell(StepNews::Says(format!("luzia: of {} bytes the first {} were kept", done.stdout_bytes, kept.len())))?;
    }
    Ok(StepEnd { end: End::Code(i32::from(done.exit_code)), is_remembered: true, is_done: true })
}

fn code_of(end: End) -> u8 {
    match end {
        End::Code(code) => u8::try_from(code).unwrap_or(1),
        End::Signal(signal) => u8::try_from(signal).ok().and_then(|signal| signal.checked_add(128)).unwrap_or(u8::MAX),
    }
}

fn unread(name: &str, error: &std::io::Error) -> AppError {
    AppError::new(Code::Io, format!("cannot read the output of step \"{name}\": {error}"))
        .hint("its command was run, and is not recorded as done")
}

fn not_recorded(name: &str, code: u8, error: AppError) -> AppError {
    let words = format!("the command of step \"{name}\" ended with {code}, and the record of that may be lost");
    error.reworded(|why| format!("{words}: {why}")).hint("a further start of the task may run it again")
}
