//! The units of a corpus and the numbers that every question needs of it, worked out when it is put together.

use super::corpus::Document;
use super::rows::{Kind, Role};

/// One unit of the corpus.
#[derive(Debug, Clone, Copy)]
pub struct Unit {
    /// Position of its document.
    pub document: u32,
    /// Number of its first paragraph in the corpus.
    pub first: u32,
    /// How many.
    pub paragraphs: u32,
    /// Length in terms.
    pub length: u32,
    /// The chapter that it is or is about.
    pub chapter: Option<u32>,
    /// What its document is.
    pub kind: Kind,
    /// Whether it is what an outline says of a chapter.
    pub line: bool,
}

/// What is read of paragraphs, windows and units while they are scored; by paragraph if nothing else is said.
#[derive(Debug, Default)]
pub struct Columns {
    /// Length in terms of the paragraph and of its window.
    pub lengths: [Vec<f32>; 2],
    /// How many paragraphs before and after it its window holds.
    pub around: Vec<(u8, u8)>,
    /// How many windows before and after its own hold it.
    pub holding: Vec<(u8, u8)>,
    /// Whether it is a body.
    pub body: Vec<bool>,
    /// Length in terms, by unit.
    pub unit_lengths: Vec<f32>,
    /// Whether it is what an outline says of a chapter, by unit.
    pub lines: Vec<bool>,
}

/// How many texts there are at a level, and their length in terms together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Total {
    /// Texts.
    pub count: u64,
    /// Terms.
    pub length: u64,
}

/// What is ranked: paragraphs, windows around them, units, lines of the outline.
pub const LEVELS: usize = 4;
/// Position of a level in every array of four.
pub const PARAGRAPH: usize = 0;
/// See `PARAGRAPH`.
pub const WINDOW: usize = 1;
/// See `PARAGRAPH`.
pub const UNIT: usize = 2;
/// See `PARAGRAPH`.
pub const LINE: usize = 3;

/// Units, totals and columns.
#[derive(Debug, Default)]
pub struct Table {
    /// By document, then in the order of the document.
    pub units: Vec<Unit>,
    /// By level.
    pub totals: [Total; LEVELS],
    /// (line of an outline, unit of the chapter that it is about), both numbers of units.
    pub told: Vec<(u32, u32)>,
    /// What is read while paragraphs are scored.
    pub columns: Columns,
}

impl Table {
    /// Of documents in their order, which are given their first paragraphs and units.
    pub fn of(documents: &mut [Document]) -> Self {
        let mut table = Self::default();
        let Self {
            units,
            totals,
            columns,
            ..
        } = &mut table;
        let mut paragraphs = 0;
        for (position, document) in documents.iter_mut().enumerate() {
            document.first_paragraph = paragraphs;
            document.first_unit = units.len() as u32;
            let rows = &document.rows;
            for (unit, (first, count)) in rows.units.iter().zip(rows.spans()) {
                let own = &rows.paragraphs[first as usize..(first + count) as usize];
                let said = own.iter().any(|paragraph| paragraph.role == Role::Body);
                let unit = Unit {
                    document: position as u32,
                    first: paragraphs + first,
                    paragraphs: count,
                    length: own
                        .iter()
                        .fold(0, |sum: u32, p| sum.saturating_add(p.length)),
                    chapter: unit.chapter,
                    kind: rows.kind,
                    line: rows.kind == Kind::Outline && unit.chapter.is_some() && said,
                };
                totals[UNIT].add(1, unit.length);
                totals[LINE].add(
                    u64::from(unit.line),
                    if unit.line { unit.length } else { 0 },
                );
                columns.unit_lengths.push(unit.length as f32);
                columns.lines.push(unit.line);
                units.push(unit);
            }
            for (paragraph, &window) in rows.paragraphs.iter().zip(&rows.windows.lengths) {
                totals[PARAGRAPH].add(1, paragraph.length);
                totals[WINDOW].add(1, window);
                columns.body.push(paragraph.role == Role::Body);
                columns.lengths[PARAGRAPH].push(paragraph.length as f32);
                columns.lengths[WINDOW].push(window as f32);
            }
            columns.around.extend_from_slice(&rows.windows.around);
            columns.holding.extend_from_slice(&rows.windows.holding);
            paragraphs += rows.paragraphs.len() as u32;
        }
        table.told = told(&table.units);
        table
    }
}

impl Total {
    fn add(&mut self, count: u64, length: u32) {
        self.count += count;
        self.length += u64::from(length);
    }
}

/// (line, unit of the chapter): a number that several volumes use leads to all of them.
fn told(units: &[Unit]) -> Vec<(u32, u32)> {
    let mut chapters: Vec<(u32, u32)> = (0..)
        .zip(units)
        .filter(|(_, unit)| unit.kind.is_story())
        .filter_map(|(number, unit)| Some((unit.chapter?, number)))
        .collect();
    chapters.sort_unstable();
    let mut told = Vec::new();
    for (line, unit) in (0..).zip(units).filter(|(_, unit)| unit.line) {
        let Some(chapter) = unit.chapter else {
            continue;
        };
        let from = chapters.partition_point(|one| one.0 < chapter);
        let same = chapters[from..].iter().take_while(|one| one.0 == chapter);
        told.extend(same.map(|one| (line, one.1)));
    }
    told
}
