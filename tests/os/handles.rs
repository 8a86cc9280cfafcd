//! One open file.

use super::*;
use luzia::os::real::prepare_process;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;

fn with_file(text: &str, check: impl FnOnce(&RealFiles, &Path)) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, text).unwrap();
    check(&vfs(dir.path()), &path);
}

fn open(files: &RealFiles, how: Open) -> Box<dyn Handle> {
    files.open("file", how).unwrap().unwrap()
}

#[test]
fn a_file_is_read_up_to_the_cap_and_not_a_byte_further() {
    with_file("0123456789", |files, path| {
        let read = |cap| open(files, Open::ReadOnly).read_all(cap);
        assert_eq!(read(10).unwrap(), b"0123456789");
        assert_eq!(read(u64::MAX).unwrap(), b"0123456789");
        assert_eq!(read(9).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(read(0).unwrap_err().kind(), ErrorKind::FileTooLarge);
        let sparse = File::options().write(true).open(path).unwrap();
        sparse.set_len(1 << 40).unwrap();
        assert_eq!(read(1 << 20).unwrap_err().kind(), ErrorKind::FileTooLarge);
        sparse.set_len(0).unwrap();
        assert_eq!(read(0).unwrap(), b"");
    });
}

#[test]
fn a_part_of_a_file_has_the_length_asked_for_or_ends_with_the_file() {
    let text: String = (0..80_000).map(|n| format!("{n:08}\n")).collect();
    with_file(&text, |files, _| {
        let mut handle = open(files, Open::ReadOnly);
        for (from, most) in
            [(0, 0), (0, 1), (3, 8 * 1024), (5, 300_000), (0, text.len()), (700_000, 1 << 20), (720_000, 9)]
        {
            let end = text.len().min(from + most);
            assert_eq!(handle.read_part(from as u64, most).unwrap(), text.as_bytes()[from..end], "{from} {most}");
        }
    });
}

#[test]
fn reading_twice_gives_the_same() {
    with_file("text", |files, _| {
        let mut handle = open(files, Open::Existing);
        assert_eq!(handle.read_all(9).unwrap(), handle.read_all(9).unwrap());
        handle.write_all(b" more").unwrap();
        assert_eq!(handle.read_all(9).unwrap(), b"text more");
    });
}

#[test]
fn writes_go_to_the_end_and_overwrites_to_the_start() {
    with_file("old", |files, path| {
        let text = || std::fs::read_to_string(path).unwrap();
        open(files, Open::Existing).write_all(b"+1").unwrap();
        open(files, Open::Append(0o600)).write_all(b"+2").unwrap();
        assert_eq!(text(), "old+1+2");
        open(files, Open::Existing).write_at_start(b"new").unwrap();
        assert_eq!(text(), "new+1+2");
        let mut handle = open(files, Open::Truncate(0o600));
        handle.write_all(b"a").unwrap();
        handle.write_all(b"b").unwrap();
        handle.sync_data().unwrap();
        handle.sync_all().unwrap();
        assert_eq!(text(), "ab");
        assert!(open(files, Open::ReadOnly).write_all(b"x").is_err());
    });
}

#[test]
fn a_file_without_write_permission_can_be_read() {
    alone(module_path!(), "a_file_without_write_permission_can_be_read", PLAINLY, || {
        with_file("text", |files, path| {
            std::fs::set_permissions(path, PermissionsExt::from_mode(0o444)).unwrap();
            std::fs::set_permissions(path.parent().unwrap(), PermissionsExt::from_mode(0o755)).unwrap();
            let before = nix::unistd::geteuid();
            if before.is_root() {
                // Root may write everything, so another account must show it.
                nix::unistd::seteuid(nix::unistd::Uid::from_raw(65534)).unwrap();
            }
            assert_eq!(open(files, Open::ReadOnly).read_all(9).unwrap(), b"text");
            let kind = files.open("file", Open::Existing).err().map(|error| error.kind());
            assert_eq!(kind, Some(ErrorKind::PermissionDenied));
            // The directory is root's to remove.
            nix::unistd::seteuid(before).unwrap();
        });
    });
}

#[test]
fn a_lock_excludes_other_descriptors_and_is_shared_by_copies() {
    with_file("", |files, _| {
        let (mut ours, mut theirs) = (open(files, Open::Existing), open(files, Open::ReadOnly));
        assert!(ours.try_lock(false).unwrap());
        assert!(!theirs.try_lock(false).unwrap());
        assert!(!theirs.try_lock(true).unwrap());
        let copy = ours.share().unwrap();
        drop(ours);
        assert!(!theirs.try_lock(false).unwrap(), "the copy still holds it");
        drop(copy);
        assert!(theirs.try_lock(true).unwrap());
        let mut third = open(files, Open::Existing);
        assert!(third.try_lock(true).unwrap());
        assert!(!third.try_lock(false).unwrap());
        theirs.unlock().unwrap();
        assert!(third.try_lock(false).unwrap());
        let file = third.into_file().unwrap();
        assert!(!theirs.try_lock(true).unwrap(), "handing it on keeps it");
        drop(file);
        assert!(theirs.try_lock(true).unwrap());
    });
}

#[test]
fn an_unlock_gives_up_the_lock_of_every_copy() {
    with_file("", |files, _| {
        let (mut ours, mut theirs) = (open(files, Open::Existing), open(files, Open::Existing));
        assert!(ours.try_lock(false).unwrap());
        let _copy = ours.share().unwrap();
        ours.unlock().unwrap();
        assert!(theirs.try_lock(false).unwrap());
    });
}

#[test]
fn what_is_handed_on_blocks_and_is_not_inherited_by_chance() {
    with_file("", |files, _| {
        let handle = open(files, Open::Existing);
        for file in [handle.share().unwrap(), handle.into_file().unwrap()] {
            let status = rustix::fs::fcntl_getfl(&file).unwrap();
            assert!(!status.contains(rustix::fs::OFlags::NONBLOCK));
            let flags = rustix::io::fcntl_getfd(&file).unwrap();
            assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
        }
    });
}

#[test]
fn the_kernel_names_the_holder_of_a_lock() {
    with_file("", |files, _| {
        let mut handle = open(files, Open::Existing);
        let ident = handle.meta().unwrap().ident;
        assert_eq!(RealProcesses.lock_holder(ident), None);
        assert!(handle.try_lock(false).unwrap());
        assert_eq!(RealProcesses.lock_holder(ident), Some(std::process::id()));
    });
}

#[test]
fn a_file_size_limit_is_an_error_and_not_a_death() {
    let name = "a_file_size_limit_is_an_error_and_not_a_death";
    alone(module_path!(), name, "ulimit -f 0; exec \"$@\" 2>/dev/null | cat", || {
        prepare_process().unwrap();
        with_nothing(|files| {
            let mut handle = files.open("new", Open::CreateNew(0o600)).unwrap().unwrap();
            let error = handle.write_all(b"x").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        });
    });
}

fn with_nothing(check: impl FnOnce(&RealFiles)) {
    let dir = tempfile::tempdir().unwrap();
    check(&vfs(dir.path()));
}

#[test]
fn closed_standard_streams_are_not_taken_by_files() {
    let name = "closed_standard_streams_are_not_taken_by_files";
    alone(module_path!(), name, "sh -c 'exec \"$@\" 0<&- 2>&-' sh \"$@\"", || {
        use std::os::fd::AsRawFd;
        with_nothing(|files| {
            let handle = files.open("new", Open::CreateNew(0o600)).unwrap().unwrap();
            assert!(handle.into_file().unwrap().as_raw_fd() > 2);
        });
    });
}
