//! The trait of choices that the generator draws by.

use arbitrary::Unstructured;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A source of choices. Choice 0 is the simplest everywhere, so that a source that runs dry ends a case soon.
pub trait Draw {
    /// A number from 0 up to, but not including, `bound`; 0 where the bound is 0 or 1.
    fn below(&mut self, bound: usize) -> usize;

    /// 64 independent bits.
    fn bits(&mut self) -> u64;

    /// Whether something happens that happens `times` in `of`.
    fn chance(&mut self, times: usize, of: usize) -> bool {
        // So that a dry source says no.
        self.below(of) >= of - times.min(of)
    }

    /// One of these. The list must not be empty.
    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let at = self.below(list.len());
        &list[at]
    }
}

/// Choices by a seed: the same seed draws the same, on every machine and in every version.
#[derive(Debug, Clone)]
pub struct Seeded(Xoshiro256PlusPlus);

impl Seeded {
    /// The choices of one case of a run. Each case has its own, so that it does not matter who draws it, and when.
    pub fn of_case(run_seed: u64, case_number: u64) -> Seeded {
        // The seeding goes through SplitMix64, so that neighbouring numbers give unrelated choices; the odd factor keeps
        // (seed, number) and (seed + 1, number - 1) apart.
        let seed = run_seed.wrapping_add(case_number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Seeded(Xoshiro256PlusPlus::seed_from_u64(seed))
    }
}

impl Draw for Seeded {
    fn below(&mut self, bound: usize) -> usize {
        if bound <= 1 {
            return 0;
        }
        // Multiply and shift: a bias of at most bound / 2^32, which is nothing for bounds of some hundreds.
        let high = self.0.next_u64() >> 32;
        ((high * bound as u64) >> 32) as usize
    }

    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// Choices by the bytes of a fuzzer: a byte a choice where it suffices.
impl Draw for Unstructured<'_> {
    fn below(&mut self, bound: usize) -> usize {
        if bound <= 1 {
            return 0;
        }
        if bound <= 256 {
            return usize::from(self.arbitrary::<u8>().unwrap_or(0)) % bound;
        }
        usize::from(self.arbitrary::<u16>().unwrap_or(0)) % bound
    }

    fn bits(&mut self) -> u64 {
        self.arbitrary().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_below_the_bound_is_made_and_none_above() {
        let mut draw = Seeded::of_case(7, 0);
        let mut seen = [0_u32; 7];
        (0..7000).for_each(|_| seen[draw.below(7)] += 1);
        assert!(seen.iter().all(|&count| (850..1150).contains(&count)), "{seen:?}");
    }

    #[test]
    fn a_case_draws_the_same_whoever_draws_it() {
        let draw = |number| Seeded::of_case(9, number).bits();
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
    }

    #[test]
    fn a_dry_source_chooses_the_simplest() {
        let mut dry = Unstructured::new(&[]);
        assert_eq!((dry.below(9), dry.bits(), dry.chance(8, 9)), (0, 0, false));
    }
}
