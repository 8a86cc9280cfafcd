//! The configuration in force. A process that lives for long follows it: a pass goes by the rules as they are now.

use super::{App, AppError};
use crate::model::Config;
use std::cell::RefCell;
use std::rc::Rc;

/// Gives the configuration when it is another one than at the last look.
pub type Look = Box<dyn Fn() -> Result<Option<Config>, AppError>>;

/// The configuration in force, and how a change of it is noticed.
pub struct Settings {
    now: RefCell<Rc<Config>>,
    look: Look,
}

impl Settings {
    /// A configuration that stays as it is.
    pub fn fixed(config: Config) -> Self {
        Self::followed(config, Box::new(|| Ok(None)))
    }

    /// A configuration that `look` follows.
    pub fn followed(config: Config, look: Look) -> Self {
        Self { now: RefCell::new(Rc::new(config)), look }
    }
}

impl App {
    /// The configuration in force.
    pub fn config(&self) -> Rc<Config> {
        Rc::clone(&self.settings.now.borrow())
    }

    /// Takes a changed configuration up. One that cannot be read leaves the old one in force and is an error: nothing is to
    /// be started by rules that nobody wants any more.
    pub(super) fn follow_config(&self) -> Result<(), AppError> {
        if let Some(config) = (self.settings.look)()? {
            self.settings.now.replace(Rc::new(config));
        }
        Ok(())
    }
}
