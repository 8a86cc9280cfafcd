//! The owner of work that a command would end or take away: the caller, or another requester (P10).

/// Facts about the two sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sides<'a> {
    /// Whether the agents or their sessions are one; `None` if too little is known of one of them.
    pub same_agent: Option<bool>,
    /// The user of the caller.
    pub caller: &'a str,
    /// The user of the work; `None` for a lane without a user.
    pub holder: Option<&'a str>,
}

/// Whether the work belongs to another requester: to another session or agent, or else to another user.
pub fn is_foreign(sides: Sides) -> bool {
    match sides.same_agent {
        Some(is_same) => !is_same,
        None => sides.holder.is_some_and(|holder| holder != sides.caller),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_session_decides_and_else_the_user() {
        for (same_agent, holder, foreign) in [
            (Some(true), Some("bob"), false),
            (Some(true), None, false),
            (Some(false), Some("alice"), true),
            (Some(false), None, true),
            (None, Some("bob"), true),
            (None, Some("alice"), false),
            (None, None, false),
        ] {
            assert_eq!(is_foreign(Sides { same_agent, caller: "alice", holder }), foreign, "{same_agent:?} {holder:?}");
        }
    }
}
