//! Paragraphs by score into a number of tokens.
//!
//! First what is asked for by name: whole if it fits, else its head, its end or its best. Then by (-score, path, index):
//! what does not fit is passed over, and it ends at the floor, or when too little is left to say anything.

use super::CorpusError;
use super::asked::enter;
pub use super::asked::{Asked, Keep};
use super::corpus::Corpus;
use super::ledger::Ledger;
use super::rows::Kind;
use super::scored::Scored;

/// How to choose.
#[derive(Debug, Clone, PartialEq)]
pub struct Room {
    /// Tokens that may be used.
    pub tokens: u32,
    /// Whose tokens: the parts must have its counts.
    pub counter: String,
    /// Tokens between paragraphs that follow each other.
    pub join: u32,
    /// Tokens between others of one document.
    pub gap: u32,
    /// Nothing below this score.
    pub floor: f32,
    /// It ends when fewer tokens are left.
    pub least: u32,
    /// What the prompt shows anyway, (path, start, end) in code points: a paragraph inside does not enter, nor does one
    /// that is touched, unless `rest` says what its rest costs.
    pub shown: Vec<(String, u32, u32)>,
    /// Paragraphs that the prompt holds already.
    pub held: Vec<(String, u32)>,
    /// (path, index, tokens) of paragraphs of which only a part is wanted.
    pub rest: Vec<(String, u32, u32)>,
    /// Served first, in equal shares.
    pub asked: Vec<Asked>,
}

/// A chosen paragraph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// Its number in the corpus.
    pub number: u32,
    /// Its score; 0 when it was not looked into.
    pub score: f32,
    /// Whether it was asked for by name.
    pub asked: bool,
}

/// Why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Too few tokens are left.
    Room,
    /// The next is below the floor.
    Floor,
    /// There is nothing more.
    End,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// In the order of the story: settings and outlines, chapters by number, then the rest, each by path.
    pub chosen: Vec<Chosen>,
    /// What they cost together, headings, joins and gaps included.
    pub tokens: u32,
    /// The score at which it ended: what is below did not enter.
    pub line: f32,
    /// Why.
    pub stop: Stop,
    /// How many were above the line and did not fit.
    pub passed_over: u32,
    /// How many were offered and are not in it.
    pub left_out: u32,
}

/// Fill the room.
///
/// Cost: a heap of the scored paragraphs, of which as many are taken out as are looked at; 8,000 in below .5 ms.
pub fn select(corpus: &Corpus, scored: &Scored, room: &Room) -> Result<Selection, CorpusError> {
    let mut rest = Vec::with_capacity(room.rest.len());
    for (path, index, tokens) in &room.rest {
        rest.push((known(corpus, path, *index)?, *tokens));
    }
    rest.sort_unstable();
    let shown = shown(corpus, room, &rest)?;
    let mut ledger = Ledger::new(
        corpus,
        &room.counter,
        room.tokens,
        (room.join, room.gap),
        &rest,
    );
    let score_of = |number: u32| scored.score_of(number).unwrap_or(0.0);
    let mut chosen = Vec::new();
    for number in enter(corpus, &room.asked, &shown, &mut ledger, score_of)? {
        let score = score_of(number);
        chosen.push(Chosen {
            number,
            score,
            asked: true,
        });
    }
    let (mut line, mut stop) = (0.0, Stop::End);
    let mut passed_over = 0;
    for (number, score) in scored.best_first() {
        if score < room.floor {
            (line, stop) = (room.floor, Stop::Floor);
            break;
        }
        if shown[number as usize] || ledger.holds(number) {
            continue;
        }
        line = score;
        if ledger.enter(number, ledger.left)? {
            chosen.push(Chosen {
                number,
                score,
                asked: false,
            });
        } else {
            passed_over += 1;
        }
        if ledger.left < i64::from(room.least) {
            stop = Stop::Room;
            break;
        }
    }
    if stop == Stop::End {
        line = 0.0;
    }
    let left_out = scored
        .each()
        .filter(|&(number, score)| score > 0.0 && !shown[number as usize] && !ledger.holds(number));
    let left_out = left_out.count() as u32;
    chosen.sort_unstable_by_key(|one| story(corpus, one.number));
    Ok(Selection {
        chosen,
        tokens: u32::try_from(i64::from(room.tokens) - ledger.left).unwrap_or(0),
        line,
        stop,
        passed_over,
        left_out,
    })
}

/// Where a paragraph stands in the story.
fn story(corpus: &Corpus, number: u32) -> (u8, u32, u32) {
    let unit = &corpus.table.units[corpus.unit_of(number)];
    match unit.kind {
        Kind::Setting | Kind::Outline => (0, 0, number),
        Kind::Chapter => (1, unit.chapter.unwrap_or(u32::MAX), number),
        Kind::Note | Kind::Code => (2, 0, number),
    }
}

fn known(corpus: &Corpus, path: &str, index: u32) -> Result<u32, CorpusError> {
    corpus.paragraph(path, index).ok_or_else(|| {
        CorpusError::Invalid(format!("{path}#{index}: no such paragraph in the corpus"))
    })
}

/// By number whether a paragraph is in the prompt already.
fn shown(corpus: &Corpus, room: &Room, rest: &[(u32, u32)]) -> Result<Vec<bool>, CorpusError> {
    let paragraphs = corpus
        .documents
        .iter()
        .map(|one| one.rows.paragraphs.len())
        .sum();
    let mut shown = vec![false; paragraphs];
    for (path, index) in &room.held {
        shown[known(corpus, path, *index)? as usize] = true;
    }
    for (path, start, end) in &room.shown {
        let Some(document) = corpus.find(path).map(|at| &corpus.documents[at]) else {
            continue; // a text that the project does not hold, such as one that has not been saved
        };
        let rows = &document.rows.paragraphs;
        let from = rows.partition_point(|paragraph| paragraph.end <= *start);
        let touched = rows[from..]
            .iter()
            .take_while(|paragraph| paragraph.start < *end);
        for (number, paragraph) in (document.first_paragraph + from as u32..).zip(touched) {
            let whole = *start <= paragraph.start && paragraph.end <= *end;
            if whole || rest.binary_search_by_key(&number, |one| one.0).is_err() {
                shown[number as usize] = true;
            }
        }
    }
    Ok(shown)
}
