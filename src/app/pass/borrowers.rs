//! Children that borrow: a task for whose end its parent waits starts in the lanes of the parent, before anything else of a
//! pass and without a slot of its own. Its parent lends them as long as somebody waits; else it is a task like any other.

use crate::app::capacity::gates::AGAIN_MS;
use crate::app::pass::{Hand, Pass};
use crate::app::{App, AppError};
use crate::model::{LaneName, Status, Task, TaskId};
use crate::policy::admission::{Situation, first_obstacle};
use crate::policy::line::has_turn;
use crate::policy::loans::lenders;
use crate::policy::staleness::judge;
use crate::store::{Claim, Event, Head, Judges, Lending, Place, StoreError};
use std::collections::BTreeSet;

/// How often the start of one borrower is tried in a pass, when dead tasks hold its lanes.
const MOST_TRIES: u32 = 8;

impl App {
    /// Begins the waits for those among some tasks that may borrow from their parents, and asks for a pass.
    pub(crate) fn lend_to(&self, ids: impl Iterator<Item = TaskId>) -> Result<Vec<Lending>, AppError> {
        let (mut lendings, mut parents) = (Vec::new(), BTreeSet::new());
        for id in ids {
            let Some((_, task)) = self.find(id)? else { continue };
            if let Some(parent) = task.parent.filter(|_| self.may_borrow(&task)) {
                lendings.push(self.store.lend_to(id)?);
                parents.insert(parent);
            }
        }
        if !lendings.is_empty() {
            // Its loans end before this process does.
            self.host.procs.catch_ends();
        }
        parents.into_iter().try_for_each(|parent| self.wake_supervisor(parent).map(drop))?;
        Ok(lendings)
    }

    /// Like `lend_to`, for those children of a task that wait in the queue and that a filter means; `lent` are those for whom it is done already.
    pub(crate) fn lend_to_children(
        &self,
        parent: TaskId,
        filter: &[(String, String)],
        mut lent: Vec<Lending>,
    ) -> Result<Vec<Lending>, AppError> {
        let is_wanted = |id: TaskId| filter.iter().all(|(name, value)| name != "child" || *value == id.to_string());
        let mut children = Vec::new();
        // A record that does not read is `doctor`'s to report.
        for task in self.store.pending_tasks(None)?.filter_map(Result::ok) {
            let is_new = lent.iter().all(|lending| lending.child() != task.id);
            let is_child = task.parent == Some(parent) && is_wanted(task.id);
            children.extend((is_child && is_new).then_some(task.id));
        }
        self.remind_lenders(&lent)?;
        lent.extend(self.lend_to(children.into_iter())?);
        Ok(lent)
    }

    /// Asks the supervisors of the parents of waiting children for a pass: what was asked before may have been lost.
    pub(crate) fn remind_lenders(&self, lent: &[Lending]) -> Result<(), AppError> {
        let parents: BTreeSet<TaskId> = lent
            .iter()
            .filter_map(|lending| self.find(lending.child()).ok().flatten())
            .filter(|(place, _)| *place == Place::Pending)
            .filter_map(|(_, task)| task.parent)
            .collect();
        parents.into_iter().try_for_each(|parent| self.wake_supervisor(parent).map(drop))
    }

    /// Whether this process waits for a task in the name of its parent: it runs in the parent, or the task was queued so.
    pub(crate) fn may_borrow(&self, task: &Task) -> bool {
        let is_inside = self.inside.as_ref().is_some_and(|inside| Some(inside.task) == task.parent);
        !task.no_inherit && task.status() == Status::Pending && (task.waited_for || is_inside)
    }

    /// The tasks that lend a task their lanes: its parent, when somebody waits for the task, and so on.
    pub(crate) fn lenders_of(&self, task: &Task) -> Result<Vec<Task>, AppError> {
        if task.parent.is_none() || task.no_inherit {
            return Ok(Vec::new());
        }
        let waits = |id: TaskId| Ok::<_, AppError>(self.store.is_lent_to(id)?);
        let find = |id: TaskId| Ok::<_, AppError>(self.find(id)?.map(|(_, task)| task));
        lenders(task, &waits, &find)
    }

    /// Like `lenders_of`, for a task that somebody is about to wait for.
    pub(crate) fn lenders_if_waited(&self, task: &Task) -> Result<Vec<Task>, AppError> {
        let waits = |id: TaskId| Ok::<_, AppError>(id == task.id || self.store.is_lent_to(id)?);
        let find = |id: TaskId| Ok::<_, AppError>(self.find(id)?.map(|(_, task)| task));
        lenders(task, &waits, &find)
    }

    /// Starts the children that can borrow their lanes.
    pub(super) fn start_borrowers(&self, pass: &mut Pass, hand: &mut Hand) -> Result<(), AppError> {
        for id in self.store.lent_to()? {
            // A record that does not read is set aside by the pass over its queue.
            let Ok(Some((Place::Pending, task))) = self.store.find(id) else { continue };
            if !self.may_start(&task) {
                continue;
            }
            let lenders = self.lenders_of(&task)?;
            if !lenders.is_empty() && self.comes_first(&task, &lenders)? {
                self.try_borrower(&task, &lenders, pass, hand)?;
            }
        }
        Ok(())
    }

    /// Whether no other task comes before it: in a lane that is lent to it none does.
    fn comes_first(&self, task: &Task, lenders: &[Task]) -> Result<bool, AppError> {
        let is_lent = is_lent_by(lenders);
        Ok(!task.takes_user_lane || is_lent(&LaneName::user(&task.user)) || self.position(task)? == 0)
    }

    fn try_borrower(&self, task: &Task, lenders: &[Task], pass: &mut Pass, hand: &mut Hand) -> Result<(), AppError> {
        let head = Head { queue: task.queue(), priority: task.priority, id: task.id };
        let ids: Vec<TaskId> = lenders.iter().map(|task| task.id).collect();
        // Under the lock of the task: a wait that ended since then lends nothing.
        let is_lent =
            |task: &Task| self.lenders_of(task).is_ok_and(|now| now.iter().map(|task| task.id).eq(ids.clone()));
        let admit = |task: &Task| is_lent(task) && self.admits_borrower(task, lenders);
        let request = |task: &Task| crate::store::Request { lenders: ids.clone(), ..self.request(task) };
        let judges = Judges { lock: judge, turn: has_turn };
        for _ in 0..MOST_TRIES {
            match self.store.claim(&head, &admit, &request, judges) {
                Err(StoreError::GuardBusy { lane, .. }) => {
                    self.store.note(&Event::new("guard_busy").in_lane(&lane));
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
                Ok(Claim::Claimed(claimed)) => {
                    self.note_loans(&claimed, lenders);
                    // The process that waits may have died before it could say so.
                    self.wake_supervisor(lenders[0].id)?;
                    return self.hand_over(claimed, pass, hand);
                }
                Ok(Claim::NeedsRecovery(dead)) => {
                    if pass.recovered.contains(&dead) || !self.recover_one(dead, pass)? {
                        return Ok(());
                    }
                    pass.recovered.push(dead);
                }
                Ok(Claim::Lost | Claim::Refused(_) | Claim::Held(..) | Claim::Newer(_)) => return Ok(()),
                Ok(Claim::Limited { until, .. }) => {
                    pass.comes_again(until);
                    return Ok(());
                }
                Ok(Claim::NotNow(_)) => {
                    pass.comes_again(self.host.now().plus_ms(AGAIN_MS));
                    return Ok(());
                }
                Ok(Claim::Kept) => return Ok(()),
                Ok(Claim::SetAside(error)) => {
                    pass.set_aside.push(error.to_string());
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn admits_borrower(&self, task: &Task, lenders: &[Task]) -> bool {
        let is_lent = is_lent_by(lenders);
        let Ok(mut first_in_lane) = super::Firsts::default().before(&self.store, task) else { return false };
        first_in_lane.retain(|(lane, _)| !is_lent(lane));
        let situation = Situation {
            unfinished: self.unfinished_before(task),
            first_in_lane,
            shut: self.shut(task.all_lanes().iter().filter(|lane| !is_lent(lane)), true),
            ..self.situation_alone(task)
        };
        first_obstacle(task, &situation).is_none()
    }

    fn note_loans(&self, claimed: &crate::store::Claimed, lenders: &[Task]) {
        use crate::model::lock::loan::is_loan;
        let (id, parent) = (claimed.task.id, lenders[0].id);
        let mut notes = claimed.grants.iter().filter(|grant| is_loan(grant.slot)).map(|grant| {
            let data = serde_json::json!({ "from": parent.to_string(), "lock_id": grant.lock_id.0 });
            let event = Event::of("borrowed", &claimed.task).in_lane(&grant.lane).with(data);
            if grant.lane.kind() != "thread" {
                return event;
            }
            let thread = grant.lane.key();
            event.saying(format!(
                "[MessageService] Execution {} inheriting lock from parent {} on thread {thread}",
                id.0, parent.0
            ))
        });
        self.store.note_all(&mut notes);
    }
}

/// Whether a lane is one that the lenders hold.
pub(crate) fn is_lent_by(lenders: &[Task]) -> impl Fn(&LaneName) -> bool {
    let lent: BTreeSet<LaneName> = lenders.iter().flat_map(Task::all_lanes).collect();
    move |lane| lent.contains(lane)
}
