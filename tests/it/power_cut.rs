//! A file system of its own on a loop device, whose power can be cut: what was not synced is gone, and the next look is
//! that of another boot. Everything lies in a mount namespace that ends with its process, so that no mount and no loop
//! device is left, whatever happens.

use super::harness::procs::{KILL, of_world};
use super::harness::{World, until};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
const MIB: u64 = 1 << 20;

/// A kind of file system.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Ext4,
    Xfs,
}

impl Kind {
    fn maker(self) -> &'static str {
        match self {
            Self::Ext4 => "mkfs.ext4",
            Self::Xfs => "mkfs.xfs",
        }
    }

    /// The smallest image that its maker takes, or nearly.
    fn bytes(self) -> u64 {
        match self {
            Self::Ext4 => 64 * MIB,
            Self::Xfs => 300 * MIB,
        }
    }
}

/// Runs this test again in a mount namespace of its own. True in that run; false in the outer one, which is over then.
pub fn is_inside(test: &str, kinds: &[Kind]) -> bool {
    if std::env::var_os(super::support::INSIDE).is_some() {
        return true;
    }
    let programs = ["unshare", "mount", "umount", "xfs_io", "strace"];
    let makers = kinds.iter().map(|kind| kind.maker());
    let missing: Vec<&str> = programs.into_iter().chain(makers).filter(|program| !is_there(program)).collect();
    let can_mount = rustix::process::geteuid().is_root()
        && Path::new("/dev/loop-control").exists()
        && Command::new("unshare").args(["--mount", "true"]).status().is_ok_and(|status| status.success());
    if !missing.is_empty() || !can_mount {
        super::support::skip(test, &format!("root, loop devices, and the programs {missing:?}"));
        return false;
    }
    super::support::is_own_process(test, &["unshare", "--mount", "--propagation", "private", "--"])
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin"), PathBuf::from("/sbin")]).any(|dir| {
        let file = dir.join(program);
        fs::metadata(file).is_ok_and(|meta| meta.is_file())
    })
}

fn must(program: &str, args: &[&str]) {
    let done = Command::new(program).args(args).output().unwrap();
    assert!(done.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A host whose state directory lies on a file system that can lose its power.
pub struct Host {
    pub world: World,
    mount: PathBuf,
    pristine: PathBuf,
    image: PathBuf,
    boots: u64,
}

impl Host {
    pub fn new(kind: Kind) -> Self {
        let mut world = World::new(&format!("power-{kind:?}").to_lowercase());
        let root = world.work.parent().unwrap().to_path_buf();
        let (mount, pristine, image) = (root.join("disk"), root.join("pristine"), root.join("image"));
        fs::create_dir(&mount).unwrap();
        File::create(&pristine).unwrap().set_len(kind.bytes()).unwrap();
        must(kind.maker(), &["-q", pristine.to_str().unwrap()]);
        fs::write(root.join("boot_id"), "").unwrap();
        must("mount", &["--bind", root.join("boot_id").to_str().unwrap(), BOOT_ID]);
        world.state = mount.join("state");
        Self { world, mount, pristine, image, boots: 0 }
    }

    /// A new file system, an empty working directory, and another boot.
    pub fn renew(&mut self) {
        self.stop_all();
        self.unmount();
        must("cp", &["--sparse=always", self.pristine.to_str().unwrap(), self.image.to_str().unwrap()]);
        fs::remove_dir_all(&self.world.work).unwrap();
        fs::create_dir(&self.world.work).unwrap();
        self.boot();
    }

    /// Stops every process, throws away what is not synced, and starts again.
    pub fn cut_power(&mut self) {
        self.stop_all();
        // Without a flush of the log: only what a sync has put there counts.
        must("xfs_io", &["-x", "-c", "shutdown", self.mount.to_str().unwrap()]);
        self.unmount();
        self.boot();
    }

    fn boot(&mut self) {
        self.boots += 1;
        let root = self.world.work.parent().unwrap();
        // Written in place, because the bind mount follows the file and not its name.
        fs::write(root.join("boot_id"), format!("{:08x}-0000-4000-8000-000000000000\n", self.boots)).unwrap();
        must("mount", &["-o", "loop", self.image.to_str().unwrap(), self.mount.to_str().unwrap()]);
    }

    fn stop_all(&self) {
        until("every process is dead", || {
            of_world(&self.world).iter().for_each(|process| process.signal(KILL));
            of_world(&self.world).is_empty().then_some(())
        });
    }

    fn unmount(&self) {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        let mount = self.mount.to_str().unwrap();
        if mounts.lines().any(|line| line.split(' ').nth(1) == Some(mount)) {
            until("nothing is open on the disk", || {
                Command::new("umount").arg(mount).output().unwrap().status.success().then_some(())
            });
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        of_world(&self.world).iter().for_each(|process| process.signal(KILL));
        // The namespace takes the mount with it when this fails.
        let _ = Command::new("umount").arg("--lazy").arg(&self.mount).output();
        let _ = Command::new("umount").arg(BOOT_ID).output();
    }
}
