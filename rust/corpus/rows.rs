//! What a document consists of, without its words: paragraphs, units, spans, lengths, windows.

use super::CorpusError;
use super::window::Windows;

/// What a document is to the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Of the story.
    Chapter,
    /// Profiles, places, rules.
    Setting,
    /// Lines about chapters.
    Outline,
    /// Anything else in prose.
    Note,
    /// Source code.
    Code,
    /// What is known so far: who is where, who has what.
    State,
    /// What a chapter was about.
    Summary,
    /// A report on the story.
    Review,
    /// A form to be filled in.
    Template,
    /// Instructions to a program or about the project.
    Tool,
    /// Records.
    Data,
    /// Several chapters, or a whole book.
    Manuscript,
}

/// What a paragraph is to its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Role {
    /// Text.
    Body,
    /// A title.
    Heading,
    /// The block of settings at the top of a file.
    FrontMatter,
}

impl Kind {
    /// All of them; the position is the number on disk.
    pub const ALL: [Self; 12] = [
        Self::Chapter,
        Self::Setting,
        Self::Outline,
        Self::Note,
        Self::Code,
        Self::State,
        Self::Summary,
        Self::Review,
        Self::Template,
        Self::Tool,
        Self::Data,
        Self::Manuscript,
    ];

    /// Its name outside.
    pub fn name(self) -> &'static str {
        [
            "chapter",
            "setting",
            "outline",
            "note",
            "code",
            "state",
            "summary",
            "review",
            "template",
            "tool",
            "data",
            "manuscript",
        ][self as usize]
    }

    /// Whether it is text of the story.
    pub fn is_story(self) -> bool {
        matches!(self, Self::Chapter | Self::Manuscript)
    }
}

impl Role {
    /// All of them; the position is the number on disk.
    pub const ALL: [Self; 3] = [Self::Body, Self::Heading, Self::FrontMatter];

    /// Its name outside.
    pub fn name(self) -> &'static str {
        ["body", "heading", "front_matter"][self as usize]
    }
}

/// A paragraph, the spans in code points of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paragraph {
    /// First code point.
    pub start: u32,
    /// One past the last.
    pub end: u32,
    /// What it is.
    pub role: Role,
    /// Length in terms: pairs and words.
    pub length: u32,
    /// Length as a reader sees it, in wide characters: a narrow one counts 9/28.
    pub extent: u32,
}

/// What is ranked as one document: a chapter, a section of settings, a line of the outline, a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// What tells it from the others of its document; "" where it is the whole.
    pub label: String,
    /// The chapter that it is or is about.
    pub chapter: Option<u32>,
    /// Its first paragraph; it ends where the next begins.
    pub first: u32,
}

/// The rows of one document, immutable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// Posix path inside the project; the document's id.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// In order.
    pub paragraphs: Vec<Paragraph>,
    /// In order, the first beginning at paragraph 0, none empty.
    pub units: Vec<Unit>,
    /// What stands around each paragraph.
    pub windows: Windows,
}

impl Rows {
    /// Check and complete the rows of a document.
    pub fn new(
        path: String,
        kind: Kind,
        paragraphs: Vec<Paragraph>,
        units: Vec<Unit>,
    ) -> Result<Self, CorpusError> {
        let invalid = |what: String| Err(CorpusError::Invalid(format!("{path}: {what}")));
        let mut end = 0;
        for (index, paragraph) in paragraphs.iter().enumerate() {
            if paragraph.start < end || paragraph.end < paragraph.start {
                return invalid(format!(
                    "paragraph {index} begins before the one before it ends"
                ));
            }
            end = paragraph.end;
        }
        if units.iter().any(|unit| unit.chapter == Some(u32::MAX)) {
            return invalid("a chapter number must be below 2^32 - 1".to_owned());
        }
        let begins: Vec<u32> = units.iter().map(|unit| unit.first).collect();
        let ordered = begins.windows(2).all(|pair| pair[0] < pair[1]);
        let ends = |last: u32| (last as usize) < paragraphs.len();
        if begins.first().is_some_and(|&first| first != 0)
            || !ordered
            || !begins
                .last()
                .map_or(paragraphs.is_empty(), |&last| ends(last))
        {
            return invalid(
                "units must begin at paragraph 0 and follow each other, none empty".to_owned(),
            );
        }
        let mut rows = Self {
            path,
            kind,
            paragraphs,
            units,
            windows: Windows::default(),
        };
        rows.windows = Windows::of(&rows.paragraphs, &rows.spans());
        Ok(rows)
    }

    /// Per unit (first paragraph, number of paragraphs).
    pub fn spans(&self) -> Vec<(u32, u32)> {
        let all = self.paragraphs.len() as u32;
        let ends = self
            .units
            .iter()
            .skip(1)
            .map(|unit| unit.first)
            .chain([all]);
        let units = self.units.iter().zip(ends);
        units
            .map(|(unit, end)| (unit.first, end - unit.first))
            .collect()
    }

    /// The unit that paragraph `index` stands in.
    pub fn unit_of(&self, index: u32) -> usize {
        self.units.partition_point(|unit| unit.first <= index) - 1
    }
}

/// How long a text looks: wide characters count one, others 9/28, so that a window of 450 wide characters holds about
/// 1,400 letters: as much story in either script.
pub fn extent(text: &str) -> u32 {
    let (mut wide, mut narrow) = (0_u32, 0_u32);
    for c in text.chars() {
        if u32::from(c) >= 0x2e80 {
            wide += 1;
        } else {
            narrow += 1;
        }
    }
    wide + (u64::from(narrow) * 9 / 28) as u32
}
