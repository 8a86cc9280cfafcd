//! Commands for what a task remembers between its starts.

pub mod beat;
pub mod emit;
pub mod finish;
pub mod get;
pub mod set;
pub mod step;
pub mod wait_for;

use crate::cli::output::console::Console;

/// Says that variables are those before the last change.
fn tell_damage(damage: Option<&String>, console: &mut Console) {
    if let Some(why) = damage {
        console.say(&format!("warning: {why}; the variables before the last change are used"));
    }
}
