//! Records of a run in the event log beside its end: whether its work tree moved (`--stable`), and for a share of the starts
//! the prompt and the answer (`--log-sample`, S2.32).

use super::output_of;
use crate::model::Task;
use crate::policy::requests::is_sampled;
use crate::store::{Event, Site};
use crate::supervise::Surroundings;
use crate::supervise::keep::Keeper;
use serde_json::json;

/// Number of characters of a prompt and of an answer that are logged.
const MOST_LOGGED: usize = 4096;

/// Takes the digest of the work tree again, and notes in the task whether it differs from the one at which the task was
/// queued. If it cannot be taken, the answer is unknown, and the task notes nothing.
pub(in crate::supervise) fn compare(around: &Surroundings, task: &mut Task, keeper: &mut Keeper) {
    if !task.terms.is_stable {
        return;
    }
    keeper.keep();
    let now = (around.subject)(&task.cwd);
    keeper.keep();
    match (&task.terms.subject, now) {
        (Some(before), Ok(now)) => {
            let is_changed = *before != now;
            task.terms.subject_changed = Some(is_changed);
            if is_changed {
                let said = "its work tree changed after it was queued: its result may not be that of either content";
                let data = json!({ "subject_changed": true, "before": before, "after": now });
                around.site.store.note(&Event::of("subject_changed", task).saying(said).with(data));
            }
        }
        (_, Err(why)) => {
            task.terms.subject_changed = None;
            around.site.store.note(&Event::of("subject_unknown", task).saying(why));
        }
        (None, Ok(_)) => {}
    }
}

/// Logs the prompt of a start, if the start is in the sample.
pub(in crate::supervise) fn log_prompt(site: &Site, task: &Task) {
    if is_sampled(task, task.starts) {
        let prompt = task.stdin.clone().unwrap_or_else(|| task.command.join(" "));
        let data = json!({ "start": task.starts, "prompt": first(&prompt), "bytes": prompt.len() });
        site.store.note(&Event::of("prompt", task).with(data));
    }
}

/// Logs the end of the output that a run wrote to its standard output. `from` is the offset at which the output begins.
pub(in crate::supervise) fn log_response(site: &Site, task: &Task, from: u64) {
    if is_sampled(task, task.starts) {
        let (said, _) = output_of(site, task, from);
        let skipped = said.chars().count().saturating_sub(MOST_LOGGED);
        let end: String = said.chars().skip(skipped).collect();
        site.store.note(&Event::of("response", task).with(json!({ "start": task.starts, "response": end })));
    }
}

fn first(text: &str) -> String {
    text.chars().take(MOST_LOGGED).collect()
}
