//! The manual pages on subjects other than a verb. Their prose is in `pages/`; a comment there marks the place of each part that is
//! made from a table. luzia-deploy(7), luzia-fleet(7) and luzia-spool(5) are written by hand as a whole.

use super::roff::text;
use super::{json_page, title};
use crate::app::agents::plan::{Folders, SERVER, targets};
use crate::app::agents::texts;
use crate::app::{Code, config_reference};
use crate::cli::exit::Exit;
use crate::model::AgentKind;

/// The pages without a part that is made, by file name.
pub(super) const WRITTEN: [(&str, &str); 3] = [
    ("luzia-deploy.7", include_str!("../../../man/luzia-deploy.7")),
    ("luzia-fleet.7", include_str!("../../../man/luzia-fleet.7")),
    ("luzia-spool.5", include_str!("../../../man/luzia-spool.5")),
];

/// A page with its parts, each in the place of the comment with its name.
fn filled(page: &str, parts: impl IntoIterator<Item = (&'static str, String)>) -> String {
    parts.into_iter().fold(page.to_owned(), |page, (name, part)| {
        let mark = format!(".\\\" {name}\n");
        debug_assert!(page.contains(&mark), "the page has no place for {name}");
        page.replacen(&mark, &part, 1)
    })
}

/// A paragraph with a tag in bold.
fn tagged(tag: &str, words: &str) -> String {
    format!(".TP\n\\fB{tag}\\fR\n{}\n", text(words))
}

/// luzia-agents(7).
pub(super) fn agents() -> String {
    let table = |agent: AgentKind| {
        let row = |(own, project): (String, String)| format!("{}|{}\n", text(&own), text(&project));
        (agent.word(), files(agent).into_iter().map(row).collect())
    };
    let parts = [("texts", texts::page())].into_iter().chain(AgentKind::ALL.into_iter().map(table));
    let prose = filled(include_str!("pages/luzia-agents.7"), parts);
    // The first line lets man(1) draw tables.
    format!("'\\\" t\n{}{prose}", title("luzia-agents", 7))
}

/// The files of an account, and those of a project, side by side.
fn files(agent: AgentKind) -> Vec<(String, String)> {
    let paths = |root: &str, is_project: bool| -> Vec<String> {
        let folders = Folders {
            root: root.to_owned(),
            own: None,
            is_project,
            locks: (!is_project).then(|| "/locks".to_owned()),
            program: SERVER.to_owned(),
        };
        targets(agent, &folders).into_iter().map(|target| target.path.trim_start_matches("./").to_owned()).collect()
    };
    let (own, project) = (paths("~", false), paths(".", true));
    let cell = |files: &[String], row: usize| files.get(row).cloned().unwrap_or_default();
    (0..own.len().max(project.len())).map(|row| (cell(&own, row), cell(&project, row))).collect()
}

/// luzia-config(5), from the table that reads the configuration.
pub(super) fn config() -> String {
    let mut keys = String::new();
    for key in config_reference() {
        keys += &tagged(&text(&key.path), key.meaning);
        for (word, value) in [("Value", key.form.as_str()), ("Default", &key.default), ("Takes effect", key.effect)] {
            keys += &format!(".br\n{word}: {}.\n", text(value));
        }
        keys += &format!(".br\nExample: \\fB{}\\fR\n", text(&key.example));
    }
    title("luzia-config", 5) + &filled(include_str!("pages/luzia-config.5"), [("keys", keys)])
}

/// luzia-exit-codes(7).
pub(super) fn exit_codes() -> String {
    let of = |is_of_commands: bool| {
        let exits = Exit::ALL.iter().filter(|exit| (exit.code() >= Exit::NotStarted.code()) == is_of_commands);
        exits.map(|exit| tagged(&exit.code().to_string(), exit.meaning())).collect()
    };
    let words = Code::ALL.iter().map(|code| format!(".TP\n.B {}\n{}\n", code.word(), text(code.meaning()))).collect();
    let parts = [("codes", of(false)), ("codes of commands", of(true)), ("words", words)];
    title("luzia-exit-codes", 7) + &filled(include_str!("pages/luzia-exit-codes.7"), parts)
}

/// luzia-json(5), from the shapes of the documents.
pub(super) fn json() -> String {
    let parts = [("shared", json_page::shared_parts()), ("documents", json_page::documents())];
    title("luzia-json", 5) + &filled(include_str!("pages/luzia-json.5"), parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_on_exit_codes_has_every_code() {
        let page = exit_codes();
        for exit in Exit::ALL {
            assert!(page.contains(&format!(".TP\n\\fB{}\\fR\n", exit.code())));
        }
        assert!(Code::ALL.iter().all(|code| page.contains(&format!(".B {}\n", code.word()))));
    }

    #[test]
    fn no_page_has_a_place_without_its_part() {
        for page in [agents(), config(), exit_codes(), json()] {
            assert!(!page.contains("\n.\\\" "), "{page}");
        }
    }
}
