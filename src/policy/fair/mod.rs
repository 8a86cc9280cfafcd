//! The memory of the scheduler: the recent use of each user and of each share within a user, and the credits of the tiers.
//!
//! Pure: the caller passes the time, and this module writes nothing. The numbers are advice, never truth. A lost or torn ledger
//! starts afresh, and only the order of the next grants depends on it.
//!
//! **Use** is slot time divided by the user's weight, in microseconds, so that all arithmetic is exact. It halves every
//! [`HALF_LIFE_S`] seconds of wall time. All users are decayed together, by the same factor and rounded the same way, so decay
//! never changes the order of users. A clock that jumps back changes nothing; one that jumps ahead only makes users more equal.

mod shares;

pub use crate::model::queue::Usage;
pub use shares::{Payer, Weights};
pub(crate) use shares::{has_own_share, share_names};

use crate::model::{Name, Tier, Timestamp};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Half-life of the use of a user, in seconds.
pub const HALF_LIFE_S: u64 = 600;
/// The charge of a grant, in milliseconds of slot time; the end of the run charges the excess.
pub const NOMINAL_MS: u64 = 1000;
/// The most that one waiting user counts as having used above another of its tier, in microseconds over weight.
pub const CAP_US: u64 = 60_000_000;
/// The greatest weight that counts; a greater one counts as this.
pub const MAX_WEIGHT: u32 = 1000;
/// Greatest number of remembered users; beyond it, those who used least are forgotten.
pub const MAX_USERS: usize = 32_768;

/// 2^(-1/600) in units of 2^-63: the factor by which use decays in one second.
const SECOND_FACTOR: u64 = 9_212_722_931_998_962_731;
const HEADER: &str = "luzia-fair 1";

/// State that the scheduler keeps from pass to pass.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ledger {
    /// Credits of each tier, high to low; see [`super::schedule`].
    pub credits: [i64; 3],
    /// Position of the rotation of users without an entry, by tier.
    pub places: [u64; 3],
    /// Number of grants so far.
    pub grants: u64,
    /// The time up to which use was decayed.
    pub decayed_to: Timestamp,
    pub(super) users: BTreeMap<Name, Usage>,
}

impl Ledger {
    /// The use of a user; a user without an entry has no use.
    pub fn usage(&self, user: &Name) -> Usage {
        self.users.get(user).copied().unwrap_or_default()
    }

    /// Decays use up to `now`, and forgets users whose use is zero. Works in whole seconds and keeps the rest for the next
    /// call, so that frequent calls lose nothing to rounding.
    pub fn decay(&mut self, now: Timestamp) {
        let seconds = now.ms_since(self.decayed_to).div_euclid(1000);
        if seconds < 0 {
            self.decayed_to = now;
        }
        let Some(seconds) = u64::try_from(seconds).ok().filter(|s| *s > 0) else {
            return;
        };
        self.decayed_to = Timestamp(now.0 - now.ms_since(self.decayed_to).rem_euclid(1000));
        let decayed = decay_of(seconds);
        self.users.retain(|_, usage| {
            usage.used_us = decayed(usage.used_us);
            usage.used_us > 0
        });
    }

    /// Decays use that was noted when all use was decayed up to `then`, up to the time of the ledger. Decay in several steps may
    /// round it down further.
    pub(super) fn decayed_since(&self, then: Timestamp, used_us: u64) -> u64 {
        let seconds = self.decayed_to.ms_since(then).div_euclid(1000);
        decay_of(u64::try_from(seconds).unwrap_or(0))(used_us)
    }

    /// Whether a user has a rank of its own, because the ledger still has a grant of it.
    pub fn knows(&self, user: &Name) -> bool {
        self.users.contains_key(user)
    }

    /// Charges a grant: one nominal second of each slot at once, so that tasks too short to measure take turns as well.
    pub fn charge_grant(&mut self, tier: Tier, user: &Name, weights: impl Into<Weights>, now: Timestamp) {
        let weights = weights.into();
        self.decay(now);
        self.grants = self.grants.saturating_add(1);
        self.places[tier.index()] = place_of(user);
        let grant = self.grants;
        let usage = self.users.entry(user.clone()).or_default();
        usage.used_us = usage.used_us.saturating_add(over_weight(NOMINAL_MS, weights.slots, weights.user));
        usage.last_grant = grant;
        self.forget_beyond_limit();
    }

    /// Whether the end of a run that held its slots for `ran_ms` is charged: its grant already charged a short run.
    pub fn charges_end(ran_ms: u64) -> bool {
        ran_ms > NOMINAL_MS
    }

    /// Charges the end of a run that held its slots for `ran_ms`: the time beyond the charge of its grant.
    pub fn charge_end(&mut self, user: &Name, ran_ms: u64, weights: impl Into<Weights>, now: Timestamp) {
        let weights = weights.into();
        self.decay(now);
        if Self::charges_end(ran_ms) {
            let usage = self.users.entry(user.clone()).or_default();
            usage.used_us = usage.used_us.saturating_add(over_weight(ran_ms - NOMINAL_MS, weights.slots, weights.user));
            self.forget_beyond_limit();
        }
    }

    /// Lowers the use of a user to a ceiling.
    pub(super) fn lower(&mut self, user: &Name, ceiling_us: u64) {
        if let Some(usage) = self.users.get_mut(user) {
            usage.used_us = usage.used_us.min(ceiling_us);
        }
    }

    /// Limits the memory, whatever names come. The quarter with the least use is forgotten first, because the loss makes the
    /// least difference to them.
    fn forget_beyond_limit(&mut self) {
        if self.users.len() <= MAX_USERS {
            return;
        }
        let mut uses: Vec<(u64, u64)> = self.users.values().map(|usage| (usage.used_us, usage.last_grant)).collect();
        let forgotten = uses.len() - MAX_USERS / 4 * 3;
        let (_, &mut last, _) = uses.select_nth_unstable(forgotten - 1);
        self.users.retain(|_, usage| (usage.used_us, usage.last_grant) > last);
    }

    /// The ledger as text, a line for each user. The last line serves to detect a torn file.
    pub fn to_text(&self) -> String {
        let [high, normal, low] = self.credits;
        let [a, b, c] = self.places;
        let mut text = format!("{HEADER} {} {} {high} {normal} {low} {a} {b} {c}\n", self.decayed_to.0, self.grants);
        for (name, usage) in &self.users {
            let _ = writeln!(text, "{} {} {name}", usage.used_us, usage.last_grant);
        }
        let _ = writeln!(text, "end {}", self.users.len());
        text
    }

    /// Parses the form of [`Ledger::to_text`]; `None` for any other text, including a torn file. The caller then starts afresh.
    pub fn from_text(text: &str) -> Option<Self> {
        let (head, rest) = text.strip_prefix(HEADER)?.split_once('\n')?;
        let mut numbers = head.strip_prefix(' ')?.split(' ');
        let mut next = || numbers.next();
        let mut ledger =
            Self { decayed_to: Timestamp(next()?.parse().ok()?), grants: next()?.parse().ok()?, ..Self::default() };
        for credit in &mut ledger.credits {
            *credit = next()?.parse().ok()?;
        }
        for place in &mut ledger.places {
            *place = next()?.parse().ok()?;
        }
        let (body, end) = rest.strip_suffix('\n')?.rsplit_once('\n').unwrap_or(("", rest.strip_suffix('\n')?));
        // The lines are in order, so the map is built at once.
        ledger.users = body.lines().map(user_of_line).collect::<Option<_>>()?;
        let count: usize = end.strip_prefix("end ")?.parse().ok()?;
        (count == ledger.users.len()).then_some(ledger)
    }
}

fn user_of_line(line: &str) -> Option<(Name, Usage)> {
    let (used_us, rest) = line.split_once(' ')?;
    let (last_grant, name) = rest.split_once(' ')?;
    Some((Name::new(name).ok()?, Usage { used_us: used_us.parse().ok()?, last_grant: last_grant.parse().ok()? }))
}

/// A user's place in the rotation: FNV-1a of the name, so that numbered names do not stay before others.
pub(super) fn place_of(user: &Name) -> u64 {
    user.as_str()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Use in microseconds for milliseconds of so many slots; rounded up, so that no grant is free.
pub(crate) fn over_weight(ms: u64, slots: u32, weight: u32) -> u64 {
    let slot_us = ms.saturating_mul(1000).saturating_mul(u64::from(slots.max(1)));
    slot_us.div_ceil(u64::from(weight.clamp(1, MAX_WEIGHT)))
}

/// The decay of use in a number of seconds.
fn decay_of(seconds: u64) -> impl Fn(u64) -> u64 {
    let factor = factor_of(seconds % HALF_LIFE_S);
    let halvings = u32::try_from(seconds / HALF_LIFE_S).unwrap_or(u32::MAX);
    move |used_us| scale(used_us.checked_shr(halvings).unwrap_or(0), factor)
}

/// The factor by which use decays in a number of seconds below a half-life, in units of 2^-63.
fn factor_of(mut seconds: u64) -> u64 {
    let mut factor = 1 << 63;
    let mut power = SECOND_FACTOR;
    while seconds > 0 {
        if seconds & 1 == 1 {
            factor = scale(factor, power);
        }
        power = scale(power, power);
        seconds >>= 1;
    }
    factor
}

fn scale(number: u64, factor: u64) -> u64 {
    let product = (u128::from(number) * u128::from(factor)) >> 63;
    u64::try_from(product).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn name(text: &str) -> Name {
        Name::new(text).expect("a name")
    }

    fn used(ledger: &Ledger, user: &str) -> u64 {
        ledger.usage(&name(user)).used_us
    }

    /// A ledger in which each user ran for so many milliseconds at time 0.
    fn after(runs: &[(&str, u64)]) -> Ledger {
        let mut ledger = Ledger::default();
        for (user, ran_ms) in runs {
            ledger.charge_grant(Tier::Normal, &name(user), 1, Timestamp(0));
            ledger.charge_end(&name(user), *ran_ms, 1, Timestamp(0));
        }
        ledger
    }

    #[test]
    fn a_grant_charges_a_nominal_second_and_the_end_only_what_exceeds_it() {
        let ledger = after(&[("short", 1), ("exact", 1000), ("long", 90_500)]);
        assert_eq!(used(&ledger, "short"), 1_000_000);
        assert_eq!(used(&ledger, "exact"), 1_000_000);
        assert_eq!(used(&ledger, "long"), 90_500_000);
        assert_eq!(used(&ledger, "nobody"), 0);
    }

    #[test]
    fn weight_divides_what_is_charged_and_no_grant_is_free() {
        let mut ledger = Ledger::default();
        for (user, weight) in [("four", 4), ("none", 0), ("huge", u32::MAX)] {
            ledger.charge_grant(Tier::Low, &name(user), weight, Timestamp(0));
        }
        assert_eq!(used(&ledger, "four"), 250_000);
        assert_eq!(used(&ledger, "none"), 1_000_000);
        assert_eq!(used(&ledger, "huge"), 1000);
    }

    proptest! {
        #[test]
        fn a_task_of_several_slots_pays_as_as_many_tasks_of_one(
            slots in 0..9u32, weight in 0..4u32, ran_ms in prop_oneof![0..2000u64, 0..10_000_000u64],
        ) {
            let charged = |slots| {
                let payer = Payer {
                    user: name("a"),
                    queue: format!("user_a~n{:016x}", 1),
                    weights: Weights { slots, share: weight, ..Weights::from(weight) },
                    has_shares: true,
                };
                let mut ledger = Ledger::default();
                ledger.granted(Tier::Normal, &payer, Timestamp(0));
                ledger.ended(&payer, ran_ms, Timestamp(0));
                let used: Vec<u64> = ledger.users.values().map(|usage| usage.used_us).collect();
                used
            };
            let (one, several, count) = (charged(1), charged(slots), u64::from(slots.max(1)));
            prop_assert_eq!(one.len(), 3);
            for (one, several) in one.iter().zip(several) {
                // Each charge is rounded up once.
                prop_assert!(several <= one * count && several + 2 * count >= one * count, "{} {}", one, several);
            }
        }
    }

    #[test]
    fn the_end_of_a_run_that_charges_nothing_makes_nobody_known() {
        let mut ledger = Ledger::default();
        ledger.charge_end(&name("a"), NOMINAL_MS, 1, Timestamp(0));
        assert_eq!(ledger.users.len(), 0);
        ledger.charge_end(&name("a"), NOMINAL_MS + 1, 1, Timestamp(0));
        let all: Vec<(&Name, Usage)> = ledger.users.iter().map(|(name, usage)| (name, *usage)).collect();
        assert_eq!(all, [(&name("a"), Usage { used_us: 1000, last_grant: 0 })]);
    }

    #[test]
    fn a_part_of_a_half_life_leaves_that_root_of_a_half() {
        // 60 s of use times 2^(-seconds/600), rounded down.
        for (seconds, left) in [
            (0, 60_000_000),
            (1, 59_930_725),
            (2, 59_861_530),
            (3, 59_792_415),
            (75, 55_020_242),
            (150, 50_453_784),
            (300, 42_426_406),
            (450, 35_676_213),
            (599, 30_034_677),
            (600, 30_000_000),
            (900, 21_213_203),
        ] {
            let mut ledger = after(&[("a", 60_000)]);
            ledger.decay(Timestamp(seconds * 1000));
            assert_eq!(used(&ledger, "a"), left, "{seconds} s");
        }
    }

    #[test]
    fn use_halves_every_ten_minutes_however_often_it_is_looked_at() {
        let mut once = after(&[("a", 60_000)]);
        once.decay(Timestamp(600_000));
        assert_eq!(used(&once, "a"), 30_000_000);
        let mut often = after(&[("a", 60_000)]);
        for ms in (0..=600_000).step_by(7) {
            often.decay(Timestamp(ms));
        }
        often.decay(Timestamp(600_000));
        let seen = used(&often, "a");
        assert!((29_999_000..=30_000_000).contains(&seen), "{seen}");
    }

    #[test]
    fn a_clock_that_jumps_back_changes_nothing_and_one_that_jumps_far_forgets() {
        let mut ledger = after(&[("a", 60_000)]);
        ledger.decay(Timestamp(i64::MIN));
        assert_eq!(used(&ledger, "a"), 60_000_000);
        ledger.decay(Timestamp(i64::MIN + 1_200_000));
        assert_eq!(used(&ledger, "a"), 15_000_000);
        ledger.decay(Timestamp(i64::MAX));
        assert_eq!(ledger.users.len(), 0);
    }

    #[test]
    fn sixty_seconds_of_use_are_forgotten_within_three_hours() {
        let mut ledger = after(&[("a", 60_000)]);
        for second in 0..3 * 3600 {
            ledger.decay(Timestamp(second * 1000));
        }
        assert_eq!(ledger.users.len(), 0);
    }

    #[test]
    fn however_many_names_come_the_ledger_stays_bounded_and_keeps_the_heaviest() {
        let mut ledger = after(&[("heavy", 1_000_000)]);
        for number in 0..100_000 {
            let user = name(&format!("u{number}"));
            ledger.charge_grant(Tier::High, &user, 1, Timestamp(0));
        }
        assert!(ledger.users.len() <= MAX_USERS);
        assert_eq!(used(&ledger, "heavy"), 1_000_000_000);
    }

    #[test]
    fn one_user_too_many_makes_a_quarter_forgotten_those_who_used_least_first() {
        let user = |number: usize| name(&format!("u{number}"));
        let mut ledger = Ledger::default();
        for number in 1..=MAX_USERS {
            ledger.charge_grant(Tier::Low, &user(number), 1, Timestamp(0));
        }
        assert_eq!(ledger.users.len(), MAX_USERS);
        ledger.charge_grant(Tier::Low, &user(MAX_USERS + 1), 1, Timestamp(0));
        // All used the same, so those are left whose grants are the latest.
        let left = MAX_USERS / 4 * 3;
        let latest: BTreeSet<Name> = (0..left).map(|back| user(MAX_USERS + 1 - back)).collect();
        assert!(ledger.users.keys().eq(&latest), "{} are left", ledger.users.len());
    }

    #[test]
    fn the_place_of_a_user_is_fnv_1a_of_the_name() {
        // From the published test vectors of 64-bit FNV-1a.
        assert_eq!(place_of(&name("a")), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(place_of(&name("foobar")), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn a_torn_or_foreign_text_is_not_read() {
        let text = after(&[("a b", 5), ("c", 7000)]).to_text();
        for end in 0..text.len() {
            assert_eq!(Ledger::from_text(&text[..end]), None, "{end}");
        }
        assert_eq!(Ledger::from_text(&text.replace("fair 1", "fair 2")), None);
        assert_eq!(Ledger::from_text(&text.replace(" c\n", " a b\n")), None);
        assert_eq!(Ledger::from_text(&text.replace(" c\n", " \u{1b}\n")), None);
    }

    proptest! {
        #[test]
        fn a_ledger_reads_back_from_its_text(
            runs in proptest::collection::vec(("\\PC{1,12}", any::<u64>()), 0..6),
            credits in any::<[i64; 3]>(),
            at in any::<i64>(),
        ) {
            let mut ledger = Ledger { credits, ..Ledger::default() };
            ledger.decay(Timestamp(at));
            for (user, ran_ms) in &runs {
                if let Ok(user) = Name::new(user) {
                    ledger.charge_grant(Tier::Low, &user, 3, Timestamp(at));
                    ledger.charge_end(&user, *ran_ms, 3, Timestamp(at));
                }
            }
            prop_assert_eq!(Ledger::from_text(&ledger.to_text()), Some(ledger));
        }

        #[test]
        fn time_never_changes_who_used_more(a: u64, b: u64, waits in proptest::collection::vec(0..2_000_000i64, 1..20)) {
            let mut ledger = after(&[("a", a / 1000), ("b", b / 1000)]);
            let before = used(&ledger, "a").cmp(&used(&ledger, "b"));
            let mut now = 0;
            for wait in waits {
                now += wait;
                ledger.decay(Timestamp(now));
                let after = used(&ledger, "a").cmp(&used(&ledger, "b"));
                prop_assert!(after == before || after.is_eq());
            }
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "(luzia-fair 1 )?[-0-9 \nend]{0,60}") {
            let _ = Ledger::from_text(&text);
        }
    }
}
