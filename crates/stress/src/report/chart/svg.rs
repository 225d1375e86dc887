//! Marks as SVG for a page whose style sheet names the colours.

use std::fmt::{Result, Write};

use super::{Anchor, Chart, Ink, Mark, Point};

/// The chart as an `<svg>` element.
pub fn svg(chart: &Chart) -> String {
    let mut out = String::new();
    // A String never refuses what is written to it.
    let _ = write_svg(&mut out, chart);
    out
}

fn write_svg(out: &mut String, chart: &Chart) -> Result {
    write!(
        out,
        "<svg id=\"{}\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
        escape(&chart.name),
        chart.width,
        chart.height,
        escape(&chart.title)
    )?;
    for mark in &chart.marks {
        match mark {
            Mark::Line { points, ink, width, dashed } => {
                write!(out, "<polyline class=\"l {}\" stroke-width=\"{width}\"", class(*ink))?;
                if *dashed {
                    write!(out, " stroke-dasharray=\"5 4\"")?;
                }
                write_points(out, points)?;
            }
            Mark::Area { points, ink } => {
                write!(out, "<polygon class=\"a {}\"", class(*ink))?;
                write_points(out, points)?;
            }
            Mark::Dot { at, ink } => {
                write!(
                    out,
                    "<circle class=\"d {}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"/>",
                    class(*ink),
                    at.0,
                    at.1
                )?;
            }
            Mark::Text { at, anchor, ink, size, text } => {
                let anchor = match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                write!(
                    out,
                    "<text class=\"{}\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{}</text>",
                    class(*ink),
                    at.0,
                    at.1,
                    escape(text)
                )?;
            }
            Mark::Hint { place: (x, y, width, height), text } => {
                write!(
                    out,
                    "<rect class=\"h\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"><title>{}</title></rect>",
                    escape(text)
                )?;
            }
        }
    }
    write!(out, "</svg>")
}

fn write_points(out: &mut String, points: &[Point]) -> Result {
    write!(out, " points=\"")?;
    for (x, y) in points {
        write!(out, "{x:.1},{y:.1} ")?;
    }
    write!(out, "\"/>")
}

fn class(ink: Ink) -> String {
    match ink {
        Ink::Text => "text".to_owned(),
        Ink::Muted => "muted".to_owned(),
        Ink::Grid => "grid".to_owned(),
        Ink::Response => "response".to_owned(),
        Ink::Service => "service".to_owned(),
        Ink::Faint => "faint".to_owned(),
        Ink::Event => "event".to_owned(),
        Ink::Step(step) => format!("s{}", step.min(Ink::STEPS - 1)),
    }
}

/// A text in which nothing is markup.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // No control character belongs into a page.
            letter if letter.is_control() && letter != '\n' => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    //! Text stays text.
    use super::*;

    #[test]
    fn nothing_in_a_text_becomes_markup() {
        let mut chart = Chart::new("a\"b", "<script>", "", (10.0, 10.0));
        chart.text((1.0, 2.0), Anchor::Start, Ink::Text, "p99 < 5 ms & 'x'\u{0}");
        let text = svg(&chart);
        assert!(text.contains(">p99 &lt; 5 ms &amp; &#39;x&#39;\u{fffd}</text>"), "{text}");
        assert!(!text.contains("<script>"));
    }
}
