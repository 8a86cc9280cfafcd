//! Waiting for a lane: in its line, where the kernel wakes one waiter for each grant; without a place there, by looks.

use crate::app::foresee::about;
use crate::app::locks::acquire::Waited;
use crate::app::locks::cleanup::{broken_event, stale_line};
use crate::app::locks::release::held_text;
use crate::app::wait_warnings::{LongWait, WAIT_WARNING};
use crate::app::{App, AppError, Kind, lane_word, shell_word};
use crate::model::time::format_duration;
use crate::model::{LaneName, SandboxId, TaskId, Timestamp};
use crate::policy::line::{LIFE_LOOK, LONGEST_TRUST, NO_LOCK_LOOK, has_turn, patience};
use crate::policy::staleness::judge;
use crate::policy::wait_warning::rule_of;
use crate::store::{Acquired, Break, Changes, Event, InLine, LaneNeed, LockView, NotNow, Owed, Request, StoreError};
use serde_json::json;
use std::time::Duration;

/// How long a waiter without a place in the line sleeps at most between two looks.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
/// How long a wait may last before the waiter says for whom it waits: most waits are over by then.
const SILENT_MS: u64 = 300;
/// How often a waiter says for whom it waits, at most.
const TELL_MS: u64 = 60_000;
/// How often a dead holder is recovered before that is given up, or, without a limit, before each further try waits.
const RECOVERIES: u32 = 10;

/// A rule of a lane that keeps somebody from a lane with room.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Bar {
    /// The rate of a lane allows no grant before a moment.
    Rate {
        /// The lane.
        lane: LaneName,
        /// When it may be granted again.
        until: Timestamp,
    },
    /// What is left of `global` is kept for other lanes.
    Kept,
    /// A gate is shut, or strangers use what the slots of a lane stand for; with the words for it.
    NotNow(NotNow, String),
}

/// Why somebody waits.
enum Seen {
    Held(Box<LockView>),
    Behind,
    Barred(Bar),
}

/// One wait.
struct Wait<'a> {
    in_line: InLine<'a>,
    begin_ms: u64,
    limit_ms: Option<u64>,
    /// What a waiter without a place watches.
    changes: Option<Changes>,
    recoveries: u32,
    /// Whether it takes a place before it looks: others are in the guard, or were there.
    joins: bool,
    /// Whether it has been in the line long enough to ask whether those before it are stopped.
    asks: bool,
    /// Takes the line that says for whom it waits.
    tell: &'a mut dyn FnMut(&str),
    told: Option<(u64, String)>,
    /// Whether it was told that it has waited for as long as its lane says.
    is_warned: bool,
}

impl App {
    /// Tries to take the lanes until they are granted or the time is over (`None`: for ever). `tell` takes a line that says
    /// for whom it waits, as soon as it waits for a while, and at most once a minute when that changes.
    pub(crate) fn acquire_waiting(
        &self,
        request: &Request,
        wait_ms: Option<u64>,
        tell: &mut dyn FnMut(&str),
        log: &mut Vec<String>,
    ) -> Result<Waited, AppError> {
        let sandbox = || -> Option<SandboxId> { Some(self.own_context().0.id().clone()) };
        let in_line = if wait_ms == Some(0) { InLine::once(has_turn) } else { InLine::waiting(has_turn, &sandbox) };
        let begin_ms = self.host.boot_ms();
        let mut wait = Wait {
            in_line,
            begin_ms,
            limit_ms: wait_ms,
            changes: None,
            recoveries: 0,
            joins: false,
            asks: false,
            tell,
            told: None,
            is_warned: false,
        };
        let waited = self.wait_for_turn(request, &mut wait, log);
        self.store.leave_line(&mut wait.in_line);
        waited
    }

    fn wait_for_turn(&self, request: &Request, wait: &mut Wait, log: &mut Vec<String>) -> Result<Waited, AppError> {
        let (mut request, mut is_first) = (request.clone(), true);
        loop {
            if self.stands_behind(&request, wait) {
                continue;
            }
            // The command has looked when it began.
            if !std::mem::take(&mut is_first) {
                self.follow_limits(&mut request)?;
            }
            let before = wait.in_line.position();
            let answer = match self.store.acquire_in_line(&request, judge, &mut wait.in_line) {
                // A wait without a limit never ends because others hold the guard; a limited one ends with its limit.
                Err(StoreError::GuardBusy { .. }) if !self.left(wait).is_zero() => {
                    wait.joins = true;
                    continue;
                }
                other => other?,
            };
            let seen = match answer {
                Acquired::Granted { grants, broken, files } => {
                    self.warn_of_lock(&request, None, true, wait);
                    self.note_granted(&request, before, &broken, log);
                    let grant = grants.into_iter().next().ok_or_else(|| no_lane(&request))?;
                    return Ok(Waited::Granted(grant, files));
                }
                Acquired::Refreshed(grant) => return Ok(Waited::Refreshed(grant)),
                Acquired::Held(view) => Seen::Held(view),
                Acquired::Behind => Seen::Behind,
                Acquired::Limited { lane, until } => Seen::Barred(Bar::Rate { lane, until }),
                Acquired::Kept => Seen::Barred(Bar::Kept),
                Acquired::NotNow(why) => {
                    let text = self.not_now_text(&why);
                    Seen::Barred(Bar::NotNow(why, text))
                }
                Acquired::NeedsRecovery(task) => {
                    self.recover_for(task, wait)?;
                    continue;
                }
            };
            // The session of the caller would wait for itself.
            let is_own = matches!(&seen, Seen::Held(view) if self.is_own_session(view));
            if self.left(wait).is_zero() || is_own {
                return Ok(match seen {
                    Seen::Held(view) => Waited::Held(view),
                    Seen::Behind => Waited::Behind,
                    Seen::Barred(bar) => Waited::Barred(bar),
                });
            }
            self.rest(&request, &seen, wait);
        }
    }

    /// Takes up limits that `lanes set` has changed since.
    fn follow_limits(&self, request: &mut Request) -> Result<(), AppError> {
        let before = self.control();
        self.follow_control()?;
        let has_gate = |need: &LaneNeed| self.config().hold_while(&need.lane).is_some();
        if before != self.control() || request.needs.iter().any(has_gate) {
            let lanes: Vec<LaneName> = request.needs.iter().map(|need| need.lane.clone()).collect();
            request.needs = self.needs(&lanes);
        }
        Ok(())
    }

    /// Makes a pass when this process has given a lane back to a task that gave way to it: nobody else may come for it. An
    /// error there is no error of the verb.
    pub(crate) fn pass_if_owed(&self, lane: &LaneName) {
        let Some(owed) = self.store.owes_pass() else { return };
        let mut paid = self.pass().map(drop);
        if owed == Owed::Perhaps {
            paid = paid.and(self.store.end_tasks_turn(lane).map_err(AppError::from));
        }
        if let Err(error) = paid {
            self.store.note(&Event::new("pass_failed").saying(error.to_string()));
        }
    }

    /// How much of the time of a wait is left.
    fn left(&self, wait: &Wait) -> Duration {
        let passed = self.waited_ms(wait);
        wait.limit_ms.map_or(Duration::MAX, |limit| Duration::from_millis(limit.saturating_sub(passed)))
    }

    /// Takes or keeps a place in the line, and waits there when others stand before it. False when it is to look whether it
    /// can have the lane: it is the first, has no place, or has waited long enough for those before it.
    fn stands_behind(&self, request: &Request, wait: &mut Wait) -> bool {
        let Some(need) = request.needs.first() else { return false };
        let asks = std::mem::take(&mut wait.asks) || self.left(wait).is_zero();
        // Of the first, the guard shows whether somebody came in between.
        let may_be_behind = wait.in_line.position().map_or(wait.joins, |ahead| ahead > 0);
        if asks || !may_be_behind {
            return false;
        }
        self.store.join_line(&need.lane, &mut wait.in_line);
        let is_behind = wait.in_line.position().is_some_and(|ahead| ahead > 0);
        if is_behind {
            self.rest(request, &Seen::Behind, wait);
        }
        is_behind
    }

    fn recover_for(&self, task: TaskId, wait: &mut Wait) -> Result<(), AppError> {
        wait.recoveries += 1;
        if wait.recoveries <= RECOVERIES {
            return self.recover_now(task);
        }
        if self.left(wait).is_zero() || wait.limit_ms == Some(0) {
            return Err(AppError::new(
                Kind::Busy,
                "RECOVERY_PENDING",
                format!("{task} is dead, but its processes do not end"),
            )
            .hint("a lane is not given again while a process of its former holder lives")
            .next(format!("luzia explain {task}")));
        }
        self.host.sleep(self.left(wait).min(LIFE_LOOK));
        self.recover_now(task)
    }

    /// Waits until a further try may come to something, or the time is over.
    fn rest(&self, request: &Request, seen: &Seen, wait: &mut Wait) {
        let left = self.left(wait);
        let is_held = matches!(seen, Seen::Held(_));
        let again = match seen {
            Seen::Barred(Bar::Rate { until, .. }) => u64::try_from(until.ms_since(self.host.now())).unwrap_or(0).max(1),
            _ => u64::MAX,
        };
        let longest = match wait.in_line.position() {
            // Nobody calls when a host is idle or a stranger gives a port back.
            _ if matches!(seen, Seen::Barred(Bar::NotNow(..))) => NO_LOCK_LOOK,
            // Of several holders only one is looked at.
            Some(0) if is_held && wait.in_line.sees_life() && request.needs.iter().all(|n| n.limit == 1) => {
                LONGEST_TRUST
            }
            Some(0) => NO_LOCK_LOOK,
            Some(ahead) => patience(ahead),
            None => LONGEST_PAUSE,
        };
        let longest = longest.min(Duration::from_millis(again));
        let longest = longest.min(self.warn_of_lock(request, Some(seen), false, wait));
        let silent = Duration::from_millis(SILENT_MS.saturating_sub(self.waited_ms(wait)));
        let says_first = wait.told.is_none() && silent < longest.min(left);
        if says_first && self.store.wait_in_line(&mut wait.in_line, silent, LIFE_LOOK) == Some(true) {
            return;
        }
        self.tell_wait(request, seen, wait);
        let left = self.left(wait);
        if let Some(is_woken) = self.store.wait_in_line(&mut wait.in_line, longest.min(left), LIFE_LOOK) {
            wait.asks = !is_woken;
            return;
        }
        // A watch that starts now may have missed a release: the caller looks once more before it is waited on.
        match &mut wait.changes {
            Some(changes) => changes.wait(longest.min(left)),
            None => wait.changes = Some(self.store.watch_locks()),
        }
    }

    /// Tells once that this wait has lasted for as long as a lane says, while it lasts where a rule was written, else when it
    /// `is_over`. Gives the time until then.
    fn warn_of_lock(&self, request: &Request, seen: Option<&Seen>, is_over: bool, wait: &mut Wait) -> Duration {
        let lanes: Vec<LaneName> = request.needs.iter().map(|need| need.lane.clone()).collect();
        let Some(rule) = rule_of(&self.config(), &lanes).filter(|rule| rule.is_explicit || is_over) else {
            return Duration::MAX;
        };
        let waited_ms = self.waited_ms(wait);
        if wait.is_warned || wait.limit_ms == Some(0) {
            return Duration::MAX;
        }
        if waited_ms < rule.after_ms {
            return Duration::from_millis(rule.after_ms - waited_ms);
        }
        wait.is_warned = true;
        let held_by = match seen {
            Some(Seen::Held(view)) => view.holder(),
            _ => None,
        };
        let position = wait.in_line.position().map_or(1, |ahead| ahead + 1);
        let event = LongWait { rule: &rule, waited_ms, position, held_by }.event(Event::new(WAIT_WARNING));
        self.store.note(&event.saying(format!("{} waits", request.holder)));
        // What was granted is used at once; its hooks are run when the command has ended.
        if !is_over {
            self.run_hooks(&mut |text| (wait.tell)(text));
        }
        Duration::MAX
    }

    fn waited_ms(&self, wait: &Wait) -> u64 {
        self.host.boot_ms().saturating_sub(wait.begin_ms)
    }

    /// Says for whom it waits, when it has waited for a while, and again when that has changed.
    fn tell_wait(&self, request: &Request, seen: &Seen, wait: &mut Wait) {
        let waited = self.waited_ms(wait);
        let is_soon = wait.told.as_ref().is_some_and(|(at, _)| waited.saturating_sub(*at) < TELL_MS);
        let Some(need) = request.needs.first().filter(|_| waited >= SILENT_MS && !is_soon) else { return };
        let behind =
            if matches!(seen, Seen::Behind) { self.holders(&need.lane).unwrap_or_default() } else { Vec::new() };
        let holder = match seen {
            Seen::Held(view) => Some(&**view),
            Seen::Behind | Seen::Barred(_) => behind.first(),
        };
        let who = holder.and_then(LockView::lock_id).unwrap_or_default();
        let ahead = wait.in_line.position();
        let state = format!("{who} {ahead:?}");
        if wait.told.as_ref().is_some_and(|(_, told)| *told == state) {
            return;
        }
        let what = match (holder, seen) {
            (_, Seen::Barred(bar)) => barred_text(bar, self.host.now()),
            (Some(view), _) => held_text(&need.lane, view, self.host.now()),
            (None, _) => format!("lane \"{}\" is free, but others wait in its line", need.lane),
        };
        let place = ahead.map_or_else(String::new, |ahead| format!("; position {}", ahead + 1));
        let is_one = request.needs.len() == 1 && wait.told.is_none();
        let expected = is_one.then(|| self.expected_lock(&need.lane, ahead.unwrap_or(0) as u64)).flatten();
        let about = expected.map_or_else(String::new, |expected| format!("; {}", about(expected.p50_ms)));
        (wait.tell)(&format!("luzia: waits: {what}{place}{about}"));
        if wait.told.is_none() {
            let data =
                json!({ "holder": request.holder, "waited_ms": waited, "held_by": holder.and_then(LockView::holder) });
            self.store.note(&Event::new("lock_waiting").in_lane(&need.lane).saying(what).with(data));
            self.run_hooks(&mut |text| (wait.tell)(text));
        }
        wait.told = Some((waited, state));
    }

    fn note_granted(&self, request: &Request, before: Option<usize>, broken: &[Break], log: &mut Vec<String>) {
        self.remember_places();
        for stale in broken {
            self.store.note(&broken_event(stale));
            log.extend(stale_line(stale));
        }
        if let (Some(ahead @ 1..), Some(need)) = (before, request.needs.first()) {
            let text =
                format!("{} took the lane before {ahead} in its line that did not take their turn", request.holder);
            self.store.note(&Event::new("line_passed").in_lane(&need.lane).saying(text));
        }
    }
}

/// What keeps somebody from a lane with room, in words for people.
pub(crate) fn barred_text(bar: &Bar, now: Timestamp) -> String {
    match bar {
        Bar::Rate { lane, until } => {
            let left = format_duration(u64::try_from(until.ms_since(now)).unwrap_or(0));
            format!("lane \"{lane}\" is free, but its rate is used up for {left} (until {until})")
        }
        Bar::NotNow(_, text) => text.clone(),
        Bar::Kept => "the slots of \"global\" that are left are kept for other lanes".to_owned(),
    }
}

/// The error of a lane with room that a rule keeps.
pub(crate) fn barred_error(bar: &Bar, now: Timestamp) -> AppError {
    let (code, lane) = match bar {
        Bar::Rate { lane, .. } => ("RATE_LIMITED", lane.clone()),
        Bar::Kept => ("RESERVED", LaneName::global()),
        Bar::NotNow(why @ NotNow::Shut(_), _) => ("HOST_BUSY", why.lane().clone()),
        Bar::NotNow(why @ NotNow::Narrow(_), _) => ("TOO_FEW_SLOTS", why.lane().clone()),
        Bar::NotNow(why @ NotNow::Occupied(..), _) => ("SLOT_OCCUPIED", why.lane().clone()),
    };
    AppError::new(Kind::Busy, code, barred_text(bar, now))
        .hint("wait for it, or look at its rule with luzia lanes show")
        .next(format!("luzia lanes show {}", shell_word(lane.to_string())))
}

fn no_lane(request: &Request) -> AppError {
    AppError::new(Kind::Bug, "BUG", format!("a request of {} named no lane", request.holder))
}

/// A lane that nobody holds, and that others are about to take.
pub(crate) fn behind_error(lane: &LaneName) -> AppError {
    AppError::new(Kind::Busy, "LOCK_HELD", format!("lane \"{lane}\" is free, but others wait in its line and go first"))
        .hint("wait in the line with -w, or try again")
        .next(format!("luzia explain {}", lane_word(lane)))
}
