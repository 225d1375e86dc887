//! What a server promises: `p99<5ms,p99.9<10ms`. Response times only.

use std::fmt;

use crate::outcome::Outcome;
use crate::report::{is_known, words};

/// An agreement: every clause holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Sla {
    /// Its clauses; at least one.
    pub clauses: Vec<Clause>,
}

/// A limit on a percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clause {
    /// From 0.5 to 1; 1 is the longest of all.
    pub quantile: f64,
    /// What it stays below, nanoseconds.
    pub limit_nanos: u64,
}

/// Why a text is no agreement.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{0:?} is no agreement: write it as p99<5ms,p99.9<10ms,max<1s")]
pub struct SlaError(String);

impl Sla {
    /// Reads one.
    ///
    /// # Errors
    /// When it is written otherwise.
    pub fn parse(text: &str) -> Result<Sla, SlaError> {
        let clauses: Option<Vec<Clause>> =
            text.split(',').map(|clause| parse_clause(clause.trim())).collect();
        match clauses {
            Some(clauses) => Ok(Sla { clauses }),
            None => Err(SlaError(text.to_owned())),
        }
    }

    /// A sentence for each clause: met, missed, or not known.
    pub fn lines(&self, outcome: &Outcome) -> Vec<String> {
        let response = outcome.response();
        let line = |clause: &Clause| {
            let found = if clause.quantile < 1.0 { response.at(clause.quantile) } else { response.0.max() };
            let known = clause.quantile >= 1.0 || is_known(response.count(), clause.quantile);
            let verdict = match (known, found < clause.limit_nanos) {
                (false, _) => "NOT KNOWN, too few requests;",
                (true, true) => "MET,",
                (true, false) => "MISSED,",
            };
            format!("agreed {clause}: {verdict} it is {}", words::duration(found))
        };
        if outcome.is_open() {
            self.clauses.iter().map(line).collect()
        } else {
            vec!["agreements are about response times, which a closed loop does not have".to_owned()]
        }
    }
}

fn parse_clause(text: &str) -> Option<Clause> {
    let (name, limit) = text.split_once('<')?;
    let quantile = match name.trim() {
        "max" => 1.0,
        name => name.strip_prefix('p')?.parse::<f64>().ok()? / 100.0,
    };
    let limit_nanos = parse_duration(limit.trim())?;
    ((0.5..=1.0).contains(&quantile) && limit_nanos > 0).then_some(Clause { quantile, limit_nanos })
}

/// `5ms`, `250us`, `1.5s`, `10m`.
pub(crate) fn parse_duration(text: &str) -> Option<u64> {
    let digits = text.find(|letter: char| letter != '.' && !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim() {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        _ => return None,
    };
    let nanos = number.parse::<f64>().ok()? * unit;
    (0.0..=1e18).contains(&nanos).then_some(nanos.round() as u64)
}

impl fmt::Display for Clause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.quantile < 1.0 { words::percentile(self.quantile) } else { "max".to_owned() };
        write!(out, "{name} < {}", words::duration(self.limit_nanos))
    }
}

impl fmt::Display for Sla {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clauses: Vec<String> = self.clauses.iter().map(Clause::to_string).collect();
        out.write_str(&clauses.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    //! Agreements as written, and texts that are none.
    use super::*;
    use crate::simulation::{self, Simulated};

    #[test]
    fn an_agreement_is_read_as_written() {
        let sla = Sla::parse("p99<5ms, p99.9 < 10ms,max<1.5s,p50<250us").unwrap();
        assert_eq!(sla.to_string(), "p99 < 5 ms and p99.9 < 10 ms and max < 1.5 s and p50 < 250 us");
        for wrong in [
            "",
            "p99",
            "p99>5ms",
            "p99<5",
            "p101<5ms",
            "p10<5ms",
            "pNaN<5ms",
            "p99<-1ms",
            "p99<0ms",
            "p99<1e9ms",
            "x<5ms",
        ] {
            assert_eq!(Sla::parse(wrong), Err(SlaError(wrong.into())), "{wrong}");
        }
    }

    #[test]
    fn what_too_few_requests_say_is_not_said() {
        let sla = Sla::parse("p99<5ms,p99.99<5s").unwrap();
        let lines = sla.lines(&simulation::stall());
        assert!(lines[0].starts_with("agreed p99 < 5 ms: MISSED, it is 2."), "{lines:?}");
        assert!(lines[1].contains("NOT KNOWN"), "{lines:?}");
        assert!(sla.lines(&Simulated::healthy(1, 500.0, 4).run())[0].contains("MET"));
    }
}
