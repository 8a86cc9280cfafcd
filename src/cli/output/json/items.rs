//! Lists of JSON: one document, or a line an item.

use super::{document, line, pretty};
use serde_json::{Map, Value, json};

/// Kind of the items of JSON lines, by the schema of their document: `task`, `lock`, `event` and so on.
fn kind_of(schema: &str) -> &str {
    match schema {
        "list" | "show" | "enqueue" | "run" | "wait" | "cancel" | "retry" | "edit" | "move" => "task",
        "list-locks" => "lock",
        "lanes" => "lane",
        "events" => "event",
        "timeline" => "hold",
        other => other,
    }
}

/// A value as a line of JSON lines: with a `kind`, so that a reader of several streams can tell them apart. A member of that
/// name, as locks have it, stays.
pub fn of_kind(schema: &str, value: &Value) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    let mut line = Map::new();
    line.insert("kind".into(), json!(kind_of(schema)));
    line.extend(members.clone());
    Value::Object(line)
}

/// A list that is written as its items arrive: one document, or a line an item.
pub struct Items {
    schema: String,
    begin: String,
    between: &'static str,
    end: String,
    items: Vec<String>,
    is_begun: bool,
    is_empty: bool,
}

impl Items {
    /// One document with `items`: the same text as [`pretty`] gives of the whole.
    pub fn document(schema: &str) -> Self {
        let empty = pretty(&document(schema, [("items", json!([]))]));
        let (begin, end) = empty.split_once("[]").unwrap_or((&empty, ""));
        Self::new(format!("{begin}["), ",", format!("]{end}"))
    }

    /// JSON lines, as [`of_kind`] and [`line()`] give them.
    pub fn lines(schema: &str) -> Self {
        Self { schema: schema.to_owned(), ..Self::new(String::new(), "", String::new()) }
    }

    fn new(begin: String, between: &'static str, end: String) -> Self {
        Self { schema: String::new(), begin, between, end, items: Vec::new(), is_begun: false, is_empty: true }
    }

    fn is_document(&self) -> bool {
        !self.between.is_empty()
    }

    /// Takes an item in.
    pub fn push(&mut self, item: &Value) {
        let indented = |text: String| format!("\n    {}", text.trim_end().replace('\n', "\n    "));
        self.items.push(if self.is_document() { indented(pretty(item)) } else { line(&of_kind(&self.schema, item)) });
        self.is_empty = false;
    }

    /// Number of items that wait for a page.
    pub fn waiting(&self) -> usize {
        self.items.len()
    }

    /// The text up to here.
    pub fn page(&mut self) -> String {
        let text = std::mem::take(&mut self.items).join(self.between);
        let lead = match std::mem::replace(&mut self.is_begun, true) {
            false => self.begin.as_str(),
            true if text.is_empty() => "",
            true => self.between,
        };
        format!("{lead}{text}")
    }

    /// The rest of the text.
    pub fn end(mut self) -> String {
        let text = self.page();
        let gap = if self.is_document() && !self.is_empty { "\n  " } else { "" };
        format!("{text}{gap}{}", self.end)
    }
}
