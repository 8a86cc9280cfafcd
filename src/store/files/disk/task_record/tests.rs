//! Tests of task records, and the task that tests of other rooms begin with.

use super::*;
use crate::model::task::{DueBoot, EndState, Group, OnInterrupt, Outcome, Start, Terms};
use crate::model::{Limits, Sandbox, TaskId, Timestamp};
use proptest::prelude::*;

pub(crate) fn task(id: u64) -> Task {
    let user = Name::new("alice").expect("a name");
    Task {
        lanes: vec![LaneName::parse("thread:7").expect("a lane")],
        env: vec![(b"A".to_vec(), b"b=c".to_vec()), (b"RAW".to_vec(), vec![0xff, 0x20])].into(),
        umask: 0o027,
        conductor_dir: "/c".into(),
        created_by_pid: 9,
        after: vec![TaskId(1)],
        comes_after: vec![TaskId(1), TaskId(2)],
        start_by: Some(Timestamp(1_700_000_001_000)),
        timeout_ms: Some(5),
        retries: 2,
        failures: 1,
        starts: 1,
        last_start: Some(Start {
            at: Timestamp(4),
            lock_id: "task_3_1".into(),
            fence: 7,
            slots: [("resource:emu".to_owned(), "emulator-5558".to_owned())].into(),
        }),
        extra: serde_json::from_str("{\"later\":[1]}").expect("members"),
        ..Task::plain(TaskId(id), user, vec!["true".into()], Timestamp(1_700_000_000_123))
    }
}

#[test]
fn a_task_reads_back_with_what_it_does_not_know() {
    let task = task(3);
    let bytes = encode_task(&task).expect("it encodes");
    assert_eq!(decode_task("x", &bytes, None).expect("it reads"), task);
}

#[test]
fn a_description_is_a_record_without_what_a_start_needs_and_is_never_written() {
    let sandbox = Some(Arc::new(NamedSandbox::from(Sandbox::default())));
    let whole = Task { limits: Some(Limits::default().into()), sandbox, ..task(3) };
    let bytes = encode_task(&whole).expect("it encodes");
    let text = String::from_utf8(bytes.clone()).expect("text");
    assert!(OF_A_START.iter().all(|member| text.contains(&format!("\"{member}\":"))), "{text}");
    let known = KnownMembers::default();
    let read = |bytes: &[u8]| decode_named("x", bytes, Part::Description(&known), || None);
    for _ in 0..2 {
        let (task, names_user) = read(&bytes).expect("it reads");
        assert!(names_user && encode_task(&task).is_err());
        assert_eq!(task, Task { env: Environment::Unread, limits: None, ..whole.clone() });
    }
    // Records that differ from the last one in one of these members, or only look like it.
    let (sandbox, env) = (",\"sandbox\":{", ",\"env\":[[\"A\",\"b=c\"]]");
    assert!(text.contains(sandbox) && text.contains(env), "{text}");
    let other = read(text.replacen("\"seccomp\":0", "\"seccomp\":2", 1).as_bytes()).expect("it reads").0;
    assert_eq!(other.sandbox.map(|named| named.sandbox().seccomp), Some(2));
    let none = read(text.replacen(sandbox, ",\"other\":{", 1).as_bytes()).expect("it reads").0;
    assert_eq!(none.sandbox, None);
    for (was, is) in [
        (env, ",\"env\":[[\"A\",\"b=c\"]"),
        (env, ",\"env\":[[\"A\",\"b=c\"]]]"),
        (env, &format!(",{env}")),
        ("\"user\":\"alice\"", &format!("\"user\":\"alice{env}\"")),
    ] {
        read(&bytes).expect("it reads");
        assert!(text.contains(was), "{was} in {text}");
        assert!(matches!(read(text.replacen(was, is, 1).as_bytes()), Err(StoreError::Corrupt { .. })), "{is}");
    }
}

/// Terms of which each has a value, but for the grants: the record of a granted task is of another version.
fn unusual() -> Terms {
    Terms {
        after_any: vec![TaskId(1)],
        after_failed: vec![TaskId(2)],
        failed_dependency: Some(TaskId(2)),
        subject: Some("abc".into()),
        is_stable: true,
        subject_changed: Some(false),
        backoff_ms: Some(5),
        most_backoff_ms: Some(9),
        on_interrupt: OnInterrupt::Fail,
        on_finish: Some("true".into()),
        warn_after_ms: Some(7),
        on_wait: Some("true".into()),
        log_sample: Some(100_000),
        due_boot: Some(DueBoot { boot_id: "b".into(), at_ms: 7 }),
        earlier: vec![Outcome {
            step: None,
            end: EndState::Failed,
            completed_at: Timestamp(9),
            exit_code: Some(1),
            signal: None,
            summary: "the command exited with 1".into(),
            data: None,
            error: None,
            cancelled_by: None,
            cancel_reason: None,
            ran_ms: Some(3),
        }],
        reuses: Some(TaskId(1)),
        slot_count: Some(3),
        message: Some("how are you?".into()),
        channel: Some("telegram".into()),
        granted: None,
    }
}

#[test]
fn terms_read_back_and_have_no_member_where_there_are_none() {
    let bare = task(3);
    let text = String::from_utf8(encode_task(&bare).expect("it encodes")).expect("text");
    for member in [
        "after_any",
        "group",
        "subject",
        "stable",
        "backoff",
        "on_",
        "warn_",
        "log_sample",
        "reuses",
        "due_boot",
        "earlier",
        "dependency",
        "slot_",
        "message",
        "channel",
    ] {
        assert!(!text.contains(&format!("\"{member}")), "{member} in {text}");
    }
    let terms = unusual();
    let group = Some(Group { name: Name::new("docs").expect("a name"), first: TaskId(2) });
    let full = Task { terms, group, ..bare };
    let bytes = encode_task(&full).expect("it encodes");
    assert_eq!(decode_task("x", &bytes, None).expect("it reads"), full);
    let whole = String::from_utf8(bytes).expect("text");
    for (sound, wrong) in [
        ("\"on_interrupt\":\"fail\"", "\"on_interrupt\":\"maybe\""),
        ("\"backoff_ms\":5", "\"backoff_ms\":18446744073709551615"),
        ("\"on_wait\":\"true\"", "\"on_wait\":\"\\u0000\""),
        ("\"on_finish\":\"true\"", "\"on_finish\":\"\\u0000\""),
        ("\"after_any\":[\"task_1\"]", "\"after_any\":[\"1x\"]"),
        ("\"slot_count\":3", "\"slot_count\":0"),
        ("\"slot_count\":3", "\"slot_count\":1001"),
        ("\"slot_count\":3", "\"slot_count\":-3"),
    ] {
        assert!(whole.contains(sound), "{sound} in {whole}");
        let read = decode_task("x", whole.replacen(sound, wrong, 1).as_bytes(), None);
        assert!(matches!(read, Err(StoreError::Corrupt { .. })), "{wrong}");
    }
    // A group that began with a later task is no group.
    let later = whole.replacen("\"group_first\":\"task_2\"", "\"group_first\":\"task_4\"", 1);
    assert_eq!(decode_task("x", later.as_bytes(), None).expect("it reads").group, None);
}

#[test]
fn no_truncated_record_reads() {
    let bytes = encode_task(&task(3)).expect("it encodes");
    for at in 0..bytes.len() - 1 {
        assert!(matches!(decode_task("x", &bytes[..at], None), Err(StoreError::Corrupt { .. })), "cut at {at}");
    }
}

#[test]
fn a_newer_record_is_told_from_a_damaged_one() {
    for newer in ["{\"v\":2}", "{\"v\":99,\"id\":[]}"] {
        assert!(matches!(decode_task("x", newer.as_bytes(), None), Err(StoreError::Newer { .. })));
    }
    for damaged in ["", "{}", "{\"v\":1}", "[2]", "{\"v\":\"2\"}", "\u{feff}{\"v\":2}", "{\"v\":2}{\"v\":2}"] {
        assert!(matches!(decode_task("x", damaged.as_bytes(), None), Err(StoreError::Corrupt { .. })), "{damaged}");
    }
}

#[test]
fn a_record_without_a_user_belongs_to_the_user_of_its_lane() {
    let bytes = encode_task(&task(3)).expect("it encodes");
    let text = String::from_utf8(bytes).expect("text").replace("\"user\":\"alice\",", "");
    let bob = Name::new("bob").expect("a name");
    assert_eq!(decode_task("x", text.as_bytes(), Some(&bob)).expect("it reads").user, bob);
    assert!(decode_task("x", text.as_bytes(), None).is_err());
}

#[test]
fn what_enqueue_refuses_is_refused_in_a_record() {
    let whole = String::from_utf8(encode_task(&task(3)).expect("it encodes")).expect("text");
    for (sound, wrong, why) in [
        ("\"v\":1", "\"v\":0", "no version 0"),
        ("[\"true\"]", "[\"\"]", "no command"),
        ("[\"true\"]", "[\"true\",\"\\u0000\"]", "NUL"),
        ("\"cwd\":\"/\"", "\"cwd\":\"here\"", "absolute"),
        ("\"conductor_dir\":\"/c\"", "\"conductor_dir\":\"\"", "absolute"),
        ("\"after\":[\"task_1\"]", "\"after\":[\"task_3\"]", "comes after itself"),
        ("\"task_2\"", "\"task_3\"", "comes after itself"),
        ("\"thread:7\"", "\"user:bob\"", "second user"),
        ("\"timeout_ms\":5", "\"timeout_ms\":18446744073709551615", "100 years"),
        ("\"status\":\"pending\"", "\"status\":\"completed\"", "contradict"),
        ("\"cwd\":", "\"key\":\"\",\"cwd\":", "its key"),
        ("\"52", "\"+2", "hexadecimal"),
        ("\"last_start\":{", "\"last_start\":[],\"x\":{", "an object"),
        ("2023-11-14T22:13:20.123Z", "9999-12-31T23:59:59-23:59", "not a time"),
    ] {
        assert!(whole.contains(sound), "{sound} in {whole}");
        let error = decode_task("x", whole.replacen(sound, wrong, 1).as_bytes(), None).expect_err(wrong);
        assert!(error.to_string().contains(why), "{wrong}: {error}");
    }
}

#[test]
fn members_that_belong_together_are_read_and_lost_together() {
    let whole = String::from_utf8(encode_task(&task(3)).expect("it encodes")).expect("text");
    for members in [
        "\"agent\":null,\"session\":\"s\"",
        "\"agent\":\"a\",\"session\":{}",
        "\"schedule\":null,\"slot\":\"2023-11-14T22:13:20.123Z\"",
        "\"group_first\":\"task_1\"",
    ] {
        let read = decode_task("x", whole.replacen("\"v\":1", &format!("\"v\":1,{members}"), 1).as_bytes(), None);
        assert_eq!(read.expect("it reads"), task(3), "{members}");
    }
    let members = "\"agent\":\"a\",\"session\":\"s\",\"group\":\"g\",\"group_first\":\"task_1\"";
    let read = decode_task("x", whole.replacen("\"v\":1", &format!("\"v\":1,{members}"), 1).as_bytes(), None);
    let read = read.expect("it reads");
    assert_eq!(read.agent.as_ref().and_then(|agent| agent.session.as_deref()), Some("s"));
    assert_eq!(decode_task("x", &encode_task(&read).expect("it encodes"), None).expect("it reads"), read);
}

#[test]
fn a_record_is_utf8_also_where_nobody_looks() {
    let whole = encode_task(&task(3)).expect("it encodes");
    let at = whole.windows(6).position(|found| found == b"\"fence").expect("a start");
    let mut with_member = whole[..at].to_vec();
    with_member.extend(b"\"later\":\"\xa5\",");
    with_member.extend(&whole[at..]);
    assert!(matches!(decode_task("x", &with_member, None), Err(StoreError::Corrupt { .. })));
}

#[test]
fn further_lanes_are_read_in_canonical_order_without_repeats() {
    let whole = String::from_utf8(encode_task(&task(3)).expect("it encodes")).expect("text");
    let lanes = "\"thread:7\",\"global\",\"cron\",\"user:alice\",\"thread:7\"";
    let read = decode_task("x", whole.replacen("\"thread:7\"", lanes, 1).as_bytes(), None).expect("it reads");
    let names: Vec<String> = read.all_lanes().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["user:alice", "cron", "thread:7", "global"]);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode_task("x", &bytes, None);
    }
}
