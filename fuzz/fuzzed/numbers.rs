//! Numbers and their texts: the tally of events, the file of `simulate`, rates of lanes; and hooks.

use super::text;
use crate::app::estimate::{Change, simulate_plan};
use crate::policy::analytics::record::Record;
use crate::policy::analytics::tally::{Gauges, render, series};
use crate::policy::hooks::{event_name, fires, payload};
use crate::store::files::locks::rules::parse_grants;
use crate::store::journal;
use crate::store::journal::hooks::{decode_hooks, encode_hooks};
use crate::store::journal::tally::{decode_tally, encode_tally};

/// The tally, and any text as a label: each line of the exposition is a comment or a sample.
pub fn tally(bytes: &[u8]) {
    if let Ok(read) = decode_tally("x", bytes) {
        let written = encode_tally(&read).expect("what reads can be written");
        assert_eq!(decode_tally("x", &written).ok(), Some(read), "{}", text(&written));
    }
    let said = text(bytes);
    let gauges = Gauges::from([(series("luzia_lane_depth", &[("lane", &said)]), 1.0)]);
    let shown = render(&std::collections::BTreeMap::new(), &gauges, &said);
    for line in shown.split('\n').filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        let (head, value) = line.rsplit_once("} ").expect("a sample ends with its value");
        assert!(head.starts_with("luzia_") && head.ends_with('"') && value.parse::<f64>().is_ok(), "{line}");
    }
    assert_eq!(shown.matches("\nluzia_lane_depth{").count(), 1, "one line");
}

/// The file of `simulate`: what reads runs to its end, and gives the same twice.
pub fn load(bytes: &[u8]) {
    let Ok(mut plan) = crate::cli::load_file::read("x", &text(bytes)) else { return };
    plan.streams.truncate(8);
    plan.streams.iter_mut().for_each(|stream| stream.count = stream.count.min(20));
    let change = Change::parse(&text(bytes)).into_iter().collect::<Vec<_>>();
    let outcome = simulate_plan(&plan, &change, 1);
    assert_eq!(outcome, simulate_plan(&plan, &change, 1));
    assert_eq!(outcome.now.users.iter().map(|user| user.tasks).sum::<u64>(), plan.count());
    assert_eq!(outcome.now.never, 0, "every task runs");
    assert!((0.0..=1.000_001).contains(&outcome.now.jain));
}

/// The grants of a lane that are remembered, and any text as a rate: what keeps a lane ends within a window.
pub fn rate(bytes: &[u8]) {
    use crate::model::Timestamp;
    use crate::model::config::Rate;
    let said = text(bytes);
    let rate = Rate::parse(said.lines().next().unwrap_or_default());
    if let Some(rate) = rate {
        assert_eq!(Rate::parse(&rate.to_string()), Some(rate), "{said}");
    }
    let rate = rate.unwrap_or(Rate { grants: 2, window_ms: 60_000 });
    let now = Timestamp(1_795_000_000_000);
    let Some(grants) = parse_grants(&said, now) else { return };
    let again = rate.next(&grants, now);
    let last = now.plus_ms(2 * i64::try_from(rate.window_ms).expect("a window"));
    assert!(again.is_none_or(|again| again > now && again <= last), "{said}");
    assert!(grants.len() >= usize::try_from(rate.grants).expect("a number") || again.is_none(), "{said}");
}

/// The hooks of a state directory.
pub fn hooks(bytes: &[u8]) {
    assert!(event_name(&text(bytes)).is_none_or(|name| name.ends_with(text(bytes).as_str())));
    let Ok((read, extra)) = decode_hooks("x", bytes) else { return };
    let written = encode_hooks(&read, extra.clone()).expect("what reads can be written");
    assert_eq!(decode_hooks("x", &written).ok(), Some((read.clone(), extra)), "{}", text(&written));
    let line = br#"{"v":1,"at":"2026-01-31T08:00:00.000Z","event":"alert","task":"task_1","user":"alice"}"#;
    let event = journal::decode(line).expect("an event");
    let record = Record::of(event.at, &event.line).expect("a kind");
    for hook in &read {
        assert!(!hook.argv().is_empty());
        assert!(!fires(hook, &record) || hook.event == "alert");
        assert_eq!(payload(hook, &record)["hook"].as_str(), Some(hook.name.as_str()));
    }
}
