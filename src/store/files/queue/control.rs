//! `spool/control.json`, the settings that were made while luzia runs, and the ledger of fair share.
//!
//! `control` reads the rules of lanes, the holds and the requests to preempt. They are in one small file, so that a pass knows
//! all of them by one look. `change_control` replaces the file by a rename under the lock of `spool/control.lock`; commit point
//! is the sync of `spool`. `ledger` reads the past use of each user, as the last pass wrote it. The ledger is a hint that no
//! promise rests on.

use crate::model::LaneName;
use crate::model::control::Control;
use crate::os::Open;
use crate::store::files::disk::control_record::{decode_control, encode_control};
use crate::store::{MAX_RECORD_BYTES, Result, Spool, StoreError, layout};

impl Spool {
    /// The rules of `lanes set`, the holds of `pause` and the requests to preempt. Empty when `spool/control.json` is absent.
    pub fn control(&self) -> Result<Control> {
        match self.read_known(layout::CONTROL)? {
            None => Ok(Control::default()),
            Some(bytes) => decode_control(layout::CONTROL, &bytes).map(|(control, _)| control),
        }
    }

    /// Changes the settings durably, and returns the value of `change`. Two changes at once lose neither. Nothing is written
    /// when `change` refuses.
    pub fn change_control<T, E: From<crate::store::StoreError>>(
        &self,
        change: impl FnOnce(&mut Control) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let lock = self.locked(layout::CONTROL_LOCK, false)?;
        let (mut control, extra) = match self.read(layout::CONTROL)? {
            None => Default::default(),
            Some(bytes) => decode_control(layout::CONTROL, &bytes)?,
        };
        let before = control.clone();
        let given = change(&mut control)?;
        if control != before {
            self.put_durably(layout::CONTROL_TMP, layout::CONTROL, &encode_control(&control, extra)?)?;
        }
        drop(lock);
        self.ring();
        Ok(given)
    }
}

impl Spool {
    /// The ledger of fair share as it was last written. It may lack the last change, or be half-written, which makes it
    /// invalid.
    pub fn ledger(&self) -> Result<Option<String>> {
        Ok(self.read_known(layout::FAIR)?.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// Reads and rewrites the ledger of fair share under the guard of `global`; it is a hint and not synced. A text of the
    /// same length is written over the old one, which costs half of a new file.
    pub fn update_ledger(&self, change: &mut dyn FnMut(Option<&str>) -> Option<String>) -> Result<()> {
        let _guards = self.enter_guards(&[&LaneName::global()])?;
        let path = layout::FAIR;
        // A ledger that cannot be opened for writing, or has another name, can still be read and replaced.
        let opened = self.vfs.open(path, Open::Existing).ok().flatten();
        let mut file = opened.filter(|file| file.meta().is_ok_and(|meta| meta.links == 1));
        let old = match &mut file {
            Some(file) => Some(file.read_all(MAX_RECORD_BYTES).map_err(StoreError::io("read", path))?),
            None => self.read(path)?,
        };
        let Some(new) = change(old.as_deref().and_then(|bytes| std::str::from_utf8(bytes).ok())) else {
            return Ok(());
        };
        match file.filter(|_| old.is_some_and(|old| old.len() == new.len())) {
            Some(mut file) => file.write_at_start(new.as_bytes()).map_err(StoreError::io("write", path)),
            None => self.replace(&format!("{path}.tmp"), path, new.as_bytes()),
        }
    }
}
