//! The order of the next pass, for the reasons of tasks: the tasks that would be tried, and the tasks whose starts they would
//! prevent. It is the order of `app::pass` without the claims.

use super::explain::{Reasons, Wait};
use crate::app::AppError;
use crate::app::admission::turns::current_weights;
use crate::app::config_reload::config;
use crate::app::pass::booking::Bookings;
use crate::app::pass::candidates;
use crate::model::{Task, TaskId};
use crate::policy::admission::Booked;
use crate::policy::beyond::{MOST_TRIED, may_pass};
use crate::policy::fair::Ledger;
use crate::policy::schedule::{Candidate, Round};
use crate::store::Head;
use std::collections::BTreeMap;

/// The findings of the next pass.
#[derive(Default)]
pub(super) struct Order {
    /// For each task of a capacity lane that would be tried: the task whose start it would prevent.
    tried: BTreeMap<TaskId, Option<Booked>>,
    /// The bookings at the end.
    bookings: Bookings,
}

impl Reasons<'_> {
    /// The task whose start would be prevented by the start of a task.
    pub(super) fn booked_before(&mut self, task: &Task) -> Result<Option<Booked>, AppError> {
        if !task.lanes.iter().any(|lane| lane.is_capacity_lane()) {
            return Ok(None);
        }
        if self.order.is_none() {
            self.order = Some(self.look_at_order()?);
        }
        Ok(self.order.as_ref().and_then(|order| order.tried.get(&task.id).cloned().flatten()))
    }

    /// Like `booked_before`, for a task that is not queued and would be tried last.
    pub(super) fn booked_before_new(&mut self, task: &Task) -> Result<Option<Booked>, AppError> {
        let found = self.booked_before(task)?;
        let (app, order) = (self.app, self.order.as_ref());
        Ok(found.or_else(|| order.and_then(|order| order.bookings.against(app, task))))
    }

    fn look_at_order(&mut self) -> Result<Order, AppError> {
        let (app, mut order) = (self.app, Order::default());
        if !app.store.has_layout()? {
            return Ok(order);
        }
        let mut ledger = app.store.ledger()?.as_deref().and_then(Ledger::from_text).unwrap_or_default();
        let (free, _) = candidates::heads(app, &app.store.lanes_with_work()?, &self.locks, &ledger)?;
        let mut round = Round::new(&mut ledger, config(app).tier_shares, free, app.host.now());
        while let Some(candidate) = round.next() {
            if let Some(task) = self.would_start(&candidate, &mut order)? {
                round.started(candidate, current_weights(app, &task));
            }
        }
        Ok(order)
    }

    /// The task of a queue that a pass would start, as `try_lane` finds it.
    fn would_start(&mut self, candidate: &Candidate, order: &mut Order) -> Result<Option<Task>, AppError> {
        let Some(first) = self.app.store.head_from(candidate.priority, &candidate.queue)? else { return Ok(None) };
        let (task, is_full) = self.tried(&first, order)?;
        if !is_full || !candidate.takes_user_lane {
            return Ok(task);
        }
        let heads = self.app.store.first_in_tier(first.priority, &first.queue, MOST_TRIED + 1)?;
        let mut passed = vec![first.id];
        for head in heads.iter().filter(|head| (head.priority, head.id) > (first.priority, first.id)) {
            if !may_pass(&passed, head.id) {
                break;
            }
            let (task, is_full) = self.tried(head, order)?;
            if !is_full {
                return Ok(task);
            }
            passed.push(head.id);
        }
        Ok(None)
    }

    /// The task if it would start, and whether a capacity lane keeps it.
    fn tried(&mut self, head: &Head, order: &mut Order) -> Result<(Option<Task>, bool), AppError> {
        let Some(task) = self.app.store.peek(head) else { return Ok((None, false)) };
        if task.lanes.is_empty() {
            return Ok((Some(task), false));
        }
        let wait = self.own_wait_of(head)?;
        let booked = order.bookings.against(self.app, &task);
        let is_booked = booked.is_some();
        order.tried.insert(head.id, booked);
        match wait {
            Wait::Own => Ok((None, false)),
            Wait::Shared if !is_booked => Ok((Some(task), false)),
            Wait::Shared | Wait::Capacity => {
                order.bookings.book(self.app, &task)?;
                Ok((None, true))
            }
        }
    }
}
