//! Changes in a text of JSON with comments: a member or an element is added or removed, and every other byte stays.
//!
//! An added part comes first in its object or list, so that its removal restores the text.

use super::texts::{Broken, at};
use jsonc_parser::ast::{Array, Object, ObjectProp, Value as Node};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Value, json};

const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Checks that a text is an object of JSON, or blank.
pub fn check(text: &str) -> Result<(), Broken> {
    root(text, |_| ())
}

/// Sets the member at a path, and makes the objects on the way. An existing member stays as it is.
pub fn set_member(text: &str, path: &[&str], value: &Value) -> Result<String, Broken> {
    insert(text, path, value, false)
}

/// Adds an element to the list at a path, and makes the list and the objects on the way. An equal element is not added twice.
pub fn add_element(text: &str, path: &[&str], value: &Value) -> Result<String, Broken> {
    insert(text, path, value, true)
}

/// Removes the member at a path if `is_meant` accepts it; objects that become empty are removed too.
pub fn remove_member(text: &str, path: &[&str], is_meant: &dyn Fn(&Value) -> bool) -> Result<String, Broken> {
    let Some((key, above)) = path.split_last() else { return Ok(text.to_owned()) };
    match cut(text, above, &|name, node| name == Some(*key) && is_meant(&plain(node)))? {
        Some(rest) => prune(rest, above),
        None => Ok(text.to_owned()),
    }
}

/// Removes the elements that `is_meant` accepts from the list at a path; lists and objects that become empty are removed too.
pub fn remove_elements(text: &str, path: &[&str], is_meant: &dyn Fn(&Value) -> bool) -> Result<String, Broken> {
    let mut rest = None;
    while let Some(next) =
        cut(rest.as_deref().unwrap_or(text), path, &|name, node| name.is_none() && is_meant(&plain(node)))?
    {
        rest = Some(next);
    }
    rest.map_or_else(|| Ok(text.to_owned()), |rest| prune(rest, path))
}

/// The value at a path.
pub(super) fn value_at(text: &str, path: &[&str]) -> Result<Option<Value>, Broken> {
    root(text, |root| walk(root, path).map(plain))
}

/// Whether a text holds an object without members and without comments, or nothing.
pub fn is_empty(text: &str) -> bool {
    let bare: String = text.trim_start_matches('\u{feff}').chars().filter(|c| !c.is_whitespace()).collect();
    bare.is_empty() || bare == "{}"
}

/// Looks at the object of a text; a blank text is an empty object.
fn root<T>(text: &str, look: impl FnOnce(&Node<'_>) -> T) -> Result<T, Broken> {
    let bare = text.trim_start_matches('\u{feff}');
    let skipped = text.len() - bare.len();
    let parsed = parse_to_ast(bare, &CollectOptions::default(), &OPTIONS)
        .map_err(|error| at(text, skipped + error.range().start, &error.kind().to_string()))?;
    let empty = Node::Object(Object { range: Range::new(0, 0), properties: Vec::new() });
    let node = match parsed.value {
        Some(node @ Node::Object(_)) => node,
        Some(other) => return Err(at(text, skipped + other.range().start, "an object is expected here")),
        None => empty,
    };
    // Positions count from the first byte of the text.
    if skipped > 0 {
        return Err(at(text, 0, "it begins with a byte order mark, which JSON does not allow"));
    }
    Ok(look(&node))
}

fn walk<'a, 'b>(root: &'b Node<'a>, path: &[&str]) -> Option<&'b Node<'a>> {
    path.iter().try_fold(root, |node, name| Some(&last_named(node.as_object()?, name)?.value))
}

/// The last member of a name, which is the one that counts.
fn last_named<'a, 'b>(object: &'b Object<'a>, name: &str) -> Option<&'b ObjectProp<'a>> {
    object.properties.iter().rfind(|member| member.name.as_str() == name)
}

fn insert(text: &str, path: &[&str], value: &Value, is_element: bool) -> Result<String, Broken> {
    let expected = |node: &Node<'_>, depth: usize, kind: &str| {
        at(text, node.range().start, &format!("{:?} is expected to be {kind}", path[..depth].join(".")))
    };
    let changed = root(text, |root| -> Result<Option<String>, Broken> {
        let mut node = root;
        for (depth, name) in path.iter().enumerate() {
            let object = node.as_object().ok_or_else(|| expected(node, depth, "an object"))?;
            let Some(member) = last_named(object, name) else {
                let inner = if is_element { json!([value]) } else { value.clone() };
                let nested = path[depth + 1..].iter().rev().fold(inner, |inner, name| json!({ (*name): inner }));
                let part = format!("{}: {}", json!(name), pretty(&nested, &indent_unit(text)));
                return Ok(Some(with_part(text, object.range, depth, object.properties.is_empty(), &part)));
            };
            node = &member.value;
        }
        if !is_element {
            return Ok(None);
        }
        let list = node.as_array().ok_or_else(|| expected(node, path.len(), "a list"))?;
        let is_there = list.elements.iter().any(|one| plain(one) == *value);
        let part = pretty(value, &indent_unit(text));
        Ok((!is_there).then(|| with_part(text, list.range, path.len(), list.elements.is_empty(), &part)))
    })??;
    Ok(changed.unwrap_or_else(|| text.to_owned()))
}

/// The text with one more part behind the bracket that opens a container at a depth.
fn with_part(text: &str, container: Range, depth: usize, is_empty: bool, part: &str) -> String {
    let (end, unit) = (line_end(text), indent_unit(text));
    let inner_end = format!("{end}{}", unit.repeat(depth + 1));
    let mut part = format!("{inner_end}{}", part.replace('\n', &inner_end));
    part.push_str(&if is_empty { format!("{end}{}", unit.repeat(depth)) } else { ",".to_owned() });
    if container.end == 0 {
        // There is no object yet, but there may be comments.
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { end };
        return format!("{text}{gap}{{{part}}}{end}");
    }
    let (before, after) = text.split_at(container.start + 1);
    format!("{before}{part}{after}")
}

/// The text without the last matching part of the container at a path. A part is a member with its name, or an element.
fn cut(
    text: &str,
    path: &[&str],
    is_meant: &dyn Fn(Option<&str>, &Node<'_>) -> bool,
) -> Result<Option<String>, Broken> {
    root(text, |root| {
        let (range, parts): (_, Vec<(Option<&str>, Range, &Node<'_>)>) = match walk(root, path)? {
            Node::Object(object) => {
                let members = object.properties.iter();
                (object.range, members.map(|one| (Some(one.name.as_str()), one.range, &one.value)).collect())
            }
            Node::Array(list) => (list.range, list.elements.iter().map(|one| (None, one.range(), one)).collect()),
            _ => return None,
        };
        let index = parts.iter().rposition(|(name, _, node)| is_meant(*name, node))?;
        let ranges: Vec<Range> = parts.iter().map(|(_, range, _)| *range).collect();
        Some(without(text, range, &ranges, index))
    })
}

/// The text without one part of a container, and without the comma that belongs to it. Comments stay.
fn without(text: &str, container: Range, parts: &[Range], index: usize) -> String {
    let part = parts[index];
    let behind = if index > 0 { parts[index - 1].end } else { container.start + 1 };
    // Blanks before the part go with it, except the end of a line that ends a comment.
    let has_comment = text[behind..part.start].contains("//");
    let start = if has_comment { part.start } else { text[..part.start].trim_end().len().max(behind) };
    let mut cuts = vec![(start, part.end)];
    match comma_after(text, part.end, container.end) {
        Some(comma) => cuts.push((comma, comma + 1)),
        None if index > 0 => {
            if let Some(comma) = comma_after(text, parts[index - 1].end, part.start) {
                cuts.insert(0, (comma, comma + 1));
            }
        }
        None => {}
    }
    if parts.len() == 1 && text[part.end..container.end.saturating_sub(1)].trim().is_empty() {
        cuts = vec![(start, container.end - 1)];
    }
    let mut rest = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in cuts {
        rest.push_str(&text[from..start.max(from)]);
        from = end.max(from);
    }
    rest.push_str(&text[from..]);
    rest
}

/// The comma that follows a place, with blanks and comments between them only.
fn comma_after(text: &str, from: usize, to: usize) -> Option<usize> {
    let mut place = from;
    while place < to {
        let rest = &text[place..to];
        if rest.starts_with(',') {
            return Some(place);
        }
        place += if rest.starts_with("//") {
            rest.find('\n')? + 1
        } else if rest.starts_with("/*") {
            rest.find("*/")? + 2
        } else {
            rest.chars().next().filter(|c| c.is_whitespace())?.len_utf8()
        };
    }
    None
}

/// Removes the objects and lists on a path that have become empty, the innermost first.
fn prune(mut text: String, path: &[&str]) -> Result<String, Broken> {
    for (depth, last) in path.iter().enumerate().rev() {
        match cut(&text, &path[..depth], &|name, node| name == Some(last) && is_bare(&text, node))? {
            Some(rest) => text = rest,
            None => break,
        }
    }
    Ok(text)
}

/// Whether a container has neither parts nor comments.
fn is_bare(text: &str, node: &Node<'_>) -> bool {
    let range = match node {
        Node::Object(Object { range, .. }) | Node::Array(Array { range, .. }) => *range,
        _ => return false,
    };
    text[range.start + 1..range.end - 1].trim().is_empty()
}

fn plain(node: &Node<'_>) -> Value {
    match node {
        Node::StringLit(text) => Value::from(text.value.as_ref()),
        Node::NumberLit(number) => serde_json::from_str(number.value).unwrap_or(Value::Null),
        Node::BooleanLit(flag) => Value::from(flag.value),
        Node::Object(object) => {
            let member = |member: &ObjectProp<'_>| (member.name.as_str().to_owned(), plain(&member.value));
            Value::Object(object.properties.iter().map(member).collect())
        }
        Node::Array(list) => Value::Array(list.elements.iter().map(plain).collect()),
        Node::NullKeyword(_) => Value::Null,
    }
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The indentation of the first line that has one.
fn indent_unit(text: &str) -> String {
    let indent = |line: &str| line[..line.len() - line.trim_start().len()].to_owned();
    let first = text.lines().skip(1).filter(|line| !line.trim().is_empty()).map(indent).find(|unit| !unit.is_empty());
    first.filter(|unit| unit.len() <= 8).unwrap_or_else(|| "  ".to_owned())
}

fn pretty(value: &Value, unit: &str) -> String {
    use serde::Serialize;
    let mut bytes = Vec::new();
    let form = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let written = value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, form));
    match (written, String::from_utf8(bytes)) {
        (Ok(()), Ok(text)) => text,
        _ => value.to_string(),
    }
}
