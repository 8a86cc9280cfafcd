//! Recognition of an await in a later start of its task: by its name, else by the step around it, its own arguments, and the
//! number of equal awaits before it. So an answer never goes to another await.

use crate::app::AppError;
use crate::app::steps::wait::WaitOrder;
use crate::store::{DoneWait, OpenWait, Waits};
use serde_json::json;

/// The identity of an await.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Known {
    /// The key of the await.
    pub key: String,
    /// Number of awaits with this key before the await in this start.
    pub turn: u32,
    /// Number of awaits before the await in this start. Versions without keys recognized it by this alone.
    pub position: usize,
}

impl Known {
    /// Counts an await of this start.
    pub(super) fn of(order: &WaitOrder, step: u32, waits: &mut Waits) -> Self {
        let key = match &order.name {
            Some(name) => json!([step, name]),
            None => json!([
                step,
                order.around,
                order.kind.word(),
                order.event,
                order.filter,
                order.expect,
                order.time_ms,
                order.on_timeout.text(),
                order.timeout_command,
            ]),
        };
        let key = key.to_string();
        let position = waits.next;
        waits.next += 1;
        let asked = waits.asked.entry(key.clone()).or_insert(0);
        let turn = if order.name.is_some() { 0 } else { *asked };
        *asked += 1;
        Self { key, turn, position }
    }

    /// The result of the await in an earlier start.
    pub(super) fn done(&self, order: &WaitOrder, waits: &Waits) -> Result<Option<DoneWait>, AppError> {
        let is_same = |done: &&DoneWait| done.key == self.key && done.turn == self.turn;
        if let Some(done) = waits.done.iter().find(is_same) {
            if waits.asked.get(&self.key).is_some_and(|asked| *asked > self.turn + 1) {
                return Err(twice(order));
            }
            check_same(order, (&done.kind, &done.event))?;
            return Ok(Some(done.clone()));
        }
        let old = waits.done.get(self.position).filter(|done| done.key.is_empty());
        Ok(old.filter(|done| is_of(order, (&done.kind, &done.event))).cloned())
    }

    /// The wait of the await that is open since an earlier start, or, if it has a name, since an earlier try.
    pub(super) fn open<'a>(&self, order: &WaitOrder, waits: &'a Waits) -> Result<Option<&'a OpenWait>, AppError> {
        let Some(open) = &waits.open else { return Ok(None) };
        if open.key == self.key && open.turn == self.turn {
            return check_same(order, (&open.kind, &open.event)).map(|()| Some(open));
        }
        let is_old = open.key.is_empty() && open.position == self.position;
        Ok(Some(open).filter(|_| is_old && is_of(order, (&open.kind, &open.event))))
    }
}

fn is_of(order: &WaitOrder, was: (&str, &str)) -> bool {
    was == (order.kind.word(), order.event.as_str())
}

/// Two awaits of one name are one await.
fn check_same(order: &WaitOrder, was: (&str, &str)) -> Result<(), AppError> {
    if is_of(order, was) {
        return Ok(());
    }
    let name = order.name.as_deref().unwrap_or_default();
    let message = format!("await \"{name}\" was for {} before, and now it is for {}", was.1, order.event);
    Err(AppError::usage(message).hint("every await needs a --name of its own"))
}

fn twice(order: &WaitOrder) -> AppError {
    let name = order.name.as_deref().unwrap_or_default();
    AppError::usage(format!("await \"{name}\" is over already in this start; nothing is waited for"))
        .hint("every await needs a --name of its own, such as ask-1 and ask-2 in a loop")
}
