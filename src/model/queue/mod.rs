//! Queues: the folders of pending tasks. Tasks of one queue start in their order; a queue that cannot start now costs the
//! others nothing.
//!
//! The name of a queue is `<stem of the user's lane>[~n<lanes>][~s<share>][~g<task>][~c<sandbox>]`. `~n` marks tasks that take
//! named lanes only, without the lane of their user, and distinguishes one set of lanes from another. `~s` names the agent
//! session, or else the project. The user's share is divided between these, so a pass finds the first task of each session by
//! folder names. `~g` marks the tasks of one group and names the first of them: all of them take their turn at its place. `~c`
//! marks tasks that only a process of a compatible sandbox may start (contract P9). Records of luzia 0.1.0 are in queues
//! without any of these.

use super::context::SandboxId;
use super::lane::LaneName;
use super::name::{Name, hex, is_hex};
use super::task::{Priority, Task, TaskId, Tier};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Number of words of a command that identify the work.
const WORDS: usize = 2;

/// Bytes for the name of most queues.
const USUAL_BYTES: usize = 96;

/// The parts of the name of a queue.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct QueueName<'a> {
    /// The stem of the user's lane.
    pub user_stem: &'a str,
    /// The digest of the named lanes, for tasks that do not take their user's lane.
    pub lanes: Option<&'a str>,
    /// The digest of the agent session or the project.
    pub share: Option<&'a str>,
    /// The first task of the group, if the tasks of the queue form one.
    pub group: Option<TaskId>,
    /// The sandbox in which the queue's tasks were queued.
    pub sandbox: Option<SandboxId>,
}

impl<'a> QueueName<'a> {
    /// Parses the name of a folder; `None` for names that luzia does not make.
    pub fn parse(name: &'a str) -> Option<Self> {
        let mut parts = name.split('~');
        let user_stem = parts.next().filter(|stem| super::lane::is_user_stem(stem))?;
        let (mut lanes, mut share, mut group, mut sandbox) = (None, None, None, None);
        for part in parts {
            let is_last = group.is_some() || sandbox.is_some();
            match part.split_at_checked(1)? {
                ("n", digest) if lanes.is_none() && share.is_none() && !is_last => lanes = Some(checked(digest)?),
                ("s", digest) if share.is_none() && !is_last => share = Some(checked(digest)?),
                ("g", first) if group.is_none() && sandbox.is_none() => {
                    group = Some(TaskId::parse(first).filter(|_| first.bytes().all(|byte| byte.is_ascii_digit()))?);
                }
                ("c", digest) if sandbox.is_none() => sandbox = Some(SandboxId::parse(digest)?),
                _ => return None,
            }
        }
        Some(Self { user_stem, lanes, share, group, sandbox })
    }

    /// The user, if the stem has the name; `None` if the name of the user is hashed.
    pub fn user(&self) -> Option<Name> {
        LaneName::from_stem(self.user_stem).map(|lane| lane.key().clone())
    }

    /// The place of a task of a queue among those of its priority: the place of the first task of its group, then its own.
    pub fn place_in(queue: &str, id: TaskId) -> (TaskId, TaskId) {
        // Most names have no such part and need no parsing.
        let may_have = queue.split('~').skip(1).any(|part| part.starts_with('g'));
        let group = if may_have { QueueName::parse(queue).and_then(|name| name.group) } else { None };
        (group.unwrap_or(id), id)
    }

    /// Whether the queue's tasks take the lane of their user.
    pub fn takes_user_lane(&self) -> bool {
        self.lanes.is_none()
    }
}

/// Whether a text has the form of a digest.
pub fn is_digest(text: &str) -> bool {
    is_hex(text, 16)
}

fn checked(text: &str) -> Option<&str> {
    is_digest(text).then_some(text)
}

/// The first 16 hex digits of the SHA-256 of a text.
pub fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..8])
}

/// The place of a task among those with which it takes turns: its priority, the first task of its group, and its number.
pub type Turn = (Priority, (TaskId, TaskId));

/// The digests of the work of tasks that are looked at one after another: that of equal work is made once.
#[derive(Default)]
pub struct Works(RefCell<(String, String)>);

impl Works {
    /// The digest of the work of a task ([`Task::work`]).
    pub fn of(&self, task: &Task) -> String {
        let (mut last, text) = (self.0.borrow_mut(), task.work_text());
        if last.0 != text {
            let made = digest(&text);
            *last = (text, made);
        }
        last.1.clone()
    }
}

impl Task {
    /// A digest of the first words of the command and of its directory. Equal work has an equal digest.
    pub fn work(&self) -> String {
        digest(&self.work_text())
    }

    fn work_text(&self) -> String {
        let command: Vec<&str> = match self.command.as_slice() {
            // For a shell, the words of its script count.
            [_, option, script] if option == "-c" => script.split_whitespace().take(WORDS).collect(),
            words => words.iter().take(WORDS).map(String::as_str).collect(),
        };
        format!("{}\n{}", command.join("\n"), self.cwd)
    }

    /// The place of the task among the tasks with which it takes turns.
    pub fn turn(&self) -> Turn {
        let first = self.group.as_ref().map_or(self.id, |group| group.first);
        (self.priority, (first, self.id))
    }

    /// The digest of the agent session, or else of the project. The user's slot time is divided between these. `None` if
    /// neither is known: all such tasks are one share.
    pub fn own_share(&self) -> Option<String> {
        let session = self.agent.as_ref().and_then(|agent| agent.session.as_ref());
        let of = match (session, &self.project) {
            (Some(session), _) => format!("session:{session}"),
            (None, Some(project)) => format!("project:{project}"),
            (None, None) => return None,
        };
        Some(digest(&of))
    }

    /// The name of the queue of the task while it is pending.
    pub fn queue(&self) -> String {
        let mut name = String::with_capacity(USUAL_BYTES);
        name.push_str(&LaneName::user_stem(&self.user));
        if !self.takes_user_lane {
            let lanes: Vec<String> = self.lanes.iter().map(LaneName::to_string).collect();
            name.push_str("~n");
            name.push_str(&digest(&lanes.join("\n")));
        }
        if let Some(share) = &self.share {
            name.push_str("~s");
            name.push_str(share);
        }
        if let Some(group) = &self.group {
            let _ = write!(name, "~g{}", group.first.0);
        }
        if let Some(sandbox) = &self.sandbox {
            name.push_str("~c");
            name.push_str(sandbox.id().as_str());
        }
        name
    }
}

/// The queues of each tier that have work, each with its best priority.
pub type Lanes = BTreeMap<Tier, BTreeMap<String, Priority>>;

/// The use of the host by one user.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Usage {
    /// Decayed slot time over weight, in microseconds.
    pub used_us: u64,
    /// The number of the user's latest grant, from 1, among all grants.
    pub last_grant: u64,
}

/// The head of a queue in a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirstHead {
    /// The priority of the head.
    pub priority: Priority,
    /// The use of the user of the head at that time.
    pub used: Usage,
    /// The name of the head's queue.
    pub queue: String,
}

/// The first heads of each tier in the order of a pass, and whether others come after them.
pub type FirstHeads = [(Vec<FirstHead>, bool); 3];

#[cfg(test)]
mod tests;
