//! Manual pages, made from the definitions that they describe.
//!
//! `man/` holds them for packagers; `tests/it/generated.rs` compares. luzia-spool(5) and luzia-fleet(7) are written by hand.

mod config_page;
mod deploy_page;
mod json_page;
pub(super) mod roff;
pub mod schemas;
mod verb_page;
mod words;

use std::collections::BTreeMap;

/// The day of the pages, as their footers show it.
const DATE: &str = "2026-11-24";
/// The program and its version, for the footers of the pages.
const SOURCE: &str = concat!("luzia ", env!("CARGO_PKG_VERSION"));

/// The page on the state directory.
const SPOOL: &str = include_str!("../../../man/luzia-spool.5");

/// The page on stores of several hosts.
const FLEET: &str = include_str!("../../../man/luzia-fleet.7");

/// Every manual page by its file name, e.g. `luzia-run.1`.
pub fn pages() -> BTreeMap<String, String> {
    let mut pages = made();
    pages.insert("luzia-spool.5".to_owned(), SPOOL.to_owned());
    pages.insert("luzia-fleet.7".to_owned(), FLEET.to_owned());
    pages
}

/// The pages that are made from code.
pub fn made() -> BTreeMap<String, String> {
    let mut pages = verb_page::all();
    pages.insert("luzia-config.5".to_owned(), config_page::page());
    pages.insert("luzia-json.5".to_owned(), json_page::page());
    pages.insert("luzia-deploy.7".to_owned(), deploy_page::page());
    pages.insert("luzia-exit-codes.7".to_owned(), super::exit::manual_page());
    pages.insert("luzia-agents.7".to_owned(), super::agent::manual_page());
    pages
}

/// The title line of a page.
pub(in crate::cli) fn title(name: &str, section: u8) -> String {
    let name = name.replace('-', "\\-").to_uppercase();
    format!(".TH {name} {section} \"{DATE}\" \"{SOURCE}\" \"\"\n")
}
