//! Changes in a text of TOML. Comments, order and everything else of the user stay.

use super::plan::{SERVER, SERVER_ARGUMENTS, is_luzia};
use super::texts::{Broken, at};
use toml_edit::{Document, DocumentMut, Item, Table, TableLike, Value};

/// Puts the server of luzia into `mcp_servers`, unless there is one of that name.
pub fn add_server(text: &str, program: &str) -> Result<String, Broken> {
    let mut document = parse(text)?;
    let servers = table(text, document.as_table_mut(), "mcp_servers", true)?;
    if servers.contains_key(SERVER) {
        return Ok(text.to_owned());
    }
    let mut server = Table::new();
    server.insert("command", Item::Value(program.into()));
    server.insert("args", Item::Value(Value::Array(SERVER_ARGUMENTS.into_iter().collect())));
    servers.insert(SERVER, Item::Table(server));
    Ok(document.to_string())
}

/// The program of the server of luzia in `mcp_servers`.
pub fn server_program(text: &str) -> Option<String> {
    let document = parse(text).ok()?;
    let server = document.get("mcp_servers")?.as_table_like()?.get(SERVER)?.as_table_like()?;
    Some(server.get("command")?.as_str()?.to_owned())
}

/// Removes the server of luzia from `mcp_servers`, if it is as [`add_server`] makes it with a program that `is_meant`
/// accepts.
pub fn remove_server(text: &str, is_meant: &dyn Fn(&str) -> bool) -> Result<String, Broken> {
    let mut document = parse(text)?;
    let Some(servers) = document.get_mut("mcp_servers").and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    let is_ours = servers.get(SERVER).and_then(Item::as_table_like).is_some_and(|server| {
        let words = server.get("args").and_then(Item::as_array);
        let is_same =
            words.is_some_and(|words| words.iter().map(Value::as_str).eq(SERVER_ARGUMENTS.into_iter().map(Some)));
        let command = server.get("command").and_then(Item::as_str);
        command.is_some_and(|command| is_luzia(command) && is_meant(command)) && is_same && server.len() == 2
    });
    if !is_ours {
        return Ok(text.to_owned());
    }
    servers.remove(SERVER);
    if servers.is_empty() {
        document.remove("mcp_servers");
    }
    Ok(document.to_string())
}

/// Adds a path to the list `writable_roots` of the sandbox.
pub fn add_root(text: &str, path: &str) -> Result<String, Broken> {
    let mut document = parse(text)?;
    let sandbox = table(text, document.as_table_mut(), "sandbox_workspace_write", false)?;
    match sandbox.get_mut("writable_roots") {
        None => {
            sandbox.insert("writable_roots", Item::Value(Value::Array([path].into_iter().collect())));
        }
        Some(item) => {
            let Some(roots) = item.as_array_mut() else {
                let offset = offset_of(text, &["sandbox_workspace_write", "writable_roots"]);
                return Err(at(text, offset, "\"writable_roots\" is expected to be a list"));
            };
            if roots.iter().any(|root| root.as_str() == Some(path)) {
                return Ok(text.to_owned());
            }
            // The new root comes first, in the form of the former first one: a comment belongs to the value before it.
            let prefix = roots.get(0).and_then(|root| root.decor().prefix()).and_then(|prefix| prefix.as_str());
            let prefix = prefix.filter(|prefix| !prefix.contains('#')).unwrap_or_default().to_owned();
            roots.insert_formatted(0, Value::from(path).decorated(prefix, ""));
            if let Some(second) = roots.get_mut(1)
                && second.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default().is_empty()
            {
                second.decor_mut().set_prefix(" ");
            }
        }
    }
    Ok(document.to_string())
}

/// Removes a path from the list `writable_roots`.
pub fn remove_root(text: &str, path: &str) -> Result<String, Broken> {
    let mut document = parse(text)?;
    let Some(sandbox) = document.get_mut("sandbox_workspace_write").and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    let Some(roots) = sandbox.get_mut("writable_roots").and_then(Item::as_array_mut) else {
        return Ok(text.to_owned());
    };
    let count = roots.len();
    roots.retain(|root| root.as_str() != Some(path));
    if roots.len() == count {
        return Ok(text.to_owned());
    }
    if roots.is_empty() {
        sandbox.remove("writable_roots");
    }
    if sandbox.is_empty() {
        document.remove("sandbox_workspace_write");
    }
    Ok(document.to_string())
}

fn parse(text: &str) -> Result<DocumentMut, Broken> {
    text.parse::<DocumentMut>().map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        at(text, offset, error.message())
    })
}

/// The table of a name at the top, made where it is missing.
fn table<'a>(text: &str, root: &'a mut Table, name: &str, is_implicit: bool) -> Result<&'a mut dyn TableLike, Broken> {
    let item = root.entry(name).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(is_implicit);
        Item::Table(table)
    });
    item.as_table_like_mut()
        .ok_or_else(|| at(text, offset_of(text, &[name]), &format!("{name:?} is expected to be a table")))
}

/// The offset of the value of a key.
fn offset_of(text: &str, path: &[&str]) -> usize {
    let Ok(document) = Document::parse(text) else { return 0 };
    let item = path.iter().try_fold(document.as_item(), |item, name| item.get(name));
    item.and_then(Item::span).map_or(0, |span| span.start)
}
