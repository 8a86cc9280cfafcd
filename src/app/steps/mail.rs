//! `emit`: an event goes into the mailbox of every task to which it is addressed.

use crate::app::pass::resumed::resume_addressed;
use crate::app::query::lanes::Named;
use crate::app::query::list::{Filter, list};
use crate::app::steps::unfinished;
use crate::app::waits::came::is_meant;
use crate::app::waits::open_wait;
use crate::app::{App, AppError, Code};
use crate::model::name::shortened;
use crate::model::{LaneName, Name, TaskId};
use crate::policy::naming::nearest;
use crate::policy::steps::members;
use crate::policy::steps::names::is_event_name;
use crate::policy::steps::waits::WaitKind;
use crate::store::{Event, Mail, OpenWait};
use serde_json::{Value, json};

/// The most bytes of the data of an event, as JSON.
const MOST_DATA_BYTES: usize = 256 * 1024;

/// The address of an event. All named members must match.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Address {
    /// This task.
    pub task: Option<TaskId>,
    /// The unfinished tasks with the lane of this thread.
    pub thread: Option<String>,
    /// The unfinished tasks of this user.
    pub user: Option<Name>,
}

/// An event that was delivered to a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The task.
    pub id: TaskId,
    /// The number of the event in the mailbox.
    pub number: u64,
    /// The wait of the task when the event came.
    pub wait: Option<OpenWait>,
    /// Whether the task waited for this event.
    pub is_meant: bool,
}

impl Delivery {
    /// The members of the event's data that are probably meant for others, each with the other one.
    pub fn slips(&self, data: &Value) -> Vec<(String, &'static str)> {
        let kind = self.wait.as_ref().filter(|_| self.is_meant).and_then(|wait| WaitKind::parse(&wait.kind));
        kind.map_or_else(Vec::new, |kind| members::slips(kind, data))
    }
}

/// An event as it was delivered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivered {
    /// The event.
    pub event: String,
    /// The tasks that keep the event.
    pub to: Vec<Delivery>,
}

impl Delivered {
    /// The event that was probably meant, if no task waited for this one.
    pub fn nearest(&self) -> Option<String> {
        if self.to.iter().any(|delivery| delivery.is_meant) {
            return None;
        }
        let mut names: Vec<&str> = self.to.iter().filter_map(|one| Some(one.wait.as_ref()?.event.as_str())).collect();
        for kind in WaitKind::ALL.into_iter().filter(|kind| kind.is_sent()) {
            names.push(kind.event());
        }
        nearest(&self.event, names).map(str::to_owned)
    }
}

/// Reads the data of an event: JSON, `-` for standard input, or `@` and a file, which `read` reads.
pub fn event_data(text: Option<&str>, read: &dyn Fn(&str) -> Result<String, AppError>) -> Result<Value, AppError> {
    let Some(given) = text else { return Ok(Value::Null) };
    let path = if given == "-" { Some(given) } else { given.strip_prefix('@') };
    let text = match path {
        Some(path) => read(path)?,
        None => given.to_owned(),
    };
    if text.len() > MOST_DATA_BYTES {
        return Err(AppError::usage(format!(
            "--data has {} bytes, and {MOST_DATA_BYTES} are the most; nothing was sent",
            text.len()
        ))
        .hint("put large data into a file, and its path into --data"));
    }
    serde_json::from_str(&text).map_err(|error| {
        AppError::usage(format!("--data is not JSON: {error}; nothing was sent"))
            .hint("such as --data '{\"from\":\"ana\",\"text\":\"yes\"}'; a text alone is --data '\"yes\"'")
    })
}

/// The event that a word names: its name, a kind that `await` knows, or `event:` and a name. Refuses events that luzia itself
/// makes.
pub fn event_name(text: &str) -> Result<String, AppError> {
    let (named, kind) = (text.strip_prefix("event:"), WaitKind::parse(text));
    let event = named.unwrap_or_else(|| kind.map_or(text, |kind| kind.event()));
    let refused = |message: String, hint: &str| Err(AppError::usage(message).hint(hint));
    if event == WaitKind::Agent.event() {
        return refused(
            format!("\"{text}\" is the end of a child, which luzia itself sends; nothing was sent"),
            "`luzia explain TASK` names the children for which a task waits, and what these wait for",
        );
    }
    if event == WaitKind::Delay.event() {
        return refused(
            format!("\"{text}\" is the end of a delay, which comes by its time; nothing was sent"),
            "a wait that others can end: luzia await event:NAME --timeout DUR --on-timeout continue",
        );
    }
    if kind == Some(WaitKind::Output) {
        return refused(
            "\"output\" is read from the logs of a task and is no event; nothing was sent".to_owned(),
            "an event of this name is sent as event:output",
        );
    }
    check_name(event)?;
    Ok(event.to_owned())
}

pub(crate) fn check_name(event: &str) -> Result<(), AppError> {
    if is_event_name(event) {
        return Ok(());
    }
    Err(AppError::usage(format!("\"{}\" is not the name of an event; nothing was sent", shortened(event)))
        .hint("letters, digits and _ - . :, such as MESSAGE_RECEIVED"))
}

/// Sends an event to every task of an address: all tasks that are not over now, and at least one.
pub fn emit(app: &App, event: &str, to: &Address, data: &Value) -> Result<Delivered, AppError> {
    let event = &event_name(event)?;
    let targets = addressees(app, to)?;
    let mut delivered = Delivered { event: event.clone(), to: Vec::new() };
    for id in targets {
        let mail = Mail {
            event: event.clone(),
            thread: to.thread.clone(),
            user: to.user.as_ref().map(ToString::to_string),
            data: data.clone(),
            ..Mail::default()
        };
        let mut addressee = None;
        let wait = open_wait(app, id).ok().flatten();
        let is_meant = wait.as_ref().is_some_and(|open| is_meant(&mail, open));
        let sent: Result<u64, AppError> = app.store.deliver(id, mail, || {
            addressee = Some(unfinished(app, id)?);
            Ok(())
        });
        match sent {
            Ok(number) => {
                if let Some(task) = addressee {
                    let data = json!({ "event": event, "number": number });
                    app.store.note(&Event::of("emitted", &task).with(data));
                }
                delivered.to.push(Delivery { id, number, wait, is_meant });
            }
            // One of several tasks may have ended since they were looked up.
            Err(error) if error.code() == Code::TaskOver && to.task.is_none() => {}
            Err(error) => return Err(partly(&delivered, error)),
        }
    }
    if delivered.to.is_empty() {
        return Err(nobody(to));
    }
    // The event is kept, even if this fails: the next pass does the rest.
    let ids: Vec<TaskId> = delivered.to.iter().map(|delivery| delivery.id).collect();
    let _ = resume_addressed(app, &ids);
    Ok(delivered)
}

fn addressees(app: &App, to: &Address) -> Result<Vec<TaskId>, AppError> {
    let lane = to.thread.as_deref().map(thread_lane).transpose()?;
    if let Some(id) = to.task {
        let task = unfinished(app, id)?;
        let has_lane = lane.as_ref().is_none_or(|lane| task.all_lanes().contains(lane));
        let is_of_user = to.user.as_ref().is_none_or(|user| task.user == *user);
        return if has_lane && is_of_user { Ok(vec![id]) } else { Err(nobody(to)) };
    }
    if lane.is_none() && to.user.is_none() {
        return Err(AppError::usage("the event names no receiver; nothing was sent".to_owned())
            .hint("name the receiver with --task, --thread or --user"));
    }
    let filter = Filter { lane: lane.map(Named::from), user: to.user.clone(), ..Filter::default() };
    let mut ids = Vec::new();
    // `doctor` reports a damaged record.
    list(app, &filter, &mut |found| {
        ids.extend(found.ok().map(|task| task.id));
        true
    })?;
    ids.sort_unstable();
    if ids.is_empty() { Err(nobody(to)) } else { Ok(ids) }
}

fn thread_lane(id: &str) -> Result<LaneName, AppError> {
    LaneName::parse(&format!("thread:{id}"))
        .map_err(|error| AppError::usage(format!("\"{}\" is not a thread: {error}; nothing was sent", shortened(id))))
}

fn nobody(to: &Address) -> AppError {
    let task = to.task.map(|id| format!("{id}"));
    let thread = to.thread.as_ref().map(|id| format!("of thread \"{id}\""));
    let user = to.user.as_ref().map(|name| format!("of user \"{name}\""));
    let who: Vec<String> = [task, thread, user].into_iter().flatten().collect();
    AppError::new(Code::NoAddressee, format!("there is no unfinished task {}; nothing was sent", who.join(" ")))
        .hint("an event is kept for tasks that are queued or run when it is sent")
        .next("luzia list")
}

fn partly(delivered: &Delivered, error: AppError) -> AppError {
    if delivered.to.is_empty() {
        return error;
    }
    let ids: Vec<String> = delivered.to.iter().map(|delivery| delivery.id.to_string()).collect();
    error.reworded(|why| format!("the event was sent to {}, and then: {why}", ids.join(" ")))
}
