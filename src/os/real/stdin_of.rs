//! The standard input of another process, opened through /proc (proc_pid_fd(5)).

use crate::model::Identity;
use crate::model::process::is_other_boot;
use crate::os::real::process::procfs;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

pub(super) fn open(who: &Identity) -> io::Result<Option<File>> {
    if is_other_boot(&who.boot_id, procfs::boot_id()) {
        return Ok(None);
    }
    let dir = format!("/proc/{}", who.pid);
    // Without O_NONBLOCK, a FIFO without a writer would block the open.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = File::options().read(true).custom_flags(flags.bits() as i32).open(format!("{dir}/fd/0"));
    // The comparison follows the opening, so that the process compared is the process that was opened.
    let is_it = || procfs::stat(who.pid).is_some_and(|stat| stat.start == who.start && !stat.is_dead());
    let mut file = match opened {
        Ok(file) if is_it() => file,
        Ok(_) => return Ok(None),
        Err(_) if !is_it() => return Ok(None),
        Err(error) => return Err(error),
    };
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() || kind.is_block_device() {
        file.seek(SeekFrom::Start(position(&dir)?))?;
    }
    Ok(Some(file))
}

/// The offset up to which the process has read.
fn position(dir: &str) -> io::Result<u64> {
    let info = std::fs::read_to_string(format!("{dir}/fdinfo/0"))?;
    let position = info.lines().find_map(|line| line.strip_prefix("pos:")?.trim().parse().ok());
    position.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "fdinfo has no position"))
}
