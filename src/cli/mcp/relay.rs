//! The part of a server that stays: it hands each request to a process that answers only this request, and passes the answer
//! on.
//!
//! A server lives as long as its agent. Only this file and the reader of messages stay in memory. A request that ends its
//! process ends nothing else (`docs/decisions/136-one-process-a-request.md`).

use super::LONGEST_LINE;
use super::wire::{INVALID_REQUEST, Message, error, read};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const INTERNAL_ERROR: i64 = -32603;

/// A process that answers one request.
pub trait Helper: Send + Sync {
    /// Gives the helper a line.
    fn tell(&self, line: &[u8]);
    /// Closes the input of the helper, so that the helper ends.
    fn close(&self);
    /// The next line of the helper, with the line feed; `None` at its end.
    fn next_line(&self) -> Option<Vec<u8>>;
}

/// Starts a helper.
pub type Start<'a> = &'a (dyn Fn() -> io::Result<Box<dyn Helper>> + Sync);

/// A request on its way.
struct Request {
    helper: Box<dyn Helper>,
    is_cancelled: AtomicBool,
}

/// A relay.
pub struct Relay<'a> {
    start: Start<'a>,
    write: &'a (dyn Fn(&[u8]) + Sync),
    /// The requests on their way, by the text of their ids.
    requests: Mutex<BTreeMap<String, Arc<Request>>>,
}

/// Work that goes on beside the reader.
type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

impl<'a> Relay<'a> {
    /// A relay that starts helpers with `start` and writes whole lines with `write`.
    pub fn new(start: Start<'a>, write: &'a (dyn Fn(&[u8]) + Sync)) -> Self {
        Self { start, write, requests: Mutex::default() }
    }

    /// Takes a line that was longer than [`LONGEST_LINE`].
    pub fn take_long_line(&self) {
        let text = format!("a message has at most {LONGEST_LINE} bytes");
        self.say(&error(&Value::Null, INVALID_REQUEST, &text, Value::Null));
    }

    /// Takes a line. Returns work that may take long.
    pub fn take(&'a self, line: &[u8]) -> Option<Job<'a>> {
        match read(line) {
            Message::Nothing => None,
            Message::Refused(answer) => {
                self.say(&answer);
                None
            }
            Message::Notification { method, params } => {
                let id = params.get("requestId").filter(|_| method == "notifications/cancelled");
                let request = id.and_then(|id| self.requests().get(&id.to_string()).cloned());
                if let Some(request) = request {
                    request.is_cancelled.store(true, Ordering::SeqCst);
                    request.helper.tell(line);
                    request.helper.close();
                }
                None
            }
            Message::Request(asked) => {
                let helper = match (self.start)() {
                    Ok(helper) => helper,
                    Err(failed) => {
                        let text = format!("no process for this request can be started: {failed}");
                        self.say(&error(&asked.id, INTERNAL_ERROR, &text, Value::Null));
                        return None;
                    }
                };
                helper.tell(line);
                let request = Arc::new(Request { helper, is_cancelled: AtomicBool::new(false) });
                self.requests().insert(asked.id.to_string(), Arc::clone(&request));
                let job = move || self.pass_on(&asked.id, &request);
                if asked.method == "tools/call" {
                    return Some(Box::new(job));
                }
                job();
                None
            }
        }
    }

    /// Ends the waits of all requests; their tasks go on.
    pub fn end(&self) {
        self.requests().values().for_each(|request| request.helper.close());
    }

    fn pass_on(&self, id: &Value, request: &Request) {
        let mut is_answered = false;
        while let Some(line) = request.helper.next_line() {
            (self.write)(&line);
            if is_answer(&line) {
                is_answered = true;
                request.helper.close();
            }
        }
        self.requests().remove(&id.to_string());
        if !is_answered && !request.is_cancelled.load(Ordering::SeqCst) {
            let text = "the process of this request ended without an answer";
            self.say(&error(id, INTERNAL_ERROR, text, Value::Null));
        }
    }

    fn say(&self, message: &Value) {
        (self.write)(format!("{message}\n").as_bytes());
    }

    fn requests(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Request>>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a line is an answer, and not a message about progress.
fn is_answer(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        method: Option<IgnoredAny>,
    }
    serde_json::from_slice::<Head>(line).is_ok_and(|head| head.method.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A helper that gives its lines one by one.
    struct Played {
        lines: Mutex<Vec<&'static str>>,
        told: Arc<Mutex<Vec<String>>>,
    }

    impl Helper for Played {
        fn tell(&self, line: &[u8]) {
            self.told.lock().expect("whole").push(String::from_utf8_lossy(line).into_owned());
        }
        fn close(&self) {
            self.told.lock().expect("whole").push("closed".to_owned());
        }
        fn next_line(&self) -> Option<Vec<u8>> {
            let mut lines = self.lines.lock().expect("whole");
            (!lines.is_empty()).then(|| format!("{}\n", lines.remove(0)).into_bytes())
        }
    }

    fn played(lines: &'static [&'static str], fed: &[&str]) -> (String, Vec<String>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let start = || -> io::Result<Box<dyn Helper>> {
            Ok(Box::new(Played { lines: Mutex::new(lines.to_vec()), told: Arc::clone(&told) }))
        };
        let written = Mutex::new(String::new());
        let write = |line: &[u8]| written.lock().expect("whole").push_str(&String::from_utf8_lossy(line));
        let relay = Relay::new(&start, &write);
        let jobs: Vec<_> = fed.iter().filter_map(|line| relay.take(line.as_bytes())).collect();
        jobs.into_iter().for_each(|job| job());
        drop(relay);
        let told = told.lock().expect("whole").clone();
        (written.into_inner().expect("whole"), told)
    }

    const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#;

    #[test]
    fn progress_and_answer_are_passed_on_and_the_helper_is_closed_then() {
        let lines =
            &[r#"{"method":"notifications/progress","params":{"result":1}}"#, r#"{"id":7,"result":{"method":1}}"#];
        let (written, told) = played(lines, &[CALL]);
        assert_eq!(written, format!("{}\n{}\n", lines[0], lines[1]));
        assert_eq!(told, [CALL, "closed"]);
    }

    #[test]
    fn a_helper_that_ends_without_an_answer_becomes_an_error_unless_the_request_was_cancelled() {
        let (written, _) = played(&[], &[CALL]);
        let answer: Value = serde_json::from_str(&written).expect("JSON");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(INTERNAL_ERROR)));
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        let (written, told) = played(&[], &[CALL, cancel]);
        assert_eq!((written.as_str(), told), ("", vec![CALL.to_owned(), cancel.to_owned(), "closed".to_owned()]));
    }
}
