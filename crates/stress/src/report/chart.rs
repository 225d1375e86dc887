//! A chart as a list of marks, drawn once: written as SVG into a page that is light or dark, or
//! painted as PNG. Knows nothing of latencies.

mod axis;
mod png;
mod svg;

pub use axis::{Axis, Scale, Tick};
pub use png::{PngError, png};
pub use svg::{escape, svg};

/// What a mark is drawn in; the page says which colour that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Titles and labels.
    Text,
    /// Labels of axes.
    Muted,
    /// Lines behind the figures.
    Grid,
    /// What users waited.
    Response,
    /// What the server took.
    Service,
    /// A second response figure, fainter.
    Faint,
    /// Events, limits.
    Event,
    /// One of [`Ink::STEPS`] steps from little to much, for families of runs.
    Step(usize),
}

impl Ink {
    /// Steps of a family.
    pub const STEPS: usize = 8;
}

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// By its beginning.
    Start,
    /// By its middle.
    Middle,
    /// By its end.
    End,
}

/// A point: right, down.
pub type Point = (f64, f64);

/// One thing drawn.
#[derive(Clone, Debug)]
pub enum Mark {
    /// Lines through points.
    Line {
        /// Where; at least two.
        points: Vec<Point>,
        /// In what.
        ink: Ink,
        /// How thick.
        width: f64,
        /// Whether broken into dashes.
        dashed: bool,
    },
    /// A filled shape, thinly.
    Area {
        /// Its corners.
        points: Vec<Point>,
        /// In what.
        ink: Ink,
    },
    /// A dot.
    Dot {
        /// Where.
        at: Point,
        /// In what.
        ink: Ink,
    },
    /// Words.
    Text {
        /// Where the anchor is, on the base line.
        at: Point,
        /// Which end is there.
        anchor: Anchor,
        /// In what.
        ink: Ink,
        /// How high.
        size: f64,
        /// The words.
        text: String,
    },
    /// What a pointer over a place is told; nothing on paper.
    Hint {
        /// Left, top, width, height.
        place: (f64, f64, f64, f64),
        /// The words.
        text: String,
    },
}

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// For file names: `percentiles`.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What a reader should see in it; under the title.
    pub caption: String,
    /// Right.
    pub width: f64,
    /// Down.
    pub height: f64,
    /// From back to front.
    pub marks: Vec<Mark>,
}

/// The part of a chart between its axes.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Along the bottom.
    pub x: Axis,
    /// Along the left.
    pub y: Axis,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// Height of labels.
const LABEL: f64 = 11.5;

/// Width of a wide letter of a label.
const LETTER: f64 = 6.9;

impl Chart {
    /// An empty one.
    pub fn new(name: &str, title: &str, caption: &str, size: (f64, f64)) -> Chart {
        let [name, title, caption] = [name, title, caption].map(str::to_owned);
        Chart { name, title, caption, width: size.0, height: size.1, marks: Vec::new() }
    }

    /// Draws axes and grid, with room for the labels on the left and below, and for `right` beside it.
    pub fn plot(&mut self, x: Axis, y: Axis, right: f64) -> Plot {
        let (top, bottom) = (12.0, 40.0);
        let longest = y.ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0);
        let left = (longest as f64 * LETTER + 12.0).max(52.0);
        let plot =
            Plot { x, y, left, top, width: self.width - left - right, height: self.height - top - bottom };
        for tick in &plot.y.ticks {
            let at = plot.down(tick.at);
            self.line(vec![(left, at), (left + plot.width, at)], Ink::Grid, 1.0, false);
            self.text((left - 8.0, at + 4.0), Anchor::End, Ink::Muted, &tick.label);
        }
        let floor = top + plot.height;
        for tick in &plot.x.ticks {
            let at = plot.right(tick.at);
            self.line(vec![(at, top), (at, floor)], Ink::Grid, 1.0, false);
            self.text((at, floor + 17.0), Anchor::Middle, Ink::Muted, &tick.label);
        }
        self.text((left + plot.width / 2.0, floor + 34.0), Anchor::Middle, Ink::Muted, &plot.x.title);
        plot
    }

    /// Adds a line; one point alone becomes a dot.
    pub fn line(&mut self, points: Vec<Point>, ink: Ink, width: f64, dashed: bool) {
        match points.as_slice() {
            [] => {}
            [at] => self.marks.push(Mark::Dot { at: *at, ink }),
            _ => self.marks.push(Mark::Line { points, ink, width, dashed }),
        }
    }

    /// Adds a line that breaks where there is no value.
    pub fn broken_line(&mut self, points: &[Option<Point>], ink: Ink, width: f64, dashed: bool) {
        for piece in points.split(Option::is_none) {
            self.line(piece.iter().copied().flatten().collect(), ink, width, dashed);
        }
    }

    /// Adds words.
    pub fn text(&mut self, at: Point, anchor: Anchor, ink: Ink, text: &str) {
        self.marks.push(Mark::Text { at, anchor, ink, size: LABEL, text: text.to_owned() });
    }

    /// Names lines at their right ends, moved apart where they would touch.
    pub fn name_ends(&mut self, plot: &Plot, mut names: Vec<(f64, Ink, String)>) {
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut above = f64::NEG_INFINITY;
        let room = LABEL + 3.0;
        let last = plot.top + plot.height;
        let mut places: Vec<f64> = names
            .iter()
            .map(|(at, ..)| {
                above = at.max(above + room);
                above
            })
            .collect();
        // Pushed below the floor, they move up again from the last.
        let mut limit = last;
        for place in places.iter_mut().rev() {
            *place = place.min(limit);
            limit = *place - room;
        }
        for ((_, ink, name), place) in names.into_iter().zip(places) {
            self.text((plot.left + plot.width + 8.0, place + 4.0), Anchor::Start, ink, &name);
        }
    }

    /// Draws a limit across the plot from `from` to the right, with its name.
    pub fn limit(&mut self, plot: &Plot, from: f64, value: f64, name: &str) {
        if !plot.y.holds(value) {
            return;
        }
        let (left, at) = (plot.right(from), plot.down(value));
        let end = plot.left + plot.width;
        self.line(vec![(left, at), (end, at)], Ink::Event, 1.25, true);
        // Over the line, but for one at the very top.
        let base = if at - LABEL < plot.top { at + LABEL + 2.0 } else { at - 5.0 };
        self.text((end - 4.0, base), Anchor::End, Ink::Event, name);
    }
}

impl Plot {
    /// Where a value of the x axis is.
    pub fn right(&self, value: f64) -> f64 {
        self.left + self.x.place(value) * self.width
    }

    /// Where a value of the y axis is.
    pub fn down(&self, value: f64) -> f64 {
        self.top + (1.0 - self.y.place(value)) * self.height
    }

    /// Where a pair of values is.
    pub fn at(&self, x: f64, y: f64) -> Point {
        (self.right(x), self.down(y))
    }

    /// Left, top, right, bottom.
    pub fn edges(&self) -> (f64, f64, f64, f64) {
        (self.left, self.top, self.left + self.width, self.top + self.height)
    }
}
