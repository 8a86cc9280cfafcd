//! Numbers from a seed (splitmix64), so that a failure can be had again.

/// A source of numbers.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The seed in a variable of the environment, or the fixed one.
    pub fn seed_from(variable: &str) -> u64 {
        Self::seed_in(variable).unwrap_or(20_260_101)
    }

    /// The seed in a variable of the environment, or one of this moment.
    pub fn seed_of_now(variable: &str) -> u64 {
        let since = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Self::seed_in(variable).unwrap_or_else(|| u64::try_from(since().as_millis()).unwrap())
    }

    fn seed_in(variable: &str) -> Option<u64> {
        let text = std::env::var(variable).ok()?;
        Some(text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, usize::try_from(self.below(at as u64 + 1)).unwrap());
        }
    }
}
