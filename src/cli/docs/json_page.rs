//! The manual page luzia-json(5), from the shapes of the documents.

use super::roff::{references, text};
use super::schemas::{DOCUMENTS, Member, Shape, shared};
use super::title;

/// The page, as roff.
pub(super) fn page() -> String {
    let mut page = title("luzia-json", 5);
    page += HEAD;
    page += ".SH SHARED PARTS\n";
    for shape in shared() {
        page += &format!(".SS {}\n{}\n", text(shape.name), text(shape.about));
        page += &members_of(shape);
    }
    page += ".SH DOCUMENTS\n";
    for shape in DOCUMENTS {
        page += &format!(".SS luzia.{}/v1\n{}\n", text(shape.name), text(shape.about));
        page += &members_of(&shape);
    }
    page += TAIL;
    page += &references(&[("luzia", 1), ("luzia-schema", 1), ("luzia-spool", 5), ("luzia-exit-codes", 7)]);
    page
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

const HEAD: &str = r#".SH NAME
luzia\-json \- the JSON documents of luzia(1): what they have in common, and each of them
.SH DESCRIPTION
With
.B \-\-json
a command answers with one document on standard output. Errors are documents too, on standard error.
.BR luzia\-schema (1)
prints the JSON Schema of each.
.IP \(bu 2
A document is an object. Its member
.B schema
names its form, as
.BR luzia.list/v1 .
.IP \(bu 2
Documents are append\-only within v1: members are added, and none is removed or gets another meaning. Ignore members that you do
not know.
.IP \(bu 2
Lists are members named
.BR items .
Names of members are snake_case. The members of
.B meta.json
in a conductor directory, and some of
.B luzia check
and of locks of threads, keep the spelling of the programs that luzia replaces.
.IP \(bu 2
Moments are RFC 3339 in UTC with milliseconds. Lengths of time are whole milliseconds, in members whose name ends in
.BR _ms .
.IP \(bu 2
.B next
is a list of commands that help, ready to be typed. The first never ends, releases or re\-routes work that lives. Commands that do
are listed under
.BR override ,
and only for a holder that is dead, stopped or overdue.
.IP \(bu 2
The holder of a lock is
.BR holder .
.IP \(bu 2
With
.B \-o jsonl
each item is a line of its own, as it comes, and has a member
.BR kind :
.BR task ,
.BR lane ,
.B hold
and so on; that of a lock is the kind of the lock, and that of an event its own kind.
.IP \(bu 2
.B luzia status \-\-capacity \-\-json
has no member
.BR schema .
It holds
.BR slots " (" max ", " used ", " available "), " by_project " and " by_user ,
and nothing else.
"#;

const TAIL: &str = r#".SH FILES
No file; luzia\-spool(5) describes the records on disk, which have another form.
.SH ENVIRONMENT
No variable changes a document.
.SH EXAMPLES
.nf
luzia list \-\-json | jq \-r '.items[] | select(.status == "running") | .id'
luzia schema list > list.schema.json
.fi
.SH SEE ALSO
"#;
