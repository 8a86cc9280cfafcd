//! The shapes of the documents as parts of luzia-json(5).

use super::roff::text;
use super::schemas::{Member, Shape, documents as all, shared};

/// The parts that several documents share, as roff.
pub(super) fn shared_parts() -> String {
    shared().iter().map(|shape| section(shape.name, shape)).collect()
}

/// The documents, as roff.
pub(super) fn documents() -> String {
    all().iter().map(|shape| section(&format!("luzia.{}/v1", shape.name), shape)).collect()
}

fn section(name: &str, shape: &Shape) -> String {
    format!(
        ".SS {}
{}
{}",
        text(name),
        text(shape.about),
        members_of(shape)
    )
}

fn members_of(shape: &Shape) -> String {
    let mut out = String::new();
    for form in shape.forms() {
        if !form.title.is_empty() {
            out += &format!(".PP\n\\fI{}\\fR:\n", text(form.title));
        }
        for include in &form.includes {
            out += &format!(".br\nHas the members of \\fB{}\\fR.\n", text(include));
        }
        out += &form.members.iter().map(line).collect::<String>();
    }
    out
}

fn line(member: &Member) -> String {
    let optional = if member.is_optional { ", may be absent" } else { "" };
    let form = format!("{}{optional}", form_of(member.kind));
    format!(".TP\n\\fB{}\\fR (\\fI{}\\fR)\n{}\n", text(member.name), text(&form), text(member.words))
}

/// A type in words, e.g. `list of lock`.
fn form_of(kind: &str) -> String {
    if let Some(kind) = kind.strip_suffix('~') {
        return format!("{} or null", form_of(kind));
    }
    if let Some(inner) = kind.strip_prefix('[').and_then(|kind| kind.strip_suffix(']')) {
        return format!("list of {}", form_of(inner));
    }
    if let Some(inner) = kind.strip_prefix('{').and_then(|kind| kind.strip_suffix('}')) {
        return format!("object of {}", form_of(inner));
    }
    match kind.trim_start_matches('@') {
        "int" => "integer".to_owned(),
        "bool" => "boolean".to_owned(),
        other => other.to_owned(),
    }
}
