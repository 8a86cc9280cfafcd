//! Answers for a model: each value under one name, and no empty member. Pure.

use crate::cli::output::escape::escape_controls;
use serde_json::{Map, Value, json};

/// The most letters of a command in a list.
const MOST_LETTERS: usize = 60;

/// A document of luzia without empty members, and without duplicate names.
pub fn lean(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let is_twin = |name: &str| {
                let snake = snake(name);
                snake != name && members.contains_key(&snake)
            };
            let twins: Vec<String> = members.keys().filter(|name| is_twin(name)).cloned().collect();
            let kept = members.into_iter().filter(|(name, value)| !value.is_null() && !twins.contains(name));
            Value::Object(kept.map(|(name, value)| (name, lean(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(lean).collect()),
        other => other,
    }
}

/// A document of a verb, as an answer: without the name of its schema, and with a task under the name of the argument.
pub fn answer(value: Value) -> Value {
    let mut value = lean(value);
    if let Some(members) = value.as_object_mut() {
        members.remove("schema");
        if members.contains_key("status")
            && let Some(id) = members.remove("id")
        {
            members.insert("task".to_owned(), id);
        }
    }
    value
}

/// The members of a task that a model needs while it waits, from the document of `explain`.
pub fn report(task: &Value) -> Map<String, Value> {
    let mut members = Map::new();
    for name in ["status", "exit_code", "signal", "result_summary", "created_at", "started_at", "completed_at"] {
        let value = task.get(name).filter(|value| !value.is_null());
        // The state of a completed command adds nothing to its code.
        let is_news = name != "result_summary" || task.get("status") != Some(&json!("completed"));
        members.extend(value.filter(|_| is_news).map(|value| (name.to_owned(), value.clone())));
    }
    let reasons = task.get("reasons").and_then(Value::as_array).filter(|reasons| !reasons.is_empty());
    members.extend(reasons.map(|reasons| ("reasons".to_owned(), lean(json!(reasons)))));
    members
}

/// The tasks of a list, a line of members each.
pub fn tasks(list: &Value) -> Value {
    let row = |task: &Value| {
        let mut row = Map::new();
        let words = |name: &str| -> Vec<&str> {
            task.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
        };
        let whole = words("command").join(" ");
        let whole = escape_controls(&whole);
        let mut command: String = whole.chars().take(MOST_LETTERS).collect();
        if command.len() < whole.len() {
            command.push('…');
        }
        for (name, of) in [("task", "id"), ("status", "status"), ("user", "user"), ("exit_code", "exit_code")] {
            row.extend(task.get(of).filter(|value| !value.is_null()).map(|value| (name.to_owned(), value.clone())));
        }
        // The lane of its user adds nothing.
        let lanes: Vec<&str> = words("lanes").into_iter().filter(|lane| !lane.starts_with("user:")).collect();
        row.extend((!lanes.is_empty()).then(|| ("lanes".to_owned(), json!(lanes))));
        row.insert("command".to_owned(), json!(command));
        row.extend(task.get("reason").filter(|word| word.is_string()).map(|word| ("reason".to_owned(), word.clone())));
        Value::Object(row)
    };
    let items = list.get("items").and_then(Value::as_array).into_iter().flatten().map(row);
    json!({ "items": items.collect::<Vec<_>>() })
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_one_name_and_nothing_empty_stays() {
        let given = json!({ "schema": "x", "id": "task_1", "status": "failed", "completedAt": 1, "completed_at": 1,
            "activeExecutionId": 7, "gone": null, "list": [{ "resultType": 1, "result_type": 1, "none": null }] });
        let lean = json!({ "task": "task_1", "status": "failed", "completed_at": 1, "activeExecutionId": 7,
            "list": [{ "result_type": 1 }] });
        assert_eq!(answer(given), lean);
    }
}
