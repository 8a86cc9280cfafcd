//! `spool/hooks.json`: the hooks that people added. It is replaced by a rename under the lock of `spool/hooks.lock`; commit
//! point is the sync of `spool`. The module also has the events that this process has written, for which hooks are still to
//! be run.

use super::{Event, ReadEvent, decode, encode};
use crate::model::Timestamp;
use crate::model::control::Hook;
use crate::model::record::{Extra, Version};
use crate::os::Open;
use crate::store::files::disk::task_record::{encode_pretty, newer_or_corrupt};
use crate::store::{Hold, Result, Spool, StoreError, json_object, layout};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of hooks that run at once in a state directory.
const MOST_AT_ONCE: usize = 8;
/// Number of events that a process remembers to run hooks for them. A batch may make a hundred thousand.
const MOST_REMEMBERED: usize = 1000;

/// Events that this process wrote, and for which no hooks were run yet.
pub(crate) type Told = Arc<Mutex<Vec<(Event, Timestamp)>>>;

#[derive(Serialize, Deserialize)]
struct HooksFile<'a> {
    v: Version,
    hooks: Cow<'a, [Hook]>,
    #[serde(flatten)]
    extra: Extra,
}

/// The hooks as they are written. `extra` are members that this version does not know.
pub(crate) fn encode_hooks(hooks: &[Hook], extra: Extra) -> Result<Vec<u8>> {
    encode_pretty(layout::HOOKS, &HooksFile { v: Version, hooks: hooks.into(), extra })
}

/// Reads `spool/hooks.json`, with the members that this version does not know.
pub(crate) fn decode_hooks(path: &str, bytes: &[u8]) -> Result<(Vec<Hook>, Extra)> {
    let read = json_object::read::<HooksFile>(bytes);
    read.map(|file| (file.hooks.into_owned(), file.extra)).map_err(|error| newer_or_corrupt(path, bytes, &error))
}

impl Spool {
    /// The hooks, in the order in which they were added.
    pub fn hooks(&self) -> Result<Vec<Hook>> {
        // Without any hooks, this look is their only cost.
        if self.meta(layout::HOOKS)?.is_none() {
            return Ok(Vec::new());
        }
        match self.read_known(layout::HOOKS)? {
            None => Ok(Vec::new()),
            Some(bytes) => decode_hooks(layout::HOOKS, &bytes).map(|(hooks, _)| hooks),
        }
    }

    /// Changes the hooks durably, and returns the value of `change`. Two changes at once lose neither. Nothing is written
    /// when `change` refuses.
    pub fn change_hooks<T, E: From<StoreError>>(
        &self,
        change: impl FnOnce(&mut Vec<Hook>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let lock = self.locked(layout::HOOKS_LOCK, false)?;
        let (mut hooks, extra) = match self.read(layout::HOOKS)? {
            None => Default::default(),
            Some(bytes) => decode_hooks(layout::HOOKS, &bytes)?,
        };
        let before = hooks.clone();
        let given = change(&mut hooks)?;
        if hooks != before {
            self.put(layout::HOOKS_TMP, layout::HOOKS, &encode_hooks(&hooks, extra)?)?;
            // The change counts from here on; only a power cut can undo it.
            self.sync_dir(layout::SPOOL).map_err(StoreError::unsure)?;
        }
        drop(lock);
        Ok(given)
    }

    /// A place among the hooks that run at once in this state directory; `None` if all are taken.
    pub fn hook_place(&self) -> Result<Option<Hold>> {
        for number in 0..MOST_AT_ONCE {
            if let Some(place) = self.try_locked(&layout::hook_place(number))? {
                return Ok(Some(Hold::of(place)));
            }
        }
        Ok(None)
    }

    /// Starts a process of luzia that gets events, and outlives this one. Returns its pid.
    pub fn launch_with_events(&self, args: &[String], events: &[ReadEvent]) -> Result<u32> {
        let path = format!("{}/hooks.{}.{}", layout::TMP, self.host.me.pid, self.host.clock.boot_ms());
        let lines: String = events.iter().map(|event| format!("{}\n", event.line)).collect();
        self.write_whole(&path, Open::CreateNew(0o600), lines.as_bytes())?;
        let given = self.open(&path, Open::ReadOnly);
        self.unlink(&path)?;
        let given = given?.ok_or_else(|| StoreError::io("open", &path)(crate::os::absent()))?;
        self.host.procs.launch_supervisor(args, given).map_err(StoreError::io("start a process of", self.state_dir()))
    }

    /// The events that this process was given at its start.
    pub fn given_events(&self) -> Result<Vec<ReadEvent>> {
        const WHAT: &str = "standard input";
        let mut given = self.host.procs.inherited_lock().map_err(StoreError::io("open", WHAT))?;
        let size = given.meta().map_err(StoreError::io("look at", WHAT))?.size;
        let most = usize::try_from(size).unwrap_or(usize::MAX);
        let bytes = given.read_part(0, most).map_err(StoreError::io("read", WHAT))?;
        Ok(bytes.split(|byte| *byte == b'\n').filter_map(decode).collect())
    }

    /// Remembers an event until hooks were run for it.
    pub(super) fn remember(&self, event: Event, at: Timestamp) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() < MOST_REMEMBERED {
            told.push((event, at));
        }
    }

    /// The events that this process has written since the last call, as far as they are `wanted`.
    pub fn take_told(&self, wanted: &dyn Fn(&Event) -> bool) -> Vec<ReadEvent> {
        let mut told = std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner));
        told.retain(|(event, _)| wanted(event));
        let read = |(event, at): &(Event, Timestamp)| {
            let line = encode(event, &at.to_string(), self.host.clock.boot_ms(), self.host.me.pid);
            decode(line.trim_end().as_bytes())
        };
        told.iter().filter_map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::control::Action;

    #[test]
    fn hooks_read_back_and_keep_foreign_members() {
        let hook = |name: &str, action| Hook {
            name: name.into(),
            event: "alert".into(),
            action,
            user: Some("a".into()),
            lane: None,
            timeout_ms: 5,
            cwd: "/".into(),
            added_at: Timestamp(1000),
            by: None,
        };
        let hooks = [hook("x", Action::Command(vec!["true".into()])), hook("y", Action::Url("https://h".into()))];
        let text = String::from_utf8(encode_hooks(&hooks, Extra::default()).expect("text")).expect("UTF-8");
        let text = text.replacen('{', "{\"later\":[1],", 1);
        let (read, extra) = decode_hooks("h", text.as_bytes()).expect("it reads");
        assert_eq!((read.as_slice(), extra.is_empty()), (hooks.as_slice(), false));
        for wrong in ["", "{}", "{\"v\":0,\"hooks\":[]}", "{\"v\":1,\"hooks\":[{}]}"] {
            assert!(matches!(decode_hooks("h", wrong.as_bytes()), Err(StoreError::Corrupt { .. })), "{wrong}");
        }
        let neither = text.replace("\"command\"", "\"comand\"");
        assert!(matches!(decode_hooks("h", neither.as_bytes()), Err(StoreError::Corrupt { .. })));
        assert!(matches!(decode_hooks("h", b"{\"v\":2}"), Err(StoreError::Newer { version: 2, .. })));
    }
}
