//! Loans in the sidecars of a lane. The lock of a borrower is a lock like any other, in the slot above its lender's
//! (`model::lock::loan`). The lender's sidecar names its borrowers, and the borrower's names its lender, for people and other
//! programs: luzia judges nothing by these names. When a loan ends, the lender gets a new fence, greater than the borrower's
//! (P5).

use crate::model::lock::LockRecord;
use crate::model::lock::loan::STEP;
use crate::model::{Grant, LaneName, Sidecar};
use crate::store::{Guards, Result, Spool, layout};
use serde_json::{Map, Value, json};

const BORROWERS: &str = "borrowers";
const LENDER: &str = "lender";

/// The loans that sidecars name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Loans {
    /// The grant from which this one was borrowed.
    pub lender: Option<String>,
    /// The grants that were borrowed from this one.
    pub borrowers: Vec<String>,
}

impl Loans {
    /// The loans that a sidecar names.
    pub fn of(record: &LockRecord) -> Self {
        let members = members(record);
        let lock_id = |value: &Value| value.get("lock_id").and_then(Value::as_str).map(str::to_owned);
        let borrowers = members.get(BORROWERS).and_then(Value::as_array);
        Self {
            lender: members.get(LENDER).and_then(lock_id),
            borrowers: borrowers.into_iter().flatten().filter_map(lock_id).collect(),
        }
    }
}

fn members(record: &LockRecord) -> Map<String, Value> {
    record.extra.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

fn change(record: &mut LockRecord, change: impl FnOnce(&mut Map<String, Value>)) {
    let mut members = members(record);
    change(&mut members);
    record.extra = (!members.is_empty()).then(|| Value::Object(members).to_string());
}

impl Spool {
    /// Names the lender in the record of a borrower.
    pub(crate) fn borrow_from(&self, lane: &LaneName, lender: u32, record: &mut LockRecord) {
        let Ok(Sidecar::Whole(from)) = self.read_sidecar(&layout::sidecar(&lane.stem(), lender)) else { return };
        change(record, |members| {
            members.insert(LENDER.into(), json!({ "task": from.task_id, "lock_id": from.lock_id }));
        });
        record.value = from.value;
    }

    /// Names a borrower in the sidecar of its lender. The loan is already made: an error takes nothing from it.
    pub(crate) fn note_borrower(&self, grant: &Grant, holder: &str, lender: u32) {
        let path = layout::sidecar(&grant.lane.stem(), lender);
        let Ok(Sidecar::Whole(mut record)) = self.read_sidecar(&path) else { return };
        let entry = json!({
            "task": holder,
            "lock_id": grant.lock_id.0,
            "fence": grant.fence.0,
            "owner": record.task_id,
        });
        change(&mut record, |members| {
            let list = members.entry(BORROWERS).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                list.push(entry);
            }
        });
        let _ = self.write_sidecar(&grant.lane, lender, &record, false);
    }

    /// Gives a lane back to its lender, before the lock of the borrower goes. The lender is the next lower holder of the family,
    /// if there is one; it gets a new fence. Returns whether there is one. If the fence cannot be written the lender keeps its
    /// own, which `guard` then refuses. The caller is in the guard of the lane.
    pub(crate) fn return_loan(&self, guards: &mut Guards<'_>, lane: &LaneName, slot: u32) -> bool {
        let stem = lane.stem();
        let mut lower = slot;
        let lender = loop {
            let Some(next) = lower.checked_sub(STEP) else { return false };
            lower = next;
            if matches!(self.lock_meta(&layout::lock_file(&stem, lower)), Ok(Some(_))) {
                break lower;
            }
        };
        let Ok(Sidecar::Whole(mut record)) = self.read_sidecar(&layout::sidecar(&stem, lender)) else { return true };
        let own = self.read_sidecar(&layout::sidecar(&stem, slot)).ok();
        let own = own.as_ref().and_then(Sidecar::record).and_then(|own| Some((own.lock_id.clone()?, own.fence?)));
        if let Ok(fence) = guards.next_fence(lane, own.as_ref().map_or(0, |(_, fence)| fence.0)) {
            record.fence = Some(fence);
        }
        change(&mut record, |members| {
            let is_own = |value: &Value| {
                let id = value.get("lock_id").and_then(Value::as_str);
                own.as_ref().is_some_and(|(own, _)| id == Some(own))
            };
            if let Some(Value::Array(list)) = members.get_mut(BORROWERS) {
                list.retain(|value| !is_own(value));
                if list.is_empty() {
                    members.remove(BORROWERS);
                }
            }
        });
        let _ = self.write_sidecar(lane, lender, &record, false);
        true
    }

    /// The present grant of a holder, from its sidecar: a loan that ended has given it a new fence.
    pub fn current_grant(&self, lane: &LaneName, lock_id: &str) -> Result<Option<Grant>> {
        let stem = lane.stem();
        for slot in self.occupied_slots(&stem)? {
            let sidecar = self.read_sidecar(&layout::sidecar(&stem, slot))?;
            let is_meant = |record: &&LockRecord| record.lock_id.as_deref() == Some(lock_id) && record.fence.is_some();
            if let Some(record) = sidecar.record().filter(is_meant) {
                return Ok(Some(record.grant(lane, slot)));
            }
        }
        Ok(None)
    }
}
