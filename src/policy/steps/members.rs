//! The data of the event of a wait, and the variables that it becomes: one row for each kind. Pure.

use crate::policy::naming::nearest;
use crate::policy::steps::waits::WaitKind;
use serde_json::Value;
use std::fmt::Write;

/// The data that a kind of wait takes from its event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The kind.
    pub kind: WaitKind,
    /// The members of the data that count; for `response`, the first one that is present.
    pub members: &'static [&'static str],
    /// The variables that these members become.
    pub variables: &'static [&'static str],
    /// Wrong spellings of members, each with the right one.
    slips: &'static [(&'static str, &'static str)],
}

/// Every kind, in the order of the help.
pub static ROWS: [Row; 8] = [
    Row {
        kind: WaitKind::Response,
        members: &["lastResponse", "text", "message"],
        variables: &["lastResponse"],
        slips: &[("content", "text"), ("body", "text"), ("answer", "text"), ("reply", "text"), ("response", "text")],
    },
    Row {
        kind: WaitKind::Document,
        members: &["url"],
        variables: &["documentUrls"],
        slips: &[
            ("link", "url"),
            ("uri", "url"),
            ("file", "url"),
            ("path", "url"),
            ("documentUrl", "url"),
            ("urls", "url"),
        ],
    },
    Row {
        kind: WaitKind::Signature,
        members: &["signedDocumentUrl", "signedAt"],
        variables: &["signedDocumentUrl", "signedAt"],
        slips: &[("link", "signedDocumentUrl"), ("date", "signedAt"), ("time", "signedAt")],
    },
    Row {
        kind: WaitKind::Test,
        members: &["testScore", "testResult"],
        variables: &["testScore", "testResult"],
        slips: &[],
    },
    Row { kind: WaitKind::Event, members: &[], variables: &["lastEvent"], slips: &[] },
    Row {
        kind: WaitKind::Agent,
        members: &[],
        variables: &["triggeredExecutionId", "childExecutionStatus", "childExecutionSuccess", "childResults"],
        slips: &[],
    },
    Row { kind: WaitKind::Delay, members: &[], variables: &[], slips: &[] },
    Row { kind: WaitKind::Output, members: &[], variables: &["lastOutput"], slips: &[] },
];

/// The row of a kind.
pub fn row(kind: WaitKind) -> &'static Row {
    // Every kind has a row; a test proves it.
    ROWS.iter().find(|row| row.kind == kind).unwrap_or(&ROWS[4])
}

/// The table for the help and the pages.
pub fn table() -> String {
    let mut text = String::new();
    let mut line = |kind: &str, event: &str, members: &str, variables: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {}", format!("{kind:<11}{event:<21}{members:<29}{variables}").trim_end());
    };
    line("kind", "event", "members of --data", "variables");
    for row in ROWS {
        let (own, all) = (row.members.join(", "), row.variables.join(", "));
        let (event, members, variables) = match row.kind {
            WaitKind::Agent => ("the end of a child", "-", "see Children below"),
            WaitKind::Delay => ("its time", "-", "-"),
            WaitKind::Output => ("a line of a log", "-", all.as_str()),
            WaitKind::Event => (row.kind.event(), "all", all.as_str()),
            WaitKind::Response => (row.kind.event(), "text, message, lastResponse", all.as_str()),
            WaitKind::Document | WaitKind::Signature | WaitKind::Test => (row.kind.event(), own.as_str(), all.as_str()),
        };
        line(row.kind.word(), event, members, variables);
        if row.kind == WaitKind::Event {
            line("event:NAME", "NAME", members, variables);
        }
    }
    text
}

/// The members of some data that a kind does not take, each with the member that is probably meant.
pub fn slips(kind: WaitKind, data: &Value) -> Vec<(String, &'static str)> {
    let row = row(kind);
    let Some(members) = data.as_object() else { return Vec::new() };
    let has = |name: &str| members.contains_key(name);
    if kind == WaitKind::Response && row.members.iter().any(|member| has(member)) {
        return Vec::new();
    }
    let is_part = |given: &str, member: &str| given.len() > 2 && member.to_lowercase().contains(&given.to_lowercase());
    let free: Vec<&'static str> = row.members.iter().copied().filter(|member| !has(member)).collect();
    let meant = |given: &String| {
        let by_habit = row.slips.iter().find(|(slip, member)| slip == given && free.contains(member));
        let by_habit = by_habit.map(|(_, member)| *member);
        let by_part = || free.iter().copied().find(|member| is_part(given, member));
        by_habit.or_else(|| nearest(given, free.iter().copied())).or_else(by_part)
    };
    let given = members.keys().filter(|given| !row.members.contains(&given.as_str()));
    given.filter_map(|given| Some((given.clone(), meant(given)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_has_one_row() {
        for kind in WaitKind::ALL {
            assert_eq!(ROWS.iter().filter(|row| row.kind == kind).count(), 1);
            assert_eq!(row(kind).kind, kind);
            assert!(table().contains(kind.word()) && (!kind.is_sent() || table().contains(kind.event())), "{kind:?}");
        }
        assert!(table().lines().all(|line| line.len() <= 110), "{}", table());
    }

    #[test]
    fn a_near_miss_of_a_member_is_found() {
        let of = |kind, data: Value| -> Vec<&'static str> {
            slips(kind, &data).into_iter().map(|(_, meant)| meant).collect()
        };
        assert_eq!(of(WaitKind::Test, json!({ "score": 9, "result": "pass" })), ["testScore", "testResult"]);
        assert_eq!(of(WaitKind::Test, json!({ "testscore": 9, "from": "ana" })), ["testScore"]);
        assert_eq!(of(WaitKind::Signature, json!({ "url": "/a" })), ["signedDocumentUrl"]);
        assert_eq!(of(WaitKind::Response, json!({ "content": "yes" })), ["text"]);
        assert_eq!(of(WaitKind::Response, json!({ "content": "yes", "text": "yes" })), Vec::<&str>::new());
        assert_eq!(of(WaitKind::Document, json!({ "url": "/a", "file": "b" })), Vec::<&str>::new());
        assert_eq!(of(WaitKind::Event, json!({ "url": "/a" })), Vec::<&str>::new());
        assert_eq!(of(WaitKind::Response, json!("yes")), Vec::<&str>::new());
    }
}
