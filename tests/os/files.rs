//! Names below a root.

use super::trapped::trapped;
use super::*;
use luzia::os::FileKind;
use luzia::os::real::term::umask;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

#[test]
fn links_themselves_can_be_seen_and_removed() {
    let dir = trapped().unwrap();
    let files = vfs(&dir.path().join("root"));
    assert_eq!(files.meta("link").unwrap().unwrap().kind, FileKind::Other);
    assert!(files.unlink("link").unwrap());
    assert!(!files.unlink("link").unwrap());
    assert!(dir.path().join("outside/secret").exists());
    assert!(files.unlink("dir").is_err());
}

#[test]
fn a_list_has_kinds_and_survives_names_that_are_not_text() {
    use std::os::unix::ffi::OsStrExt;
    let dir = trapped().unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"bad\xff");
    std::fs::write(dir.path().join("root/deep").join(odd), "").unwrap();
    let files = vfs(&dir.path().join("root"));
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
    let dir = trapped().unwrap();
    let files = vfs(&dir.path().join("root"));
    for number in 0..3000 {
        let name = format!("deep/er/a-rather-long-name-of-a-file-{number}");
        files.open(&name, Open::CreateNew(0o600)).unwrap().unwrap();
    }
    assert_eq!(files.list("deep/er").unwrap().unwrap().len(), 3000);
}

#[test]
fn many_lists_are_those_of_each_in_their_order() {
    let dir = trapped().unwrap();
    let files = vfs(&dir.path().join("root"));
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
        assert_eq!(umask(), 0o277);
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
fn a_name_that_is_written_anew_leaves_its_other_names_alone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("precious"), "precious").unwrap();
    std::fs::set_permissions(dir.path().join("precious"), PermissionsExt::from_mode(0o400)).unwrap();
    std::fs::hard_link(dir.path().join("precious"), dir.path().join("tmp")).unwrap();
    vfs(dir.path()).open("tmp", Open::Truncate(0o640)).unwrap().unwrap().write_all(b"new").unwrap();
    assert_eq!(std::fs::read_to_string(dir.path().join("tmp")).unwrap(), "new");
    assert_eq!(std::fs::read_to_string(dir.path().join("precious")).unwrap(), "precious");
    assert_eq!(std::fs::metadata(dir.path().join("precious")).unwrap().mode() & 0o7777, 0o400);
}

#[test]
fn a_root_is_opened_through_links_and_made_only_when_asked() {
    let dir = trapped().unwrap();
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
    let dir = trapped().unwrap();
    let files = vfs(&dir.path().join("root"));
    let mut watch = files.watch(&["locks", "deep", "gone"]).unwrap();
    crate::pass_over_sleeps(watch.as_mut());
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
    let dir = trapped().unwrap();
    let files = vfs(&dir.path().join("root"));
    let mut watch = files.watch(&["locks"]).unwrap();
    crate::pass_over_sleeps(watch.as_mut());
    let mut handle = files.open("locks/file", Open::Existing).unwrap().unwrap();
    assert!(handle.try_lock(false).unwrap());
    handle.read_all(100).unwrap();
    drop(handle);
    files.list("locks").unwrap();
    assert!(!watch.wait(Duration::from_millis(50)).unwrap());
}

#[test]
fn a_watch_whose_queue_overflows_says_that_something_changed() {
    let dir = trapped().unwrap();
    let files = vfs(&dir.path().join("root"));
    let mut watch = files.watch(&["deep", ""]).unwrap();
    crate::pass_over_sleeps(watch.as_mut());
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
fn a_change_before_the_kernel_is_asked_is_looked_at() {
    let dir = trapped().unwrap();
    let files = vfs(&dir.path().join("root"));
    let mut watch = files.watch(&["deep"]).unwrap();
    // Each of the first waits is short, and says that anything may have changed; so does the one that asks the kernel.
    let mut waits = 0;
    while watch.wait(Duration::ZERO).unwrap() {
        waits += 1;
        assert!(waits < 100, "it never comes to rest");
    }
    assert!(waits > 1, "nothing was said of the time before the kernel was asked");
    assert!(!watch.wait(Duration::from_millis(30)).unwrap());
}

#[test]
fn a_second_name_is_of_the_very_file_and_replaces_nothing() {
    let dir = trapped().unwrap();
    let files = vfs(&dir.path().join("root"));
    assert!(!files.link("none", "second").unwrap());
    drop(files.open("first", Open::CreateNew(0o600)).unwrap().unwrap());
    drop(files.open("other", Open::CreateNew(0o600)).unwrap().unwrap());
    assert!(files.link("first", "second").unwrap());
    let ident = |name: &str| files.meta(name).unwrap().unwrap().ident;
    assert_eq!(ident("first"), ident("second"));
    assert_eq!(files.meta("first").unwrap().unwrap().links, 2);
    assert!(files.link("first", "other").unwrap());
    assert_ne!(ident("first"), ident("other"));
    // A name without its first one gives that again.
    assert!(files.unlink("first").unwrap() && files.link("second", "first").unwrap());
    assert_eq!(ident("first"), ident("second"));
    assert!(files.link("first", "../outside/third").is_err());
    assert!(files.link("first", "way-out/third").is_err());
}
