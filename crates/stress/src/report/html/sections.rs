//! The parts of the page that are words and tables.

use std::fmt::{Result, Write};

use super::escape;
use crate::outcome::{Counts, Latency, Outcome};
use crate::report::standing::{self, Standing, gap, is_known};
use crate::report::words::{self, count, duration, ms, plural, share};
use crate::search::Sla;

pub fn title(out: &mut String, outcome: &Outcome) -> Result {
    let version = outcome.setting.server.get("release_version");
    write!(
        out,
        "<p class=\"kicker\">{} · {}</p><h1>{} at {}</h1><p class=\"muted\">{}, against {}{}; {} a second were answered</p>",
        if outcome.is_open() { "Response-time report" } else { "Service time only" },
        words::utc(outcome.setting.started_micros),
        escape(&outcome.workload),
        escape(&standing::short_load(outcome)),
        escape(&capital(&standing::load(outcome))),
        escape(&outcome.setting.targets.join(", ")),
        version.map(|version| format!(" ({})", escape(version))).unwrap_or_default(),
        words::digits(outcome.rate())
    )
}

fn colour(standing: Standing) -> &'static str {
    match standing {
        Standing::Valid => "good",
        Standing::Degraded | Standing::Suspect => "fair",
        Standing::ClientLimited | Standing::Invalid => "bad",
    }
}

pub fn verdict(out: &mut String, outcome: &Outcome, sla: Option<&Sla>, answer: &[String]) -> Result {
    let standing = Standing::of(outcome);
    let mut lines = sla.map(|sla| sla.lines(outcome)).unwrap_or_default();
    lines.extend(answer.iter().cloned());
    lines.extend(notes(outcome));
    let missed = if lines.iter().any(|line| is_missed(line)) { " missed" } else { "" };
    write!(
        out,
        "<section class=\"verdict {}{missed}\"><p><strong>{}</strong> · {}</p>",
        colour(standing),
        standing.word(),
        escape(&format!("{}.", capital(&standing.sentence(outcome))))
    )?;
    items(out, &lines)?;
    write!(out, "</section>")
}

/// What a reader must know besides.
fn notes(outcome: &Outcome) -> impl Iterator<Item = String> {
    outcome.notes.iter().map(|note| format!("note: {note}"))
}

fn is_missed(line: &str) -> bool {
    line.contains(": MISSED,")
}

/// A sentence's first letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}

fn items(out: &mut String, lines: &[String]) -> Result {
    if lines.is_empty() {
        return Ok(());
    }
    write!(out, "<ul>")?;
    for line in lines {
        let class = if is_missed(line) { " class=\"missed\"" } else { "" };
        write!(out, "<li{class}>{}</li>", escape(line))?;
    }
    write!(out, "</ul>")
}

/// The answer of a series, with the worst of its runs' standings.
pub fn answer(out: &mut String, outcomes: &[Outcome], answer: &[String]) -> Result {
    let worst = outcomes.iter().map(Standing::of).max().unwrap_or(Standing::Valid);
    let as_bad = outcomes.iter().filter(|outcome| Standing::of(outcome) == worst).count() as u64;
    let runs = plural(outcomes.len() as u64, "run");
    let told = if worst == Standing::Valid {
        format!("all of {runs} show what was asked")
    } else {
        format!("{} of {runs}, the others are better", count(as_bad))
    };
    write!(
        out,
        "<section class=\"verdict {}\"><p><strong>{}</strong> · {told}</p>",
        colour(worst),
        worst.word(),
    )?;
    let mut lines = answer.to_vec();
    for note in outcomes.iter().flat_map(notes) {
        if !lines.contains(&note) {
            lines.push(note);
        }
    }
    items(out, &lines)?;
    write!(out, "</section>")
}

/// Response and service time side by side, and what lies between them.
pub fn waits(out: &mut String, outcome: &Outcome) -> Result {
    let (response, service) = (outcome.response(), outcome.service());
    let open = outcome.is_open();
    write!(out, "<section><div class=\"scroll\"><table class=\"waits\"><thead><tr><th></th>")?;
    if open {
        write!(out, "<th>users waited<small>response time</small></th>")?;
    }
    write!(out, "<th>the server took<small>service time</small></th>")?;
    writeln!(out, "{}</tr></thead><tbody>", if open { "<th></th>" } else { "" })?;
    let main = if open { &response } else { &service };
    let known = standing::SHOWN.into_iter().filter(|quantile| is_known(main.count(), *quantile));
    for quantile in known.map(Some).chain([None]) {
        let name = match quantile {
            Some(0.5) => "half of the requests, within".to_owned(),
            Some(quantile) => format!("{}, within", share(quantile)),
            None => "the longest".to_owned(),
        };
        let of = |latency: &Latency| quantile.map_or(latency.0.max(), |quantile| latency.at(quantile));
        let (waited, took) = (of(&response), of(&service));
        write!(out, "<tr><th>{name}</th>")?;
        if open {
            write!(out, "<td class=\"r\">{} ms</td>", ms(waited))?;
        }
        write!(out, "<td class=\"s\">{} ms</td>", ms(took))?;
        let ratio = waited as f64 / took.max(1) as f64;
        let times = if ratio >= 1.5 { format!("{} times", words::digits(ratio)) } else { String::new() };
        writeln!(out, "{}</tr>", if open { format!("<td class=\"t\">{times}</td>") } else { String::new() })?;
    }
    write!(out, "</tbody></table></div>")?;
    if let Some(quantile) = standing::SHOWN.into_iter().find(|quantile| !is_known(main.count(), *quantile)) {
        let needed = count(standing::samples_for(quantile));
        write!(
            out,
            "<p class=\"caption\">{} is not quoted: that takes {needed} requests.</p>",
            share(quantile)
        )?;
    }
    writeln!(out, "<p class=\"gap\">{}</p></section>", escape(&gap(outcome)))
}

/// The sums, as sums.
pub fn counts(out: &mut String, outcome: &Outcome) -> Result {
    let Counts { planned, sent, unsent, answered, failed, timed_out, in_flight } = outcome.counts;
    write!(
        out,
        "<section class=\"sums\"><h2>Every request is accounted for</h2><p class=\"caption\">{} planned = {} sent + {} never \
         sent; {} sent = {} answered + {} failed + {} timed out + {} unanswered at the end.",
        count(planned),
        count(sent),
        count(unsent),
        count(sent),
        count(answered),
        count(failed),
        count(timed_out),
        count(in_flight)
    )?;
    if !outcome.counts.add_up() {
        write!(out, " <strong>These do not add up.</strong>")?;
    }
    if outcome.counts.censored() > 0 {
        write!(
            out,
            " Those never sent or unanswered stand in the response times with the age they had at the end."
        )?;
    }
    write!(out, "</p>")?;
    if let Some(found) = outcome.verified {
        write!(out, "<p class=\"caption\">Read back: {}.</p>", standing::read_back(&found))?;
    }
    writeln!(out, "</section>")
}

/// The numbered events under the chart over time.
pub fn events(out: &mut String, outcome: &Outcome) -> Result {
    if outcome.events.is_empty() {
        return Ok(());
    }
    write!(out, "<ol class=\"events\">")?;
    for event in outcome.events.iter().take(100) {
        write!(out, "<li>{}: {}</li>", duration(event.at_nanos), escape(&event.text))?;
    }
    writeln!(out, "</ol>")
}

/// A line a kind of operation, and the words of failures.
pub fn kinds(out: &mut String, outcome: &Outcome) -> Result {
    let open = outcome.is_open();
    write!(
        out,
        "<section><h2>By kind of operation</h2><p class=\"caption\">{}</p>",
        if open { "Milliseconds: response (service)" } else { "Milliseconds: service" }
    )?;
    write!(
        out,
        "<div class=\"scroll\"><table><thead><tr><th></th><th>answered</th><th>failed</th><th>p50</th><th>p99</th><th>p99.9</th><th>max</th></tr></thead><tbody>"
    )?;
    for kind in outcome.kinds.iter().filter(|kind| kind.counts.planned > 0) {
        let failed = kind.counts.failed + kind.counts.timed_out;
        write!(
            out,
            "<tr><th>{}</th><td>{}</td><td>{}</td>",
            escape(&kind.name),
            count(kind.counts.answered),
            count(failed)
        )?;
        for quantile in [Some(0.5), Some(0.99), Some(0.999), None] {
            let of =
                |latency: &Latency| ms(quantile.map_or(latency.0.max(), |quantile| latency.at(quantile)));
            let known = quantile.is_none_or(|quantile| is_known(kind.service.count(), quantile));
            match (known, open) {
                (false, _) => write!(out, "<td class=\"muted\">too few</td>")?,
                (true, true) => write!(out, "<td>{} ({})</td>", of(&kind.response), of(&kind.service))?,
                (true, false) => write!(out, "<td>{}</td>", of(&kind.service))?,
            }
        }
        write!(out, "</tr>")?;
    }
    write!(out, "</tbody></table></div>")?;
    for kind in &outcome.kinds {
        for (error, number) in &kind.errors {
            write!(
                out,
                "<p class=\"caption\">{} {}: {}</p>",
                count(*number),
                escape(&kind.name),
                escape(error)
            )?;
        }
    }
    writeln!(out, "</section>")
}

/// A line a run.
pub fn runs(out: &mut String, outcomes: &[Outcome]) -> Result {
    let open = outcomes.iter().all(Outcome::is_open);
    let caption = if open { "Milliseconds: response (service)" } else { "Milliseconds: service time only" };
    write!(
        out,
        "<section><h2>The runs</h2><p class=\"caption\">{caption}</p><div class=\"scroll\"><table><thead><tr><th>load</th><th>achieved</th><th>p50</th><th>p99</th><th>p99.9</th><th>max</th><th></th></tr></thead><tbody>"
    )?;
    for outcome in outcomes {
        let (response, service) = (outcome.response(), outcome.service());
        write!(
            out,
            "<tr><th>{}</th><td>{}/s</td>",
            standing::short_load(outcome),
            words::short(outcome.rate())
        )?;
        for quantile in [Some(0.5), Some(0.99), Some(0.999), None] {
            let of =
                |latency: &Latency| ms(quantile.map_or(latency.0.max(), |quantile| latency.at(quantile)));
            let known = quantile.is_none_or(|quantile| is_known(service.count(), quantile));
            match (known, open) {
                (false, _) => write!(out, "<td class=\"muted\">too few</td>")?,
                (true, true) => write!(out, "<td>{} ({})</td>", of(&response), of(&service))?,
                (true, false) => write!(out, "<td>{}</td>", of(&service))?,
            }
        }
        let standing = Standing::of(outcome);
        write!(
            out,
            "<td class=\"muted\">{}</td></tr>",
            if standing == Standing::Valid { "" } else { standing.word() }
        )?;
    }
    writeln!(out, "</tbody></table></div></section>")
}

/// What the client knows of itself.
pub fn client(out: &mut String, outcome: &Outcome) -> Result {
    let client = &outcome.client;
    let seconds = (outcome.elapsed_nanos as f64 / 1e9).max(1e-9);
    write!(
        out,
        "<p class=\"caption\">{}. {} used {} processors; its threads could have run and did not for {} in all.</p>",
        escape(&client.reason),
        plural(u64::from(client.workers), "worker"),
        words::digits(client.cpu_nanos as f64 / 1e9 / seconds),
        duration(client.run_queue_nanos)
    )
}

/// How to do it again.
pub fn setting(out: &mut String, outcome: &Outcome) -> Result {
    let setting = &outcome.setting;
    write!(
        out,
        "<section><h2>To do it again</h2><pre><code>{}</code></pre><dl>",
        escape(&outcome.command.join(" "))
    )?;
    let mut pair =
        |name: &str, value: &str| write!(out, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
    pair("seed", &outcome.seed.to_string())?;
    pair("started", &words::utc(setting.started_micros))?;
    pair("basalt", &setting.version)?;
    for (name, value) in setting.server.iter().map(|(name, value)| (format!("server {name}"), value)) {
        pair(&name, value)?;
    }
    for (name, value) in setting.client.iter().chain(&setting.host) {
        pair(name, value)?;
    }
    writeln!(out, "</dl></section>")
}
