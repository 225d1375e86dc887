//! Zipf's law over any number of items: rank r is drawn with a weight of r^-exponent.

use crate::random::Random;

/// Draws ranks by rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate
/// variates from monotone discrete distributions", 1996): exact, and without the sum over all items
/// that other ways start with, so that the number of items may differ from draw to draw.
#[derive(Clone, Debug)]
pub struct Zipfian {
    exponent: f64,
    integral_of_first: f64,
    surely_accepted: f64,
}

impl Zipfian {
    /// For an exponent above 0.
    pub fn new(exponent: f64) -> Zipfian {
        let mut zipfian = Zipfian { exponent, integral_of_first: 0.0, surely_accepted: 0.0 };
        zipfian.integral_of_first = zipfian.integral(1.5) - 1.0;
        zipfian.surely_accepted = 2.0 - zipfian.integral_inverse(zipfian.integral(2.5) - zipfian.weight(2.0));
        zipfian
    }

    /// A rank in `0..items`, 0 the most frequent; `items` is not 0.
    pub fn draw(&self, items: u64, random: &mut Random) -> u64 {
        let integral_of_all = self.integral(items as f64 + 0.5);
        loop {
            let area = integral_of_all + random.unit() * (self.integral_of_first - integral_of_all);
            let place = self.integral_inverse(area);
            let rank = (place + 0.5).clamp(1.0, items as f64).floor();
            if rank - place <= self.surely_accepted || area >= self.integral(rank + 0.5) - self.weight(rank) {
                return rank as u64 - 1;
            }
        }
    }

    fn weight(&self, rank: f64) -> f64 {
        (-self.exponent * rank.ln()).exp()
    }

    /// The integral of the weight up to `rank`, but for a constant.
    fn integral(&self, rank: f64) -> f64 {
        let log = rank.ln();
        expm1_over((1.0 - self.exponent) * log) * log
    }

    fn integral_inverse(&self, area: f64) -> f64 {
        // Rounding may bring it below -1, where the logarithm ends.
        let t = (area * (1.0 - self.exponent)).max(-1.0);
        (ln_1p_over(t) * area).exp()
    }
}

/// (e^x - 1) / x, continued through 0.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.exp_m1() / x } else { 1.0 + x * 0.5 * (1.0 + x / 3.0) }
}

/// ln(1 + x) / x, continued through 0.
fn ln_1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.ln_1p() / x } else { 1.0 - x * (0.5 - x / 3.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chi-square of the first ranks and the rest against r^-exponent over its sum.
    fn check(exponent: f64, items: u64) {
        const DRAWS: usize = 200_000;
        let cells = items.min(50);
        let total: f64 = (1..=items).map(|rank| (rank as f64).powf(-exponent)).sum();
        let mut counts = vec![0_u64; cells as usize + 1];
        let zipfian = Zipfian::new(exponent);
        let mut random = Random::new(7);
        for _ in 0..DRAWS {
            let rank = zipfian.draw(items, &mut random);
            assert!(rank < items);
            counts[rank.min(cells) as usize] += 1;
        }
        let mut left = DRAWS as f64;
        let mut chi_square = 0.0;
        for rank in 0..cells {
            let expected = DRAWS as f64 * ((rank + 1) as f64).powf(-exponent) / total;
            chi_square += (counts[rank as usize] as f64 - expected).powi(2) / expected;
            left -= expected;
        }
        if items > cells {
            chi_square += (counts[cells as usize] as f64 - left).powi(2) / left;
        }
        // The 99.9 % point for the degrees of freedom (Wilson and Hilferty's approximation).
        let degrees = (counts.iter().filter(|count| **count > 0).count() as f64 - 1.0).max(1.0);
        let spread = 2.0 / (9.0 * degrees);
        let greatest = degrees * (1.0 - spread + 3.09 * spread.sqrt()).powi(3);
        assert!(chi_square < greatest, "exponent {exponent}, {items} items: {chi_square} of {greatest}");
    }

    #[test]
    fn ranks_follow_the_law() {
        check(0.99, 1000);
        check(0.99, 100_000);
        check(0.5, 1000);
        check(1.0, 1000);
        check(1.5, 10);
        check(0.99, 1);
    }
}
