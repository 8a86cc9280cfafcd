//! A directory that does not exist: nothing can be read from it and nothing made in it. Verbs that only look use it
//! where no state directory was made yet. (An optional store would need a branch at each of the calls of the verbs that look,
//! which are more lines than these answers.)

use super::{Entry, FileSystem, Handle, Meta, Open, Pipe, Published, Vfs, Watch};
use std::io;
use std::sync::Arc;

/// The files of a directory that does not exist.
pub struct Nowhere {
    path: String,
}

impl Nowhere {
    /// A directory that would be at `path`.
    pub fn at(path: &str) -> Self {
        Self { path: path.to_owned() }
    }
}

fn absent<T>() -> io::Result<T> {
    Err(crate::os::absent())
}

impl Vfs for Nowhere {
    fn root(&self) -> &str {
        &self.path
    }

    fn open_root(&self, _: &str, _: bool) -> io::Result<Option<Arc<dyn Vfs>>> {
        Ok(None)
    }

    fn open(&self, _: &str, how: Open) -> io::Result<Option<Box<dyn Handle>>> {
        match how {
            Open::Existing | Open::ReadOnly => Ok(None),
            Open::CreateNew(_) | Open::Truncate(_) | Open::Append(_) => absent(),
        }
    }

    fn meta(&self, _: &str) -> io::Result<Option<Meta>> {
        Ok(None)
    }

    fn list(&self, _: &str) -> io::Result<Option<Vec<Entry>>> {
        Ok(None)
    }

    fn meta_many(&self, paths: &[String]) -> Vec<io::Result<Option<Meta>>> {
        paths.iter().map(|path| self.meta(path)).collect()
    }

    fn list_many(&self, paths: &[String]) -> Vec<io::Result<Option<Vec<Entry>>>> {
        paths.iter().map(|_| Ok(None)).collect()
    }

    fn make_dir(&self, _: &str, _: u32) -> io::Result<bool> {
        absent()
    }

    fn remove_dir(&self, _: &str) -> io::Result<bool> {
        Ok(false)
    }

    fn rename(&self, _: &str, _: &str) -> io::Result<bool> {
        Ok(false)
    }

    fn publish(&self, _: &str, _: &str) -> io::Result<Published> {
        absent()
    }

    fn unlink(&self, _: &str) -> io::Result<bool> {
        Ok(false)
    }

    fn sync_dir(&self, _: &str) -> io::Result<()> {
        absent()
    }

    fn sync_everything(&self) -> io::Result<()> {
        absent()
    }

    fn set_mode(&self, _: &str, _: u32) -> io::Result<()> {
        absent()
    }

    fn watch(&self, _: &[&str]) -> io::Result<Box<dyn Watch>> {
        absent()
    }

    fn watch_file(&self, _: &str) -> io::Result<Option<Box<dyn Watch>>> {
        absent()
    }

    fn make_pipe(&self, _: &str) -> io::Result<Option<Box<dyn Pipe>>> {
        absent()
    }

    fn is_pipe_alive(&self, _: &str) -> io::Result<bool> {
        Ok(false)
    }

    fn call_pipe(&self, _: &str) -> io::Result<bool> {
        Ok(false)
    }

    fn file_system(&self) -> io::Result<FileSystem> {
        absent()
    }
}
