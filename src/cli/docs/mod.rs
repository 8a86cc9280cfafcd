//! Manual pages, made from the definitions that they describe.
//!
//! `man/` holds them for packagers; `tests/it/generated.rs` compares.

mod json_page;
mod pages;
mod roff;
pub mod schemas;
mod verb_page;
mod words;

use std::collections::BTreeMap;

/// The day of the pages, as their footers show it.
const DATE: &str = "2026-11-24";
/// The program and its version, for the footers of the pages.
const SOURCE: &str = concat!("luzia ", env!("CARGO_PKG_VERSION"));

/// Every manual page by its file name, e.g. `luzia-run.1`.
pub fn pages() -> BTreeMap<String, String> {
    let mut pages = made();
    pages.extend(pages::WRITTEN.map(|(name, text)| (name.to_owned(), text.to_owned())));
    pages
}

/// The pages that are made from code.
pub fn made() -> BTreeMap<String, String> {
    let mut pages = verb_page::all();
    pages.insert("luzia-agents.7".to_owned(), pages::agents());
    pages.insert("luzia-config.5".to_owned(), pages::config());
    pages.insert("luzia-exit-codes.7".to_owned(), pages::exit_codes());
    pages.insert("luzia-json.5".to_owned(), pages::json());
    pages
}

/// The title line of a page.
fn title(name: &str, section: u8) -> String {
    let name = name.replace('-', "\\-").to_uppercase();
    format!(".TH {name} {section} \"{DATE}\" \"{SOURCE}\" \"\"\n")
}
