//! `spool/control.json`: rules of lanes and holds that were set while luzia runs. One small file, so that a pass knows all of
//! them by one look. It is replaced by a rename under the lock of `spool/control.lock`; commit point is the sync of `spool`.

use crate::model::control::Control;
use crate::store::files::disk::control_record::{decode_control, encode_control};
use crate::store::{Result, Spool, layout};

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
