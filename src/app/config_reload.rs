//! The configuration in force. A process that lives for long follows it: a pass goes by the rules as they are now.

use crate::app::{App, AppError};
use crate::model::control::Control;
use crate::model::name::encode;
use crate::model::{Config, LaneName};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// Number of further looks at a configuration that is invalid, and the pause before each: a second in all.
const MORE_LOOKS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// Whether more looks follow, if this one finds that the configuration has gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Round {
    /// A missing configuration is an error, because the next look may find it.
    Early,
    /// Other configurations count in its place.
    Last,
}

/// Returns the configuration if it has changed.
pub type Look = Box<dyn Fn(Round) -> Result<Option<Config>, AppError>>;

/// The configuration in force, and how a change of it is noticed.
pub struct Settings {
    /// As the files say.
    written: RefCell<Config>,
    /// With what was set at run time.
    now: RefCell<Rc<Config>>,
    control: RefCell<Rc<Control>>,
    look: Look,
    /// Whether the last look has failed for good.
    is_broken: Cell<bool>,
}

impl Settings {
    /// A configuration that stays as it is.
    pub fn fixed(config: Config) -> Self {
        Self::followed(config, Box::new(|_| Ok(None)))
    }

    /// A configuration that `look` follows.
    pub fn followed(config: Config, look: Look) -> Self {
        Self {
            written: RefCell::new(config.clone()),
            now: RefCell::new(Rc::new(config)),
            control: RefCell::default(),
            look,
            is_broken: Cell::new(false),
        }
    }
}

impl Settings {
    fn combine(&self) {
        let config = self.control.borrow().over(&self.written.borrow());
        self.now.replace(Rc::new(config));
    }

    /// The configuration of the files, without changes made at run time.
    pub(super) fn written(&self) -> Config {
        self.written.borrow().clone()
    }
}

/// The configuration in force.
pub fn config(app: &App) -> Rc<Config> {
    Rc::clone(&app.settings.now.borrow())
}

/// Changes made at run time, as of the last look.
pub fn control(app: &App) -> Rc<Control> {
    Rc::clone(&app.settings.control.borrow())
}

/// Reads the changes made at run time: rules of lanes and holds.
pub fn follow_control(app: &App) -> Result<(), AppError> {
    let found = app.store.control()?;
    if found != **app.settings.control.borrow() {
        app.settings.control.replace(Rc::new(found));
        app.settings.combine();
    }
    Ok(())
}

/// Gives the lock timeouts of lanes as they are at each call: rules may change while a holder keeps its locks.
pub(super) fn lock_timeouts(app: &App) -> impl Fn(&LaneName) -> u64 + '_ {
    |lane| {
        // Rules that are invalid now leave those of the last look in force.
        let _ = follow_control(app);
        config(app).lock_timeout_ms(lane)
    }
}

/// Applies a changed configuration. A configuration that cannot be read leaves the old one in force and is an error: no task
/// may start by rules that are outdated. A file is incomplete for a moment while it is saved, so further looks come before
/// the first report.
pub(super) fn follow_config(app: &App) -> Result<(), AppError> {
    follow_control(app)?;
    let Settings { written, look, is_broken, .. } = &app.settings;
    let mut left = if is_broken.get() { 0 } else { MORE_LOOKS };
    loop {
        match look(if left == 0 { Round::Last } else { Round::Early }) {
            Ok(changed) => {
                is_broken.set(false);
                if let Some(config) = changed {
                    written.replace(config);
                    app.settings.combine();
                }
                return Ok(());
            }
            Err(_) if left > 0 => {
                left -= 1;
                app.host.sleep(PAUSE);
            }
            Err(error) => {
                is_broken.set(true);
                return Err(error);
            }
        }
    }
}

/// A configured conductor directory with its placeholders filled in; names are encoded, because `..` is a legal name.
pub(crate) fn conductor_path(template: &str, project: &str, user: &str) -> String {
    template.replace("{project}", &encode(project)).replace("{user}", &encode(user))
}
