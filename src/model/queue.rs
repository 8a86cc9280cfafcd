//! Queues: the folders in which pending tasks stand. Tasks of one queue start in their order; a queue that cannot start
//! now costs the others nothing.
//!
//! The name of a queue is `<stem of the user's lane>[~n<lanes>][~c<sandbox>]`. `~n` marks tasks that take named lanes only,
//! without the lane of their user, and tells one set of lanes from another. `~c` marks tasks that only a process of a
//! compatible sandbox may start (contract P9). Records of luzia 0.1.0 stand in queues without either.

use super::context::SandboxId;
use super::lane::LaneName;
use super::name::Name;
use super::task::Task;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// What the name of a queue says.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct QueueName<'a> {
    /// The stem of the user's lane.
    pub user_stem: &'a str,
    /// The digest of the named lanes, of tasks that do not take their user's lane.
    pub lanes: Option<&'a str>,
    /// The sandbox in which its tasks were queued.
    pub sandbox: Option<SandboxId>,
}

impl<'a> QueueName<'a> {
    /// Reads the name of a folder; `None` for names that luzia does not make.
    pub fn parse(name: &'a str) -> Option<Self> {
        let mut parts = name.split('~');
        let user_stem = parts.next().filter(|stem| super::lane::is_user_stem(stem))?;
        let (mut lanes, mut sandbox) = (None, None);
        for part in parts {
            match part.split_at_checked(1)? {
                ("n", digest) if lanes.is_none() && sandbox.is_none() => {
                    lanes = Some(SandboxId::parse(digest).map(|_| digest)?);
                }
                ("c", digest) if sandbox.is_none() => sandbox = Some(SandboxId::parse(digest)?),
                _ => return None,
            }
        }
        Some(Self { user_stem, lanes, sandbox })
    }

    /// The user, where the stem tells; `None` where the name of the user is hashed.
    pub fn user(&self) -> Option<Name> {
        LaneName::from_stem(self.user_stem).map(|lane| lane.key().clone())
    }

    /// Whether its tasks take the lane of their user.
    pub fn takes_user_lane(&self) -> bool {
        self.lanes.is_none()
    }
}

/// The first 16 hex digits of the SHA-256 of a text.
pub fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

impl Task {
    /// The name of the queue in which the task stands while it is pending.
    pub fn queue(&self) -> String {
        let mut name = LaneName::user(&self.user).stem();
        if !self.takes_user_lane {
            let lanes: Vec<String> = self.lanes.iter().map(LaneName::to_string).collect();
            name.push_str("~n");
            name.push_str(&digest(&lanes.join("\n")));
        }
        if let Some(sandbox) = &self.sandbox {
            name.push_str("~c");
            name.push_str(sandbox.id().as_str());
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_queue_reads_back() {
        let digits = "0123456789abcdef";
        let sandbox = SandboxId::parse(digits);
        let full = format!("user_a=40b~n{digits}~c{digits}");
        let read = QueueName::parse(&full).expect("a queue");
        assert_eq!((read.user_stem, read.lanes, &read.sandbox), ("user_a=40b", Some(digits), &sandbox));
        assert_eq!(read.user().map(|user| user.to_string()), Some("a@b".into()));
        assert!(!read.takes_user_lane());
        let plain = QueueName::parse("user_alice").expect("a queue");
        assert_eq!((plain.lanes, plain.sandbox.clone(), plain.takes_user_lane()), (None, None, true));
    }

    #[test]
    fn other_names_are_no_queues() {
        let digits = "0123456789abcdef";
        for wrong in [
            "thread_7".to_owned(),
            "user_a~".to_owned(),
            "user_a~n".to_owned(),
            format!("user_a~x{digits}"),
            format!("user_a~c{digits}~n{digits}"),
            format!("user_a~c{digits}~c{digits}"),
            format!("user_a~n{}", &digits[1..]),
        ] {
            assert_eq!(QueueName::parse(&wrong), None, "{wrong}");
        }
    }
}
