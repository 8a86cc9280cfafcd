//! Pseudo-random numbers that are the same for the same seed, on every host.

/// A source of numbers (SplitMix64).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Random(u64);

impl Random {
    /// A source that gives the same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a limit; 0 for the limit 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        let wide = u128::from(self.number()) * u128::from(limit);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// A number of the range, both ends included.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least).saturating_add(1))
    }

    /// The gap to the next arrival. Arrivals are equally likely at any moment, with a mean gap of `mean`; a gap is at most 20
    /// means. Whole numbers only, so that it is the same on every host: the tails of 2^-k of the exponential distribution,
    /// linear in between.
    pub fn gap(&mut self, mean: u64) -> u64 {
        // ln 2 in units of 2^-32: each halving of the remainder takes this part of the mean.
        const LN_2: u128 = 2_977_044_472;
        let number = self.number();
        let halvings = u128::from(number.leading_zeros().min(28));
        let rest = u128::from(self.below(1 << 32));
        let units = (halvings << 32) + rest;
        u64::try_from((units * LN_2 * u128::from(mean)) >> 64).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        // From the published reference implementation, seed 1234567.
        let mut random = Random::new(1_234_567);
        let first = [(); 3].map(|()| random.number());
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn gaps_have_their_mean_and_ranges_their_ends() {
        let mut random = Random::new(7);
        let sum: u64 = (0..20_000).map(|_| random.gap(1000)).sum();
        assert!((950..1050).contains(&(sum / 20_000)), "{}", sum / 20_000);
        let seen: std::collections::BTreeSet<u64> = (0..1000).map(|_| random.between(3, 6)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [3, 4, 5, 6]);
        assert_eq!((random.below(0), random.between(5, 5), random.between(0, u64::MAX) > 0), (0, 5, true));
    }
}
