//! Messages of the Model Context Protocol over standard streams: one JSON-RPC 2.0 object a line. Pure.
//!
//! Two eras are supported. Revisions 2025-06-18 and 2025-11-25 begin with `initialize`. In revision 2026-07-28 each request
//! gives its version in `_meta`, and `server/discover` takes the place of the handshake. The shapes were read on 2026-11-23
//! in modelcontextprotocol.io/specification/2026-07-28 (basic, versioning), in SEP-2663 (tasks) and in the models of the
//! crate `rmcp` 3.11.

use serde_json::{Map, Value, json};

/// The revision without a handshake.
pub const MODERN: &str = "2026-07-28";
/// The revisions that begin with `initialize`, the newest first.
pub const LEGACY: [&str; 2] = ["2025-11-25", "2025-06-18"];
/// The extension by which a call may be answered with a task.
pub const TASKS: &str = "io.modelcontextprotocol/tasks";

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// No JSON.
pub const PARSE_ERROR: i64 = -32700;
/// No request.
pub const INVALID_REQUEST: i64 = -32600;
/// No such method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// Parameters that do not fit.
pub const INVALID_PARAMS: i64 = -32602;
const UNSUPPORTED_VERSION: i64 = -32022;
const MISSING_CAPABILITY: i64 = -32021;

/// The content of a line.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// A message that needs an answer.
    Request(Request),
    /// A message that needs no answer.
    Notification {
        /// The method of the request.
        method: String,
        /// The parameters of the request.
        params: Map<String, Value>,
    },
    /// Nothing to act upon: an answer, or a blank line.
    Nothing,
    /// A message that is refused at once, with this answer.
    Refused(Value),
}

/// A request.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// A string or an integer, given back with the answer.
    pub id: Value,
    /// The method of the request.
    pub method: String,
    /// The parameters of the request.
    pub params: Map<String, Value>,
    /// Whether the request gives its revision itself.
    pub is_modern: bool,
    /// Whether the caller accepts a task as an answer.
    pub takes_tasks: bool,
}

/// Whether an answer can repeat an id. A whole number of more than 64 bits would come back as another one.
fn is_id(id: &Value) -> bool {
    /// From here on not every whole number is one of 64-bit floating point.
    const INEXACT: f64 = 9_007_199_254_740_992.0;
    match id {
        Value::String(_) => true,
        Value::Number(number) => !number.is_f64() || number.as_f64().is_some_and(|value| value.abs() < INEXACT),
        _ => false,
    }
}

/// Reads a line.
pub fn read(line: &[u8]) -> Message {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Message::Nothing;
    }
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return Message::Refused(error(&Value::Null, PARSE_ERROR, "the line is not JSON", Value::Null));
    };
    let Value::Object(mut message) = value else { return refused(&Value::Null, "a message is one JSON object") };
    let id = message.remove("id");
    let method = match message.remove("method") {
        Some(Value::String(method)) => method,
        // An answer to a request that was never made here.
        None if message.contains_key("result") || message.contains_key("error") => return Message::Nothing,
        _ => return refused(id.as_ref().unwrap_or(&Value::Null), "a request has a method"),
    };
    let params = match message.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return refused(id.as_ref().unwrap_or(&Value::Null), "parameters are an object"),
    };
    match id {
        None => Message::Notification { method, params },
        Some(id) if is_id(&id) => request(id, method, params),
        Some(_) => refused(&Value::Null, "an id is a string or a number of at most 64 bits"),
    }
}

fn request(id: Value, method: String, params: Map<String, Value>) -> Message {
    let meta = params.get("_meta").and_then(Value::as_object);
    let version = meta.and_then(|meta| meta.get(VERSION));
    let capabilities = meta.and_then(|meta| meta.get(CAPABILITIES)).and_then(Value::as_object);
    let is_modern = match version {
        None => method == "server/discover",
        Some(version) => match version.as_str() {
            Some(MODERN) => true,
            Some(version) if LEGACY.contains(&version) => false,
            _ => {
                let data = json!({ "supported": versions(), "requested": version });
                let text = "this version of the protocol is not supported";
                return Message::Refused(error(&id, UNSUPPORTED_VERSION, text, data));
            }
        },
    };
    if is_modern && (version.is_none() || capabilities.is_none()) {
        let text = format!("_meta lacks {VERSION} or {CAPABILITIES}");
        return Message::Refused(error(&id, INVALID_PARAMS, &text, Value::Null));
    }
    let takes_tasks =
        is_modern && capabilities.is_some_and(|all| all.get("extensions").is_some_and(|it| it.get(TASKS).is_some()));
    Message::Request(Request { id, method, params, is_modern, takes_tasks })
}

/// All supported revisions, the newest first.
pub fn versions() -> Vec<&'static str> {
    [MODERN].into_iter().chain(LEGACY).collect()
}

fn refused(id: &Value, text: &str) -> Message {
    Message::Refused(error(id, INVALID_REQUEST, text, Value::Null))
}

/// An answer that reports the error of a request.
pub fn error(id: &Value, code: i64, message: &str, data: Value) -> Value {
    let mut error = json!({ "code": code, "message": message });
    if let Some(members) = error.as_object_mut().filter(|_| !data.is_null()) {
        members.insert("data".to_owned(), data);
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// The refusal of a method of the extension to a caller that does not name the extension.
pub fn missing_extension(id: &Value) -> Value {
    let data = json!({ "requiredCapabilities": { "extensions": { TASKS: {} } } });
    error(id, MISSING_CAPABILITY, "the request does not name the extension of tasks", data)
}

/// The answer to a request. In the modern era a result names its type.
pub fn result(request: &Request, mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut().filter(|_| request.is_modern) {
        members.entry("resultType").or_insert_with(|| json!("complete"));
    }
    json!({ "jsonrpc": "2.0", "id": request.id, "result": value })
}

/// A notification on the progress of a call.
pub fn progress(token: &Value, step: u64, message: &str) -> Value {
    let params = json!({ "progressToken": token, "progress": step, "message": message });
    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> Option<i64> {
        match read(line.as_bytes()) {
            Message::Refused(answer) => answer["error"]["code"].as_i64(),
            _ => None,
        }
    }

    #[test]
    fn what_is_no_request_is_refused_with_the_code_of_json_rpc() {
        assert_eq!(code("{"), Some(PARSE_ERROR));
        for line in
            ["[]", "1", "{}", r#"{"id":1}"#, r#"{"id":null,"method":"ping"}"#, r#"{"id":1,"method":"a","params":[]}"#]
        {
            assert_eq!(code(line), Some(INVALID_REQUEST), "{line}");
        }
        for line in ["", "  ", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"id":1,"error":{}}"#] {
            assert_eq!(read(line.as_bytes()), Message::Nothing, "{line}");
        }
    }

    #[test]
    fn an_id_that_an_answer_cannot_repeat_is_refused() {
        let line = |id: &str| format!(r#"{{"id":{id},"method":"ping"}}"#);
        for id in ["123456789012345678901234567890", "18446744073709551616", "1e300", "true", "{}"] {
            assert_eq!(code(&line(id)), Some(INVALID_REQUEST), "{id}");
        }
        for id in ["18446744073709551615", "-9223372036854775808", "1.5", r#""x""#] {
            assert!(matches!(read(line(id).as_bytes()), Message::Request(_)), "{id}");
        }
    }

    #[test]
    fn a_request_of_the_modern_era_says_its_version_and_capabilities() {
        let meta = |version: &str, rest: &str| {
            format!(r#"{{"id":1,"method":"tools/list","params":{{"_meta":{{"{VERSION}":{version}{rest}}}}}}}"#)
        };
        let capable = format!(r#","{CAPABILITIES}":{{"extensions":{{"{TASKS}":{{}}}}}}"#);
        let read_one = |line: &str| match read(line.as_bytes()) {
            Message::Request(request) => request,
            other => panic!("{other:?}"),
        };
        let modern = read_one(&meta(r#""2026-07-28""#, &capable));
        assert!(modern.is_modern && modern.takes_tasks);
        assert!(!read_one(&meta(r#""2025-11-25""#, "")).is_modern);
        assert_eq!(code(&meta(r#""2026-07-28""#, "")), Some(INVALID_PARAMS));
        assert_eq!(code(r#"{"id":1,"method":"server/discover"}"#), Some(INVALID_PARAMS));
        assert_eq!(code(&meta(r#""2031-01-01""#, &capable)), Some(UNSUPPORTED_VERSION));
        assert_eq!(code(&meta("7", &capable)), Some(UNSUPPORTED_VERSION));
    }
}
