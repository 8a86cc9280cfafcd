//! Names below a root, in both ways of walking.

use super::super::beneath::{Beneath, Way};
use super::*;
use crate::os::{FileKind, Published};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

/// A root with a secret beside it, and every kind of trap in it.
fn trapped() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir_all(at("root/locks/.guard")).unwrap();
    std::fs::create_dir_all(at("root/deep/er")).unwrap();
    std::fs::create_dir(at("outside")).unwrap();
    std::fs::write(at("outside/secret"), "secret").unwrap();
    symlink("../outside", at("root/way-out")).unwrap();
    symlink(at("outside"), at("root/absolute")).unwrap();
    symlink("deep", at("root/inner")).unwrap();
    for place in ["root/locks", "root/deep", "root"] {
        symlink(at("outside/secret"), at(place).join("link")).unwrap();
        symlink("nowhere", at(place).join("dangling")).unwrap();
        mknodat(CWD, at(place).join("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        std::os::unix::net::UnixListener::bind(at(place).join("socket")).unwrap();
        std::fs::create_dir(at(place).join("dir")).unwrap();
        std::fs::write(at(place).join("file"), "data").unwrap();
    }
    dir
}

fn both_ways(dir: &tempfile::TempDir) -> [RealFiles; 2] {
    let root = dir.path().join("root");
    [Way::Kernel, Way::Steps].map(|way| {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(&root, flags, Mode::empty()).unwrap();
        RealFiles::by(root.to_str().unwrap(), Beneath::by(fd, way))
    })
}

#[test]
fn nothing_but_a_regular_file_is_opened_and_nothing_blocks() {
    let dir = trapped();
    for files in both_ways(&dir) {
        for place in ["", "locks/", "deep/"] {
            for name in ["link", "dangling", "fifo", "socket", "dir"] {
                for how in [Open::Existing, Open::ReadOnly, Open::Truncate(0o600), Open::Append(0o600)] {
                    let path = format!("{place}{name}");
                    let refused = files.open(&path, how).err().map(|error| error.kind());
                    assert_eq!(refused, Some(ErrorKind::InvalidInput), "{path} {how:?}");
                }
            }
        }
    }
    let secret = std::fs::read_to_string(dir.path().join("outside/secret")).unwrap();
    assert_eq!(secret, "secret");
    assert!(!dir.path().join("root/nowhere").exists());
}

#[test]
fn no_operation_follows_a_symbolic_link_in_the_middle_of_a_path() {
    let dir = trapped();
    for files in both_ways(&dir) {
        for way in ["way-out", "absolute"] {
            let secret = format!("{way}/secret");
            let new = format!("{way}/new");
            let kinds = [
                files.open(&secret, Open::ReadOnly).err(),
                files.open(&new, Open::CreateNew(0o600)).err(),
                files.meta(&secret).err(),
                files.list(way).err(),
                files.make_dir(&new, 0o700).err(),
                files.remove_dir(&secret).err(),
                files.rename("file", &new).err(),
                files.rename(&secret, "taken").err(),
                files.publish("file", &new).err(),
                files.unlink(&secret).err(),
                files.sync_dir(way).err(),
                files.set_mode(&secret, 0o777).err(),
                files.watch(&[way]).err(),
            ];
            for (number, error) in kinds.into_iter().enumerate() {
                let kind = error.map(|error| error.kind());
                assert_eq!(kind, Some(ErrorKind::InvalidInput), "{way}, number {number}");
            }
        }
        assert_eq!(
            files.open("inner/file", Open::ReadOnly).err().map(|error| error.kind()),
            Some(ErrorKind::InvalidInput)
        );
    }
    let names = std::fs::read_dir(dir.path().join("outside")).unwrap().count();
    assert_eq!(names, 1);
}

#[test]
fn a_path_that_could_lead_elsewhere_is_refused() {
    let dir = trapped();
    for files in both_ways(&dir) {
        for path in [
            "..",
            "../outside/secret",
            "deep/../../outside/secret",
            "/etc/passwd",
            "deep//file",
            "./file",
            "deep/.",
            "deep/",
            "a\0b",
        ] {
            for error in [
                files.open(path, Open::ReadOnly).err(),
                files.meta(path).err(),
                files.list(path).err(),
                files.unlink(path).err(),
                files.rename("file", path).err(),
                files.rename(path, "file").err(),
            ] {
                let kind = error.map(|error| error.kind());
                assert_eq!(kind, Some(ErrorKind::InvalidInput), "{path:?}");
            }
        }
    }
}

#[test]
fn links_themselves_can_be_seen_and_removed() {
    let dir = trapped();
    let [files, _] = both_ways(&dir);
    assert_eq!(files.meta("link").unwrap().unwrap().kind, FileKind::Other);
    assert!(files.unlink("link").unwrap());
    assert!(!files.unlink("link").unwrap());
    assert!(dir.path().join("outside/secret").exists());
    assert!(files.unlink("dir").is_err());
}

#[test]
fn what_is_missing_is_an_answer_where_the_trait_says_so() {
    let dir = trapped();
    for files in both_ways(&dir) {
        for gone in ["gone", "gone/deeper", "locks/gone", "run/gone"] {
            assert!(files.open(gone, Open::Existing).unwrap().is_none());
            assert!(files.open(gone, Open::ReadOnly).unwrap().is_none());
            assert_eq!(files.meta(gone).unwrap(), None);
            assert_eq!(files.list(gone).unwrap(), None);
            assert!(!files.unlink(gone).unwrap());
            assert!(!files.remove_dir(gone).unwrap());
            assert!(!files.rename(gone, "x").unwrap());
            assert!(files.sync_dir(gone).is_err());
        }
        assert!(!files.rename("file", "gone/x").unwrap());
        assert!(!files.remove_dir("deep").unwrap());
        for how in [Open::CreateNew(0o600), Open::Append(0o600), Open::Truncate(0o600)] {
            let kind = files.open("gone/x", how).err().map(|error| error.kind());
            assert_eq!(kind, Some(ErrorKind::NotFound), "{how:?}");
        }
        assert!(files.open("file", Open::CreateNew(0o600)).unwrap().is_none());
        assert!(files.open("link", Open::CreateNew(0o600)).unwrap().is_none());
        assert!(!files.make_dir("dir", 0o700).unwrap());
    }
}

#[test]
fn publishing_replaces_nothing_and_says_why_it_did_not() {
    let dir = trapped();
    for files in both_ways(&dir) {
        std::fs::write(dir.path().join("root/new"), "new").unwrap();
        assert_eq!(files.publish("new", "locks/file").unwrap(), Published::Exists);
        assert_eq!(files.publish("new", "locks/link").unwrap(), Published::Exists);
        assert_eq!(files.publish("new", "spool/tmp/x").unwrap(), Published::NoDirectory);
        assert_eq!(files.publish("new", "gone/x").unwrap(), Published::NoDirectory);
        let kind = files.publish("gone", "x").err().map(|error| error.kind());
        assert_eq!(kind, Some(ErrorKind::NotFound));
        assert_eq!(files.publish("new", "locks/x").unwrap(), Published::Done);
        assert!(files.rename("locks/x", "locks/file").unwrap());
        let text = std::fs::read_to_string(dir.path().join("root/locks/file")).unwrap();
        assert_eq!(text, "new");
    }
}

#[test]
fn a_permanent_directory_may_be_removed_and_made_again() {
    let dir = trapped();
    let guard = dir.path().join("root/locks/.guard");
    for files in both_ways(&dir) {
        let make = |name: &str| files.open(name, Open::CreateNew(0o600)).unwrap().is_some();
        assert!(make("locks/.guard/00"));
        std::fs::remove_dir_all(&guard).unwrap();
        assert_eq!(files.meta("locks/.guard/00").unwrap(), None);
        assert!(files.open("locks/.guard/00", Open::CreateNew(0o600)).is_err());
        assert_eq!(files.publish("file", "locks/.guard/00").unwrap(), Published::NoDirectory);
        assert!(files.make_dir("locks/.guard", 0o700).unwrap());
        assert!(make("locks/.guard/00"));
        assert!(guard.join("00").exists());
        std::fs::remove_dir_all(&guard).unwrap();
        std::fs::create_dir(&guard).unwrap();
        assert!(make("locks/.guard/01"));
    }
}

#[test]
fn a_list_has_kinds_and_survives_names_that_are_not_text() {
    use std::os::unix::ffi::OsStrExt;
    let dir = trapped();
    let odd = std::ffi::OsStr::from_bytes(b"bad\xff");
    std::fs::write(dir.path().join("root/deep").join(odd), "").unwrap();
    let [files, _] = both_ways(&dir);
    let mut found: Vec<_> = files.list("deep").unwrap().unwrap();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let found: Vec<_> = found.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
    use FileKind::{Dir, File, Other};
    let expected = [
        ("bad\u{fffd}", File),
        ("dangling", Other),
        ("dir", Dir),
        ("er", Dir),
        ("fifo", Other),
        ("file", File),
        ("link", Other),
        ("socket", Other),
    ];
    assert_eq!(found, expected);
    assert_eq!(files.list("").unwrap().unwrap().len(), 11);
    assert!(files.list("file").is_err());
}

#[test]
fn a_long_list_is_complete() {
    let dir = trapped();
    let [files, _] = both_ways(&dir);
    for number in 0..3000 {
        let name = format!("deep/er/a-rather-long-name-of-a-file-{number}");
        files.open(&name, Open::CreateNew(0o600)).unwrap().unwrap();
    }
    assert_eq!(files.list("deep/er").unwrap().unwrap().len(), 3000);
}

#[test]
fn many_lists_are_those_of_each_in_their_order() {
    let dir = trapped();
    let [files, _] = both_ways(&dir);
    let mut paths: Vec<String> = (0..1500).map(|number| format!("deep/{number}")).collect();
    for path in paths.iter().step_by(2) {
        assert!(files.make_dir(path, 0o700).unwrap());
        files.open(&format!("{path}/in-{}", &path[5..]), Open::CreateNew(0o600)).unwrap().unwrap();
    }
    paths.insert(700, "trap".into());
    paths.push("../out".into());
    let found = files.list_many(&paths);
    assert_eq!(found.len(), paths.len());
    for (path, found) in paths.iter().zip(found) {
        match (files.list(path), found) {
            (Ok(one), Ok(many)) => assert_eq!(one, many, "{path}"),
            (Err(one), Err(many)) => assert_eq!(one.to_string(), many.to_string(), "{path}"),
            (one, many) => panic!("{path}: {one:?} and {many:?}"),
        }
    }
    assert!(files.list_many(&[]).is_empty());
}

#[test]
fn modes_are_as_asked_whatever_the_umask_is() {
    alone(module_path!(), "modes_are_as_asked_whatever_the_umask_is", "umask 0277; exec \"$@\"", || {
        assert_eq!(super::super::term::umask(), 0o277);
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o700)).unwrap();
        let files = vfs(dir.path());
        let mode = |name: &str| std::fs::symlink_metadata(dir.path().join(name)).unwrap().mode() & 0o7777;
        files.open("new", Open::CreateNew(0o644)).unwrap().unwrap();
        files.open("tmp", Open::Truncate(0o640)).unwrap().unwrap();
        files.open("log", Open::Append(0o666)).unwrap().unwrap();
        assert!(files.make_dir("dir", 0o755).unwrap());
        assert_eq!(["new", "tmp", "log", "dir"].map(mode), [0o644, 0o640, 0o666, 0o755]);
        let deep = dir.path().join("a/b");
        let other = files.open_root(deep.to_str().unwrap(), true);
        assert_eq!(other.unwrap().map(|it| it.root().to_owned()).as_deref(), deep.to_str());
        assert_eq!(mode("a/b"), 0o700);
        // A temporary file of a crash gets the mode, a log keeps the one that somebody gave it.
        files.set_mode("tmp", 0o000).unwrap();
        files.set_mode("log", 0o600).unwrap();
        files.set_mode("tmp", 0o400).unwrap();
        files.open("log", Open::Append(0o666)).unwrap().unwrap();
        assert_eq!(["tmp", "log"].map(mode), [0o400, 0o600]);
    });
}

#[test]
fn a_root_is_opened_through_links_and_made_only_when_asked() {
    let dir = trapped();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    assert!(RealFiles::open_at(&at("gone"), false).unwrap().is_none());
    assert!(RealFiles::open_at(&at("root/inner"), false).unwrap().is_some());
    assert!(RealFiles::open_at(&at("root/file"), true).is_err());
    assert!(RealFiles::open_at("/proc/no/such", true).is_err());
    let made = RealFiles::open_at(&at("x/y/z"), true).unwrap().unwrap();
    assert_eq!(std::fs::metadata(made.root()).unwrap().mode() & 0o777, 0o700);
    assert_eq!(made.list("").unwrap(), Some(Vec::new()));
}

fn sees(change: impl FnOnce(&Path)) {
    let dir = trapped();
    let [files, _] = both_ways(&dir);
    let mut watch = files.watch(&["locks", "deep", "gone"]).unwrap();
    assert!(!watch.wait(Duration::from_millis(30)).unwrap());
    change(&dir.path().join("root"));
    assert!(watch.wait(SOON).unwrap());
    assert!(!watch.wait(Duration::from_millis(30)).unwrap());
}

#[test]
fn a_watch_sees_names_that_appear_change_and_vanish() {
    sees(|root| std::fs::write(root.join("deep/new"), "").unwrap());
    sees(|root| std::fs::rename(root.join("file"), root.join("locks/x")).unwrap());
    sees(|root| std::fs::rename(root.join("locks/file"), root.join("x")).unwrap());
    sees(|root| std::fs::remove_file(root.join("locks/file")).unwrap());
    sees(|root| {
        use std::io::Write;
        let file = File::options().append(true).open(root.join("deep/file"));
        file.unwrap().write_all(b"more").unwrap();
    });
    sees(|root| {
        let file = File::options().write(true).open(root.join("deep/file")).unwrap();
        let then = std::time::SystemTime::UNIX_EPOCH;
        let both = std::fs::FileTimes::new();
        file.set_times(both.set_accessed(then).set_modified(then)).unwrap();
    });
}

#[test]
fn a_watch_does_not_wake_for_reading_and_probing() {
    let dir = trapped();
    let [files, _] = both_ways(&dir);
    let mut watch = files.watch(&["locks"]).unwrap();
    let mut handle = files.open("locks/file", Open::Existing).unwrap().unwrap();
    assert!(handle.try_lock(false).unwrap());
    handle.read_all(100).unwrap();
    drop(handle);
    files.list("locks").unwrap();
    assert!(!watch.wait(Duration::from_millis(50)).unwrap());
}

#[test]
fn a_watch_whose_queue_overflows_says_that_something_changed() {
    let dir = trapped();
    let [files, _] = both_ways(&dir);
    let mut watch = files.watch(&["deep", ""]).unwrap();
    let (a, b) = (dir.path().join("root/deep/file"), dir.path().join("root/file2"));
    for _ in 0..9000 {
        std::fs::rename(&a, &b).unwrap();
        std::fs::rename(&b, &a).unwrap();
    }
    assert!(watch.wait(Duration::MAX).unwrap());
    assert!(!watch.wait(Duration::from_millis(30)).unwrap());
    std::fs::remove_file(&a).unwrap();
    assert!(watch.wait(SOON).unwrap());
}

#[test]
fn a_folder_that_others_remove_at_once_was_made_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("root")).unwrap();
    for files in both_ways(&dir) {
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    let _ = std::fs::remove_dir(dir.path().join("root/brief"));
                }
            });
            let failed = (0..2000).find_map(|_| files.make_dir("brief", 0o700).err());
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(failed.is_none(), "{failed:?}");
        });
        let _ = files.remove_dir("brief");
    }
}
