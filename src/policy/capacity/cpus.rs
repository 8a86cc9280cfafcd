//! Division of the processors of a lane between its holders. Each holder has one without asking, as every job server client has
//! its first job; the others are tokens in its job server. The division changes at each start and end. A holder with too many
//! gives tokens back first, and only returned tokens are dealt again. So the sum exceeds the budget only by the first
//! processors of holders that started since.

/// The share of each of `holders` in a budget, its first processor included. Shares are equal, the remainder goes to the first
/// holders, and no share is less than one.
pub fn deal(budget: u32, holders: u32) -> Vec<u32> {
    let count = holders.max(1);
    let (each, rest) = (budget / count, budget % count);
    (0..holders).map(|at| (each + u32::from(at < rest)).max(1)).collect()
}

/// The next action of one holder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It has its share, or waits for others to give tokens back.
    Stay,
    /// It puts so many tokens into its job server.
    Put(u32),
    /// It takes so many tokens out, as its command gives them back.
    Take(u32),
}

/// The next action of one holder. `all` are the present numbers of the holders, in the order of their slots; `own` is its index.
pub fn step(budget: u32, all: &[u32], own: usize) -> Step {
    let holders = u32::try_from(all.len()).unwrap_or(u32::MAX);
    let (Some(share), Some(has)) = (deal(budget, holders).get(own).copied(), all.get(own).copied()) else {
        return Step::Stay;
    };
    if has > share {
        return Step::Take(has - share);
    }
    let used = all.iter().fold(0_u32, |sum, one| sum.saturating_add((*one).max(1)));
    match (share - has).min(budget.saturating_sub(used)) {
        0 => Step::Stay,
        more => Step::Put(more),
    }
}

/// The processors to which the holders of a lane are bound: `budget` of the allowed ones. The name of the lane decides the
/// first one, so that two lanes do not crowd on the first processors.
pub fn bound_to(budget: u32, allowed: &[u32], lane: &str) -> Vec<u32> {
    let count = usize::try_from(budget).unwrap_or(usize::MAX).min(allowed.len());
    let seed = lane.bytes().fold(0_usize, |seed, byte| seed.wrapping_mul(31).wrapping_add(usize::from(byte)));
    let first = seed.checked_rem(allowed.len()).unwrap_or(0);
    let mut bound: Vec<u32> = allowed.iter().cycle().skip(first).take(count).copied().collect();
    bound.sort_unstable();
    bound
}

/// Processors in the list format of the kernel, e.g. `0-3,8`.
pub fn list(cpus: &[u32]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let follows = |one: &u32, next: &u32| one.checked_add(1) == Some(*next);
    for run in cpus.chunk_by(follows) {
        match run {
            [] => {}
            [one] => parts.push(one.to_string()),
            [first, .., last] => parts.push(format!("{first}-{last}")),
        }
    }
    parts.join(",")
}

/// Parses the form that [`list`] writes; `None` if the text is not a list, or names more processors than a host can have.
pub fn listed(text: &str) -> Option<Vec<u32>> {
    const MOST: u32 = 65_536;
    let mut cpus = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= MOST {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shares_are_equal_and_what_is_left_goes_to_the_first() {
        assert_eq!(deal(4, 1), [4]);
        assert_eq!(deal(4, 3), [2, 1, 1]);
        assert_eq!(deal(4, 6), [1; 6]);
        assert_eq!(deal(4, 0), [0_u32; 0]);
    }

    #[test]
    fn lists_of_processors_read_back() {
        for (cpus, text) in [(vec![0, 1, 2, 3, 8], "0-3,8"), (vec![5], "5"), (vec![], ""), (vec![1, 3, 4], "1,3-4")] {
            assert_eq!((list(&cpus), listed(text)), (text.to_owned(), Some(cpus)));
        }
        for wrong in ["x", "3-1", "1-", "99999999"] {
            assert_eq!(listed(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_lane_is_bound_to_as_many_processors_as_its_budget() {
        assert_eq!(bound_to(2, &[0, 1], "build"), [0, 1]);
        assert_eq!(bound_to(9, &[4, 5, 6], "build"), [4, 5, 6]);
        assert_eq!(bound_to(2, &[], "build"), [0_u32; 0]);
        let bound = bound_to(3, &[0, 1, 2, 3, 4, 5], "build");
        assert_eq!((bound.len(), bound_to(3, &[0, 1, 2, 3, 4, 5], "build")), (3, bound.clone()));
    }

    /// Holders that start and end at random, and move one at a time. Each gives back only what its command does.
    fn play(budget: u32, moves: &[(u8, u8)]) -> Result<(), TestCaseError> {
        // The processors of each holder, and the number of its tokens that its command uses.
        let mut all: Vec<u32> = vec![1];
        let mut fresh = 0;
        for (what, who) in moves {
            let own = usize::from(*who) % all.len().max(1);
            match what % 4 {
                0 if all.len() < 8 => {
                    all.push(1);
                    fresh += 1;
                }
                1 if all.len() > 1 => {
                    all.remove(own);
                }
                _ if all.is_empty() => {}
                _ => match step(budget, &all, own) {
                    Step::Stay => {}
                    Step::Put(more) => {
                        all[own] += more;
                        prop_assert!(all.iter().sum::<u32>() <= budget, "tokens were made: {:?}", all);
                    }
                    // The command gives back one at a time.
                    Step::Take(_) => all[own] -= 1,
                },
            }
            prop_assert!(all.iter().all(|has| *has >= 1));
            prop_assert!(all.iter().sum::<u32>() <= budget.max(1) + fresh, "{:?}", all);
        }
        // Once no holder starts or ends any more, each holder reaches its share.
        for _ in 0..100 {
            for own in 0..all.len() {
                match step(budget, &all, own) {
                    Step::Stay => {}
                    Step::Put(more) => all[own] += more,
                    Step::Take(_) => all[own] -= 1,
                }
            }
        }
        let holders = u32::try_from(all.len()).unwrap_or(u32::MAX);
        prop_assert_eq!(&all, &deal(budget, holders));
        prop_assert!(all.iter().sum::<u32>() <= budget.max(holders));
        Ok(())
    }

    proptest! {
        #[test]
        fn a_deal_uses_the_whole_budget_and_no_more(budget in 1u32..200, holders in 1u32..50) {
            let shares = deal(budget, holders);
            prop_assert_eq!(shares.iter().sum::<u32>(), budget.max(holders));
            let (least, most) = (shares.iter().min().copied(), shares.iter().max().copied());
            prop_assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1));
        }

        #[test]
        fn the_sum_exceeds_the_budget_only_by_those_that_started(
            budget in 1u32..12, moves in proptest::collection::vec((any::<u8>(), any::<u8>()), 0..120),
        ) {
            play(budget, &moves)?;
        }
    }
}
