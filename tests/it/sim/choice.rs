//! Who decides what happens next: a seed, or an explicit list of choices.
//!
//! Every decision of a run goes through one `Chooser` and is recorded, so a run is a function of its seed or of its
//! list. Nothing here knows what the decisions are about.

/// One decision of a run: which option was taken, of how many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The option, from 0; 0 is the quiet one.
    pub taken: u16,
    /// How many there were; never below 2.
    pub of: u16,
}

/// A small pseudo-random generator (splitmix64): equal seeds give equal numbers everywhere.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator for a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).expect("a usize fits 64 bits");
        usize::try_from(self.next() % bound).expect("below a usize")
    }
}

/// The source of all decisions of one run.
pub struct Chooser {
    source: Source,
    /// What was decided so far.
    pub made: Vec<Choice>,
}

enum Source {
    Seed(Rng),
    /// Options to take in turn; past the end it is always option 0.
    List(Vec<u16>),
}

impl Chooser {
    /// Decisions drawn from a seed.
    pub fn from_seed(seed: u64) -> Self {
        Self { source: Source::Seed(Rng::new(seed)), made: Vec::new() }
    }

    /// Decisions read from a list.
    pub fn from_list(list: Vec<u16>) -> Self {
        Self { source: Source::List(list), made: Vec::new() }
    }

    /// Takes one of several options, each with a weight that counts for seeds only. Alone it is no decision.
    pub fn pick(&mut self, weights: impl ExactSizeIterator<Item = u32> + Clone) -> usize {
        let of = weights.len();
        if of < 2 {
            return 0;
        }
        let taken = match &mut self.source {
            Source::List(list) => usize::from(list.get(self.made.len()).copied().unwrap_or(0)),
            Source::Seed(rng) => draw(rng, weights),
        };
        assert!(taken < of, "choice {} is not below {of}", self.made.len());
        self.made.push(Choice {
            taken: u16::try_from(taken).expect("few options"),
            of: u16::try_from(of).expect("few options"),
        });
        taken
    }

    /// A number below `bound`, all alike.
    pub fn number(&mut self, bound: usize) -> usize {
        self.pick(std::iter::repeat_n(1, bound))
    }
}

fn draw(rng: &mut Rng, weights: impl ExactSizeIterator<Item = u32> + Clone) -> usize {
    let total: usize = weights.clone().map(as_usize).sum();
    let mut left = rng.below(total.max(1));
    for (at, weight) in weights.enumerate() {
        let weight = as_usize(weight);
        if left < weight {
            return at;
        }
        left -= weight;
    }
    0
}

fn as_usize(weight: u32) -> usize {
    usize::try_from(weight).expect("32 bits fit")
}

/// The next list in depth-first order after a run that made these choices; `None` when all were tried.
pub fn next_list(made: &[Choice]) -> Option<Vec<u16>> {
    let last = made.iter().rposition(|choice| choice.taken + 1 < choice.of)?;
    let mut list: Vec<u16> = made[..=last].iter().map(|choice| choice.taken).collect();
    list[last] += 1;
    Some(list)
}

#[test]
fn depth_first_order_visits_every_list_once() {
    let mut seen = Vec::new();
    let mut list = Some(Vec::new());
    while let Some(next) = list {
        let mut chooser = Chooser::from_list(next);
        let first = chooser.number(2);
        let second = chooser.number(first + 2);
        seen.push((first, second));
        list = next_list(&chooser.made);
    }
    assert_eq!(seen, [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]);
}
