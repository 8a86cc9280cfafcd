//! The JSON documents of luzia: what each holds, as JSON Schema (draft 2020-12) and for luzia-json(5).
//!
//! A shape is written as a line `= name words` and a line `name type words` for each member. A `?` behind the name: the member may be absent. A type is `text`, `int`,
//! `number`, `bool`, `time`, `object` or `any`; `[x]` is a list and `{x}` an object with values of that type, `@shape` another
//! shape, and a `~` behind it admits null. A line `+shape` takes in the members of another shape. A line `--- words` begins
//! another form of the same document. Further members are always admitted: documents are append-only within v1.

mod documents;
mod shapes;

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The dialect of the schemas.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A document, or a part that several documents share.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The name, e.g. `list` for `luzia.list/v1`.
    pub name: &'static str,
    /// The meaning of the shape, as a sentence.
    pub about: &'static str,
    /// The lines.
    lines: &'static str,
}

/// A member of a shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// The name of the member.
    pub name: &'static str,
    /// Whether the member may be absent.
    pub is_optional: bool,
    /// The type as it is written.
    pub kind: &'static str,
    /// The meaning of the member.
    pub words: &'static str,
}

/// One form of a shape.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Form {
    /// When the document has this form; empty where it has only one.
    pub title: &'static str,
    /// The shapes whose members the form takes in.
    pub includes: Vec<&'static str>,
    /// The members of the form itself.
    pub members: Vec<Member>,
}

impl Shape {
    /// The forms, at least one.
    pub fn forms(&self) -> Vec<Form> {
        let mut forms = vec![Form::default()];
        for line in self.lines.lines().filter(|line| !line.is_empty()) {
            if let Some(title) = line.strip_prefix("--- ") {
                if forms.len() == 1 && forms[0] == Form::default() {
                    forms.clear();
                }
                forms.push(Form { title, ..Form::default() });
                continue;
            }
            let Some(form) = forms.last_mut() else { continue };
            match line.strip_prefix('+') {
                Some(shape) => form.includes.push(shape),
                None => form.members.extend(member(line)),
            }
        }
        forms
    }
}

fn member(line: &'static str) -> Option<Member> {
    let (name, rest) = line.split_once(' ')?;
    let (kind, words) = rest.split_once(' ')?;
    let (name, is_optional) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
    Some(Member { name, is_optional, kind, words })
}

/// The documents.
pub fn documents() -> Vec<Shape> {
    shapes_of(documents::DOCUMENTS)
}

/// The shapes that several documents share.
pub fn shared() -> Vec<Shape> {
    shapes_of(shapes::SHAPES)
}

fn shapes_of(text: &'static str) -> Vec<Shape> {
    let shape = |part: &'static str| {
        let (head, lines) = part.split_once('\n')?;
        let (name, about) = head.split_once(' ')?;
        Some(Shape { name, about, lines })
    };
    text.trim_start_matches("= ").split("\n= ").filter_map(shape).collect()
}

/// The schema of a document by the name of its verb, e.g. `list` or `config-show`.
pub fn schema(name: &str) -> Option<Value> {
    let shape = documents().into_iter().find(|shape| shape.name == name)?;
    let mut used = BTreeSet::new();
    let forms: Vec<Value> = shape.forms().iter().map(|form| object(form, &mut used)).collect();
    let mut whole = json!({
        "$schema": DIALECT,
        "title": format!("luzia.{name}/v1"),
        "description": shape.about,
        "type": "object",
        "properties": { "schema": { "const": format!("luzia.{name}/v1") } },
        "required": ["schema"],
    });
    match forms.as_slice() {
        [one] => whole["allOf"] = json!([one]),
        several => whole["anyOf"] = json!(several),
    }
    let (mut defs, shared) = (Map::new(), shared());
    while let Some(name) = used.iter().find(|name| !defs.contains_key(**name)).copied() {
        let shape = shared.iter().find(|shape| shape.name == name)?;
        let mut def = object(shape.forms().first()?, &mut used);
        def["description"] = json!(shape.about);
        defs.insert(name.to_owned(), def);
    }
    if !defs.is_empty() {
        whole["$defs"] = Value::Object(defs);
    }
    Some(whole)
}

fn object(form: &Form, used: &mut BTreeSet<&'static str>) -> Value {
    let mut properties = Map::new();
    for member in &form.members {
        let mut value = value_of(member.kind, used);
        value["description"] = json!(member.words);
        properties.insert(member.name.to_owned(), value);
    }
    let required: Vec<&str> =
        form.members.iter().filter(|member| !member.is_optional).map(|member| member.name).collect();
    let mut value = json!({ "type": "object", "properties": properties, "required": required });
    if !form.title.is_empty() {
        value["title"] = json!(form.title);
    }
    if !form.includes.is_empty() {
        used.extend(&form.includes);
        value["allOf"] = form.includes.iter().map(|name| json!({ "$ref": format!("#/$defs/{name}") })).collect();
    }
    value
}

/// The schema of a type as a shape writes it.
fn value_of(kind: &'static str, used: &mut BTreeSet<&'static str>) -> Value {
    if let Some(kind) = kind.strip_suffix('~') {
        return match plain(kind) {
            Some(word) => json!({ "type": [word, "null"] }),
            None => json!({ "anyOf": [value_of(kind, used), { "type": "null" }] }),
        };
    }
    if let Some(inner) = kind.strip_prefix('[').and_then(|kind| kind.strip_suffix(']')) {
        return json!({ "type": "array", "items": value_of(inner, used) });
    }
    if let Some(inner) = kind.strip_prefix('{').and_then(|kind| kind.strip_suffix('}')) {
        return json!({ "type": "object", "additionalProperties": value_of(inner, used) });
    }
    if let Some(shape) = kind.strip_prefix('@') {
        used.insert(shape);
        return json!({ "$ref": format!("#/$defs/{shape}") });
    }
    match (kind, plain(kind)) {
        ("time", _) => json!({ "type": "string", "format": "date-time" }),
        (_, Some(word)) => json!({ "type": word }),
        (_, None) => json!({}),
    }
}

/// The type of JSON Schema for a plain word; `None` for one that stands for any value, and for what is no word.
fn plain(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "text" | "time" => "string",
        "int" => "integer",
        "number" => "number",
        "bool" => "boolean",
        "object" => "object",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_every_shape_is_read_and_every_shape_is_used() {
        let (documents, shared) = (documents(), shared());
        let all: Vec<&Shape> = documents.iter().chain(&shared).collect();
        let heads = |text: &str| text.lines().filter(|line| line.starts_with("= ")).count();
        assert_eq!(heads(documents::DOCUMENTS) + heads(shapes::SHAPES), all.len());
        for shape in &all {
            let read: usize = shape.forms().iter().map(|form| form.members.len() + form.includes.len()).sum();
            let titles = shape.lines.lines().filter(|line| line.starts_with("--- ")).count();
            assert_eq!(read + titles, shape.lines.lines().filter(|line| !line.is_empty()).count(), "{}", shape.name);
            assert!(shape.about.ends_with('.'), "{}", shape.name);
            for member in shape.forms().iter().flat_map(|form| &form.members) {
                let kind = member.kind.trim_end_matches('~').trim_matches(['[', ']', '{', '}', '@']);
                let is_shape = shared.iter().any(|shape| shape.name == kind);
                assert!(plain(kind).is_some() || kind == "any" || is_shape, "{}: {member:?}", shape.name);
                assert!(member.words.ends_with('.'), "{}: {member:?}", shape.name);
            }
        }
        let schemas: Vec<String> =
            documents.iter().map(|shape| schema(shape.name).expect(shape.name).to_string()).collect();
        for shape in &shared {
            let named = format!("\"#/$defs/{}\"", shape.name);
            assert!(schemas.iter().any(|schema| schema.contains(&named)), "{} is used", shape.name);
        }
    }

    #[test]
    fn each_schema_is_one() {
        for shape in documents() {
            let schema = schema(shape.name).expect(shape.name);
            assert!(jsonschema::meta::is_valid(&schema), "{schema:#}");
            let validator = jsonschema::validator_for(&schema).expect(shape.name);
            assert!(!validator.is_valid(&json!({})), "{}", shape.name);
            assert!(!validator.is_valid(&json!({ "schema": "luzia.other/v1" })), "{}", shape.name);
        }
    }
}
