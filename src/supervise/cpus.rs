//! The share of processors of one holder of a lane with a CPU budget: its job server, and its numbers in the environment. An
//! error here costs the command its job server and nothing else.

use crate::model::lock::Grant;
use crate::model::{LaneName, Limits, Task};
use crate::os::{Child, Pipe};
use crate::policy::capacity::{Server, Step, bound_to, knows_fifos, list, listed, step, variables};
use crate::store::{Event, Shares, Site, StoreError};
use std::time::Duration;

/// Pause between two looks of a holder for others that came or went, in milliseconds.
const LOOK_MS: u64 = 200;
/// Pause between two looks of a holder that must give tokens back, in milliseconds; the pipe wakes it as well.
const TAKE_MS: u64 = 50;

/// The plan by which holders share the processors of a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CpuPlan {
    /// Number of processors for all holders.
    pub budget: u32,
    /// The processors to which the lane's holders are bound, each to as many as the budget; `None` if they are not bound.
    pub allowed: Option<Vec<u32>>,
}

impl CpuPlan {
    /// The list of processors to which a command is bound. `own` is the list to which it was bound before.
    pub fn bound(&self, lane: &str, own: Option<&str>) -> Option<String> {
        let allowed = self.allowed.as_ref()?;
        let own = own.filter(|own| !own.is_empty()).and_then(listed);
        let both = allowed.iter().copied().filter(|cpu| own.as_ref().is_none_or(|own| own.contains(cpu)));
        let bound = bound_to(self.budget, &both.collect::<Vec<u32>>(), lane);
        (!bound.is_empty()).then(|| list(&bound))
    }
}

/// Settings of a launch for the processors of a lane.
pub(super) struct Cpus<'a> {
    pub share: Option<&'a CpuShare>,
    pub plan: Option<(&'a LaneName, &'a CpuPlan)>,
}

impl Cpus<'_> {
    /// Adds the job server and the numbers to an environment.
    pub(super) fn add_to(&self, env: &mut Vec<(Vec<u8>, Vec<u8>)>) {
        let Some(share) = self.share else { return };
        let had = |name: &str| {
            let found = env.iter().find(|(key, _)| key == name.as_bytes());
            found.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
        };
        let given = share.variables(&had);
        env.retain(|(key, _)| !given.iter().any(|(name, _)| name.as_bytes() == key));
        env.extend(given.into_iter().map(|(name, value)| (name.into_bytes(), value.into_bytes())));
    }

    /// The limits to set for a command, if they differ from those of this process.
    pub(super) fn limits(&self, site: &Site, task: &Task) -> Option<Limits> {
        let own = site.host.context();
        let wanted = task.limits.as_deref();
        let bound = self
            .plan
            .and_then(|(lane, plan)| plan.bound(&lane.to_string(), wanted.map(|limits| limits.affinity.as_str())));
        let bound = bound.map(|affinity| Limits { affinity, ..wanted.unwrap_or(&own.limits).clone() });
        bound.as_ref().or(wanted).filter(|limits| own.limits.differ_from(limits)).cloned()
    }
}

/// The share of one holder.
pub struct CpuShare {
    site: Site,
    grant: Grant,
    budget: u32,
    server: Option<(Box<dyn Pipe>, String)>,
    /// Number of processors that the holder has: the first processor, and the tokens that are out.
    has: u32,
    /// The share of the holder by its sidecar.
    recorded: u32,
    /// The time of the holder's next look, by the boot clock.
    due_ms: u64,
    is_taking: bool,
}

impl CpuShare {
    /// Takes the first share of a holder. Without `with_server` the command gets numbers only. That is so for a command of
    /// another account, which could not open the pipe.
    pub fn begin(site: &Site, grant: &Grant, budget: u32, with_server: bool) -> Self {
        let made = with_server.then(|| site.store.make_job_server(grant)).transpose().unwrap_or_else(|error| {
            note(site, grant, &error);
            None
        });
        let mut share = Self {
            site: site.clone(),
            grant: grant.clone(),
            budget,
            server: made,
            has: 1,
            recorded: 0,
            due_ms: 0,
            is_taking: false,
        };
        share.look();
        share
    }

    /// Variables of the share for the environment of the command. `had` gives their earlier values.
    pub fn variables(&self, had: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
        let make = || self.site.host.version_of("make", had("PATH").as_deref().map(str::as_bytes));
        let server = self
            .server
            .as_ref()
            .map(|(_, fifo)| Server { fifo, make_knows_fifos: make().is_none_or(|said| knows_fifos(&said)) });
        variables(self.has, self.budget, server, had)
    }

    /// Time that the holder may wait for something else.
    pub fn time_left(&self) -> Duration {
        Duration::from_millis(self.due_ms.saturating_sub(self.site.host.boot_ms()))
    }

    /// Notes that a token is in the pipe.
    pub fn has_token(&mut self, child: &mut dyn Child) {
        self.due_ms = 0;
        self.keep(child);
    }

    /// Does the work that is due, and lets the child watch the pipe while tokens must be taken out. A command that got only
    /// numbers cannot learn of other holders, so its share stays.
    pub fn keep(&mut self, child: &mut dyn Child) {
        if self.server.is_none() {
            self.due_ms = u64::MAX;
        }
        if self.site.host.boot_ms() < self.due_ms {
            return;
        }
        let was_taking = std::mem::replace(&mut self.is_taking, false);
        self.look();
        if self.is_taking != was_taking {
            let pipe = self.server.as_ref().filter(|_| self.is_taking).and_then(|(pipe, _)| pipe.share());
            child.heed_tokens(pipe);
        }
    }

    fn look(&mut self) {
        if let Err(error) = self.try_look() {
            note(&self.site, &self.grant, &error);
        }
        let pause = if self.is_taking || self.recorded != self.has { TAKE_MS } else { LOOK_MS };
        self.due_ms = self.site.host.boot_ms().saturating_add(pause);
    }

    fn try_look(&mut self) -> Result<(), StoreError> {
        let Some(mut shares) = self.site.store.shares(&self.grant)? else { return Ok(()) };
        // The guard may have been busy, or a lost sidecar was rewritten.
        self.recorded = shares.sharing.get(shares.own).copied().unwrap_or(0);
        if self.recorded != self.has {
            let has = self.has;
            let Some(recorded) = self.site.store.change_share(&self.grant, &|_| Some(has))? else { return Ok(()) };
            self.recorded = recorded;
            shares.sharing.get_mut(shares.own).into_iter().for_each(|own| *own = recorded);
        }
        match next(self.budget, &shares) {
            Step::Stay => {}
            Step::Put(_) => self.grow()?,
            Step::Take(most) => self.shrink(most)?,
        }
        Ok(())
    }

    /// Raises the share. The sidecar changes first: there are never more tokens than it says.
    fn grow(&mut self) -> Result<(), StoreError> {
        let budget = self.budget;
        let more = |shares: &Shares| match next(budget, shares) {
            Step::Put(more) => Some(shares.sharing.get(shares.own)?.saturating_add(more)),
            Step::Stay | Step::Take(_) => None,
        };
        let Some(recorded) = self.site.store.change_share(&self.grant, &more)? else { return Ok(()) };
        self.recorded = recorded;
        if let Some((pipe, path)) = &mut self.server {
            pipe.put(recorded.saturating_sub(self.has)).map_err(StoreError::io("write to", path))?;
        }
        self.has = recorded;
        Ok(())
    }

    /// Lowers the share. The tokens go first.
    fn shrink(&mut self, most: u32) -> Result<(), StoreError> {
        let taken = match &mut self.server {
            Some((pipe, path)) => pipe.take(most).map_err(StoreError::io("read from", path))?,
            None => most,
        };
        self.is_taking = taken < most;
        self.has = self.has.saturating_sub(taken).max(1);
        if taken > 0 {
            let has = self.has;
            self.recorded = self.site.store.change_share(&self.grant, &|_| Some(has))?.unwrap_or(self.recorded);
        }
        Ok(())
    }
}

impl Drop for CpuShare {
    fn drop(&mut self) {
        if self.server.is_some() {
            self.site.store.remove_job_server(&self.grant);
        }
    }
}

/// Next step of a holder: other holders of the lane count as one processor each.
fn next(budget: u32, shares: &Shares) -> Step {
    step(budget.saturating_sub(shares.others).max(1), &shares.sharing, shares.own)
}

fn note(site: &Site, grant: &Grant, error: &StoreError) {
    site.store.note(&Event::new("cpu_share_failed").in_lane(&grant.lane).saying(error.to_string()));
}
