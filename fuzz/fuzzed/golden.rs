//! Records of every kind, byte by byte: each of `tests/it/golden/<kind>.json` is read and written again. Its bytes are the same, or
//! those of its member `written`. A damaged record, or one of a later version, is refused with the words of `refused`.
//!
//! `UPDATE_GENERATED=1 cargo test --lib golden` rewrites `written` and `refused`. A change there is a change of what older
//! versions find on disk.
#![expect(clippy::disallowed_methods, reason = "the corpus stands beside the sources")]

use crate::model::LaneName;
use crate::model::evidence::Sidecar;
use crate::model::name::{from_hex, hex};
use crate::policy::fair::Ledger;
use crate::store::files::disk::control_record::{decode_control, encode_control};
use crate::store::files::disk::counter::CounterLine;
use crate::store::files::running::{decode_cancel, decode_pause, decode_started, encode_started};
use crate::store::files::schedules::{decode_schedule, encode_schedule};
use crate::store::files::steps::{FinishFile, VarsFile, decode, encode};
use crate::store::journal::hooks::{decode_hooks, encode_hooks};
use crate::store::journal::tally::{decode_tally, encode_tally};
use crate::store::{Beat, Mail, StepRecord, Waits};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;
use std::{env, fs};

/// The bytes of a record after it was read and written again, or the reason that it is refused.
type Again = Result<Vec<u8>, String>;

/// Reads a record and writes it again.
type Rewrite = fn(&[u8]) -> Again;

/// Every kind of record, by the name of its file.
const KINDS: [(&str, Rewrite); 19] = [
    ("beat", of_steps::<Beat>),
    ("cancel", |bytes| words(serde_json::to_vec(&decode_cancel(bytes)))),
    ("control", |bytes| words(decode_control("x", bytes).and_then(|(read, extra)| encode_control(&read, extra)))),
    ("counter", |bytes| CounterLine::parse(bytes).map(|line| line.to_bytes()).ok_or_else(none)),
    ("event", event),
    ("finish", of_steps::<FinishFile>),
    ("hooks", |bytes| words(decode_hooks("x", bytes).and_then(|(read, extra)| encode_hooks(&read, extra)))),
    ("ledger", |bytes| {
        Ledger::from_text(&super::text(bytes)).map(|ledger| ledger.to_text().into_bytes()).ok_or_else(none)
    }),
    ("mail", of_steps::<Mail>),
    ("meta", meta),
    ("pause", |bytes| words(serde_json::to_vec(&decode_pause(bytes)))),
    ("schedule", |bytes| words(decode_schedule("x", bytes).and_then(|read| encode_schedule(&read)))),
    ("sidecar", sidecar),
    ("started", |bytes| decode_started(bytes).ok_or_else(none).and_then(|read| words(encode_started(&read)))),
    ("step", of_steps::<StepRecord>),
    ("tally", |bytes| words(decode_tally("x", bytes).and_then(|read| encode_tally(&read)))),
    ("task", task),
    ("vars", of_steps::<VarsFile>),
    ("waits", of_steps::<Waits>),
];

fn words<T, E: Display>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn none() -> String {
    "it does not read".to_owned()
}

fn of_steps<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Again {
    words(decode::<T>("x", bytes).and_then(|read| encode("x", &read)))
}

fn task(bytes: &[u8]) -> Again {
    let lane = crate::model::Name::new("of the lane").expect("a name");
    words(crate::store::decode_task("x", bytes, Some(&lane)).and_then(|task| crate::store::encode_task(&task)))
}

fn sidecar(bytes: &[u8]) -> Again {
    match crate::store::files::locks::sidecar::decode(bytes, None) {
        Sidecar::Whole(record) => {
            let lane = record.lane.clone().unwrap_or_else(LaneName::global);
            Ok(crate::store::files::locks::sidecar::encode(&lane, &record, None))
        }
        other => Err(format!("{other:?}")),
    }
}

/// The line of an event after it was read and written again, and behind it the event as JSON for people and programs.
fn event(bytes: &[u8]) -> Again {
    use crate::policy::analytics::record::Record;
    use crate::store::journal;
    let read = journal::decode(bytes.trim_ascii_end()).ok_or_else(none)?;
    let record = Record::of(read.at, &read.line).ok_or_else(none)?;
    let event = journal::Event {
        task: record.task,
        user: record.user.clone(),
        lane: record.lane.as_deref().and_then(|lane| LaneName::parse(lane).ok()),
        lanes: record.lanes.iter().filter_map(|lane| LaneName::parse(lane).ok()).collect(),
        message: record.message.clone(),
        data: record.data.clone(),
        ..journal::Event::new("enqueued")
    };
    let pid = record.pid.and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0);
    let line = journal::encode(&event, &record.at.to_string(), record.boot_ms, pid);
    Ok(format!("{line}{}\n", record.json()).into_bytes())
}

/// The `meta.json` of the task with this record.
fn meta(bytes: &[u8]) -> Again {
    let task = words(crate::store::decode_task("x", bytes, None))?;
    words(serde_json::to_vec_pretty(&crate::store::conductor::Meta {
        task: &task,
        lock_released: task.last_start.is_some(),
    }))
}

/// Bytes in the form of the corpus: a text, or `{"hex": …}` if they are not UTF-8.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Bytes {
    Text(String),
    Hex { hex: String },
}

impl Bytes {
    fn new(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(|error| Self::Hex { hex: hex(error.as_bytes()) }, Self::Text)
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Hex { hex } => from_hex(hex).expect("hexadecimal digits"),
        }
    }
}

/// A record of the corpus, and the expected result. Without `written` and `refused`, the record is written with its own bytes.
#[derive(Serialize, Deserialize)]
struct Golden {
    bytes: Bytes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    written: Option<Bytes>,
    /// The begin of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

impl Golden {
    fn of(bytes: Vec<u8>, found: Again) -> Self {
        let (written, refused) = match found {
            Ok(written) => ((written != bytes).then(|| Bytes::new(written)), None),
            // The place in the text depends on the parser.
            Err(why) => (None, Some(why.split(" at line ").next().unwrap_or_default().to_owned())),
        };
        Self { bytes: Bytes::new(bytes), written, refused }
    }

    /// The difference between what the corpus expects and `found`.
    fn difference(&self, found: &Again) -> Option<String> {
        let expected = match &self.refused {
            Some(why) => Err(why),
            None => Ok(self.written.as_ref().unwrap_or(&self.bytes).bytes()),
        };
        let is_right = match (found, &expected) {
            (Ok(found), Ok(expected)) => found == expected,
            (Err(found), Err(expected)) => found.starts_with(expected.as_str()),
            _ => false,
        };
        let expected = expected.map_or_else(Clone::clone, |bytes| super::text(&bytes));
        let found = found.as_ref().map_or_else(Clone::clone, |bytes| super::text(bytes));
        (!is_right).then(|| format!("\n  expected {expected}\n  found    {found}"))
    }
}

#[test]
fn golden_records_are_written_as_they_were_read() {
    let mut wrong = Vec::new();
    for (kind, again) in KINDS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden").join(format!("{kind}.json"));
        let text = fs::read(&path).unwrap_or_else(|error| panic!("{kind}: {error}"));
        let mut records: BTreeMap<String, Golden> = serde_json::from_slice(&text).expect("a file of records");
        assert!(records.values().any(|record| record.refused.is_none()), "{kind} has no record that is accepted");
        for (name, record) in &mut records {
            let bytes = record.bytes.bytes();
            let found = again(&bytes);
            if env::var_os("UPDATE_GENERATED").is_some() {
                *record = Golden::of(bytes, found);
            } else if let Some(difference) = record.difference(&found) {
                wrong.push(format!("{kind}: {name}{difference}"));
            }
        }
        if env::var_os("UPDATE_GENERATED").is_some() {
            let text = serde_json::to_string_pretty(&records).expect("records are JSON");
            fs::write(&path, text + "\n").expect("the corpus can be written");
        }
    }
    assert!(wrong.is_empty(), "{} records:\n{}", wrong.len(), wrong.join("\n"));
}
