//! The names and the sizes of a task's state, and the usage limit that a task reports. Pure.
//!
//! The constants and `is_var_name`, `is_step_name` and `is_event_name` bound variables, steps and events. `filled` replaces each
//! `{{name}}` of a variable in a text by its value. `read_limit` parses the usage limit of a task's provider, as the task reports
//! it.

use crate::model::{LaneName, Timestamp};
use serde_json::Value;

/// The most bytes of the name of a variable.
pub const MOST_NAME_BYTES: usize = 64;
/// The most bytes of the name of a step.
pub const MOST_STEP_BYTES: usize = 100;
/// The most bytes of the name of an event.
const MOST_EVENT_BYTES: usize = 100;
/// The most bytes of the value of a variable that `set` makes, as text. A longer value of an event is passed in a file.
pub const MOST_VALUE_BYTES: usize = 64 * 1024;
/// The most bytes of all names and values of a task that `set` makes. The environment of a command has no more of them.
pub const MOST_BYTES: usize = 256 * 1024;
/// The most bytes of the standard output of a step that are kept.
pub const MOST_OUTPUT_BYTES: usize = 64 * 1024;
/// The most bytes of all variables of a task as JSON. Data of an event beyond them is left out.
pub const MOST_KEPT_BYTES: usize = 2 * 1024 * 1024;
/// The most bytes of a note on progress.
pub const MOST_NOTE_BYTES: usize = 1000;

/// Whether a text can be the name of a variable: a letter or `_`, then letters, digits and `_`, so that the environment
/// can hold it.
pub fn is_var_name(text: &str) -> bool {
    let is_begun = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    is_begun && text.len() <= MOST_NAME_BYTES && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a text can be the name of a step. The name is part of a file name without changes.
pub fn is_step_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let is_begun = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    is_begun && text.len() <= MOST_STEP_BYTES && text.bytes().all(is_plain)
}

/// Whether a text can be the name of an event: letters, digits and `_ - . :`.
pub fn is_event_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
    (1..=MOST_EVENT_BYTES).contains(&text.len()) && text.bytes().all(is_plain)
}

/// Greatest distance from the beginning of a place to its end, in bytes: a name, and blanks around it.
const LONGEST_PLACE: usize = MOST_NAME_BYTES + 64;

/// The name of the place that begins before a text, and the number of bytes of the text that belong to it.
fn place(behind: &str) -> Option<(&str, usize)> {
    let end = behind.as_bytes().windows(2).take(LONGEST_PLACE).position(|pair| pair == b"}}")?;
    let name = behind[..end].trim();
    is_var_name(name).then_some((name, end + 2))
}

/// The places of variables in a text, `{{name}}`: the text before each, and the name.
pub fn places(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + text[from..].find("{{")?;
            // The second brace may begin a place, as in `{{{x}}`.
            from = at + 1;
            if let Some((name, length)) = place(&text[at + 2..]) {
                from = at + 2 + length;
                return Some((&text[..at], name));
            }
        }
    })
}

/// A text in which each `{{name}}` of a known variable is replaced by its value. The place of an unknown variable stays, and a
/// value is not searched for places again.
pub fn filled(text: &str, value_of: &dyn Fn(&str) -> Option<String>) -> String {
    let (mut whole, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, behind)) = rest.split_once("{{") {
        whole.push_str(before);
        match place(behind).and_then(|(name, length)| Some((value_of(name)?, length))) {
            Some((value, length)) => {
                whole.push_str(&value);
                rest = &behind[length..];
            }
            None => {
                // The second brace may begin a name, as in `{{{x}}`.
                whole.push('{');
                rest = &rest[before.len() + 1..];
            }
        }
    }
    whole + rest
}

/// The longest pause for a usage limit, in milliseconds.
const MOST_MS: i64 = 31 * 24 * 3_600_000;

/// A usage limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit {
    /// The earliest time of another try.
    pub until: Timestamp,
    /// The lane that is to pause until then.
    pub lane: Option<LaneName>,
}

/// Parses `{"retry_at":…,"pause":…}`. `None` if the text has no limit; an error if the limit is invalid.
pub fn read_limit(text: &str, now: Timestamp) -> Result<Option<Limit>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let Some(at) = value.get("retry_at") else { return Ok(None) };
    let until = match at {
        Value::String(text) => Timestamp::parse(text).ok_or_else(|| format!("\"{text}\" is not an RFC 3339 time"))?,
        Value::Number(seconds) => {
            let seconds = seconds.as_i64().ok_or("retry_at is not a whole number of seconds")?;
            Timestamp(seconds.checked_mul(1000).ok_or("retry_at is too far away")?)
        }
        _ => return Err("retry_at is neither an RFC 3339 time nor seconds since 1970".to_owned()),
    };
    let wait = until.ms_since(now);
    if wait <= 0 {
        return Err(format!("{until} has passed"));
    }
    if wait > MOST_MS {
        return Err(format!("{until} is more than 31 days away"));
    }
    let lane = match value.get("pause") {
        None | Some(Value::Null) => None,
        Some(Value::String(lane)) => Some(LaneName::parse(lane).map_err(|error| error.to_string())?),
        Some(_) => return Err("pause is not the name of a lane".to_owned()),
    };
    Ok(Some(Limit { until, lane }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_fit_the_environment_and_the_file_system() {
        for good in ["a", "lastResponse", "_x", "A1"] {
            assert!(is_var_name(good) && is_step_name(good), "{good}");
        }
        for bad in ["", "1a", "a-b", "a b", "ä", "a=b", "a\0"] {
            assert!(!is_var_name(bad), "{bad}");
        }
        for bad in ["", ".a", "-a", "a/b", "a b", "..", "ä"] {
            assert!(!is_step_name(bad), "{bad}");
        }
        assert!(is_step_name("1.build-x"));
        assert!(is_event_name("MESSAGE_RECEIVED") && is_event_name(&"a".repeat(100)));
        assert!(!is_event_name("") && !is_event_name("a b") && !is_event_name("ä") && !is_event_name(&"a".repeat(101)));
        assert!(!is_var_name(&"a".repeat(65)) && !is_step_name(&"a".repeat(101)));
    }

    #[test]
    fn known_names_are_filled_in_once() {
        let value_of = |name: &str| (name == "a").then(|| "{{b}}".to_owned()).or((name == "b").then(|| "2".to_owned()));
        for (given, filled_in) in [
            ("{{a}}", "{{b}}"),
            ("x{{b}}y{{b}}", "x2y2"),
            ("{{ b }}", "2"),
            ("{{c}}", "{{c}}"),
            ("{{c}}{{b}}", "{{c}}2"),
            ("{{{b}}}", "{2}"),
            ("{{", "{{"),
            ("{{b", "{{b"),
            ("{b}", "{b}"),
        ] {
            assert_eq!(filled(given, &value_of), filled_in, "{given}");
        }
    }

    #[test]
    fn places_have_the_names_of_variables() {
        let found = |text| places(text).map(|(before, name)| format!("{}:{name}", before.len())).collect::<Vec<_>>();
        for (text, named) in [
            ("{{a}}", vec!["0:a"]),
            ("x{{ b }}y{{c_1}}", vec!["1:b", "9:c_1"]),
            ("{{{b}}}", vec!["1:b"]),
            ("{{.State}} {{ json . }} {{a-b}} {{}} {{a} {a}} {{", vec![]),
            ("{{a{{b}}", vec!["3:b"]),
            ("{{ä}}{{a}}", vec!["6:a"]),
        ] {
            assert_eq!(found(text), named, "{text}");
        }
        assert_eq!(found(&"{".repeat(1_000_000)), Vec::<String>::new(), "and soon");
    }

    proptest! {
        #[test]
        fn a_text_without_known_names_stays(text in "[{}a ]{0,20}\\PC{0,10}") {
            prop_assert_eq!(filled(&text, &|_| None), text.clone());
            let is_same = filled(&text, &|_| Some(String::new())) == text;
            prop_assert_eq!(is_same, places(&text).next().is_none());
        }
    }

    const NOW: Timestamp = Timestamp(1_768_005_905_000);

    #[test]
    fn a_limit_has_a_moment_to_come_and_perhaps_a_lane() {
        let lane = |text: &str| LaneName::parse(text).ok();
        for (text, until, pauses) in [
            ("{\"retry_at\":1768005915}", 10_000, None),
            ("{\"retry_at\":\"2026-01-10T00:45:15Z\"}", 10_000, None),
            ("{\"retry_at\":\"2026-01-10T01:45:15+01:00\",\"pause\":\"lane:claude\"}", 10_000, lane("lane:claude")),
        ] {
            let limit = read_limit(text, NOW).expect("it reads").expect("there is one");
            assert_eq!((limit.until.ms_since(NOW), limit.lane), (until, pauses), "{text}");
        }
        assert_eq!(read_limit("{\"done\":1}", NOW), Ok(None));
    }

    #[test]
    fn a_limit_that_cannot_be_meant_is_refused() {
        for text in [
            "",
            "[",
            "{\"retry_at\":\"soon\"}",
            "{\"retry_at\":1}",
            "{\"retry_at\":1.5}",
            "{\"retry_at\":9999999999}",
            "{\"retry_at\":9223372036854775807}",
            "{\"retry_at\":true}",
            "{\"retry_at\":1768005915,\"pause\":7}",
            "{\"retry_at\":1768005915,\"pause\":\"\"}",
        ] {
            assert!(read_limit(text, NOW).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC{0,60}", at in any::<i64>()) {
            let _ = read_limit(&text, NOW);
            let _ = read_limit(&format!("{{\"retry_at\":{at}}}"), NOW);
        }
    }
}
