//! The names of queues.

use super::*;

#[test]
fn the_name_of_a_queue_reads_back() {
    let digits = "0123456789abcdef";
    let sandbox = SandboxId::parse(digits);
    let full = format!("user_a=40b~n{digits}~s{digits}~c{digits}");
    let read = QueueName::parse(&full).expect("a queue");
    assert_eq!((read.user_stem, read.lanes, &read.sandbox), ("user_a=40b", Some(digits), &sandbox));
    assert_eq!(read.share, Some(digits));
    assert_eq!(read.user().map(|user| user.to_string()), Some("a@b".into()));
    assert!(!read.takes_user_lane());
    let grouped = format!("user_a~n{digits}~g12~c{digits}");
    assert_eq!(QueueName::parse(&grouped).and_then(|name| name.group), Some(TaskId(12)));
    assert_eq!(QueueName::place_in(&grouped, TaskId(15)), (TaskId(12), TaskId(15)));
    assert_eq!(QueueName::place_in("user_a~g12x", TaskId(15)), (TaskId(15), TaskId(15)));
    let of_session = format!("user_a~s{digits}~g12");
    let of_session = QueueName::parse(&of_session).expect("a queue");
    assert_eq!((of_session.lanes, of_session.share, of_session.takes_user_lane()), (None, Some(digits), true));
    let plain = QueueName::parse("user_alice").expect("a queue");
    assert_eq!((plain.lanes, plain.sandbox.clone(), plain.takes_user_lane()), (None, None, true));
}

#[test]
fn other_names_are_no_queues() {
    let digits = "0123456789abcdef";
    for wrong in [
        "thread_7".to_owned(),
        "user_a~".to_owned(),
        "user_a~n".to_owned(),
        format!("user_a~x{digits}"),
        format!("user_a~s{digits}~n{digits}"),
        format!("user_a~n{digits}~s{}", &digits[1..]),
        format!("user_a~n{digits}~c{digits}~s{digits}"),
        format!("user_a~c{digits}~n{digits}"),
        format!("user_a~g12~n{digits}"),
        "user_a~gtask_12".to_owned(),
        "user_a~g012".to_owned(),
        "user_a~g0".to_owned(),
        "user_a~g1~g2".to_owned(),
        format!("user_a~c{digits}~c{digits}"),
        format!("user_a~n{}", &digits[1..]),
    ] {
        assert_eq!(QueueName::parse(&wrong), None, "{wrong}");
    }
}
