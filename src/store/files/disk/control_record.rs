//! Settings made at run time, as JSON: `spool/control.json`.

use crate::model::control::{Control, Hold, Preempt};
use crate::model::record::{Extra, Version};
use crate::store::config::{rules_from_json, rules_to_json};
use crate::store::files::disk::task_record::{encode_pretty, newer_or_corrupt};
use crate::store::{Result, StoreError, json_object};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::borrow::Cow;

#[derive(Serialize, Deserialize)]
struct ControlFile<'a> {
    v: Version,
    #[serde(default)]
    lanes: Value,
    #[serde(default)]
    holds: Cow<'a, [Hold]>,
    #[serde(default, deserialize_with = "wishes", skip_serializing_if = "<[Preempt]>::is_empty")]
    preempts: Cow<'a, [Preempt]>,
    #[serde(flatten)]
    extra: Extra,
}

/// Earlier versions could pause the holders. Such a wish is dropped: its task waits for its turn.
fn wishes<'de, 'a, D: Deserializer<'de>>(from: D) -> std::result::Result<Cow<'a, [Preempt]>, D::Error> {
    let mut wishes = Vec::<Value>::deserialize(from)?;
    wishes.retain(|wish| wish["how"] != "pause");
    let read: std::result::Result<_, _> = wishes.into_iter().map(Preempt::deserialize).collect();
    read.map(Cow::Owned).map_err(D::Error::custom)
}

/// The settings made at run time, in the form of `spool/control.json`. `extra` are members that this version does not know.
pub(crate) fn encode_control(control: &Control, extra: Extra) -> Result<Vec<u8>> {
    let file = ControlFile {
        v: Version,
        lanes: rules_to_json(&control.lanes),
        holds: control.holds.as_slice().into(),
        preempts: control.preempts.as_slice().into(),
        extra,
    };
    encode_pretty("control.json", &file)
}

/// Reads `spool/control.json`, with the members that this version does not know.
pub(crate) fn decode_control(path: &str, bytes: &[u8]) -> Result<(Control, Extra)> {
    let read = json_object::text(bytes).and_then(serde_json::from_str);
    let ControlFile { lanes, holds, preempts, extra, .. } =
        read.map_err(|error| newer_or_corrupt(path, bytes, &error))?;
    let lanes = rules_from_json(&lanes).map_err(|why| StoreError::corrupt(path, why))?;
    Ok((Control { lanes, holds: holds.into_owned(), preempts: preempts.into_owned() }, extra))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::LaneRule;
    use crate::model::control::{Held, How};
    use crate::model::{TaskId, Timestamp};

    #[test]
    fn what_was_set_reads_back_and_keeps_foreign_members() {
        let mut control = Control::default();
        let rule = LaneRule { max: Some(3), lock_timeout_ms: Some(1500), ..LaneRule::default() };
        control.lanes.insert("session:*".into(), rule);
        control.holds.push(Hold {
            held: Held::All,
            since: Timestamp(1000),
            until: Some(Timestamp(2000)),
            reason: Some("upgrade".into()),
            by: Some("root".into()),
        });
        let preempt = |how, grace_ms, others| Preempt { task: TaskId(7), how, grace_ms, others, by: "me".into() };
        control.preempts = vec![preempt(How::End, None, true), preempt(How::Requeue, Some(9), false)];
        let text = String::from_utf8(encode_control(&control, Extra::default()).expect("text")).expect("UTF-8");
        let text = text.replacen('{', "{\"later\":[1],", 1);
        let (read, extra) = decode_control("c", text.as_bytes()).expect("it reads");
        assert_eq!((&read, extra.is_empty()), (&control, false));
        let again = encode_control(&read, extra).expect("text");
        assert!(String::from_utf8_lossy(&again).contains("\"later\""));
    }

    #[test]
    fn a_wish_of_an_earlier_version_to_pause_the_holders_is_dropped() {
        let text =
            r#"{"v":1,"preempts":[{"task":"task_3","how":"pause","by":"b"},{"task":"task_4","how":"end","by":"b"}]}"#;
        let (read, _) = decode_control("c", text.as_bytes()).expect("it reads");
        assert_eq!(read.preempts.iter().map(|wish| wish.task).collect::<Vec<_>>(), [TaskId(4)]);
    }

    #[test]
    fn damage_and_newer_versions_are_told_apart() {
        for wrong in [
            "",
            "{}",
            "{\"v\":1,\"holds\":[{}]}",
            "{\"v\":1,\"preempts\":[{\"task\":\"x\",\"how\":\"end\",\"by\":\"b\"}]}",
            "{\"v\":1,\"lanes\":{\"Bad:x\":{}}}",
            "{\"v\":0}",
        ] {
            let found = decode_control("c", wrong.as_bytes());
            assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{wrong}: {found:?}");
        }
        assert!(matches!(decode_control("c", b"{\"v\":2}"), Err(StoreError::Newer { version: 2, .. })));
    }
}
