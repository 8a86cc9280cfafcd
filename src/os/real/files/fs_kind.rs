//! The file system of a directory. It judges none: the table says where flock(2) and rename(2) are local.

use crate::os::FileSystem;
use rustix::fs::fstatfs;
use std::io;
use std::os::fd::BorrowedFd;

/// Names by the magic numbers of statfs(2). /proc/self/mountinfo has them too, but every command asks for the file system,
/// and to read the name there costs four further system calls.
const LOCAL: [(u32, &str); 18] = [
    (0x0000_ef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0x0102_1994, "tmpfs"),
    (0x8584_58f6, "ramfs"),
    (0x794c_7630, "overlay"),
    (0x2fc1_2fc1, "zfs"),
    (0xf2f5_2010, "f2fs"),
    (0xca45_1a4e, "bcachefs"),
    (0x3153_464a, "jfs"),
    (0x5265_4973, "reiserfs"),
    (0x0000_3434, "nilfs"),
    (0x0000_f15f, "ecryptfs"),
    (0x2405_1905, "ubifs"),
    (0x7371_7368, "squashfs"),
    (0x0000_4d44, "vfat"),
    (0x2011_bab0, "exfat"),
    (0x7366_746e, "ntfs"),
];

/// File systems of other hosts or of programs: locks may be missing, without effect, or lost with a connection.
const REMOTE: [(u32, &str); 14] = [
    (0x0000_6969, "nfs"),
    (0x0000_517b, "smb"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x6573_5546, "fuse"),
    (0x0102_1997, "9p"),
    (0x00c3_6400, "ceph"),
    (0x5346_414f, "afs"),
    (0x6b41_4653, "kafs"),
    (0x7375_7245, "coda"),
    (0x0116_1970, "gfs2"),
    (0x7461_636f, "ocfs2"),
    (0x0bd0_0bd0, "lustre"),
    (0x786f_4256, "vboxsf"),
];

/// Asks statfs(2). A file system that is in no table counts as local, and its magic number is its name.
pub(crate) fn file_system(dir: BorrowedFd<'_>) -> io::Result<FileSystem> {
    let stat = rustix::io::retry_on_intr(|| fstatfs(dir))?;
    // The magic number is an int that some architectures widen with its sign.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let magic = stat.f_type as u32;
    let find = |table: &[(u32, &str)]| {
        let hit = table.iter().find(|(number, _)| *number == magic);
        hit.map(|(_, name)| (*name).to_owned())
    };
    let remote = find(&REMOTE);
    let is_local = remote.is_none();
    let name = remote.or_else(|| find(&LOCAL)).unwrap_or_else(|| format!("{magic:#x}"));
    let block = u64::try_from(stat.f_bsize).unwrap_or(0);
    Ok(FileSystem {
        name,
        is_local,
        free_bytes: stat.f_bavail.saturating_mul(block),
        // No count at all means that inodes are made as needed (btrfs).
        free_inodes: if stat.f_files == 0 { u64::MAX } else { stat.f_ffree },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn proc_is_not_a_remote_file_system_and_has_a_name() {
        let dir = std::fs::File::open("/proc").expect("/proc is mounted");
        let kind = file_system(dir.as_fd()).expect("statfs");
        assert_eq!((kind.name.as_str(), kind.is_local), ("0x9fa0", true));
    }

    #[test]
    fn shared_memory_is_tmpfs_with_free_space() {
        let dir = std::fs::File::open("/dev/shm").expect("/dev/shm is mounted");
        let kind = file_system(dir.as_fd()).expect("statfs");
        assert_eq!((kind.name.as_str(), kind.is_local), ("tmpfs", true));
        assert!(kind.free_bytes > 0 && kind.free_inodes > 0);
    }
}
