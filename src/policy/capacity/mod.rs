//! Gates of lanes, and the division of processors between the holders of a lane. Pure.
//!
//! `judge` decides whether a gate is shut, so that its lane grants no place. A shut gate opens only below its second bound, so
//! that it does not flutter. An unknown reading shuts nothing: a lane must not stop because a kernel lacks a gauge. `variables`
//! makes the environment of a command in a lane with a CPU budget: the job server of GNU make 4.4 and cargo, and numbers for
//! tools without job server support. `deal` and `step` divide the processors of a lane between its holders. Each holder has one
//! without asking, as every job server client has its first job; the others are tokens in its job server. The division changes at
//! each start and end. A holder with too many gives tokens back first, and only returned tokens are dealt again. So the sum
//! exceeds the budget only by the first processors of holders that started since.

use crate::model::capacity::gate::shown;
use crate::model::capacity::{Condition, Gate, Readings};

/// The reason that a gate is shut.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Busy {
    /// The conditions that hold, e.g. `load>1.5`.
    pub conditions: Vec<String>,
    /// The readings, e.g. `load 2.1`, in the same order.
    pub readings: Vec<String>,
}

impl Busy {
    /// The readings with their conditions, in words: `load 2.1 (load>1.5)`.
    pub fn text(&self) -> String {
        let pairs = self.readings.iter().zip(&self.conditions);
        pairs.map(|(reading, condition)| format!("{reading} ({condition})")).collect::<Vec<_>>().join(", ")
    }
}

/// The reason that a gate is shut by these readings; `None` while it is open. The first alternative that holds is the reason.
pub fn judge(gate: &Gate, readings: &Readings, was_shut: bool) -> Option<Busy> {
    let all = gate.alternatives().iter().find(|all| all.iter().all(|one| holds(one, readings, was_shut)))?;
    let reading = |one: &Condition| {
        let value = readings.of(one.gauge).map_or_else(|| "unknown".to_owned(), |read| shown(one.gauge, read));
        format!("{} {value}", one.gauge.word())
    };
    Some(Busy {
        conditions: all.iter().map(ToString::to_string).collect(),
        readings: all.iter().map(reading).collect(),
    })
}

fn holds(condition: &Condition, readings: &Readings, was_shut: bool) -> bool {
    let bound = if was_shut { condition.opens } else { condition.shuts };
    readings.of(condition.gauge).is_some_and(|read| if condition.is_above { read > bound } else { read < bound })
}

/// The variables in which tools without a job server look for a number of jobs.
pub const NUMBERS: [&str; 4] =
    ["CARGO_BUILD_JOBS", "CMAKE_BUILD_PARALLEL_LEVEL", "GOMAXPROCS", "PYTEST_XDIST_AUTO_NUM_WORKERS"];
/// The variable in which make finds its options and its job server.
pub const MAKEFLAGS: &str = "MAKEFLAGS";
/// The variable in which cargo looks first for its job server.
pub const CARGO_MAKEFLAGS: &str = "CARGO_MAKEFLAGS";

/// Place of the job server of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Server<'a> {
    /// The path of the FIFO of the job server.
    pub fifo: &'a str,
    /// Whether the `make` of the command supports FIFOs, as from version 4.4 on; an older one would end with an error.
    pub make_knows_fifos: bool,
}

/// The variables of a command that has `share` processors now, of a budget of `budget`. `had` returns its former value of a
/// variable. A smaller number of its own stays.
pub fn variables(
    share: u32,
    budget: u32,
    server: Option<Server>,
    had: &dyn Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let smaller = |name: &&str| {
        had(name).and_then(|text| text.trim().parse().ok()).is_some_and(|own: u32| own > 0 && own <= share)
    };
    let numbers = NUMBERS.iter().filter(|name| !smaller(name)).map(|name| ((*name).to_owned(), share.to_string()));
    let mut all: Vec<(String, String)> = numbers.collect();
    let make = had(MAKEFLAGS).unwrap_or_default();
    match server {
        Some(Server { fifo, make_knows_fifos }) => {
            let auth = format!("--jobserver-auth=fifo:{fifo}");
            // cargo parses the last word of the variable as a path, so nothing may follow it.
            all.push((CARGO_MAKEFLAGS.to_owned(), format!("-j{budget} {auth}")));
            let own = if make_knows_fifos { format!("-j{budget} {auth}") } else { format!("-j{share}") };
            all.push((MAKEFLAGS.to_owned(), with_jobs(&make, &own)));
        }
        None => all.push((MAKEFLAGS.to_owned(), with_jobs(&make, &format!("-j{share}")))),
    }
    all
}

/// The options of make with other options for its jobs. The options of another job server are removed, because its descriptors
/// are not inherited.
fn with_jobs(flags: &str, jobs: &str) -> String {
    let is_edge = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let is_end = |at: usize| is_edge(flags[..at].chars().next_back()) && is_edge(flags[at + 2..].chars().next());
    // After the end of the options, the variable has assignments of variables.
    let end = flags.match_indices("--").map(|(at, _)| at).find(|at| is_end(*at));
    let (options, assignments) = match end.map(|at| (&flags[..at], flags[at + 2..].trim())) {
        Some((options, "")) => (options, String::new()),
        Some((options, assignments)) => (options, format!(" -- {assignments}")),
        None => (flags, String::new()),
    };
    let is_of_jobs = |word: &str| {
        word.starts_with("--jobserver")
            || word.strip_prefix("-j").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
    };
    let kept: Vec<&str> = options.split_whitespace().filter(|word| !is_of_jobs(word)).collect();
    // The first word may be letters of options without a dash. Without such letters, make expects a space before the other options.
    let lead = if options.starts_with(' ') || kept.is_empty() { " " } else { "" };
    let words: Vec<&str> = kept.into_iter().chain([jobs]).collect();
    format!("{lead}{}{assignments}", words.join(" "))
}

/// Whether the version of make that prints this text supports FIFOs: GNU make from 4.4 on.
pub fn knows_fifos(said: &str) -> bool {
    let version = said.lines().next().and_then(|line| line.strip_prefix("GNU Make "));
    let mut numbers = version.unwrap_or_default().split(['.', ' ', '-']).map_while(|part| part.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(4), Some(4))
}

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
    /// The holder has its share, or waits for others to give tokens back.
    Stay,
    /// The holder puts so many tokens into its job server.
    Put(u32),
    /// The holder takes so many tokens out, as its command gives them back.
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

    fn gate(text: &str) -> Gate {
        Gate::parse(text).expect("an expression")
    }

    fn readings(load: Option<u32>, memory: Option<u32>) -> Readings {
        Readings { load, memory, ..Readings::default() }
    }

    #[test]
    fn one_alternative_whose_conditions_all_hold_shuts_the_gate() {
        let shut = |text, load, memory| judge(&gate(text), &readings(Some(load), Some(memory)), false).is_some();
        assert!(shut("load>1.5 | mem<10%", 2000, 50_000));
        assert!(shut("load>1.5 | mem<10%", 1000, 9_999));
        assert!(!shut("load>1.5 | mem<10%", 1500, 10_000), "a bound itself is on the open side");
        assert!(!shut("load>1.5 & mem<10%", 2000, 50_000));
        assert!(shut("load>1.5 & mem<10%", 2000, 5_000));
    }

    #[test]
    fn it_says_what_was_read() {
        let busy = judge(&gate("psi.io>5 | load>1.5..1 & mem<10%"), &readings(Some(2100), Some(7250)), false);
        assert_eq!(busy.expect("shut").text(), "load 2.1 (load>1.5..1), mem 7.25% (mem<10%)");
    }

    #[test]
    fn a_gauge_that_cannot_be_read_shuts_nothing() {
        assert_eq!(judge(&gate("load>0 | mem<100%"), &Readings::default(), false), None);
        assert_eq!(judge(&gate("load>0 | mem<100%"), &Readings::default(), true), None);
    }

    proptest! {
        #[test]
        fn between_its_bounds_a_gate_stays_as_it_was(loads in proptest::collection::vec(0u32..3000, 1..40)) {
            let gate = gate("load>1.5..1.0");
            let mut is_shut = false;
            for load in loads {
                let now = judge(&gate, &readings(Some(load), None), is_shut).is_some();
                let wanted = if load > 1500 { true } else if load <= 1000 { false } else { is_shut };
                prop_assert_eq!(now, wanted, "{}", load);
                is_shut = now;
            }
        }
    }

    fn given(share: u32, server: Option<Server>, had: &[(&str, &str)]) -> Vec<(String, String)> {
        let had = |name: &str| had.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
        variables(share, 4, server, &had)
    }

    fn value<'a>(env: &'a [(String, String)], name: &str) -> Option<&'a str> {
        env.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    #[test]
    fn a_command_finds_its_job_server_and_its_share() {
        let server = Server { fifo: "/s/f", make_knows_fifos: true };
        let env = given(2, Some(server), &[("CARGO_BUILD_JOBS", "1"), ("GOMAXPROCS", "8")]);
        assert_eq!(value(&env, MAKEFLAGS), Some(" -j4 --jobserver-auth=fifo:/s/f"));
        assert_eq!(value(&env, CARGO_MAKEFLAGS), Some("-j4 --jobserver-auth=fifo:/s/f"));
        assert_eq!((value(&env, "CARGO_BUILD_JOBS"), value(&env, "GOMAXPROCS")), (None, Some("2")));
        assert_eq!(value(&env, "PYTEST_XDIST_AUTO_NUM_WORKERS"), Some("2"));
    }

    #[test]
    fn an_old_make_gets_a_number_and_never_a_fifo() {
        let env = given(2, Some(Server { fifo: "/s/f", make_knows_fifos: false }), &[]);
        assert_eq!(value(&env, MAKEFLAGS), Some(" -j2"));
        assert!(value(&env, CARGO_MAKEFLAGS).is_some_and(|flags| flags.ends_with("fifo:/s/f")));
        assert_eq!(value(&given(3, None, &[]), CARGO_MAKEFLAGS), None);
    }

    #[test]
    fn other_options_of_make_stay_and_those_of_another_job_server_go() {
        for (had, wanted) in [
            ("", " -j3"),
            ("k", "k -j3"),
            ("ks --", "ks -j3"),
            ("-- A=1", " -j3 -- A=1"),
            (" -j8 --jobserver-auth=3,4", " -j3"),
            ("ks -j --jobserver-fds=3,4 --no-print-directory -- A=-j1", "ks --no-print-directory -j3 -- A=-j1"),
        ] {
            assert_eq!(with_jobs(had, "-j3"), wanted, "{had}");
        }
    }

    #[test]
    fn make_knows_fifos_from_4_4_on() {
        for (said, knows) in [
            ("GNU Make 4.4.1\nBuilt for x", true),
            ("GNU Make 4.4\n", true),
            ("GNU Make 5.0", true),
            ("GNU Make 4.3\n", false),
            ("GNU Make 3.81", false),
            ("bmake", false),
            ("", false),
        ] {
            assert_eq!(knows_fifos(said), knows, "{said}");
        }
    }

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
