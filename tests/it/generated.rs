//! Completions and manual pages are what the code says they are.
//!
//! `UPDATE_GENERATED=1 cargo test generated` rewrites the committed files.

use luzia::cli::commands::operate::completions;
use luzia::cli::docs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The directories whose files are generated, and the endings of those that are.
const PLACES: [(&str, &[&str]); 3] = [("completions", &[""]), ("man", &[".1"]), ("schema", &[""])];

#[test]
fn generated_files_are_up_to_date() {
    let wanted = generated();
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        update(&wanted);
    }
    let mut wrong: Vec<String> = stray(&wanted);
    for (path, text) in &wanted {
        if std::fs::read_to_string(root().join(path)).ok().as_ref() != Some(text) {
            wrong.push(path.clone());
        }
    }
    assert!(wrong.is_empty(), "run `UPDATE_GENERATED=1 cargo test generated` and commit: {wrong:?}");
}

#[test]
fn generated_pages_hide_what_luzia_starts_itself() {
    for (path, text) in generated() {
        assert!(!text.contains("supervise TASK") && !text.contains("exec-task"), "{path}");
        assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "{path}");
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every generated file by its path from the root.
fn generated() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for (shell, file) in completions::SHELLS {
        files.insert(format!("completions/{file}"), completions::script(shell).to_owned());
    }
    for shape in docs::schemas::documents() {
        let schema = docs::schemas::schema(shape.name).unwrap();
        files.insert(format!("schema/{}.json", shape.name), format!("{schema:#}\n"));
    }
    let config = luzia::app::config_schema();
    files.insert("schema/config.json".into(), format!("{config:#}\n"));
    files.extend(docs::made().into_iter().map(|(name, text)| (format!("man/{name}"), text)));
    files
}

fn update(wanted: &BTreeMap<String, String>) {
    for path in stray(wanted) {
        std::fs::remove_file(root().join(path)).unwrap();
    }
    for (path, text) in wanted {
        let path = root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Files that look generated, but are not any more.
fn stray(wanted: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for (place, endings) in PLACES {
        for name in names(&root().join(place)) {
            let path = format!("{place}/{name}");
            let is_ours = endings.iter().any(|ending| name.ends_with(ending));
            if is_ours && !wanted.contains_key(&path) {
                found.push(path);
            }
        }
    }
    found
}

fn names(place: &Path) -> Vec<String> {
    std::fs::read_dir(place)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}
