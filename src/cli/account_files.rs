//! Files of this account outside of the state directory: manual pages, completions and the unit of systemd.

use super::agent::setup::program;
use super::commands::operate::daemon::Unit;
use super::context::{HOME, of_state_dir};
use super::shim::FOLDER;
use crate::app::{AppError, Code};
use crate::os::real::RealUserFiles;
use crate::os::user_files::UserFiles;
use crate::store::state_dir::{home_config, home_shims};

/// The end of the path of the configuration, and the unit below the same folder.
const CONFIG: &str = "luzia/config.json";
const UNIT: &str = "systemd/user/luzia.service";
/// The largest document that is replaced, in bytes.
const LARGEST_DOCUMENT: u64 = 4 << 20;

/// The folder of data of this account, below which documents are installed.
pub(super) fn share() -> Result<String, AppError> {
    let dir = home_shims(HOME).map_err(of_state_dir)?;
    let share = dir.as_deref().and_then(|dir| dir.strip_suffix(FOLDER)).map(|dir| dir.trim_end_matches('/').to_owned());
    share.ok_or_else(|| no_home("documents", "XDG_DATA_HOME", ", or give --prefix"))
}

pub(super) fn no_home(things: &str, variable: &str, way: &str) -> AppError {
    let message = format!("this account has no home, so there is no place for {things}");
    AppError::new(Code::NoHome, message).hint(format!("set HOME or {variable} in the environment{way}"))
}

/// The unit of systemd for this account.
pub(super) fn unit() -> Result<Unit, AppError> {
    let config = home_config(HOME).map_err(of_state_dir)?;
    let folder = config.as_deref().and_then(|path| path.strip_suffix(CONFIG));
    let folder = folder.ok_or_else(|| no_home("a unit of systemd", "XDG_CONFIG_HOME", ""))?;
    Ok(Unit { path: format!("{folder}{UNIT}"), program: program(), read: read_document, write: write_document })
}

/// Writes a manual page or a completion script, if it does not exist yet.
pub(super) fn write_document(path: &str, text: &str) -> std::io::Result<()> {
    let was = read_document(path)?;
    if was.as_deref() == Some(text.as_bytes()) {
        return Ok(());
    }
    RealUserFiles.replace(path, was.as_deref(), text.as_bytes())
}

fn read_document(path: &str) -> std::io::Result<Option<Vec<u8>>> {
    RealUserFiles.read(path, LARGEST_DOCUMENT)
}

/// Removes a manual page or a completion script, and returns whether it existed. Folders below `share` that are empty then go
/// as well.
pub(super) fn remove_document(share: &str, path: &str) -> std::io::Result<bool> {
    let Some(was) = read_document(path)? else { return Ok(false) };
    RealUserFiles.remove(path, &was)?;
    let mut folder = path;
    while let Some((above, _)) = folder.rsplit_once('/').filter(|(above, _)| above.len() > share.len()) {
        // A folder that cannot be removed, e.g. one that is not empty, stays.
        if RealUserFiles.remove_empty_folder(above).is_err() {
            break;
        }
        folder = above;
    }
    Ok(true)
}
