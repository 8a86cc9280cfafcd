//! `agent setup`: the changes of an agent's files, and the programs that these files name.
//! `changes` computes all changes before `carry_out` makes the first, so nothing is written unless every file can be read.
//! `named_programs` lists the programs that the hooks and servers in the files name, for `doctor`.

use super::plan::{
    Content, Folders, Piece, SERVER, Target, commands_of, is_our_hook, is_our_server, program_of_hook, targets,
};
use super::texts::{Broken, with_block, without_block};
use super::{json_text, toml_text};
use crate::app::{AppError, Code, Kind};
use crate::model::AgentKind;
use crate::os::user_files::UserFiles;
use std::io;

/// The longest file of settings that is read, in bytes.
pub(super) const LONGEST: u64 = 16 * 1024 * 1024;
/// The ending of the copy that is kept of a file of the user.
const BACKUP: &str = ".luzia.bak";

/// The aim of a setup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aim {
    /// Add the content of luzia.
    Write,
    /// Remove the content of luzia.
    Remove,
}

/// The change of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The path of the file.
    pub path: String,
    /// The content of the file; `None` if it does not exist.
    pub before: Option<String>,
    /// The new content of the file; `None` if it is removed.
    pub after: Option<String>,
    /// The copy of the file as the user wrote it.
    pub backup: Backup,
    /// Set where setup leaves the file alone because the user has changed luzia's own text in it.
    pub is_left: bool,
    /// Whether the file gets its old bytes back.
    pub is_restored: bool,
}

/// The change of the copy of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Backup {
    /// No change.
    Stay,
    /// The backup is made at this path.
    Make(String),
    /// The backup is no longer needed, and is removed.
    Drop(String),
}

impl Change {
    /// Whether the change has an effect.
    pub fn is_real(&self) -> bool {
        self.before != self.after
    }
}

/// The changes for an agent, in the order in which they are made. Nothing is written.
pub fn changes(files: &dyn UserFiles, agent: AgentKind, folders: &Folders, aim: Aim) -> Result<Vec<Change>, AppError> {
    targets(agent, folders).iter().map(|target| change(files, target, aim)).collect()
}

/// Makes the changes. Each file is replaced in one step.
pub fn carry_out(files: &dyn UserFiles, changes: &[Change]) -> Result<(), AppError> {
    for change in changes.iter().filter(|change| change.is_real() || change.backup != Backup::Stay) {
        let failed = |error: io::Error| unwritten(&change.path, &error);
        if let Backup::Make(copy) = &change.backup {
            files.copy(&change.path, copy).map_err(failed)?;
        }
        let before = change.before.as_deref().map(str::as_bytes);
        match (&change.after, before) {
            _ if !change.is_real() => {}
            (Some(after), before) => files.replace(&change.path, before, after.as_bytes()).map_err(failed)?,
            (None, Some(before)) => {
                files.remove(&change.path, before).map_err(failed)?;
                let folder = change.path.rsplit_once('/').map(|(folder, _)| folder);
                if let Some(folder) = folder.filter(|folder| folder.ends_with("/skills/luzia")) {
                    files.remove_empty_folder(folder).map_err(failed)?;
                }
            }
            (None, None) => {}
        }
        if let Backup::Drop(copy) = &change.backup
            && let Some(bytes) = files.read(copy, LONGEST).map_err(failed)?
        {
            files.remove(copy, &bytes).map_err(failed)?;
        }
    }
    Ok(())
}

fn change(files: &dyn UserFiles, target: &Target, aim: Aim) -> Result<Change, AppError> {
    let path = &target.path;
    let before = read(files, path)?;
    let copy_path = format!("{path}{BACKUP}");
    // A copy that cannot be read is no reason to stop: it is only a convenience.
    let copy = read(files, &copy_path).unwrap_or(None);
    let broken = |broken: Broken| broken_error(path, &broken);
    let content = &target.content;
    let mut change = Change {
        path: path.clone(),
        before: before.clone(),
        after: before.clone(),
        backup: Backup::Stay,
        is_left: false,
        is_restored: false,
    };
    match aim {
        Aim::Write => {
            change.after = Some(content.put_into(before.as_deref().unwrap_or_default()).map_err(broken)?);
            if let Some(text) = &before
                && change.is_real()
                && (copy.is_none() || content.take_out_of(text).map_err(broken)?.as_ref() == Some(text))
            {
                change.backup = Backup::Make(copy_path);
            }
        }
        Aim::Remove => {
            if copy.is_some() {
                change.backup = Backup::Drop(copy_path);
            }
            let Some(text) = &before else { return Ok(change) };
            // A removal that was cut short has given the old bytes back already.
            if copy.as_ref() == Some(text) {
                return Ok(change);
            }
            let original = copy.filter(|copy| content.made(copy, text));
            change.is_restored = original.is_some();
            change.after = match original {
                Some(original) => Some(original),
                None if content.put_into("").map_err(broken)? == *text => None,
                None => content.take_out_of(text).map_err(broken)?,
            };
            change.is_left =
                matches!(content, Content::Whole(_) | Content::Hooks(_)) && change.after.is_some() && !change.is_real();
        }
    }
    Ok(change)
}

impl Content {
    /// The text with the content of luzia.
    pub(crate) fn put_into(&self, text: &str) -> Result<String, Broken> {
        match self {
            Self::Whole(whole) | Self::Hooks(whole) => Ok(whole.clone()),
            Self::Block => Ok(with_block(text)),
            Self::Toml { program, root } => {
                let bare = toml_text::remove_server(text, &|found| found != program)?;
                let text = toml_text::add_server(&bare, program)?;
                root.as_ref().map_or(Ok(text.clone()), |root| toml_text::add_root(&text, root))
            }
            Self::Json(pieces) => {
                json_text::check(text)?;
                // An added piece comes first, so the last piece is added first.
                let put = |done: String, piece: &Piece| {
                    // A fault is reported by its place in the file of the user.
                    piece.put_into(&done).map_err(|broken| piece.put_into(text).err().unwrap_or(broken))
                };
                pieces.iter().rev().try_fold(text.to_owned(), put)
            }
        }
    }

    /// The text without the content of luzia; `None` if no text of the user is left.
    pub(crate) fn take_out_of(&self, text: &str) -> Result<Option<String>, Broken> {
        Ok(match self {
            Self::Whole(whole) => (text != whole).then(|| text.to_owned()),
            Self::Block => Some(without_block(text)),
            Self::Hooks(whole) => {
                let is_ours = |text: &str| serde_json::from_str(text).is_ok_and(|value| is_our_hook(&value));
                (text != whole && !is_ours(text)).then(|| text.to_owned())
            }
            Self::Toml { root, .. } => {
                let mut rest = toml_text::remove_server(text, &|_| true)?;
                if let Some(root) = root {
                    rest = toml_text::remove_root(&rest, root)?;
                }
                (rest == text || !rest.trim().is_empty()).then_some(rest)
            }
            Self::Json(pieces) => {
                json_text::check(text)?;
                let rest = pieces.iter().try_fold(text.to_owned(), |text, piece| piece.take_out_of(&text))?;
                (rest == text || !json_text::is_empty(&rest)).then_some(rest)
            }
        })
    }

    /// Whether setup made a text from the copy of a file, and the text is unchanged since then.
    fn made(&self, copy: &str, text: &str) -> bool {
        let is_foreign = matches!(self.take_out_of(copy), Ok(Some(rest)) if rest == copy);
        is_foreign && self.put_into(copy).is_ok_and(|made| made == text)
    }
}

impl Piece {
    fn put_into(&self, text: &str) -> Result<String, Broken> {
        match self {
            Self::Default(name, value) => json_text::set_member(text, &[name], value),
            Self::Server(name, value) => {
                let is_old = |found: &serde_json::Value| is_our_server(found, value) && found != value;
                let bare = json_text::remove_member(text, &[name, SERVER], &is_old)?;
                json_text::set_member(&bare, &[name, SERVER], value)
            }
            Self::Text(path, value) => json_text::add_element(text, path, &value.as_str().into()),
            Self::Hook(event, value) => {
                let path = ["hooks", event];
                // A hook of an older version makes room.
                let is_old = |found: &serde_json::Value| is_our_hook(found) && found != value;
                json_text::add_element(&json_text::remove_elements(text, &path, &is_old)?, &path, value)
            }
        }
    }

    fn take_out_of(&self, text: &str) -> Result<String, Broken> {
        match self {
            Self::Default(..) => Ok(text.to_owned()),
            Self::Server(name, value) => {
                json_text::remove_member(text, &[name, SERVER], &|found| is_our_server(found, value))
            }
            Self::Text(path, value) => json_text::remove_elements(text, path, &|found| found == value.as_str()),
            Self::Hook(event, _) => json_text::remove_elements(text, &["hooks", event], &is_our_hook),
        }
    }
}

fn read(files: &dyn UserFiles, path: &str) -> Result<Option<String>, AppError> {
    let Some(bytes) = files.read(path, LONGEST).map_err(|error| unread(path, &error))? else { return Ok(None) };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let valid = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]).into_owned();
            Err(broken_error(path, &super::texts::at(&valid, valid.len(), "this byte is not UTF-8")))
        }
    }
}

fn broken_error(path: &str, broken: &Broken) -> AppError {
    let message = format!("\"{path}\" line {} column {}: {}", broken.line, broken.column, broken.message);
    AppError::new(Code::SettingsBroken, message).hint("nothing was changed; mend the file, then try again")
}

fn unread(path: &str, error: &io::Error) -> AppError {
    let kind = if error.kind() == io::ErrorKind::PermissionDenied { Kind::NoPermission } else { Kind::Io };
    AppError::new(Code::Settings, format!("cannot read \"{path}\": {error}"))
        .with_kind(kind)
        .hint("nothing was changed")
}

fn unwritten(path: &str, error: &io::Error) -> AppError {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied => Kind::NoPermission,
        io::ErrorKind::ResourceBusy => Kind::Busy,
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => Kind::CannotCreate,
        _ => Kind::Io,
    };
    AppError::new(Code::Settings, format!("cannot write \"{path}\": {error}"))
        .with_kind(kind)
        .hint("this file is unchanged; run the same command again for the other files")
}

/// A program that a file of an agent names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The agent.
    pub agent: AgentKind,
    /// The file.
    pub path: String,
    /// The program, as a path or as a name on PATH.
    pub program: String,
    /// Whether the program can be started.
    pub is_there: bool,
}

/// The programs that the files of an agent name, each once a file. A damaged file names no program.
pub fn named_programs(
    files: &dyn UserFiles,
    agent: AgentKind,
    folders: &Folders,
    is_there: &dyn Fn(&str) -> bool,
) -> Vec<Named> {
    let mut found = Vec::new();
    for target in targets(agent, folders) {
        let text = files.read(&target.path, LONGEST).ok().flatten().and_then(|it| String::from_utf8(it).ok());
        let Some(text) = text else { continue };
        let mut programs = match target.content {
            Content::Json(_) | Content::Hooks(_) => programs_in(&text),
            Content::Toml { .. } => toml_text::server_program(&text).into_iter().collect(),
            Content::Block | Content::Whole(_) => Vec::new(),
        };
        programs.sort_unstable();
        programs.dedup();
        let named = |program: String| Named { agent, path: target.path.clone(), is_there: is_there(&program), program };
        found.extend(programs.into_iter().map(named));
    }
    found
}

fn programs_in(text: &str) -> Vec<String> {
    let value = |path: &[&str]| json_text::value_at(text, path).ok().flatten();
    let hooks = value(&["hooks"]).map(|hooks| commands_of(&hooks)).unwrap_or_default();
    let hooks = hooks.iter().filter_map(|command| Some(program_of_hook(command)?.trim_matches('\'').to_owned()));
    let server = value(&["mcpServers", SERVER, "command"]).and_then(|command| Some(command.as_str()?.to_owned()));
    hooks.chain(server).collect()
}
