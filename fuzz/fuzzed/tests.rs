//! Every body with inputs of proptest: any bytes, seeds with a few bytes changed, JSON with odd values in it, every
//! truncation, and what is deep or long.

use super::*;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

macro_rules! seeds {
    ($($body:literal / $file:literal,)*) => {
        /// The seeds of `fuzz/seeds`, by body.
        const SEEDS: &[(&str, &str, &[u8])] = &[
            $(($body, $file, include_bytes!(concat!("../seeds/", $body, "/", $file))),)*
        ];
    };
}

seeds! {
    "load" / "example.json",
    "mail" / "whole.json",
    "waits" / "output.json",
    "waits" / "whole.json",
    "step" / "whole.json",
    "steps" / "all.json",
    "steps" / "waits.json",
    "vars" / "whole.json",
    "hooks" / "two.json",
    "tally" / "whole.json",
    "argv" / "acquire",
    "argv" / "enqueue",
    "argv" / "help",
    "argv" / "list",
    "argv" / "lock",
    "argv" / "wrong",
    "batch" / "three.jsonl",
    "cancel" / "bytes",
    "cancel" / "least.json",
    "cancel" / "whole.json",
    "config" / "contract.json",
    "config" / "unknown.json",
    "control" / "both",
    "control" / "none",
    "counter" / "announced",
    "counter" / "body",
    "counter" / "settled",
    "cron" / "daily",
    "cron" / "fields",
    "rate" / "two",
    "said" / "date",
    "said" / "hours",
    "said" / "tomorrow",
    "schedule" / "least.json",
    "schedule" / "whole.json",
    "duration" / "all",
    "duration" / "seconds",
    "duration" / "units",
    "event" / "text",
    "event" / "whole.jsonl",
    "file_name" / "number",
    "file_name" / "order",
    "file_name" / "timer",
    "gate" / "all",
    "gate" / "wrong",
    "hook" / "claude.json",
    "hook" / "codex.json",
    "hook" / "copilot.json",
    "hook" / "cursor.json",
    "hook" / "gemini.json",
    "lane" / "bare",
    "lane" / "inner",
    "lane" / "key",
    "lane" / "slot",
    "lane" / "task",
    "ledger" / "none",
    "ledger" / "two",
    "mcp" / "acquire.json",
    "mcp" / "cancel.json",
    "mcp" / "enqueue.json",
    "mcp" / "explain.json",
    "mcp" / "list.json",
    "mcp" / "modern.json",
    "mcp" / "release.json",
    "mcp" / "run.json",
    "meta" / "foreign.json",
    "meta" / "ours.json",
    "moment" / "edge",
    "moment" / "past",
    "moment" / "zone",
    "name" / "bytes",
    "name" / "form",
    "name" / "hash",
    "name" / "long",
    "name" / "word",
    "pause" / "bytes",
    "pause" / "least.json",
    "pause" / "whole.json",
    "settings" / "claude.json",
    "settings" / "codex.toml",
    "settings" / "text.md",
    "sidecar" / "foreign.json",
    "sidecar" / "newer.json",
    "sidecar" / "old.json",
    "sidecar" / "ours.json",
    "sidecar" / "session.json",
    "slots" / "make",
    "slots" / "range",
    "slots" / "values",
    "started" / "huge.json",
    "started" / "whole.json",
    "task" / "agent.json",
    "task" / "done.json",
    "task" / "least.json",
    "task" / "pending.json",
    "task" / "slots.json",
}

/// Values that a member may have by mistake or malice, as JSON text.
const ODD: [&str; 24] = [
    "null",
    "true",
    "-1",
    "0",
    "1",
    "256",
    "4294967296",
    "9223372036854775808",
    "18446744073709551615",
    "1e400",
    "-0.0",
    "0.1",
    "5e-324",
    "3153600000001",
    "\"\"",
    "\"\\u0000\"",
    "\"a\\nb\"",
    "\"\\u202e\"",
    "\"9999-12-31T23:59:59-23:59\"",
    "\"0000-01-01T00:00:00+23:59\"",
    "[]",
    "[[]]",
    "{}",
    "{\"at\":1}",
];

/// Pieces that mean something somewhere.
const PIECES: [&[u8]; 20] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\u0000",
    b"\0",
    b"\n",
    b"+",
    b"-",
    b"0",
    b"00",
    b".",
    b"@",
    b":",
    b"=",
    b"\xff",
    b"\xef\xbb\xbf",
    b"1e9",
    "１".as_bytes(),
];

fn body_of(name: &str) -> Body {
    BODIES.iter().find(|(body, _)| *body == name).expect("a body of that name").1
}

/// One change of some bytes: remove up to `length`, put `piece` there.
fn edited(mut bytes: Vec<u8>, edits: &[(Index, usize, &[u8])]) -> Vec<u8> {
    for (at, length, piece) in edits {
        let at = at.index(bytes.len() + 1);
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, piece.iter().copied());
    }
    bytes
}

/// JSON text with the value at a place replaced by other text; `None` where there is no such place.
fn replaced(bytes: &[u8], place: &Index, odd: &str) -> Option<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(bytes).ok()?;
    let mut pointers = Vec::new();
    pointers_of(&value, String::new(), &mut pointers);
    let pointer = &pointers[place.index(pointers.len())];
    *value.pointer_mut(pointer)? = "the place".into();
    Some(value.to_string().replacen("\"the place\"", odd, 1).into_bytes())
}

fn pointers_of(value: &Value, here: String, all: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| pointers_of(value, format!("{here}/{key}"), all))
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| pointers_of(item, format!("{here}/{at}"), all));
        }
        _ => {}
    }
    all.push(here);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_keep_the_promises(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        BODIES.iter().for_each(|(_, body)| body(&bytes));
    }

    #[test]
    fn any_text_keeps_the_promises(text in "\\PC{0,60}|[-0-9a-z=:._@/+ ]{0,40}") {
        BODIES.iter().for_each(|(_, body)| body(text.as_bytes()));
    }

    #[test]
    fn seeds_with_changed_bytes_keep_the_promises(
        seed in select(SEEDS),
        edits in prop::collection::vec((any::<Index>(), 0..6_usize, select(&PIECES[..])), 1..5),
    ) {
        body_of(seed.0)(&edited(seed.2.to_vec(), &edits));
    }

    #[test]
    fn json_with_odd_values_keeps_the_promises(
        seed in select(SEEDS),
        places in prop::collection::vec((any::<Index>(), select(&ODD[..])), 1..3),
    ) {
        let mut bytes = seed.2.to_vec();
        for (place, odd) in &places {
            bytes = replaced(&bytes, place, odd).unwrap_or(bytes);
        }
        body_of(seed.0)(&bytes);
    }

    #[test]
    fn lengths_of_time_around_every_unit_keep_the_promises(
        ms in 0..=crate::model::time::MAX_DURATION_MS, unit in select(&["ms", "s", "m", "h", "d", ""][..]),
    ) {
        duration(format!("{ms}{unit}").as_bytes());
        duration(crate::model::time::format_duration(ms).as_bytes());
    }

    #[test]
    fn moments_near_the_edges_keep_the_promises(
        (year, month, day) in (select(&[0, 1, 1969, 1970, 2026, 9998, 9999][..]), 1..13, 1..32),
        (hour, minute, second) in (0..25, 0..61, 0..62), (sign, zone) in (select(&["+", "-"][..]), 0..25),
    ) {
        let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.5{sign}{zone:02}:59");
        moment(text.as_bytes());
    }

    #[test]
    fn names_and_lanes_that_look_alike_keep_the_promises(key in "(=|=3|=3d|h|_|@1|:|A|a|é|\\.|-|/){0,70}") {
        for input in [key.clone(), format!("lane:{key}"), format!("user:{key}"), format!("lane_{key}")] {
            name(input.as_bytes());
            lane(input.as_bytes());
            file_name(input.as_bytes());
        }
    }
}

#[test]
fn every_seed_and_every_beginning_of_one_keeps_the_promises() {
    for (name, _, seed) in SEEDS {
        (0..=seed.len()).for_each(|at| body_of(name)(&seed[..at]));
    }
}

/// Seeds that nothing accepts would show nothing.
#[test]
fn what_is_meant_to_read_reads() {
    let seed = |wanted: &str, file: &str| {
        SEEDS.iter().find(|(body, name, _)| *body == wanted && *name == file).expect("a seed").2
    };
    for file in ["pending.json", "done.json", "least.json"] {
        let read = crate::store::decode_task(file, seed("task", file), None);
        assert!(read.is_ok(), "{read:?}");
    }
    for file in ["ours.json", "old.json", "foreign.json"] {
        assert!(crate::store::files::locks::sidecar::decode(seed("sidecar", file), None).record().is_some(), "{file}");
    }
    for file in ["settled", "announced"] {
        assert!(crate::store::files::disk::counter::CounterLine::parse(seed("counter", file)).is_some(), "{file}");
    }
    assert!(crate::store::files::running::decode_started(seed("started", "whole.json")).is_some());
    assert_eq!(crate::store::files::running::decode_cancel(seed("cancel", "whole.json")).by, "bob");
    assert!(crate::store::files::running::decode_pause(seed("pause", "whole.json")).until.is_some());
    assert!(crate::store::journal::decode(seed("event", "whole.jsonl")).is_some());
    assert!(crate::policy::fair::Ledger::from_text(&text(seed("ledger", "two"))).is_some());
    let read = |file| crate::store::files::schedules::decode_schedule("x", seed("schedule", file));
    assert!(read("whole.json").is_ok_and(|schedule| schedule.last.is_some() && !schedule.extra.is_empty()));
    assert!(read("least.json").is_ok_and(|schedule| schedule.next.is_none()));
    let control = crate::store::files::disk::control_record::decode_control("x", seed("control", "both"));
    assert!(control.is_ok_and(|(read, extra)| read.holds.len() == 2 && read.lanes.len() == 2 && !extra.is_empty()));
    assert!(crate::store::config::parse(seed("config", "contract.json")).is_ok());
    assert_eq!(crate::cli::task_lines::read(&text(seed("batch", "three.jsonl"))).expect("it reads").len(), 3);
    for (_, file, seed) in SEEDS.iter().filter(|(body, ..)| *body == "steps") {
        assert!(crate::policy::steps::actions::actions_of(&text(seed), &str::to_owned).is_ok(), "{file}");
    }
    for (_, file, seed) in SEEDS.iter().filter(|(body, ..)| *body == "mcp") {
        assert!(crate::cli::mcp::meant(seed).is_some(), "{file}");
    }
    assert!(BODIES.iter().all(|(body, _)| SEEDS.iter().any(|(name, ..)| name == body)));
}

/// The seconds this thread has worked; other work on the machine does not count.
fn worked() -> i64 {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).expect("a clock").tv_sec()
}

/// Deep and long inputs end soon, with an answer, and without a deep stack.
#[test]
fn deep_and_long_inputs_end_soon() {
    let deep = |open: &str| open.repeat(50_000).into_bytes();
    let in_member = |text: &str| format!("{{\"v\":1,\"later\":{text}").into_bytes();
    let keys: String = (0..25_000).map(|at| format!("\"k{at}\":{at},")).collect();
    let long = [
        deep("["),
        deep("{\"a\":"),
        in_member(&"[".repeat(50_000)),
        in_member(&format!("\"{}\"}}", "x".repeat(125_000))),
        format!("{{{keys}\"v\":1}}").into_bytes(),
        format!("{{\"{}\":1}}", "lane".repeat(125_000)).into_bytes(),
        "1".repeat(250_000).into_bytes(),
        "1m".repeat(125_000).into_bytes(),
        "=".repeat(250_000).into_bytes(),
        "-".repeat(250_000).into_bytes(),
        b"enqueue\n".repeat(500),
    ];
    for input in &long {
        for (name, body) in BODIES {
            let begin = worked();
            body(input);
            let took = worked() - begin;
            assert!(took < 3, "{name} worked {took} s for {:?} …", text(&input[..20]));
        }
    }
}
