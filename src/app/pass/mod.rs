//! One scheduling pass, the same for `dispatch`, `daemon`, `run` and a supervisor that has just finished: recover what
//! died, wake what is due, then start tasks in the order of `policy::schedule` until no slot or no runnable lane is left.
//! Any number of passes may run at once; the claim decides.

pub(crate) mod candidates;
pub(crate) mod close_conductor;
pub mod daemon;
mod ends;
pub(crate) mod heads;
pub(crate) mod prune;
pub(crate) mod reach;
pub mod supervise;
pub(crate) mod timers;
pub mod unseen;
pub(crate) mod wake;

use crate::app::error::NEWER;
use crate::app::pass::candidates::head_of;
use crate::app::pass::heads::Firsts;
use crate::app::pass::unseen::Unseen;
use crate::app::{App, AppError};
use crate::model::{LaneName, LockKind, Task, TaskId, Timestamp, Who};
use crate::os::Handle;
use crate::policy::admission::{Obstacle, Situation, first_obstacle};
use crate::policy::fair::Ledger;
use crate::policy::line::has_turn;
use crate::policy::recovery::{Action, action, needs_supervisor};
use crate::policy::schedule::{Candidate, LaneHead, Round};
use crate::policy::staleness::judge;
use crate::store::{Claim, Claimed, Event, Found, Head, Judges, LockIndex, Place, Request, StoreError, lock_state};
use crate::supervise::{recover, seen};
use serde_json::json;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// How many lanes that look locked are tried in one pass, in case their holder is dead.
const LOCKED_LANES_TRIED: usize = 64;
/// How many heads of one lane may turn out damaged in one pass.
const MOST_SET_ASIDE: usize = 1000;

/// What a pass did and saw.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pass {
    /// The tasks it started.
    pub started: Vec<TaskId>,
    /// The pids of the supervisors it started.
    pub supervisors: Vec<u32>,
    /// Tasks it recovered, or for which it started a supervisor to do so.
    pub recovered: Vec<TaskId>,
    /// Records it set aside, with what is wrong with them.
    pub set_aside: Vec<String>,
    /// Records of a newer luzia, which it left alone.
    pub left: Vec<Left>,
    /// Dead tasks that it left alone, because their processes cannot be seen from here.
    pub unseen: Vec<Unseen>,
    /// How many supervisors it found not to have come to the start of their task, or to its recovery.
    pub in_vain: u32,
    /// When the next parked task is due.
    pub next_due: Option<Timestamp>,
}

/// A record of a newer luzia. It stays as it is, and keeps nobody else from running.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Left {
    /// Its task.
    pub task: TaskId,
    /// Which file it is, and of which version.
    pub what: String,
    /// How many tasks of the queue cannot start because of it, itself included.
    pub blocked: u64,
}

impl Pass {
    /// Whether it found nothing to do.
    pub(super) fn is_quiet(&self) -> bool {
        self.started.is_empty() && self.recovered.is_empty()
    }

    /// An error in the middle, with the tasks that left the queue before it.
    fn beside(&self, mut error: AppError) -> AppError {
        let names: Vec<String> = self.started.iter().map(ToString::to_string).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            error.0.message =
                format!("{names} left the queue to start, but the pass did not go on: {}", error.0.message);
            error.0.hint = Some("what left the queue goes on; `luzia dispatch` makes the next pass".to_owned());
        }
        error
    }

    pub(super) fn leave(&mut self, task: TaskId, what: String, blocked: u64) {
        if self.left.iter().all(|left| left.task != task) {
            self.left.push(Left { task, what, blocked });
        }
    }
}

/// The fair share of one pass: the ledger as it becomes, and what it was charged.
struct Tally {
    ledger: Ledger,
    credits: [i64; 3],
    now: Timestamp,
    grants: Vec<(Candidate, u32)>,
    seen: RefCell<Seen>,
    /// How many more tasks the host takes, as far as this pass knows: whoever frees a slot makes a pass of its own.
    slots: u32,
}

/// The hand of a supervisor that has finished: it holds one task of its own pass and goes on to it, which saves a process.
/// It is empty after a pass that started other supervisors.
pub(super) struct Hand<'a> {
    /// Whether it takes a task.
    pub is_free: bool,
    /// Whether the supervisor is as good as a new one, asked when it has one.
    pub is_fit: &'a dyn Fn() -> bool,
    /// The task it took.
    pub claimed: Option<Box<Claimed>>,
}

/// What a pass has seen of lanes that tasks of several users have. Where it is the reason why one cannot start, the others
/// need not be tried: whoever changes it makes a pass, or wakes somebody who does.
#[derive(Default)]
struct Seen {
    full: BTreeSet<LaneName>,
    firsts: Firsts,
}

/// What came of trying one lane.
enum Tried {
    Started,
    Blocked,
    NoSlot,
}

impl App {
    /// Makes one pass. Inside a task nothing is started from here: the task's own supervisor is asked to make the pass.
    pub fn pass(&self) -> Result<Pass, AppError> {
        self.pass_with(&mut Hand { is_free: false, is_fit: &|| false, claimed: None })
    }

    /// The same for a supervisor that may go on to one of the tasks. What is in its hand stays there after an error.
    pub(super) fn pass_with(&self, hand: &mut Hand) -> Result<Pass, AppError> {
        if !self.store.has_layout()? {
            return Ok(Pass::default());
        }
        if let Some(inside) = &self.inside
            && self.wake_supervisor(inside.task)?
        {
            let (_, next_due) = self.store.timers(self.store.now())?;
            return Ok(Pass { next_due, ..Pass::default() });
        }
        let rules = self.follow_config();
        let has_rules = rules.is_ok();
        self.store.take_turn();
        let mut pass = Pass::default();
        let looked = self.look_and_start(rules, hand, &mut pass);
        self.store.end_turn();
        if has_rules {
            self.prune_some();
        }
        self.store.reap();
        match looked {
            Ok(()) => Ok(pass),
            Err(error) => Err(pass.beside(error)),
        }
    }

    /// Without `rules` what died is recovered, and nothing is started.
    fn look_and_start(&self, rules: Result<(), AppError>, hand: &mut Hand, pass: &mut Pass) -> Result<(), AppError> {
        self.recover_dead(pass)?;
        rules?;
        pass.next_due = self.wake_parked(pass)?;
        self.start_tasks(pass, hand)?;
        // Whoever has supervisors for children cannot tell by having none that the tree of its own task is dead.
        let must_pass_on = |_: &mut Box<Claimed>| !pass.supervisors.is_empty() || !(hand.is_fit)();
        if let Some(claimed) = hand.claimed.take_if(must_pass_on) {
            self.start_supervisor(&["supervise"], claimed.task.id, claimed.lock, pass)?;
        }
        Ok(())
    }

    /// False when the task has none: it is over, and this process has only its environment.
    pub(super) fn wake_supervisor(&self, task: TaskId) -> Result<bool, AppError> {
        if !self.store.is_supervised(task)? {
            return Ok(false);
        }
        if let Some(Some(started)) = self.store.started(task)? {
            self.store.signal(&started.supervisor, crate::os::Signal::Wake);
        }
        Ok(true)
    }

    /// Applies the recovery table to every task in flight that nobody supervises.
    fn recover_dead(&self, pass: &mut Pass) -> Result<(), AppError> {
        let ids = self.store.unsupervised()?;
        self.recovering.borrow_mut().retain(|id| ids.contains(id));
        for id in ids {
            match self.recover_one(id, pass) {
                Ok(true) => pass.recovered.push(id),
                Ok(false) => {}
                Err(error) if error.0.code == NEWER => pass.leave(id, error.0.message, 0),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Recovers one task; what must kill or wait is handed to a supervisor of its own. False when somebody acts for it.
    pub(super) fn recover_one(&self, id: TaskId, pass: &mut Pass) -> Result<bool, AppError> {
        let Some(found) = self.store.find_abandoned(id)? else { return Ok(false) };
        if let Some(why) = self.blindness(id, &found)? {
            if pass.unseen.iter().all(|unseen| unseen.task != id) {
                pass.unseen.push(Unseen { task: id, why });
            }
            return Ok(false);
        }
        self.recover_found(id, found, pass)
    }

    /// Recovers a task whose processes can be seen from here, or that somebody has vouched for.
    pub(super) fn recover_found(&self, id: TaskId, found: Found, pass: &mut Pass) -> Result<bool, AppError> {
        let what = seen(&found);
        if needs_supervisor(what) {
            self.start_supervisor(&["supervise", "--recover"], id, found.lock, pass)?;
            // Whom it was started for before has not been recovered by it.
            pass.in_vain += u32::from(!self.recovering.borrow_mut().insert(id));
            return Ok(true);
        }
        if let Some(finished) = recover(&self.store, id, found, &[])? {
            pass.in_vain += u32::from(action(what) == Action::Unclaim);
            self.wake_dependents(id, &finished.dependents)?;
        }
        Ok(true)
    }

    fn start_tasks(&self, pass: &mut Pass, hand: &mut Hand) -> Result<(), AppError> {
        let locks = self.store.lock_index()?;
        let used = u32::try_from(locks.slots(&LaneName::global().stem()).count()).unwrap_or(u32::MAX);
        let lanes = self.store.lanes_with_work()?;
        if lanes.values().all(BTreeMap::is_empty) {
            return Ok(());
        }
        let mut slots = self.config().slots_max.saturating_sub(used);
        if slots == 0 {
            if !self.has_stale_holder(&locks, &LaneName::global())? {
                return Ok(());
            }
            slots = self.config().slots_max;
        }
        let before = self.store.ledger()?;
        let ledger = before.as_deref().and_then(Ledger::from_text).unwrap_or_default();
        let mut tally = Tally {
            credits: ledger.credits,
            ledger,
            now: self.store.now(),
            grants: Vec::new(),
            seen: RefCell::default(),
            slots,
        };
        let (free, held) = self.heads(&lanes, &locks, &tally.ledger)?;
        let has_slot = self.start_round(&mut tally, free, pass, hand)?;
        if has_slot && !held.is_empty() {
            // A lane that looks locked may be held by a dead process or a lease that ran out; a few are tried each time.
            let offset = usize::try_from(self.store.boot_ms()).unwrap_or(0) % held.len();
            let mut some: Vec<LaneHead> = Vec::new();
            for head in held.iter().cycle().skip(offset).take(LOCKED_LANES_TRIED.min(held.len())) {
                if self.has_stale_holder(&locks, &LaneName::user(&head.user))? {
                    some.push(head.clone());
                }
            }
            self.start_round(&mut tally, some, pass, hand)?;
        }
        self.charge(tally, before.as_deref())
    }

    /// Whether a lane is held by somebody who is proven dead, or by a lease that ran out.
    fn has_stale_holder(&self, locks: &LockIndex, lane: &LaneName) -> Result<bool, AppError> {
        let holders = self.holders_in(locks, lane)?;
        Ok(holders.iter().any(|view| lock_state(&view.verdict) == "stale"))
    }

    /// Writes what this pass granted into the ledger. Where another pass wrote meanwhile, its changes stay and ours are
    /// added.
    fn charge(&self, tally: Tally, before: Option<&str>) -> Result<(), AppError> {
        if tally.grants.is_empty() {
            return Ok(());
        }
        self.store.update_ledger(&mut |text| {
            if text == before {
                return Some(tally.ledger.to_text());
            }
            let mut ledger = text.and_then(Ledger::from_text).unwrap_or_default();
            for (at, credit) in ledger.credits.iter_mut().enumerate() {
                *credit = credit.saturating_add(tally.ledger.credits[at].saturating_sub(tally.credits[at]));
            }
            for (candidate, weight) in &tally.grants {
                ledger.charge_grant(candidate.tier, &candidate.user, *weight, tally.now);
            }
            Some(ledger.to_text())
        })?;
        Ok(())
    }

    /// Tries lanes in the order of the schedule. False when no slot is left.
    fn start_round(
        &self,
        tally: &mut Tally,
        heads: Vec<LaneHead>,
        pass: &mut Pass,
        hand: &mut Hand,
    ) -> Result<bool, AppError> {
        let mut round = Round::new(&mut tally.ledger, self.config().tier_shares, heads, tally.now);
        while let Some(candidate) = round.next() {
            match self.try_lane(&candidate, &tally.seen, pass, hand)? {
                Tried::Blocked => {}
                Tried::NoSlot => return Ok(false),
                Tried::Started => {
                    tally.slots = tally.slots.saturating_sub(1);
                    let weight = self.config().weight(&candidate.user);
                    tally.grants.push((candidate.clone(), weight));
                    round.started(candidate.clone(), weight);
                    if !candidate.takes_user_lane || self.config().limit(&LaneName::user(&candidate.user)) > 1 {
                        round.offer(head_of(&candidate));
                    }
                    if tally.slots == 0 {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    fn try_lane(
        &self,
        candidate: &Candidate,
        seen: &RefCell<Seen>,
        pass: &mut Pass,
        hand: &mut Hand,
    ) -> Result<Tried, AppError> {
        let stem = candidate.queue.to_string();
        let mut known = candidate.sequence.map(|sequence| Head {
            queue: stem.clone(),
            priority: candidate.priority,
            id: TaskId(sequence),
        });
        for _ in 0..MOST_SET_ASIDE {
            let was_known = known.is_some();
            let head = match known.take() {
                Some(head) => head,
                None => match self.store.head_from(candidate.priority, &stem)? {
                    Some(head) => head,
                    None => return Ok(Tried::Blocked),
                },
            };
            // A look at the record costs a fraction of a claim.
            let knows_some = !seen.borrow().full.is_empty() || !seen.borrow().firsts.is_empty();
            if knows_some && self.store.peek(&head).is_some_and(|task| !self.admits(&task, seen)) {
                return Ok(Tried::Blocked);
            }
            let claim = match self.claim(&head, seen) {
                // Somebody was stopped in the guard of one lane; that must not keep the others from their turn.
                Err(StoreError::GuardBusy { lane, .. }) => {
                    self.store.note(&Event::new("guard_busy").in_lane(&lane));
                    return Ok(if lane.is_global() { Tried::NoSlot } else { Tried::Blocked });
                }
                other => other?,
            };
            match claim {
                Claim::Claimed(claimed) => {
                    seen.borrow_mut().firsts.forget(&claimed.task);
                    return self.hand_over(claimed, pass, hand).map(|()| Tried::Started);
                }
                // Another dispatcher had it; another task may be the first one now.
                Claim::Lost if was_known => {}
                Claim::Lost | Claim::Refused(_) => return Ok(Tried::Blocked),
                Claim::Held(_, view) => {
                    let no_slot = view.lane.as_ref().is_some_and(LaneName::is_global);
                    seen.borrow_mut().full.extend(view.lane.filter(|lane| !lane.is_user()));
                    return Ok(if no_slot { Tried::NoSlot } else { Tried::Blocked });
                }
                Claim::NeedsRecovery(dead) => {
                    // Once it is recovered the lane is tried again; a supervisor that must kill first makes a pass itself.
                    let by_others = pass.recovered.contains(&dead);
                    if by_others || !self.recover_one(dead, pass)? {
                        return Ok(Tried::Blocked);
                    }
                    pass.recovered.push(dead);
                }
                Claim::Newer(error) => {
                    pass.leave(head.id, error.to_string(), self.store.tier_depth(candidate.tier, &stem)?);
                    return Ok(Tried::Blocked);
                }
                Claim::SetAside(error) => pass.set_aside.push(error.to_string()),
            }
        }
        Ok(Tried::Blocked)
    }

    fn claim(&self, head: &Head, seen: &RefCell<Seen>) -> Result<Claim, StoreError> {
        let admit = |task: &Task| self.admits(task, seen);
        let judges = Judges { lock: judge, turn: has_turn };
        self.store.claim(head, &admit, &|task| self.request(task), judges)
    }

    /// Admission, for the head of a lane whose locks will be asked for next.
    fn admits(&self, task: &Task, seen: &RefCell<Seen>) -> bool {
        let Seen { full, firsts } = &mut *seen.borrow_mut();
        if task.lanes.iter().any(|lane| full.contains(lane)) {
            return false;
        }
        let Ok(first_in_lane) = firsts.before(&self.store, task) else { return false };
        let situation = Situation {
            now: self.store.now(),
            unfinished: self.unfinished_before(task),
            context: self.differences(task),
            newer: None,
            ahead: 0,
            first_in_lane,
            lanes: Vec::new(),
            has_dispatcher: true,
        };
        first_obstacle(task, &situation).is_none()
    }

    /// The tasks it comes after that are not over. One that is gone, or does not read, keeps nobody: a parked task is
    /// ended because of it, and one in the queue has been let in before.
    pub(super) fn unfinished_before(&self, task: &Task) -> Vec<TaskId> {
        let is_open = |id: &TaskId| matches!(self.store.find(*id), Ok(Some((place, _))) if place != Place::Done);
        task.after.iter().copied().filter(is_open).collect()
    }

    /// The lanes a task takes, as a request.
    fn request(&self, task: &Task) -> Request {
        Request {
            needs: task.all_lanes().iter().map(|lane| self.need(lane)).collect(),
            holder: task.id.to_string(),
            kind: LockKind::Task,
            ttl_ms: None,
            process: self.store.identity(),
            pid_watched: false,
            who: Who::of(task.agent.as_ref(), &task.command, task.label.as_deref()),
            durable: false,
        }
    }

    /// Finds a supervisor for a claimed task: whoever has a free hand, or a new one.
    fn hand_over(&self, claimed: Box<Claimed>, pass: &mut Pass, hand: &mut Hand) -> Result<(), AppError> {
        self.note_claim(&claimed);
        pass.started.push(claimed.task.id);
        if hand.is_free && hand.claimed.is_none() {
            hand.claimed = Some(claimed);
            return Ok(());
        }
        self.start_supervisor(&["supervise"], claimed.task.id, claimed.lock, pass)
    }

    /// When no process can be made, the lock goes with its descriptor, and the next pass takes the claim back.
    fn start_supervisor(
        &self,
        verb: &[&str],
        id: TaskId,
        lock: Box<dyn Handle>,
        pass: &mut Pass,
    ) -> Result<(), AppError> {
        let verb = verb.iter().map(|word| (*word).to_owned());
        let args: Vec<String> = self.same_place.iter().cloned().chain(verb).chain([id.to_string()]).collect();
        pass.supervisors.push(self.store.launch_supervisor(&args, lock)?);
        Ok(())
    }

    fn note_claim(&self, claimed: &Claimed) {
        let Claimed { task, grants, broken, .. } = claimed;
        let lanes: Vec<String> = grants.iter().map(|grant| grant.lane.to_string()).collect();
        let fences: Vec<u64> = grants.iter().map(|grant| grant.fence.0).collect();
        let data =
            json!({ "lanes": lanes, "fences": fences, "slots": grants.iter().map(|g| g.slot).collect::<Vec<_>>() });
        let of = |name| Event::of(name, task).in_lane(&LaneName::user(&task.user));
        let steps = [of("polled"), of("selected"), of("locked").with(data)];
        let breaks =
            broken.iter().map(|lock| Event { task: Some(task.id), ..crate::app::locks::cleanup::broken_event(lock) });
        self.store.note_all(breaks.chain(steps));
    }
}

impl Obstacle {
    /// Whether the obstacle goes away by itself, so that a dispatcher that drains the queue waits for it.
    pub fn passes_by_itself(&self) -> bool {
        !matches!(self, Self::NoDispatcher | Self::NewerRecord { .. } | Self::Cycle { .. })
    }
}
