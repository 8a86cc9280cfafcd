//! The table of decisions, and what holds for every one.

use super::*;
use crate::model::evidence::Reason;
use proptest::prelude::*;

const LIVE: Verdict = Verdict::Live { why: Reason::SupervisorLives, overdue: false };
const DEAD: Verdict = Verdict::Stale { why: Reason::ProcessGone, age_ms: 1 };
const STRANGE: Verdict = Verdict::Refused { why: Reason::NotAFile };

#[test]
fn the_table_of_decisions() {
    use Decision::{Deny, Note, Nothing};
    use Owner::{Mine, Other, Unknown};
    let (edit, shell, gate) = (Asked::Edit, Asked::Shell { gate: false }, Asked::Shell { gate: true });
    for (limit, holders, decisions) in [
        (1, vec![], [Nothing, Nothing, Nothing]),
        (1, vec![(Mine, LIVE)], [Nothing, Nothing, Nothing]),
        (1, vec![(Other, LIVE)], [Deny, Note, Deny]),
        (1, vec![(Other, DEAD)], [Nothing, Nothing, Nothing]),
        (1, vec![(Other, STRANGE)], [Nothing, Nothing, Nothing]),
        (1, vec![(Unknown, LIVE)], [Note, Note, Note]),
        (2, vec![(Other, LIVE)], [Nothing, Nothing, Nothing]),
        (2, vec![(Other, LIVE), (Other, LIVE)], [Deny, Note, Deny]),
        (2, vec![(Other, LIVE), (Unknown, LIVE)], [Note, Note, Note]),
        (2, vec![(Other, LIVE), (Mine, LIVE)], [Nothing, Nothing, Nothing]),
        (2, vec![(Other, LIVE), (Other, DEAD)], [Nothing, Nothing, Nothing]),
        (1, vec![(Other, LIVE), (Other, LIVE), (Mine, LIVE)], [Nothing, Nothing, Nothing]),
        (0, vec![], [Nothing, Nothing, Nothing]),
        (0, vec![(Other, LIVE)], [Deny, Note, Deny]),
    ] {
        let found = [edit, shell, gate].map(|asked| decide(asked, limit, &holders));
        assert_eq!(found, decisions, "{limit} {holders:?}");
    }
}

#[test]
fn heavy_calls_are_found_wherever_they_stand() {
    for (line, tools) in [
        ("cargo build", &["cargo"][..]),
        ("cd x && RUST_LOG=1 /usr/bin/cargo test | tail; make -j8", &["cargo", "make"]),
        ("(sudo make install) & cargo build && cargo test", &["make", "cargo"]),
        ("if true; then cargo check; fi\nnpm ci", &["cargo", "npm"]),
        ("cargo fmt; make --version; ls", &[]),
        ("git commit -m 'cargo build; make'", &[]),
        ("echo \"a && cargo build\"", &[]),
        ("luzia run -l build -- cargo build", &[]),
        ("", &[]),
        ("'", &[]),
    ] {
        assert_eq!(heavy_tools(line), tools, "{line}");
    }
}

fn holder() -> impl Strategy<Value = (Owner, Verdict)> {
    let owner = proptest::sample::select(vec![Owner::Mine, Owner::Other, Owner::Unknown]);
    (owner, proptest::sample::select(vec![LIVE, DEAD, STRANGE]))
}

proptest! {
    #[test]
    fn a_refusal_needs_a_living_other_holder_in_each_slot_and_none_of_mine(
        limit in 0..5u32,
        gate in any::<bool>(),
        is_edit in any::<bool>(),
        holders in proptest::collection::vec(holder(), 0..8),
    ) {
        let asked = if is_edit { Asked::Edit } else { Asked::Shell { gate } };
        let others = holders.iter().filter(|(owner, verdict)| *owner == Owner::Other && verdict.is_live()).count();
        let has_mine = holders.iter().any(|(owner, verdict)| *owner == Owner::Mine && verdict.is_live());
        let decision = decide(asked, limit, &holders);
        if decision == Decision::Deny {
            let may_refuse = asked != Asked::Shell { gate: false };
            prop_assert!(others >= limit.max(1) as usize && !has_mine && may_refuse);
        }
        // Without the living holders of others nothing is said.
        let rest: Vec<_> = holders.iter().filter(|(owner, verdict)| *owner == Owner::Mine || !verdict.is_live()).cloned().collect();
        prop_assert_eq!(decide(asked, limit, &rest), Decision::Nothing);
    }

    #[test]
    fn any_line_of_shell_is_read(line in "\\PC{0,80}") {
        let tools = heavy_tools(&line);
        prop_assert!(tools.iter().all(|tool| shim::is_known(tool) && line.contains(tool.as_str())));
    }
}
