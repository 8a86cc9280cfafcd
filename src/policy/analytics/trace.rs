//! The place of a task in a distributed trace (W3C Trace Context): the trace of its caller if the caller named one, or else a
//! trace of its own. It depends on the task alone, so a supervisor and a reader of events compute the same place.

use crate::model::Task;
use crate::model::name::{hex, is_hex};
use sha2::{Digest, Sha256};

/// The variable that carries a span to a process.
pub const TRACEPARENT: &str = "TRACEPARENT";

/// The span of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// The trace, 32 hexadecimal digits.
    pub trace: String,
    /// The span, 16 hexadecimal digits.
    pub span: String,
    /// The span of the caller.
    pub parent: Option<String>,
    /// The flags of the caller, 2 hexadecimal digits.
    pub flags: String,
}

impl Span {
    /// The value of `TRACEPARENT` for processes inside the span.
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-{}", self.trace, self.span, self.flags)
    }
}

/// Trace, span and flags of the caller of a task, if the environment of `enqueue` names valid ones.
pub fn caller_of(task: &Task) -> Option<(String, String, String)> {
    let given = task.env.iter().find(|(key, _)| key == TRACEPARENT.as_bytes());
    given.and_then(|(_, value)| parse(std::str::from_utf8(value).ok()?))
}

/// The span of a task. It is below the span of its caller, if that is known.
pub fn span_of(task: &Task) -> Span {
    let seed = format!("{} {} {} {}", task.id, task.created_at.0, task.created_by_pid, task.conductor_dir);
    let own = hex(&Sha256::digest(seed.as_bytes()));
    let span = own[32..48].to_owned();
    match caller_of(task) {
        Some((trace, parent, flags)) => Span { trace, span, parent: Some(parent), flags },
        None => Span { trace: own[..32].to_owned(), span, parent: None, flags: "01".to_owned() },
    }
}

/// A further span of a trace, computed from a description.
pub fn inner_span(trace: &str, what: &str) -> String {
    hex(&Sha256::digest(format!("{trace} {what}").as_bytes()))[..16].to_owned()
}

/// Parses a `TRACEPARENT`: trace, span and flags. `None` for a value that the specification calls invalid.
pub fn parse(text: &str) -> Option<(String, String, String)> {
    let parts: Vec<&str> = text.trim().split('-').collect();
    let [version, trace, span, flags, rest @ ..] = &parts[..] else { return None };
    let is_whole = is_hex(version, 2) && is_hex(trace, 32) && is_hex(span, 16) && is_hex(flags, 2);
    let is_known = *version != "ff" && (*version != "00" || rest.is_empty());
    let is_set = !trace.bytes().all(|byte| byte == b'0') && !span.bytes().all(|byte| byte == b'0');
    (is_whole && is_known && is_set).then(|| ((*trace).to_owned(), (*span).to_owned(), (*flags).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_as_the_specification_says() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let (trace, span, flags) = parse(good).expect("a valid one");
        assert_eq!((trace.len(), span.as_str(), flags.as_str()), (32, "b7ad6b7169203331", "01"));
        assert!(parse(&format!("cc{}-later", &good[2..])).is_some(), "a later version may have more");
        for wrong in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_ne!(inner_span(&trace, "wait"), inner_span(&trace, "run 1"));
    }
}
