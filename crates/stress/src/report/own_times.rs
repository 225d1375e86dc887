//! The server's view beside the client's: how long requests took by each of their clocks. Between what the client calls service and
//! what the server calls response lie the network and two kernels; between the server's two, what waited inside of it.

use std::fmt::{Result, Write};

use super::is_known;
use super::words::{count, ms, percentile};
use crate::outcome::{Latency, Outcome};

/// The percentiles shown.
const SHOWN: [f64; 3] = [0.5, 0.99, 0.999];

/// A clock's name, how many requests it saw, its percentiles.
struct Row {
    name: &'static str,
    requests: u64,
    cells: Vec<String>,
}

/// The rows, from the user to the storage; none when the server did not tell.
fn rows(outcome: &Outcome) -> Vec<Row> {
    let Some(samples) = outcome.server.as_ref().filter(|samples| !samples.own_times.is_empty()) else {
        return Vec::new();
    };
    let client = |name, latency: &Latency| Row {
        name,
        requests: latency.count(),
        cells: SHOWN.iter().map(|part| cell(latency.count(), *part, Some(latency.at(*part)))).collect(),
    };
    let server = |name, clock: &str| {
        let times = samples.own_times.iter().find(|times| times.clock == clock)?;
        let at = |part: &f64| cell(times.requests, *part, times.at(*part));
        Some(Row { name, requests: times.requests, cells: SHOWN.iter().map(at).collect() })
    };
    let response = outcome.is_open().then(|| client("client, from due to answered", &outcome.response()));
    [
        response,
        Some(client("client, from sent to answered", &outcome.service())),
        server("server, from arrived to answered", "response"),
        server("server, from begun to result", "service"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn cell(requests: u64, quantile: f64, nanos: Option<u64>) -> String {
    match nanos {
        Some(nanos) if is_known(requests, quantile) => ms(nanos),
        _ => "too few".to_owned(),
    }
}

/// For the page of text.
///
/// # Errors
/// As `out`.
pub fn text(out: &mut String, outcome: &Outcome) -> Result {
    let rows = rows(outcome);
    if rows.is_empty() {
        return Ok(());
    }
    write!(out, "\n{:<36}{:>12}", "ms, by whose clock", "requests")?;
    for quantile in SHOWN {
        write!(out, "{:>13}", percentile(quantile))?;
    }
    writeln!(out)?;
    for row in rows {
        write!(out, "  {:<34}{:>12}", row.name, count(row.requests))?;
        for cell in row.cells {
            write!(out, "{cell:>13}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// For the page that stands alone.
///
/// # Errors
/// As `out`.
pub fn html(out: &mut String, outcome: &Outcome) -> Result {
    let rows = rows(outcome);
    if rows.is_empty() {
        return Ok(());
    }
    write!(
        out,
        "<section><h2>By whose clock</h2><p class=\"caption\">Milliseconds. Between the client's and the server's lie the network \
         and two kernels.</p><div class=\"scroll\"><table><thead><tr><th></th><th>requests</th>"
    )?;
    for quantile in SHOWN {
        write!(out, "<th>{}</th>", percentile(quantile))?;
    }
    write!(out, "</tr></thead><tbody>")?;
    for row in rows {
        write!(out, "<tr><th>{}</th><td>{}</td>", row.name, count(row.requests))?;
        for cell in row.cells {
            write!(out, "<td>{cell}</td>")?;
        }
        write!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div></section>")
}

#[cfg(test)]
mod tests {
    //! Both views of one run.
    use expect_test::expect;

    use super::*;
    use crate::server::{OwnTimes, Samples};
    use crate::simulation;

    fn told() -> Outcome {
        let mut outcome = simulation::stall();
        let times = |clock: &str, requests, nanos: [u64; 4]| OwnTimes {
            clock: clock.to_owned(),
            requests,
            quantiles: [0.5, 0.9, 0.99, 0.999].into_iter().zip(nanos).collect(),
        };
        let own_times = vec![
            times("response", 10_000, [300_000, 500_000, 900_000, 1_500_000]),
            times("service", 9_999, [200_000, 300_000, 600_000, 900_000]),
        ];
        outcome.server = Some(Samples { own_times, ..Samples::default() });
        outcome
    }

    #[test]
    fn four_clocks_stand_under_each_other() {
        let mut out = String::new();
        text(&mut out, &told()).unwrap();
        expect![[r#"

            ms, by whose clock                      requests          p50          p99        p99.9
              client, from due to answered            10,000        0.453       2812.3       2982.2
              client, from sent to answered           10,000        0.403          1.2          1.8
              server, from arrived to answered        10,000        0.300        0.900          1.5
              server, from begun to result             9,999        0.200        0.600      too few
        "#]]
        .assert_eq(&out);
        let mut page = String::new();
        html(&mut page, &told()).unwrap();
        assert!(
            page.contains("<tr><th>server, from arrived to answered</th><td>10,000</td><td>0.300</td>"),
            "{page}"
        );
    }

    #[test]
    fn a_server_that_tells_nothing_has_no_table() {
        let mut out = String::new();
        text(&mut out, &simulation::stall()).unwrap();
        html(&mut out, &simulation::stall()).unwrap();
        assert_eq!(out, "");
    }
}
