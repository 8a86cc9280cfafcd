//! The usage limit of its provider, as a task reports it. Pure.

use crate::model::{LaneName, Timestamp};
use serde_json::Value;

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
            let seconds = seconds.as_i64().ok_or("retry_at is no whole number of seconds")?;
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
