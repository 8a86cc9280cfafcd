//! Records of every kind, byte by byte: each file of `tests/it/golden/<kind>/` is read and written again. It is written with the
//! same bytes, or with those of `<file>.written` beside it. A damaged or newer one is refused with the words of `<file>.refused`.
//!
//! `UPDATE_GENERATED=1 cargo test --lib golden` writes what stands beside the records. A change there is a change of what
//! older versions find on disk.
#![expect(clippy::disallowed_methods, reason = "the corpus stands beside the sources")]

use crate::model::LaneName;
use crate::model::evidence::Sidecar;
use crate::policy::fair::Ledger;
use crate::store::files::disk::counter::CounterLine;
use crate::store::files::steps::{decode, encode, finish::FinishFile, vars::VarsFile};
use crate::store::{Beat, Mail, StepRecord, Waits};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A record as it is written again, or why it is refused.
type Again = Result<Vec<u8>, String>;

/// Reads a record and writes it again.
type Rewrite = fn(&[u8]) -> Again;

/// Every kind of record, by the name of its folder.
const KINDS: [(&str, Rewrite); 19] = [
    ("beat", of_steps::<Beat>),
    ("cancel", |bytes| words(serde_json::to_vec(&crate::store::files::running::requests::decode_cancel(bytes)))),
    ("control", control),
    ("counter", |bytes| CounterLine::parse(bytes).map(|line| line.to_bytes()).ok_or_else(none)),
    ("event", event),
    ("finish", of_steps::<FinishFile>),
    ("hooks", hooks),
    ("ledger", |bytes| {
        Ledger::from_text(&super::text(bytes)).map(|ledger| ledger.to_text().into_bytes()).ok_or_else(none)
    }),
    ("mail", of_steps::<Mail>),
    ("meta", meta),
    ("pause", pause),
    ("schedule", schedule),
    ("sidecar", sidecar),
    ("started", started),
    ("step", of_steps::<StepRecord>),
    ("tally", tally),
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

fn control(bytes: &[u8]) -> Again {
    use crate::store::files::disk::control_record::{decode_control, encode_control};
    words(decode_control("x", bytes).and_then(|(read, extra)| encode_control(&read, extra)))
}

fn hooks(bytes: &[u8]) -> Again {
    use crate::store::journal::hooks::{decode_hooks, encode_hooks};
    words(decode_hooks("x", bytes).and_then(|(read, extra)| encode_hooks(&read, extra)))
}

fn schedule(bytes: &[u8]) -> Again {
    use crate::store::files::schedules::record::{decode_schedule, encode_schedule};
    words(decode_schedule("x", bytes).and_then(|read| encode_schedule(&read)))
}

fn started(bytes: &[u8]) -> Again {
    use crate::store::files::running::started::{decode_started, encode_started};
    decode_started(bytes).ok_or_else(none).and_then(|(read, root)| words(encode_started(&read, root)))
}

fn pause(bytes: &[u8]) -> Again {
    use crate::store::files::running::pause::{decode_pause, encode_pause};
    words(encode_pause(&decode_pause(bytes)))
}

fn tally(bytes: &[u8]) -> Again {
    use crate::store::journal::tally::{decode_tally, encode_tally};
    words(decode_tally("x", bytes).and_then(|read| encode_tally(&read)))
}

/// The line of an event, as the event that it tells of is written, and as it is shown.
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
    let line = journal::encode(&event, record.at, record.boot_ms, pid);
    Ok(format!("{line}{}\n", record.json()).into_bytes())
}

/// The `meta.json` of a task, whose record this is.
fn meta(bytes: &[u8]) -> Again {
    let task = words(crate::store::decode_task("x", bytes, None))?;
    let start = task.last_start.as_ref();
    let lock_id = start.map(|start| start.lock_id.as_str());
    let members = crate::store::conductor::meta_of(&task, lock_id, start.map(|start| start.fence), start.is_some());
    words(serde_json::to_vec_pretty(&members))
}

fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden").join(kind)
}

/// A file beside a record, where there is one.
fn beside(record: &Path, ending: &str) -> (PathBuf, Option<Vec<u8>>) {
    let path = PathBuf::from(format!("{}.{ending}", record.display()));
    let bytes = fs::read(&path).ok();
    (path, bytes)
}

/// Writes a file beside a record; removes it where nothing is to stand there.
fn update(path: &Path, bytes: Option<&[u8]>) {
    match bytes {
        Some(bytes) => fs::write(path, bytes).expect("the corpus can be written"),
        None => drop(fs::remove_file(path)),
    }
}

fn check(path: &Path, again: fn(&[u8]) -> Again) -> Option<String> {
    let bytes = fs::read(path).expect("a record");
    let found = again(&bytes);
    let (written_path, written) = beside(path, "written");
    let (refused_path, refused) = beside(path, "refused");
    if env::var_os("UPDATE_GENERATED").is_some() {
        update(&written_path, found.as_deref().ok().filter(|found| *found != bytes));
        // Where the parser stood is nobody's business.
        let words = |why: &String| why.split(" at line ").next().unwrap_or_default().as_bytes().to_vec();
        update(&refused_path, found.as_ref().err().map(words).as_deref());
        return None;
    }
    let expected = refused.map_or(Ok(written.unwrap_or(bytes)), Err);
    let is_right = match (&found, &expected) {
        (Ok(found), Ok(expected)) => found == expected,
        (Err(found), Err(expected)) => found.as_bytes().starts_with(expected),
        _ => false,
    };
    let shown = |one: Result<&Vec<u8>, &[u8]>| one.map_or_else(super::text, |bytes| super::text(bytes));
    (!is_right).then(|| {
        let found = found.as_ref().map_err(|why| why.as_bytes());
        let expected = expected.as_ref().map_err(Vec::as_slice);
        format!("{}\n  expected {}\n  found    {}", path.display(), shown(expected), shown(found))
    })
}

#[test]
fn golden_records_are_written_as_they_were_read() {
    let mut wrong = Vec::new();
    for (kind, again) in KINDS {
        let entries = fs::read_dir(folder(kind)).unwrap_or_else(|error| panic!("{kind}: {error}"));
        let mut records: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        records.retain(|path| path.extension().is_none_or(|ending| ending != "written" && ending != "refused"));
        records.sort();
        assert!(
            records.iter().any(|path| again(&fs::read(path).expect("a record")).is_ok()),
            "{kind} has none that reads"
        );
        wrong.extend(records.iter().filter_map(|path| check(path, again)));
    }
    assert!(wrong.is_empty(), "{} records:\n{}", wrong.len(), wrong.join("\n"));
}
