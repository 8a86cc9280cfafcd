//! The variables of a task: `vars.json`. Values are strings or other JSON.

use crate::model::TaskId;
use crate::store::files::steps::Locked;
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

/// A value as the text that a command gets: a string as it is, all else as compact JSON.
pub fn var_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Variables as they were read.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct VarsRead {
    /// The variables.
    pub vars: Vars,
    /// The fault of the newest document, if these are the variables before the last change.
    pub damage: Option<String>,
}

impl Spool {
    /// The variables of a task. A task without any costs one open.
    pub fn vars(&self, id: TaskId) -> Result<VarsRead> {
        let found = self.read_document::<VarsFile>(id, NAME)?;
        Ok(VarsRead { vars: found.value.vars, damage: found.damage })
    }

    /// Changes the variables of a task durably, one change after the other. `check` and `change` are called under the lock;
    /// an error of either changes nothing.
    pub fn change_vars<E: From<crate::store::StoreError>>(
        &self,
        id: TaskId,
        change: impl FnOnce(&mut Vars) -> std::result::Result<(), E>,
    ) -> std::result::Result<VarsRead, E> {
        let locked = self.lock_steps(id)?;
        let read = match self.vars(id) {
            // Both the newest document and the one before it are damaged: both are kept, and a new one begins.
            Err(crate::store::StoreError::Corrupt { why, .. }) => {
                VarsRead { vars: Vars::new(), damage: Some(format!("{why}; nothing before it reads")) }
            }
            other => other?,
        };
        let mut vars = read.vars.clone();
        change(&mut vars)?;
        if vars != read.vars || read.damage.is_some() {
            self.write_vars(&locked, vars.clone())?;
        }
        Ok(VarsRead { vars, damage: read.damage })
    }

    pub(crate) fn write_vars(&self, locked: &Locked, vars: Vars) -> Result<()> {
        self.write_document(locked, NAME, &VarsFile { vars })
    }
}
