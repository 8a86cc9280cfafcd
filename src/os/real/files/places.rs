//! Places outside the state directory, by path (`RealPlaces`).
//!
//! `tree_digest` computes a digest of the content of a git work tree, as git(1) reports it.

use crate::model::name::hex;
use crate::os::StartError;
use crate::os::places::{Place, Places};
use crate::os::real::process::program::{can_execute, check_cwd, find, lookup, start_error};
use crate::os::real::process::run_capture::ask_at_length;
use sha2::{Digest, Sha256};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The places of this host.
pub struct RealPlaces;

const MOST: u64 = 1024 * 1024;

impl Places for RealPlaces {
    fn look(&self, path: &str) -> io::Result<Option<Place>> {
        let place = |meta: Metadata| Place { is_dir: meta.is_dir(), ident: (meta.dev(), meta.ino()) };
        absent(std::fs::metadata(path).map(place))
    }

    fn canonical(&self, path: &str) -> io::Result<String> {
        let path = std::fs::canonicalize(path)?.into_os_string();
        path.into_string().map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "its name is not UTF-8"))
    }

    fn read(&self, path: &str) -> io::Result<Option<String>> {
        // A FIFO would block the open.
        match absent(std::fs::metadata(path))? {
            Some(meta) if meta.is_file() && meta.len() <= MOST => {}
            Some(meta) if meta.is_file() => return Err(io::ErrorKind::FileTooLarge.into()),
            _ => return Ok(None),
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(MOST).read_to_end(&mut bytes)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn tree_digest(&self, top: &str) -> io::Result<String> {
        tree_digest(top)
    }

    fn check_program(&self, program: &str, env: &[(Vec<u8>, Vec<u8>)], cwd: &str) -> Result<(), StartError> {
        let cwd = Path::new(cwd);
        check_cwd(cwd)?;
        let found = find(program, lookup(env, "PATH").as_deref(), cwd)?;
        // A file on PATH was looked at already.
        if program.contains('/') {
            can_execute(&cwd.join(found)).map_err(|error| start_error(error, Path::new(program), cwd))?;
        }
        Ok(())
    }
}

/// The owner of the file at a path; `None` where there is nothing.
pub fn owner_of(path: &str) -> io::Result<Option<u32>> {
    absent(std::fs::metadata(path).map(|meta| meta.uid()))
}

/// `None` where there is nothing.
pub(crate) fn absent<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => Ok(None),
        other => other.map(Some),
    }
}

/// Time that git has in all.
const PATIENCE: Duration = Duration::from_secs(60);

/// See [`crate::os::places::Places::tree_digest`].
pub(crate) fn tree_digest(top: &str) -> io::Result<String> {
    let until = Instant::now() + PATIENCE;
    let mut hash = Sha256::new();
    let no_commit = "git names no commit there (`git rev-parse HEAD`)";
    feed(&mut hash, &mut git(top, &["rev-parse", "--verify", "-q", "HEAD^{tree}"], no_commit, until)?)?;
    let difference = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--binary", "--full-index", "HEAD", "--"];
    feed(&mut hash, &mut git(top, &difference, "`git diff HEAD` fails there", until)?)?;
    let mut names = Vec::new();
    let others = ["ls-files", "--others", "--exclude-standard", "-z"];
    git(top, &others, "`git ls-files` fails there", until)?.read_to_end(&mut names)?;
    let mut names: Vec<&[u8]> = names.split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    for name in names {
        feed(&mut hash, &mut &*name)?;
        let path = Path::new(top).join(PathBuf::from(std::ffi::OsString::from_vec(name.to_vec())));
        feed_file(&mut hash, &path)?;
    }
    Ok(hex(&hash.finalize()))
}

/// Asks git. It must change nothing, not even its index, and must start no program of the repository. The variables by which
/// a hook of git leads to another index or work tree are removed.
fn git(top: &str, args: &[&str], wrong: &str, until: Instant) -> io::Result<File> {
    let mut command = Command::new("git");
    command.args(["-C", top, "-c", "core.fsmonitor=false"]).args(args);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_bytes().starts_with(b"GIT_")) {
        command.env_remove(name);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
    let (status, said) = ask_at_length(&mut command, until).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(io::ErrorKind::NotFound, "there is no git on PATH"),
        _ => error,
    })?;
    if status.success() { Ok(said) } else { Err(io::Error::new(io::ErrorKind::InvalidData, wrong)) }
}

/// The kind of a file, whether it can be executed, and its content. A file that has gone meanwhile counts as empty; a
/// directory is a repository of its own.
fn feed_file(hash: &mut Sha256, path: &Path) -> io::Result<()> {
    let meta = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return feed(hash, &mut io::empty()),
        other => other?,
    };
    hash.update([u8::from(meta.is_file()), u8::from(meta.is_symlink()), u8::from(meta.mode() & 0o100 != 0)]);
    if meta.is_symlink() {
        let target = std::fs::read_link(path)?;
        return feed(hash, &mut target.as_os_str().as_bytes());
    }
    if meta.is_file() { feed(hash, &mut File::open(path)?) } else { feed(hash, &mut io::empty()) }
}

/// A part with its length behind it, so that no two lists of parts give the same bytes.
fn feed(hash: &mut Sha256, part: &mut dyn Read) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    let mut length = 0_u64;
    loop {
        match part.read(&mut buffer)? {
            0 => break,
            count => {
                hash.update(&buffer[..count]);
                length += u64::try_from(count).unwrap_or(0);
            }
        }
    }
    hash.update(length.to_le_bytes());
    Ok(())
}
