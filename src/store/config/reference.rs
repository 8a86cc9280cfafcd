//! The table of keys for people and editors: the reference of every key, and the JSON Schema of the file.

use super::key::Key;
use super::keys::{FILE, PROJECT, RULE};
use crate::model::Config;
use crate::model::config::{LaneRule, Project};
use serde_json::{Map, Value, json};

/// The dialect of the schema.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Text of one key in luzia-config(5).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyPage {
    /// The path of the key, e.g. `lanes.NAME.max`.
    pub path: String,
    /// The form of the key's value in words.
    pub form: String,
    /// The default in words or as JSON.
    pub default: String,
    /// Effect of the key.
    pub meaning: &'static str,
    /// Moment at which a changed value takes effect.
    pub effect: &'static str,
    /// A configuration that sets only this key, as JSON.
    pub example: String,
}

/// Every key in the order of the table.
pub fn reference() -> Vec<KeyPage> {
    let mut pages = Vec::new();
    for key in FILE {
        pages.push(page(key, &[], &Config::default()));
        match key.name {
            "projects" => pages.extend(PROJECT.iter().map(|key| page(key, &["projects", "NAME"], &Project::default()))),
            "lanes" => pages.extend(RULE.iter().map(|key| page(key, &["lanes", "NAME"], &LaneRule::default()))),
            _ => {}
        }
    }
    pages
}

fn page<T>(key: &Key<T>, below: &[&str], defaults: &T) -> KeyPage {
    let path: Vec<&str> = below.iter().copied().chain(key.name.split('.')).collect();
    let example = path.iter().rev().fold(key.words.example.to_owned(), |inner, name| {
        let name = match (*name, below.first()) {
            ("NAME", Some(&"projects")) => "shop",
            ("NAME", _) => "deploy",
            (name, _) => name,
        };
        format!("{{ \"{name}\": {inner} }}")
    });
    let default = key.words.default.map_or_else(|| key.value_in(defaults).to_string(), str::to_owned);
    let (meaning, effect) = (key.words.meaning, key.words.effect);
    KeyPage { path: path.join("."), form: key.kind.expected().into_owned(), default, meaning, effect, example }
}

/// The JSON Schema (draft 2020-12) of the configuration file. It admits every file that [`super::parse`] reads without a
/// warning; it checks less of names, paths and patterns.
pub fn schema() -> Value {
    let mut schema = object(FILE, &Config::default());
    for (name, inner) in
        [("projects", object(PROJECT, &Project::default())), ("lanes", object(RULE, &LaneRule::default()))]
    {
        schema["properties"][name]["additionalProperties"] = inner;
    }
    let mut file = Map::new();
    file.insert("$schema".to_owned(), json!(DIALECT));
    file.insert("title".to_owned(), json!("The configuration of luzia, luzia-config(5)"));
    if let Value::Object(members) = schema {
        file.extend(members);
    }
    Value::Object(file)
}

/// The schema of an object with these keys. luzia ignores an unknown key with a warning. The schema makes it an error,
/// because it is nearly always a slip.
fn object<T>(keys: &[Key<T>], defaults: &T) -> Value {
    let mut properties = Map::new();
    for key in keys {
        let mut one = key.kind.schema();
        one["description"] = json!(format!("{} A change takes effect {}.", key.words.meaning, key.words.effect));
        let default = key.value_in(defaults);
        if key.words.default.is_none() {
            one["default"] = default;
        }
        if let Ok(example) = serde_json::from_str::<Value>(key.words.example) {
            one["examples"] = json!([example]);
        }
        match key.name.split_once('.') {
            None => properties.insert(key.name.to_owned(), one),
            Some((group, name)) => {
                let group = properties
                    .entry(group)
                    .or_insert_with(|| json!({ "type": "object", "properties": {}, "additionalProperties": false }));
                group["properties"].as_object_mut().and_then(|inner| inner.insert(name.to_owned(), one))
            }
        };
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}
