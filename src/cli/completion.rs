//! The use cases behind the names that completion scripts ask for. Nothing is created and nothing is printed.

use super::args::Globals;
use super::context::opened;
use crate::app::App;

/// The use cases in the state directory that a half-written line names; `None` where it cannot be used.
pub(super) fn app(globals: &Globals, places: &[(String, String)]) -> Option<App> {
    let mut globals = globals.clone();
    for (name, value) in places {
        match name.as_str() {
            "state-dir" => globals.state_dir = Some(value.clone()),
            _ => globals.config = Some(value.clone()),
        }
    }
    opened(&globals, &[]).ok()
}
