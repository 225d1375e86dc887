//! Marks as PNG, on white, for slides and tickets. Letters are outlines of the font that is part
//! of the program, so that a picture is the same on every machine.

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};
use ttf_parser::{Face, OutlineBuilder};

use super::{Anchor, Chart, Ink, Mark, Point};

/// Inter, cut down to the characters of charts; its licence lies beside it.
const FONT: &[u8] = include_bytes!("../../../assets/inter.otf");

/// Dots of the picture for one unit of the chart.
const SCALE: f32 = 2.0;

/// Height of the title's strip, in units of the chart.
const TITLE: f32 = 40.0;

/// Why a chart cannot be painted.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// Too large or too small.
    #[error("a picture of {0} by {1}")]
    Size(f64, f64),
    /// The encoder's words.
    #[error("the picture cannot be written: {0}")]
    Encode(String),
}

/// The chart with its title as a PNG file's bytes.
///
/// # Errors
/// When its size makes no sense.
pub fn png(chart: &Chart) -> Result<Vec<u8>, PngError> {
    let size = |length: f64, more: f32| ((length as f32 + more) * SCALE).ceil() as u32;
    let mut pixmap = Pixmap::new(size(chart.width, 0.0), size(chart.height, TITLE))
        .ok_or(PngError::Size(chart.width, chart.height))?;
    pixmap.fill(Color::WHITE);
    let face = Face::parse(FONT, 0).expect("the font is part of the program");
    let mut painter = Painter { pixmap, face, shift: Transform::from_scale(SCALE, SCALE) };
    painter.text((14.0, 26.0), Anchor::Start, Ink::Text, 16.0, &chart.title);
    painter.shift = painter.shift.pre_translate(0.0, TITLE);
    for mark in &chart.marks {
        painter.mark(mark);
    }
    painter.pixmap.encode_png().map_err(|error| PngError::Encode(error.to_string()))
}

struct Painter {
    pixmap: Pixmap,
    face: Face<'static>,
    shift: Transform,
}

impl Painter {
    fn mark(&mut self, mark: &Mark) {
        match mark {
            Mark::Line { points, ink, width, dashed } => self.line(points, *ink, *width, *dashed),
            Mark::Area { points, ink } => {
                if let Some(path) = path(points, true) {
                    self.fill(&path, *ink, 30, self.shift);
                }
            }
            Mark::Dot { at, ink } => {
                if let Some(path) = PathBuilder::from_circle(at.0 as f32, at.1 as f32, 3.0) {
                    self.fill(&path, *ink, 255, self.shift);
                }
            }
            Mark::Text { at, anchor, ink, size, text } => self.text(*at, *anchor, *ink, *size, text),
            Mark::Hint { .. } => {}
        }
    }

    fn line(&mut self, points: &[Point], ink: Ink, width: f64, dashed: bool) {
        let Some(path) = path(points, false) else { return };
        let stroke = Stroke {
            width: width as f32,
            line_cap: LineCap::Butt,
            line_join: LineJoin::Round,
            dash: if dashed { StrokeDash::new(vec![5.0, 4.0], 0.0) } else { None },
            ..Stroke::default()
        };
        self.pixmap.stroke_path(&path, &paint(ink, 255), &stroke, self.shift, None);
    }

    fn fill(&mut self, path: &Path, ink: Ink, opacity: u8, transform: Transform) {
        self.pixmap.fill_path(path, &paint(ink, opacity), FillRule::Winding, transform, None);
    }

    fn text(&mut self, at: Point, anchor: Anchor, ink: Ink, size: f64, text: &str) {
        let unit = size as f32 / f32::from(self.face.units_per_em());
        let glyphs: Vec<_> =
            text.chars().map(|letter| self.face.glyph_index(letter).unwrap_or_default()).collect();
        let advance = |glyph| f32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0)) * unit;
        let length: f32 = glyphs.iter().map(|glyph| advance(*glyph)).sum();
        let mut x = at.0 as f32
            - match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => length / 2.0,
                Anchor::End => length,
            };
        let mut placed = Vec::new();
        for glyph in glyphs {
            placed.push((glyph, x));
            x += advance(glyph);
        }
        for (glyph, x) in placed {
            let mut outline = Outline(PathBuilder::new());
            self.face.outline_glyph(glyph, &mut outline);
            if let Some(path) = outline.0.finish() {
                // A font's letters stand up from their base line; a picture's rows go down.
                let place = self.shift.pre_translate(x, at.1 as f32).pre_scale(unit, -unit);
                self.fill(&path, ink, 255, place);
            }
        }
    }
}

fn path(points: &[Point], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    let (first, rest) = points.split_first()?;
    path.move_to(first.0 as f32, first.1 as f32);
    for (x, y) in rest {
        path.line_to(*x as f32, *y as f32);
    }
    if closed {
        path.close();
    }
    path.finish()
}

fn paint(ink: Ink, opacity: u8) -> Paint<'static> {
    let (red, green, blue) = match ink {
        Ink::Text => (0x1c, 0x24, 0x2c),
        Ink::Muted => (0x5f, 0x6b, 0x77),
        Ink::Grid => (0xe7, 0xea, 0xee),
        Ink::Response => (0xb8, 0x4a, 0x1e),
        Ink::Service => (0x2f, 0x6a, 0x9f),
        Ink::Faint => (0xdc, 0x9a, 0x76),
        Ink::Event => (0x8a, 0x5a, 0xa8),
        Ink::Step(step) => STEPS[step.min(Ink::STEPS - 1)],
    };
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(red, green, blue, opacity);
    paint
}

/// From little to much.
const STEPS: [(u8, u8, u8); Ink::STEPS] = [
    (0x8f, 0xc1, 0xc9),
    (0x5f, 0xa8, 0xb8),
    (0x3f, 0x8d, 0xa8),
    (0x3a, 0x6f, 0x98),
    (0x5b, 0x55, 0x93),
    (0x86, 0x44, 0x7f),
    (0xab, 0x3f, 0x5c),
    (0xb8, 0x4a, 0x1e),
];

/// A letter's outline as a path.
struct Outline(PathBuilder);

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    //! Pictures have the size and the colours asked for.
    use super::*;

    #[test]
    fn every_mark_leaves_its_colour() {
        let mut chart = Chart::new("x", "p99 in ms", "", (100.0, 60.0));
        chart.line(vec![(0.0, 10.0), (100.0, 10.0)], Ink::Response, 4.0, false);
        chart.marks.push(Mark::Dot { at: (50.0, 30.0), ink: Ink::Service });
        let picture = Pixmap::decode_png(&png(&chart).unwrap()).unwrap();
        assert_eq!((picture.width(), picture.height()), (200, 200));
        let colour = |x, y| picture.pixel(x, y).map(|dot| (dot.red(), dot.green(), dot.blue()));
        assert_eq!(colour(100, 100), Some((0xb8, 0x4a, 0x1e)));
        assert_eq!(colour(100, 140), Some((0x2f, 0x6a, 0x9f)));
        let title = (0..200)
            .flat_map(|x| (0..70).map(move |y| (x, y)))
            .any(|(x, y)| colour(x, y) == Some((0x1c, 0x24, 0x2c)));
        assert!(title, "the title's letters are drawn");
    }

    #[test]
    fn the_font_has_every_letter_of_a_label() {
        let face = Face::parse(FONT, 0).unwrap();
        assert!((' '..='~').all(|letter| face.glyph_index(letter).is_some()));
    }

    #[test]
    fn a_picture_without_size_is_refused() {
        assert!(png(&Chart::new("x", "", "", (0.0, 10.0))).is_err());
    }
}
