//! Ends every process of a task's tree: those that a subreaper inherited, those that hold `tree.lock`, and those that carry
//! the task in their environment. Never gives up: a lane is not released while one of them lives (P1).

use super::keep::Keeper;
use crate::model::{Group, GroupSight, Identity, TaskId};
use crate::os::{Signal, TreeMark};
use crate::store::{Site, StoreError};
use std::time::Duration;

const FIRST_PAUSE_MS: u64 = 2;
const LONGEST_PAUSE_MS: u64 = 500;

/// Origin of a task's tree.
pub struct Root<'a> {
    /// The supervisor that launched the tree, if it is known.
    pub began_by: Option<&'a Identity>,
    /// The state directory by the path in the environment of the tree: a bind mount gives it several.
    pub state_dir: &'a str,
    /// The control group in which the tree began, if there is one. This process is not in it.
    pub group: Option<&'a Group>,
    /// Whether the command of a `luzia lock` belongs to it, which its caller has started.
    pub has_outsiders: bool,
}

impl<'a> Root<'a> {
    /// The tree that this process began, without a control group.
    pub(super) fn here(site: &'a Site, me: &'a Identity) -> Self {
        Self { began_by: Some(me), state_dir: site.host.state_dir(), group: None, has_outsiders: false }
    }
}

/// The mark of a task's processes. A process that has `tree.lock` open holds its kernel lock, so the descriptors of all
/// processes are looked through only while it is held.
pub(super) fn mark_of(site: &Site, id: TaskId, root: &Root) -> Result<TreeMark, StoreError> {
    let me = site.host.identity();
    let this_boot = root.began_by.filter(|supervisor| supervisor.boot_id == me.boot_id);
    Ok(TreeMark {
        state_dir: root.state_dir.to_owned(),
        task_id: id.to_string(),
        tree_lock: if site.run_dir.is_tree_locked(id)? { site.run_dir.tree_ident(id)? } else { None },
        is_own: this_boot == Some(&me),
        has_outsiders: root.has_outsiders,
        since: this_boot.map(|supervisor| supervisor.start),
    })
}

/// The living processes of a task's tree.
pub(super) fn tree_of(site: &Site, mark: &TreeMark, spared: &[u32]) -> Result<Vec<Identity>, StoreError> {
    site.host.tree(mark, spared).map_err(StoreError::io("look for the processes of", &mark.task_id))
}

/// Waits until a task's tree is dead: SIGTERM at once, SIGKILL after `grace_ms`, and again until none is left. `spared` are
/// supervisors of other tasks that this process started. `keeper` keeps the locks of the task between two looks, and its deadline
/// shortens the grace. Returns the number of processes that were alive at the first look.
pub fn end_tree(
    site: &Site,
    id: TaskId,
    root: &Root,
    grace_ms: u64,
    spared: &[u32],
    keeper: &mut Keeper,
) -> Result<usize, StoreError> {
    let start = site.host.boot_ms();
    let mut pause_ms = FIRST_PAUSE_MS;
    let mut asked = None;
    loop {
        site.host.reap();
        let mark = mark_of(site, id, root)?;
        let mut tree = tree_of(site, &mark, spared)?;
        let group = root.group.filter(|group| is_populated(site, group));
        if let Some(group) = group {
            let more = site.host.group_members(group);
            tree.extend(more.into_iter().filter(|process| !tree.contains(process)).collect::<Vec<_>>());
        }
        // When /proc hides the processes of other accounts, a subreaper still knows whether it has a child. The rest of its
        // own tree is below that child. The subreaper cannot signal such processes; the lane stays held until they end.
        let hides_some = mark.is_own && !site.host.is_proc_own() && site.host.has_child();
        if tree.is_empty() && group.is_none() && mark.tree_lock.is_none() && !hides_some {
            return Ok(asked.unwrap_or(0));
        }
        let grace_ms = shorter_grace(site, id, grace_ms)?;
        let is_over = keeper.end_signal() == Signal::Kill || site.host.boot_ms().saturating_sub(start) >= grace_ms;
        let signal = if is_over { Some(Signal::Kill) } else { None };
        for process in &tree {
            // A process that cannot be signalled (EPERM) is still alive: it is waited for.
            match signal {
                Some(signal) => drop(site.host.signal(process, signal)),
                // A stopped process takes a signal only when it goes on.
                None if asked.is_none() => {
                    site.host.signal(process, Signal::Term);
                    site.host.signal(process, Signal::Continue);
                }
                None => {}
            }
        }
        match group {
            // All at once, and any process that they start meanwhile.
            Some(group) if signal.is_some() => site.host.kill_group(group),
            Some(group) if asked.is_none() => drop(site.host.freeze_group(group, false)),
            Some(_) | None => {}
        }
        asked.get_or_insert(tree.len());
        keeper.pause(Duration::from_millis(pause_ms));
        pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS);
    }
}

/// The rest of the grace `grace_ms` when a request asks for a shorter one, as a second Ctrl-C does.
pub fn shorter_grace(site: &Site, id: TaskId, grace_ms: u64) -> Result<u64, StoreError> {
    let asked = site.store.cancel_request(id)?.and_then(|request| request.grace_ms);
    Ok(asked.map_or(grace_ms, |asked| asked.min(grace_ms)))
}

/// Whether a process is in a control group. A group that cannot be seen gives false, and the other marks decide.
fn is_populated(site: &Site, group: &Group) -> bool {
    match site.host.look_at_group(group) {
        GroupSight::Lives | GroupSight::OutOfReach => true,
        GroupSight::Empty | GroupSight::Gone | GroupSight::Unseen => false,
    }
}
