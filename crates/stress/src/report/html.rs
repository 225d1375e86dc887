//! The report as one page that stands alone: no script, no font, nothing from the network, so that
//! it opens from a disk or an attachment and prints.

mod sections;

use std::fmt::{Result, Write};

use super::chart::{Chart, escape, svg};
use super::charts;
use super::own_times;
use super::standing::{self, Standing};
use super::words;
use crate::outcome::Outcome;
use crate::search::Sla;

/// Bytes of a page at most; runs beyond it keep to their own pages.
pub const PAGE_MAX: usize = 2 * 1024 * 1024;

/// Room for what follows the runs' charts.
const TAIL: usize = 256 * 1024;

const STYLE: &str = include_str!("html/style.css");

/// The page of one run, or of several with their family; `answer` stands under the title, as that
/// of a search.
pub fn html(outcomes: &[Outcome], sla: Option<&Sla>, answer: &[String]) -> String {
    let mut out = String::new();
    // A String never refuses what is written to it.
    let _ = match outcomes {
        [outcome] => one(&mut out, outcome, sla, answer),
        many => several(&mut out, many, sla, answer),
    };
    out
}

fn one(out: &mut String, outcome: &Outcome, sla: Option<&Sla>, answer: &[String]) -> Result {
    head(out, &format!("{}: {}", outcome.workload, standing::short_load(outcome)))?;
    sections::title(out, outcome)?;
    sections::verdict(out, outcome, sla, answer)?;
    sections::waits(out, outcome)?;
    sections::counts(out, outcome)?;
    figure(out, &charts::percentiles(outcome, sla))?;
    figure(out, &charts::timeline(outcome, sla))?;
    sections::events(out, outcome)?;
    sections::kinds(out, outcome)?;
    own_times::html(out, outcome)?;
    panel(out, outcome)?;
    figure(out, &charts::hiccups(outcome))?;
    sections::client(out, outcome)?;
    sections::setting(out, outcome)?;
    foot(out, outcome)
}

fn several(out: &mut String, outcomes: &[Outcome], sla: Option<&Sla>, answer: &[String]) -> Result {
    let Some(first) = outcomes.first() else {
        head(out, "no runs")?;
        return write!(out, "<h1>No runs</h1></main></body></html>");
    };
    let title = format!("{}: {}", first.workload, words::plural(outcomes.len() as u64, "run"));
    head(out, &title)?;
    write!(out, "<p class=\"kicker\">Response-time report</p><h1>{}</h1>", escape(&title))?;
    sections::answer(out, outcomes, answer)?;
    figure(out, &charts::family(outcomes, sla))?;
    figure(out, &charts::knee(outcomes, sla))?;
    sections::runs(out, outcomes)?;
    let mut left_out = 0;
    for (place, outcome) in outcomes.iter().enumerate() {
        let mut run = String::new();
        write!(run, "<section><h2>{}</h2>", escape(&standing::load(outcome)))?;
        write!(
            run,
            "<p class=\"caption\">{}: {}</p></section>",
            Standing::of(outcome).word(),
            escape(&Standing::of(outcome).sentence(outcome))
        )?;
        for mut chart in [charts::percentiles(outcome, sla), charts::timeline(outcome, sla)] {
            chart.name = format!("{}-{}", chart.name, place + 1);
            figure(&mut run, &chart)?;
        }
        sections::events(&mut run, outcome)?;
        if out.len() + run.len() + TAIL > PAGE_MAX {
            left_out += 1;
        } else {
            out.push_str(&run);
        }
    }
    if left_out > 0 {
        let noun = words::plural(left_out, "run");
        write!(
            out,
            "<p class=\"caption\">The charts of {noun} are left out, so that this page stays small; each run's own report has them.</p>"
        )?;
    }
    sections::setting(out, first)?;
    foot(out, first)
}

fn head(out: &mut String, title: &str) -> Result {
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\
         <link rel=\"icon\" href=\"data:,\"><title>{}</title>\n<style>\n{STYLE}</style></head>\n<body><main>\n",
        escape(title)
    )
}

fn figure(out: &mut String, chart: &Chart) -> Result {
    writeln!(
        out,
        "<figure><figcaption><h2>{}</h2><p class=\"caption\">{}</p></figcaption>{}</figure>",
        escape(&chart.title),
        escape(&chart.caption),
        svg(chart)
    )
}

/// The small charts of the server.
fn panel(out: &mut String, outcome: &Outcome) -> Result {
    let Some(samples) = &outcome.server else { return Ok(()) };
    write!(
        out,
        "<section class=\"server\"><h2>The server meanwhile</h2><p class=\"caption\">{}</p>",
        escape(&samples.sources.join("; "))
    )?;
    for gap in &samples.gaps {
        write!(out, "<p class=\"caption\">Not seen: {}</p>", escape(gap))?;
    }
    write!(out, "<div class=\"panel\">")?;
    for chart in charts::server(outcome) {
        write!(
            out,
            "<figure><figcaption><h3>{}</h3><p class=\"caption\">{}</p></figcaption>{}</figure>",
            escape(&chart.title),
            escape(&chart.caption),
            svg(&chart)
        )?;
    }
    writeln!(out, "</div></section>")
}

fn foot(out: &mut String, outcome: &Outcome) -> Result {
    writeln!(
        out,
        "<footer>basalt {} · percentiles from HDR histograms of three digits, never averaged · a percentile is quoted \
         when ten requests lie beyond it</footer></main></body></html>",
        escape(&outcome.setting.version)
    )
}

#[cfg(test)]
mod tests {
    //! What a page must hold, and what must never be in one.
    use super::*;
    use crate::simulation::{self, Pace, Simulated};

    #[test]
    fn a_page_stands_alone_and_nothing_in_it_is_executed() {
        let mut outcome = simulation::stall();
        outcome.workload = "<script>alert(1)</script>".into();
        outcome.command.push("--x='\"><img src=http://x>".into());
        outcome.setting.host.insert("<b>".into(), "</dl>".into());
        let page = html(&[outcome], Some(&Sla::parse("p99<100ms").unwrap()), &[]);
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("<b>"));
        assert_eq!(
            page.matches("http").count(),
            page.matches("http-equiv").count() + 1,
            "the escaped command only"
        );
        for needed in [
            "agreed p99 &lt; 100 ms: MISSED",
            "id=\"percentiles\"",
            "id=\"timeline\"",
            "id=\"hiccups\"",
            "10,000 planned",
        ] {
            assert!(page.contains(needed), "{needed}");
        }
    }

    #[test]
    fn a_family_of_many_runs_stays_below_the_limit() {
        let mut run = Simulated::healthy(1, 50.0, 5).run();
        run.events = vec![crate::outcome::Event { at_nanos: 1, text: "long words ".repeat(40) }; 100];
        run.load = crate::outcome::Load::Open { arrivals: "constant".into(), rate: 50.0, nanos: 1 };
        let page = html(&vec![run; 60], None, &["the answer".into()]);
        assert!(page.len() <= PAGE_MAX, "{}", page.len());
        assert!(page.contains("left out, so that this page stays small") && page.contains("the answer"));
    }

    #[test]
    fn a_closed_loop_is_titled_service_time_only() {
        let run = Simulated { load: Pace::Users(4), ..Simulated::healthy(1, 1.0, 2) }.run();
        let page = html(std::slice::from_ref(&run), None, &[]);
        assert!(page.contains("Service time only") && !page.contains("users waited"), "{page}");
        assert!(html(&[run.clone(), run], None, &[]).contains("Service time over throughput"));
        assert!(html(&[], None, &[]).contains("No runs"));
    }
}
