//! The variables of a task: `vars.json`. Values are strings or other JSON.

use crate::model::TaskId;
use crate::store::files::steps::Document;
use crate::store::{Result, Spool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

const NAME: &str = "vars.json";

/// Names and values.
pub type Vars = BTreeMap<String, Value>;

#[derive(Serialize, Deserialize, Default, Clone, PartialEq, Debug)]
pub(crate) struct VarsFile {
    pub(crate) vars: Vars,
}

/// A value as the text that a command gets: a string itself, any other value as compact JSON.
pub fn var_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Spool {
    /// The variables of a task. A task without variables costs one open.
    pub fn vars(&self, id: TaskId) -> Result<Document<Vars>> {
        let found = self.read_document::<VarsFile>(id, NAME)?;
        Ok(Document { value: found.value.vars, damage: found.damage })
    }

    /// Changes the variables of a task durably, one change after the other. `change` is called under the lock; its error
    /// changes nothing.
    pub fn change_vars<E: From<crate::store::StoreError>>(
        &self,
        id: TaskId,
        change: impl FnOnce(&mut Vars) -> std::result::Result<(), E>,
    ) -> std::result::Result<Document<Vars>, E> {
        let locked = self.lock_steps(id)?;
        let read = match self.vars(id) {
            // Both the newest document and the one before it are damaged: both are kept, and a new one begins.
            Err(crate::store::StoreError::Corrupt { why, .. }) => {
                Document { value: Vars::new(), damage: Some(format!("{why}; nothing before it reads")) }
            }
            other => other?,
        };
        let mut value = read.value.clone();
        change(&mut value)?;
        if value != read.value || read.damage.is_some() {
            self.write_document(&locked, NAME, &VarsFile { vars: value.clone() })?;
        }
        Ok(Document { value, ..read })
    }
}
