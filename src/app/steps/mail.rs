//! `emit`: an event goes into the mailbox of every task that it is for.

use crate::app::look::list::Filter;
use crate::app::{App, AppError, Code, Kind};
use crate::model::{LaneName, Name, TaskId};
use crate::policy::steps::names::is_event_name;
use crate::store::{Event, Mail};
use serde_json::{Value, json};

/// The most bytes of the data of an event, as JSON.
const MOST_DATA_BYTES: usize = 256 * 1024;

/// For whom an event is. All that is named must be so.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Address {
    /// This task.
    pub task: Option<TaskId>,
    /// The unfinished tasks with the lane of this thread.
    pub thread: Option<String>,
    /// The unfinished tasks of this user.
    pub user: Option<Name>,
}

/// An event that was delivered: the tasks, each with its number in their mailboxes.
pub type Delivered = Vec<(TaskId, u64)>;

/// Reads the data of an event.
pub fn event_data(text: Option<&str>) -> Result<Value, AppError> {
    let Some(text) = text else { return Ok(Value::Null) };
    if text.len() > MOST_DATA_BYTES {
        return Err(AppError::usage(format!(
            "--data has {} bytes, and {MOST_DATA_BYTES} are the most; nothing was sent",
            text.len()
        ))
        .hint("put large data into a file, and its path into --data"));
    }
    serde_json::from_str(text).map_err(|error| {
        AppError::usage(format!("--data is not JSON: {error}; nothing was sent"))
            .hint("such as --data '{\"from\":\"ana\",\"text\":\"yes\"}'")
    })
}

pub(crate) fn check_name(event: &str) -> Result<(), AppError> {
    if is_event_name(event) {
        return Ok(());
    }
    let shown: String = event.chars().take(80).collect();
    Err(AppError::usage(format!("\"{shown}\" is not the name of an event; nothing was sent"))
        .hint("letters, digits and _ - . :, such as MESSAGE_RECEIVED"))
}

impl App {
    /// Sends an event to every task of an address: all tasks that are not over now, and at least one.
    pub fn emit(&self, event: &str, to: &Address, data: &Value) -> Result<Delivered, AppError> {
        check_name(event)?;
        let targets = self.addressees(to)?;
        let mut delivered = Delivered::new();
        for id in targets {
            let mail = Mail {
                event: event.to_owned(),
                thread: to.thread.clone(),
                user: to.user.as_ref().map(ToString::to_string),
                data: data.clone(),
                ..Mail::default()
            };
            let mut addressee = None;
            let sent: Result<u64, AppError> = self.store.deliver(id, mail, || {
                addressee = Some(self.unfinished(id)?);
                Ok(())
            });
            match sent {
                Ok(number) => {
                    if let Some(task) = addressee {
                        let data = json!({ "event": event, "number": number });
                        self.store.note(&Event::of("emitted", &task).with(data));
                    }
                    delivered.push((id, number));
                }
                // Of several, one may have ended since they were looked up.
                Err(error) if error.0.code == Code::TaskOver && to.task.is_none() => {}
                Err(error) => return Err(partly(&delivered, error)),
            }
        }
        if delivered.is_empty() {
            return Err(nobody(to));
        }
        // The event is kept, whatever comes of this: the next pass does what was not done.
        let ids: Vec<TaskId> = delivered.iter().map(|(id, _)| *id).collect();
        let _ = self.resume_addressed(&ids);
        Ok(delivered)
    }

    fn addressees(&self, to: &Address) -> Result<Vec<TaskId>, AppError> {
        let lane = to.thread.as_deref().map(thread_lane).transpose()?;
        if let Some(id) = to.task {
            let task = self.unfinished(id)?;
            let has_lane = lane.as_ref().is_none_or(|lane| task.all_lanes().contains(lane));
            let is_of_user = to.user.as_ref().is_none_or(|user| task.user == *user);
            return if has_lane && is_of_user { Ok(vec![id]) } else { Err(nobody(to)) };
        }
        if lane.is_none() && to.user.is_none() {
            return Err(AppError::usage("nobody was named that the event is for; nothing was sent".to_owned())
                .hint("--task, --thread or --user says for whom it is"));
        }
        let filter = Filter { lane, user: to.user.clone(), ..Filter::default() };
        let mut ids = Vec::new();
        // A record that does not read is `doctor`'s to report.
        self.list(&filter, &mut |found| {
            ids.extend(found.ok().map(|task| task.id));
            true
        })?;
        ids.sort_unstable();
        if ids.is_empty() { Err(nobody(to)) } else { Ok(ids) }
    }
}

fn thread_lane(id: &str) -> Result<LaneName, AppError> {
    LaneName::parse(&format!("thread:{id}")).map_err(|error| {
        AppError::usage(format!(
            "\"{}\" is not a thread: {error}; nothing was sent",
            id.chars().take(80).collect::<String>()
        ))
    })
}

fn nobody(to: &Address) -> AppError {
    let task = to.task.map(|id| format!("{id}"));
    let thread = to.thread.as_ref().map(|id| format!("of thread \"{id}\""));
    let user = to.user.as_ref().map(|name| format!("of user \"{name}\""));
    let who: Vec<String> = [task, thread, user].into_iter().flatten().collect();
    AppError::new(
        Kind::No,
        Code::NoAddressee,
        format!("there is no unfinished task {}; nothing was sent", who.join(" ")),
    )
    .hint("an event is kept for tasks that are queued or run when it is sent")
    .next("luzia list")
}

fn partly(delivered: &Delivered, mut error: AppError) -> AppError {
    if !delivered.is_empty() {
        let ids: Vec<String> = delivered.iter().map(|(id, _)| id.to_string()).collect();
        error.0.message = format!("the event was sent to {}, and then: {}", ids.join(" "), error.0.message);
    }
    error
}
