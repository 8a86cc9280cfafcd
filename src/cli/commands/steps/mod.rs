//! Commands for the memory of a task between its starts.

pub mod beat;
pub mod emit;
pub mod finish;
pub mod get;
pub mod set;
pub mod step;
pub mod wait_for;

use crate::cli::output::console::Console;

/// Reports that variables are those before the last change.
fn tell_damage(damage: Option<&String>, console: &mut Console) {
    if let Some(why) = damage {
        console.say(&format!("warning: {why}; the variables before the last change are used"));
    }
}
