//! A directory full of what must not be followed, opened or waited for; `src/os/real/files/dir_root.rs` tests with it as well.

use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

/// A root with a secret beside it, and every kind of trap in it.
pub fn trapped() -> std::io::Result<tempfile::TempDir> {
    let dir = tempfile::tempdir()?;
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("root/locks/.guard"))?;
    fs::create_dir_all(at("root/deep/er"))?;
    fs::create_dir(at("outside"))?;
    fs::write(at("outside/secret"), "secret")?;
    symlink("../outside", at("root/way-out"))?;
    symlink(at("outside"), at("root/absolute"))?;
    symlink("deep", at("root/inner"))?;
    for place in ["root/locks", "root/deep", "root"] {
        symlink(at("outside/secret"), at(place).join("link"))?;
        symlink("nowhere", at(place).join("dangling"))?;
        mknodat(CWD, at(place).join("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
        UnixListener::bind(at(place).join("socket"))?;
        fs::create_dir(at(place).join("dir"))?;
        fs::write(at(place).join("file"), "data")?;
    }
    Ok(dir)
}
