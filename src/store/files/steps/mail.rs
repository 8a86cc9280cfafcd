//! The mailbox of a task: `mail/<n>.json`, one event a file, numbered from 1 in the order in which they came.

use crate::model::TaskId;
use crate::store::files::disk::publish::Publication;
use crate::store::files::steps::encode;
use crate::store::{Result, Spool, layout};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event that was sent to a task.
#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Debug)]
#[serde(default)]
pub struct Mail {
    /// Its number in the mailbox.
    pub number: u64,
    /// Name of the event, such as `MESSAGE_RECEIVED`.
    pub event: String,
    /// The thread that it concerns.
    pub thread: Option<String>,
    /// The user that it concerns.
    pub user: Option<String>,
    /// Data of the sender.
    pub data: Value,
    /// The time at which it came.
    pub at: String,
}

impl Spool {
    /// Puts an event into the mailbox of a task, durably; returns its number. `check` is called under the lock.
    pub fn deliver<E: From<crate::store::StoreError>>(
        &self,
        id: TaskId,
        mut mail: Mail,
        check: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<u64, E> {
        let _locked = self.lock_steps(id)?;
        check()?;
        mail.at = self.host.now().to_string();
        mail.number = self.mail_numbers(id)?.last().map_or(1, |last| last + 1);
        Ok(self.publish_mail(id, &mail)?)
    }

    /// Like `deliver`, unless `is_same` accepts an event of the mailbox; returns the number of a new one.
    pub fn deliver_once(&self, id: TaskId, mut mail: Mail, is_same: &dyn Fn(&Mail) -> bool) -> Result<Option<u64>> {
        let _locked = self.lock_steps(id)?;
        let numbers = self.mail_numbers(id)?;
        for number in numbers.iter().rev() {
            if self.mail(id, *number)?.as_ref().is_some_and(is_same) {
                return Ok(None);
            }
        }
        mail.at = self.host.now().to_string();
        mail.number = numbers.last().map_or(1, |last| last + 1);
        self.publish_mail(id, &mail).map(Some)
    }

    fn publish_mail(&self, id: TaskId, mail: &Mail) -> Result<u64> {
        self.wake_waiting(id)?;
        let folders = [layout::STEPS.to_owned(), layout::steps(id), layout::mail(id)];
        let tmp = layout::step_file(id, "mail.tmp");
        let mut number = mail.number;
        loop {
            let path = layout::mail_file(id, number);
            self.stage(&tmp, &encode(&path, &Mail { number, ..mail.clone() })?)?;
            if self.publish(&tmp, &path, &folders)? != Publication::Taken {
                self.sync_dir(&layout::mail(id)).map_err(crate::store::StoreError::unsure)?;
                self.sync_steps(id)?;
                return Ok(number);
            }
            number += 1;
        }
    }

    /// The numbers of a task's mail, in their order.
    pub fn mail_numbers(&self, id: TaskId) -> Result<Vec<u64>> {
        let mut numbers: Vec<u64> = self.records(&layout::mail(id))?.into_iter().map(|TaskId(number)| number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// One event of a task's mail. A damaged one is set aside, and left out.
    pub fn mail(&self, id: TaskId, number: u64) -> Result<Option<Mail>> {
        match self.read_memory(id, &layout::mail_file(id, number)) {
            Err(wrong @ crate::store::StoreError::Corrupt { .. }) => self.set_aside(&wrong).map(|()| None),
            other => other,
        }
    }
}
