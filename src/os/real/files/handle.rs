//! One open regular file. It knows nothing of names.

use crate::os::real::files::meta_of;
use crate::os::{Handle, Meta};
use rustix::buffer::spare_capacity;
use rustix::fs::{
    FallocateFlags, OFlags, SeekFrom, fallocate, fcntl_getfl, fcntl_setfl, fdatasync, fstat, fsync, seek,
};
use rustix::io::{Errno, pread, pwrite, retry_on_intr, write};
use std::fs::File;
use std::io;

/// An open regular file.
#[derive(Debug)]
pub(crate) struct RealHandle {
    file: File,
    /// Its size when it was opened, for the first read.
    size: Option<u64>,
    /// Whether the next write is at the end of the file without a seek.
    is_at_end: bool,
    /// After a failed sync the kernel forgets what it could not write, and a second sync would claim success.
    sync_failed: bool,
}

impl RealHandle {
    pub(crate) fn new(file: File) -> Self {
        Self { file, size: None, is_at_end: false, sync_failed: false }
    }

    /// A file that was just opened, with the size that a look has found. A file that is empty, or open for appending, is at
    /// its end.
    pub(crate) fn opened(file: File, size: u64, is_at_end: bool) -> Self {
        Self { size: Some(size), is_at_end, ..Self::new(file) }
    }

    fn sync(&mut self, how: impl Fn(&File) -> Result<(), Errno>) -> io::Result<()> {
        if self.sync_failed {
            return Err(io::Error::other("an earlier sync of this file failed"));
        }
        let done = retry_on_intr(|| how(&self.file));
        self.sync_failed = done.is_err();
        Ok(done?)
    }
}

impl Handle for RealHandle {
    fn read_all(&mut self, cap: u64) -> io::Result<Vec<u8>> {
        let size = match self.size.take() {
            Some(size) => size,
            None => meta_of(&fstat(&self.file)?).size,
        };
        if size > cap {
            return Err(too_large(cap));
        }
        let mut bytes = Vec::new();
        let mut chunk = usize::try_from(size).map_err(|_| too_large(cap))? + 1;
        loop {
            bytes.reserve(chunk);
            let (done, asked) = (bytes.len(), bytes.capacity() - bytes.len());
            let got = retry_on_intr(|| pread(&self.file, spare_capacity(&mut bytes), done as u64))?;
            // The file may grow while it is read, so the bytes that came count, not the size of fstat.
            if bytes.len() as u64 > cap {
                return Err(too_large(cap));
            }
            // The read asked for one byte more than the size: when just the size came, the end was reached.
            if got < asked {
                return Ok(bytes);
            }
            chunk = 4096;
        }
    }

    fn read_part(&mut self, from: u64, most: usize) -> io::Result<Vec<u8>> {
        // A reader that follows a log asks for a large part and gets a few lines.
        let mut bytes = Vec::with_capacity(most.min(8 * 1024));
        while bytes.len() < most {
            if bytes.len() == bytes.capacity() {
                bytes.reserve_exact(most - bytes.len());
            }
            let at = from + bytes.len() as u64;
            if retry_on_intr(|| pread(&self.file, spare_capacity(&mut bytes), at))? == 0 {
                break;
            }
        }
        bytes.truncate(most);
        Ok(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.is_at_end {
            seek(&self.file, SeekFrom::End(0))?;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let done = retry_on_intr(|| write(&self.file, rest))?;
            if done == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            rest = &rest[done..];
        }
        Ok(())
    }

    fn write_at_start(&mut self, bytes: &[u8]) -> io::Result<()> {
        let done = retry_on_intr(|| pwrite(&self.file, bytes, 0))?;
        if done == bytes.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    fn free_front(&mut self, to: u64) -> io::Result<()> {
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(retry_on_intr(|| fallocate(&self.file, how, 0, to))?)
    }

    fn first_data(&self) -> io::Result<u64> {
        match seek(&self.file, SeekFrom::Data(0)) {
            // There is no data at all.
            Err(Errno::NXIO) => Ok(self.meta()?.size),
            // This file system knows no holes, so nothing was freed.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(0),
            other => Ok(other?),
        }
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.sync(|file| fdatasync(file))
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.sync(|file| fsync(file))
    }

    fn try_lock(&mut self, shared: bool) -> io::Result<bool> {
        loop {
            // In full, because std::fs::File has methods of the same names that would win silently.
            let taken = if shared {
                fs2::FileExt::try_lock_shared(&self.file)
            } else {
                fs2::FileExt::try_lock_exclusive(&self.file)
            };
            match taken {
                Ok(()) => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn unlock(&mut self) -> io::Result<()> {
        loop {
            match fs2::FileExt::unlock(&self.file) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }

    fn meta(&self) -> io::Result<Meta> {
        Ok(meta_of(&fstat(&self.file)?))
    }

    fn into_file(self: Box<Self>) -> Option<File> {
        blocking(&self.file);
        Some(self.file)
    }

    fn share(&self) -> Option<File> {
        blocking(&self.file);
        self.file.try_clone().ok()
    }
}

/// O_NONBLOCK only kept the open from hanging; a child that gets the descriptor is not to find it set.
fn blocking(file: &File) {
    if let Ok(flags) = fcntl_getfl(file) {
        // A regular file ignores the flag, so a failure here changes nothing.
        let _ = fcntl_setfl(file, flags - OFlags::NONBLOCK);
    }
}

fn too_large(cap: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("longer than {cap} bytes"))
}
