//! The log of a dispatcher on the console.

use crate::app::AppError;
use crate::app::pass::Pass;
use crate::app::pass::daemon::Log;
use crate::cli::output::console::Console;
use crate::cli::output::messages;

/// The terminal as the log of a dispatcher.
pub struct Talk<'a, 'b> {
    pub console: &'a mut Console<'b>,
    pub ended: &'a mut dyn FnMut() -> bool,
    pub total: Pass,
}

impl Log for Talk<'_, '_> {
    fn pass(&mut self, pass: &Pass) {
        if pass.in_vain == 0 {
            self.console.all_is_well();
        }
        for id in &pass.started {
            self.console.log(&format!("started {id}"));
        }
        for id in &pass.recovered {
            self.console.log(&format!("recovered {id}"));
        }
        self.total.started.extend(&pass.started);
        self.total.recovered.extend(&pass.recovered);
        self.total.set_aside.extend(pass.set_aside.iter().cloned());
        self.total.left.clone_from(&pass.left);
        self.total.unseen.clone_from(&pass.unseen);
    }

    fn failed(&mut self, error: &AppError) {
        self.console.trouble(&messages::report_of(error));
    }

    fn is_ended(&mut self) -> bool {
        (self.ended)()
    }
}
