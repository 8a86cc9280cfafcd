//! A process that keeps what it has read sees what others change all the same.

use luzia::model::Timestamp;
use luzia::os::real::{RealClock, RealFiles, RealProcesses};
use luzia::store::Spool;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

fn store(dir: &tempfile::TempDir) -> Spool {
    std::fs::create_dir_all(dir.path()).unwrap();
    let files = RealFiles::open_at(dir.path().to_str().unwrap(), false).unwrap().unwrap();
    Spool::new(Arc::new(files), Arc::new(RealClock), Arc::new(RealProcesses))
}

/// Longer than a tick of the kernel's clock.
fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(20));
}

#[test]
fn a_hint_that_another_process_overwrites_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (store(&dir), store(&dir));
    one.prepare().unwrap();
    for moment in [5, 6, 7] {
        other.set_prune_due(Timestamp(moment)).unwrap();
        // The first look keeps nothing, the second one keeps it, and the third one needs no read.
        for _ in 0..3 {
            assert_eq!(one.prune_due().unwrap(), Some(Timestamp(moment)));
        }
        pause();
    }
    std::fs::remove_file(dir.path().join("spool/pruned")).unwrap();
    assert_eq!(one.prune_due().unwrap(), None);
}

#[test]
fn a_newer_format_is_refused_by_a_process_that_knew_the_old_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(&dir);
    store.prepare().unwrap();
    for _ in 0..3 {
        assert!(store.has_layout().unwrap());
    }
    std::fs::write(dir.path().join("new"), "{\"v\":2}\n").unwrap();
    std::fs::rename(dir.path().join("new"), dir.path().join("format")).unwrap();
    assert!(store.has_layout().is_err());
    std::fs::remove_file(dir.path().join("format")).unwrap();
    assert!(!store.has_layout().unwrap());
}

#[test]
fn a_ledger_of_the_same_length_stays_the_same_file_and_any_other_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (store(&dir), store(&dir));
    one.prepare().unwrap();
    let inode = || std::fs::metadata(dir.path().join("spool/fair")).unwrap().ino();
    let mut found = Vec::new();
    let mut inodes = Vec::new();
    for text in ["aaaa", "bbbb", "cc", "dddddd"] {
        one.update_ledger(&mut |old| {
            found.push(old.map(str::to_owned));
            Some(text.to_owned())
        })
        .unwrap();
        inodes.push(inode());
        for _ in 0..3 {
            assert_eq!(other.ledger().unwrap().as_deref(), Some(text));
        }
        pause();
    }
    assert_eq!(found, [None, Some("aaaa".to_owned()), Some("bbbb".to_owned()), Some("cc".to_owned())]);
    assert_eq!(inodes[0], inodes[1], "the same length is written over the old text");
    assert_ne!(inodes[1], inodes[2], "a shorter text must leave no end of the longer one");
    // Nothing is to be done about a ledger that is left as it is.
    other
        .update_ledger(&mut |old| {
            assert_eq!(old, Some("dddddd"));
            None
        })
        .unwrap();
    assert_eq!(other.ledger().unwrap().as_deref(), Some("dddddd"));
}
