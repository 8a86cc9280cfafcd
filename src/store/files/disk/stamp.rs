//! The stamp in `format`: the state directory for which it was written, so that a copy of the directory is recognized as one
//! (P13).

use crate::model::RootId;
use crate::model::process::is_other_boot;
use crate::store::{Disk, FORMAT_VERSION, Result, Spool, layout};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

/// The directory and the boot for which a `format` was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    root: RootId,
    boot_id: String,
    path: String,
}

/// The stamp as this process has read it; empty when `format` has none.
pub(crate) type KnownStamp = Arc<OnceLock<Option<Stamp>>>;

impl Stamp {
    /// The stamp in the members of a `format`; `None` in one of an earlier version.
    pub(crate) fn of(members: &Value) -> Option<Self> {
        let text = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self { root: RootId::parse(&text("root")?)?, boot_id: text("boot_id")?, path: text("path")? })
    }

    /// Whether the stamp was written for another directory. The number of a device may differ from boot to boot.
    fn is_of_another(&self, own: RootId, boot_id: &str) -> bool {
        self.root.inode != own.inode || !is_other_boot(&self.boot_id, boot_id) && self.root.device != own.device
    }
}

impl Disk {
    /// The path of the directory from which this one was copied; `None` if it is an original, or the origin is unknown.
    pub fn copied_from(&self) -> Option<String> {
        let read = || {
            let bytes = self.read(layout::FORMAT).ok().flatten();
            bytes.and_then(|bytes| Stamp::of(&serde_json::from_slice(&bytes).ok()?))
        };
        let stamp = self.stamp.get_or_init(read).as_ref()?;
        let is_copy = stamp.is_of_another(self.host.root()?, &self.host.clock.boot_id());
        is_copy.then(|| stamp.path.clone())
    }
}

impl Spool {
    /// Makes a copy a state directory of its own. Returns false, and does nothing, while its original exists at its path.
    pub fn part_from_original(&self) -> Result<bool> {
        let stamp = self.stamp.get().and_then(Option::as_ref);
        let stands = |stamp: &Stamp| self.root_at(&stamp.path).is_some_and(|found| found.inode == stamp.root.inode);
        if stamp.is_some_and(stands) {
            return Ok(false);
        }
        self.write_format().map(|()| true)
    }

    /// Stamps a `format` of an earlier version or an earlier boot anew. The stamp of a copy stays.
    pub(crate) fn renew_stamp(&self) {
        let boot_id = self.host.clock.boot_id();
        let is_new = self.stamp.get().is_some_and(|stamp| stamp.as_ref().is_some_and(|stamp| stamp.boot_id == boot_id));
        if !is_new && self.host.root().is_some() && self.copied_from().is_none() {
            // After a failed write the next caller tries again; an old stamp says less, and nothing wrong.
            let _ = self.write_format();
        }
    }

    /// Writes `format` for this directory and this boot.
    pub(crate) fn write_format(&self) -> Result<()> {
        let mut members = json!({ "v": FORMAT_VERSION });
        if let Some(root) = self.host.root() {
            members["root"] = root.to_string().into();
            members["boot_id"] = self.host.clock.boot_id().into();
            members["path"] = self.state_dir().into();
        }
        let tmp = format!("{}/format.{}", layout::TMP, self.host.me.pid);
        // Without the sync a power cut can leave the name with an empty file, which no later start would accept.
        self.put_durably(&tmp, layout::FORMAT, format!("{members}\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_of_another_directory_by_inode_and_within_a_boot_by_device_too() {
        let root = |device, inode| RootId { device, inode };
        let stamp = Stamp { root: root(1, 2), boot_id: "a".into(), path: "/s".into() };
        for (own, boot_id, is_of_another) in [
            (root(1, 2), "a", false),
            (root(9, 2), "a", true),
            (root(1, 3), "a", true),
            (root(9, 2), "b", false),
            (root(9, 3), "b", true),
        ] {
            assert_eq!(stamp.is_of_another(own, boot_id), is_of_another, "{own} {boot_id}");
        }
    }

    #[test]
    fn a_format_of_before_has_no_stamp() {
        assert_eq!(Stamp::of(&json!({ "v": 1 })), None);
        let members = json!({ "v": 1, "root": "1-2", "boot_id": "a", "path": "/s" });
        let stamp = Stamp { root: RootId { device: 1, inode: 2 }, boot_id: "a".into(), path: "/s".into() };
        assert_eq!(Stamp::of(&members), Some(stamp));
    }
}
