//! The member `stepwise` of a task record.

use crate::model::task::{LastRun, Stepwise};
use crate::store::files::disk::json_object;
use serde::{Deserialize, Serialize};

/// `stepwise`.
#[derive(Serialize, Deserialize)]
pub(crate) struct StepwiseFile {
    step: u32,
    max_steps: u32,
    #[serde(default = "one")]
    steps_per_run: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    actions: Vec<Vec<String>>,
    #[serde(default)]
    seen_mail: u64,
    #[serde(default, deserialize_with = "json_object::member", skip_serializing_if = "Option::is_none")]
    last: Option<LastRunFile>,
}

#[derive(Serialize, Deserialize)]
struct LastRunFile {
    #[serde(default)]
    tool: bool,
    exit_code: i32,
    result: String,
}

fn one() -> u32 {
    1
}

pub(crate) fn encode_stepwise(stepwise: &Stepwise) -> StepwiseFile {
    StepwiseFile {
        step: stepwise.step,
        max_steps: stepwise.most,
        steps_per_run: stepwise.per_run,
        actions: stepwise.actions.clone(),
        seen_mail: stepwise.seen_mail,
        last: stepwise.last.as_ref().map(|last| LastRunFile {
            tool: last.is_tool,
            exit_code: last.exit_code,
            result: last.result.clone(),
        }),
    }
}

pub(crate) fn decode_stepwise(file: StepwiseFile) -> Result<Stepwise, String> {
    let wrong = [
        (file.max_steps == 0 || file.steps_per_run == 0, "its steps are bounded by 0"),
        (file.actions.iter().any(|argv| argv.first().is_none_or(String::is_empty)), "a step has no command"),
        (file.actions.iter().flatten().any(|word| word.contains('\0')), "an argument of a step holds NUL"),
    ];
    if let Some((_, why)) = wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
        return Err(why.to_owned());
    }
    Ok(Stepwise {
        step: file.step,
        most: file.max_steps,
        per_run: file.steps_per_run,
        actions: file.actions,
        seen_mail: file.seen_mail,
        last: file.last.map(|last| LastRun {
            is_tool: last.tool,
            exit_code: last.exit_code,
            result: last.result.replace('\0', ""),
        }),
    })
}
