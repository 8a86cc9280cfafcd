//! A lane with free slots that grants nothing: the host is busy, or other processes use the values of its slots.

use crate::app::capacity::Bars;
use crate::app::{Narrow, Pause, Shut, lane_word};
use crate::model::LaneName;
use crate::model::capacity::Occupied;
use serde_json::{Value, json};

/// Reasons that keep every task from a lane, as members of a document.
pub fn bars_members(lane: &LaneName, bars: &Bars) -> [(String, Value); 4] {
    let busy = bars.busy.clone().map(|busy| busy_json(&Shut { lane: lane.clone(), busy }));
    [
        ("paused".into(), json!(bars.paused.as_ref().map(pause_json))),
        ("gate".into(), json!(busy)),
        ("limited_until".into(), json!(bars.limited_until.map(|until| until.to_string()))),
        ("occupied".into(), json!(bars.occupied.as_ref().map(|occupied| occupied_json(lane, occupied)))),
    ]
}

/// A pause as JSON.
pub fn pause_json(pause: &Pause) -> Value {
    json!({
        "what": pause.what,
        "since": pause.since.to_string(),
        "until": pause.until.map(|until| until.to_string()),
        "why": pause.reason,
        "by": pause.by,
    })
}

/// A shut gate as a sentence, and the command that shows more.
pub fn busy_text(shut: &Shut) -> (String, Option<String>) {
    let text = format!("the host is too busy for lane \"{}\": {}", shut.lane, shut.busy.text());
    (text, Some(format!("luzia lanes show {}", lane_word(&shut.lane))))
}

/// A shut gate in a few words, for a cell of a table.
pub fn busy_brief(shut: &Shut) -> String {
    format!("host busy: {} ({})", shut.busy.readings.join(", "), shut.lane)
}

/// A shut gate as JSON.
pub fn busy_json(shut: &Shut) -> Value {
    json!({
        "lane": shut.lane.to_string(),
        "conditions": shut.busy.conditions,
        "readings": shut.busy.readings,
    })
}

/// Values in use as a sentence, and the command that shows more.
pub fn occupied_text(lane: &LaneName, occupied: &Occupied) -> (String, Option<String>) {
    let by = occupied.pid.map_or_else(|| "a process that cannot be seen".to_owned(), |pid| format!("process {pid}"));
    let text = format!("every free value of lane \"{lane}\" is in use: {} by {by}", occupied.value);
    let more = match occupied.count {
        0 | 1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    (text + &more, Some(format!("luzia lanes show {}", lane_word(lane))))
}

/// Values in use as JSON.
pub fn occupied_json(lane: &LaneName, occupied: &Occupied) -> Value {
    json!({ "lane": lane.to_string(), "value": occupied.value, "pid": occupied.pid, "count": occupied.count })
}

/// A lane with too few slots as a sentence, and the command that shows more.
pub fn narrow_text(narrow: &Narrow) -> (String, Option<String>) {
    let Narrow { lane, needed, max } = narrow;
    let text = format!("it needs {needed} slots of lane \"{lane}\", which has {max} now");
    (text, Some(format!("luzia lanes show {}", lane_word(lane))))
}

/// A lane with too few slots as JSON.
pub fn narrow_json(narrow: &Narrow) -> Value {
    json!({ "lane": narrow.lane.to_string(), "needed": narrow.needed, "max": narrow.max })
}

/// One of each, for the tests of all reasons.
#[cfg(test)]
pub(crate) fn examples() -> [crate::app::Obstacle; 3] {
    let lane = LaneName::parse("build").expect("a lane");
    let busy = crate::app::Busy { conditions: vec!["load>1".into()], readings: vec!["load 2".into()] };
    let occupied = Occupied { value: "4000".into(), pid: Some(7), count: 2 };
    let shut = Shut { lane: lane.clone(), busy };
    let narrow = Narrow { lane: lane.clone(), needed: 3, max: 2 };
    [
        crate::app::Obstacle::TooFewSlots { narrow },
        crate::app::Obstacle::HostBusy { shut },
        crate::app::Obstacle::SlotOccupied { lane, occupied },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Busy;

    #[test]
    fn the_words_name_the_reading_and_the_process() {
        let lane = LaneName::parse("build").expect("a lane");
        let busy = Busy { conditions: vec!["load>1.5".into()], readings: vec!["load 2.1".into()] };
        let shut = Shut { lane: lane.clone(), busy };
        assert_eq!(busy_text(&shut).0, "the host is too busy for lane \"build\": load 2.1 (load>1.5)");
        assert_eq!(busy_brief(&shut), "host busy: load 2.1 (build)");
        let occupied = Occupied { value: "4000".into(), pid: Some(7), count: 3 };
        let text = occupied_text(&lane, &occupied).0;
        assert_eq!(text, "every free value of lane \"build\" is in use: 4000 by process 7, and 2 more");
    }
}
