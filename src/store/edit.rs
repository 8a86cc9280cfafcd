//! Changes that their caller may refuse under the lock, with an error of its own. A verb of a trait object gets a yes or a no;
//! what the caller says beside it is kept here.

use super::error::{Result, StoreError};
use super::{Mail, Store, Vars, VarsRead};
use crate::model::TaskId;
use crate::model::control::Control;
use crate::model::control::hooks::Hook;
use crate::model::task::Finish;

/// Why a change was not made.
pub(super) enum NotMade {
    /// Its caller refused it.
    Refused,
    /// The store could not make it.
    Failed(StoreError),
}

impl From<StoreError> for NotMade {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

pub(super) fn refused_unless(yes: bool) -> std::result::Result<(), NotMade> {
    if yes { Ok(()) } else { Err(NotMade::Refused) }
}

/// What a change gave; `None` where its caller refused it.
pub(super) fn edited<T>(made: std::result::Result<T, NotMade>) -> Result<Option<T>> {
    match made {
        Ok(given) => Ok(Some(given)),
        Err(NotMade::Refused) => Ok(None),
        Err(NotMade::Failed(error)) => Err(error),
    }
}

/// What the caller of a change said under the lock.
struct Said<F, T, E> {
    change: Option<F>,
    said: Option<std::result::Result<T, E>>,
}

impl<F, T, E: From<StoreError>> Said<F, T, E> {
    fn new(change: F) -> Self {
        Self { change: Some(change), said: None }
    }

    /// Asks the caller, once; whether it agrees.
    fn ask(&mut self, call: impl FnOnce(F) -> std::result::Result<T, E>) -> bool {
        self.said = self.change.take().map(call);
        matches!(self.said, Some(Ok(_)))
    }

    /// What it gave, or refused with.
    fn given(self) -> std::result::Result<T, E> {
        let never_asked = || Err(StoreError::corrupt("the store", "a change was not asked for").into());
        self.said.unwrap_or_else(never_asked)
    }
}

impl dyn Store + '_ {
    /// Changes what was set at run time, durably, and gives what `change` gives. Two changes at once lose neither. Nothing is
    /// written where `change` refuses.
    pub fn change_control<T, E: From<StoreError>>(
        &self,
        change: impl FnOnce(&mut Control) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let mut said = Said::new(change);
        self.edit_control(&mut |control| said.ask(|change| change(control)))?;
        said.given()
    }

    /// Changes the hooks, as `change_control` does the rules.
    pub fn change_hooks<T, E: From<StoreError>>(
        &self,
        change: impl FnOnce(&mut Vec<Hook>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let mut said = Said::new(change);
        self.edit_hooks(&mut |hooks| said.ask(|change| change(hooks)))?;
        said.given()
    }

    /// Changes the variables of a task durably, one change after the other. `change` is called under the lock; an error of its
    /// own changes nothing.
    pub fn change_vars<E: From<StoreError>>(
        &self,
        id: TaskId,
        change: impl FnOnce(&mut Vars) -> std::result::Result<(), E>,
    ) -> std::result::Result<VarsRead, E> {
        let mut said = Said::new(change);
        let read = self.edit_vars(id, &mut |vars| said.ask(|change| change(vars)))?;
        said.given().map(|()| read.unwrap_or_default())
    }

    /// Records durably how a task ends in one of its starts; gives what was said before, if anything was, and then nothing
    /// changes. `check` is called under the lock.
    pub fn record_finish<E: From<StoreError>>(
        &self,
        id: TaskId,
        start: u32,
        finish: &Finish,
        check: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<Option<Finish>, E> {
        let mut said = Said::new(check);
        let before = self.record_finish_if(id, start, finish, &mut || said.ask(|check| check()))?;
        said.given().map(|()| before.flatten())
    }

    /// Puts an event into the mailbox of a task, durably; gives its number. `check` is called under the lock.
    pub fn deliver<E: From<StoreError>>(
        &self,
        id: TaskId,
        mail: Mail,
        check: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<u64, E> {
        let mut said = Said::new(check);
        let number = self.deliver_if(id, mail, &mut || said.ask(|check| check()))?;
        said.given().map(|()| number.unwrap_or_default())
    }
}
