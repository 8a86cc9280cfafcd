//! Files that a caller names for an answer: `--result-file` and the like.

use crate::app::{AppError, Code, Kind};
use crate::cli::output::json;
use crate::os::real::Published;
use serde_json::Value;

/// The file for the document of `run`. `None` when the caller names no file.
pub struct ResultFile(Option<(Published, String)>);

impl ResultFile {
    /// Checks at once whether the file can be made; otherwise nothing is queued.
    pub fn prepare(path: Option<&str>) -> Result<Self, AppError> {
        let Some(path) = path else { return Ok(Self(None)) };
        if path.is_empty() {
            return Err(AppError::usage("--result-file must name a file"));
        }
        let failed = |error: std::io::Error| {
            let message = format!("cannot make the result file \"{}\": {error}", path.escape_debug());
            AppError::new(Code::ResultFile, message).with_kind(Kind::CannotCreate).hint("nothing was queued")
        };
        Ok(Self(Some((Published::prepare(path).map_err(failed)?, path.to_owned()))))
    }

    /// Writes the document.
    pub fn write(self, document: &Value) -> Result<(), AppError> {
        let Some((file, path)) = self.0 else { return Ok(()) };
        file.publish(json::line(document)).map_err(|error| {
            let message = format!("cannot write the result file \"{}\": {error}", path.escape_debug());
            AppError::new(Code::ResultFile, message).hint("the task is over, and its record has the result")
        })
    }
}

/// Writes a text to the file that an option names, readable by all, in the place of an older one.
pub fn write_text(option: &str, path: &str, text: &str) -> Result<(), AppError> {
    if path.is_empty() {
        return Err(AppError::usage(format!("--{option} must name a file")));
    }
    let failed = |error: std::io::Error| {
        let message = format!("cannot write \"{}\": {error}", path.escape_debug());
        AppError::new(Code::OutputFile, message).hint("its folder must be there, and be writable")
    };
    let file = Published::prepare(path).map_err(failed)?;
    file.readable_by_all().and_then(|file| file.publish(text)).map_err(failed)
}
