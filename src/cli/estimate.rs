//! Estimates of starts, for people and as JSON.

use crate::app::Obstacle;
use crate::app::estimate::{Estimate, about, rough};
use crate::app::queue::run::InQueue;
use serde_json::{Value, json};

/// An estimate as JSON; null where there is too little data.
pub fn estimate_json(estimate: Option<&Estimate>) -> Value {
    estimate.map_or(Value::Null, |estimate| {
        json!({
            "start_p50_ms": estimate.p50_ms,
            "start_p90_ms": estimate.p90_ms,
            "samples": estimate.samples,
            "position": estimate.position,
        })
    })
}

/// An estimate as a sentence, for a task that waits for these reasons; `None` where the task has no obstacle.
pub fn estimate_text(estimate: Option<&Estimate>, reasons: &[Obstacle]) -> Option<String> {
    let Some(Estimate { p50_ms, p90_ms, samples, position }) = estimate else {
        return Some(
            "its start time is unknown: too little is known of the run times of the work before it".to_owned(),
        );
    };
    if *p90_ms == 0 {
        return None;
    }
    let (soon, late) = (rough(*p50_ms), rough(*p90_ms));
    let span = if soon == late { about(*p50_ms) } else { format!("{soon} to {late}") };
    let after = match position {
        0 => String::new(),
        1 => ", after 1 task of all users".to_owned(),
        more => format!(", after {more} tasks of all users"),
    };
    let told = format!("{after} (by the last {samples} runs of the same work)");
    // The start of a dispatcher cannot be predicted.
    Some(match reasons.contains(&Obstacle::NoDispatcher) {
        true => format!("once a dispatcher runs, it starts {span} later{told}"),
        false => format!("it starts in {span}{told}"),
    })
}

/// The place of a task that waits, behind a sentence.
pub fn place_text(place: Option<&InQueue>) -> String {
    let Some(InQueue { position, estimate }) = place else { return String::new() };
    let about = estimate.map_or_else(String::new, |estimate| format!("; {}", about(estimate.p50_ms)));
    format!("; position {position}{about}")
}
