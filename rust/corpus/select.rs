//! Paragraphs by score into a number of tokens.
//!
//! First what is asked for by name: whole if it fits, else its head, its end or its best. Then by (-score, path, index):
//! what does not fit is passed over, and it ends at the floor, or when too little is left to say anything.

use super::CorpusError;
use super::corpus::Corpus;
use super::ledger::Ledger;
use super::rows::{Kind, Role};
use super::scored::Scored;

/// What of a unit stays when it does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// From its beginning on.
    Head,
    /// Up to its end.
    Tail,
    /// Its best paragraphs.
    Best,
}

/// A document, or one unit of it, that is asked for by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The document.
    pub path: String,
    /// Position of the unit in the document; None: all of them.
    pub unit: Option<u32>,
    /// What stays when it does not fit.
    pub keep: Keep,
}

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
    for number in asked(corpus, room, &shown, &mut ledger, score_of)? {
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
    let unit = &corpus.units[corpus.unit_of(number)];
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

/// What is asked for by name, as far as it fits: the shortest first, so that what they leave goes to the longer ones.
fn asked(
    corpus: &Corpus,
    room: &Room,
    shown: &[bool],
    ledger: &mut Ledger<'_>,
    score_of: impl Fn(u32) -> f32,
) -> Result<Vec<u32>, CorpusError> {
    let mut wanted = Vec::new();
    for one in &room.asked {
        let units = corpus.find(&one.path).map(|at| {
            let document = &corpus.documents[at];
            let all = document.first_unit..document.first_unit + document.rows.units.len() as u32;
            match one.unit {
                Some(unit) => all.skip(unit as usize).take(1).collect::<Vec<u32>>(),
                None => all.collect(),
            }
        });
        let Some(units) = units.filter(|units| !units.is_empty()) else {
            let unit = one
                .unit
                .map_or(String::new(), |unit| format!(" unit {unit}"));
            return Err(CorpusError::Invalid(format!(
                "{}{unit}: not in the corpus",
                one.path
            )));
        };
        let numbers = units.into_iter().flat_map(|unit| {
            let unit = &corpus.units[unit as usize];
            unit.first..unit.first + unit.paragraphs
        });
        let offered: Vec<u32> = numbers
            .filter(|&number| !shown[number as usize] && is_body(corpus, number))
            .collect();
        let mut tokens = 0;
        for &number in &offered {
            tokens += ledger.cost(number)?;
        }
        wanted.push((tokens, offered, one.keep));
    }
    wanted.sort_by_key(|one| one.0);
    let mut entered = Vec::new();
    let mut waiting = i64::try_from(wanted.len()).unwrap_or(i64::MAX);
    for (_, mut offered, keep) in wanted {
        let share = ledger.left / waiting;
        waiting -= 1;
        offered.retain(|&number| !ledger.holds(number));
        let before = ledger.left;
        let mut whole = Vec::new();
        for &number in &offered {
            if !ledger.enter(number, share - (before - ledger.left))? {
                break;
            }
            whole.push(number);
        }
        if whole.len() == offered.len() || keep == Keep::Head {
            entered.extend(whole);
            continue;
        }
        while let Some(number) = whole.pop() {
            ledger.leave(number)?;
        }
        match keep {
            Keep::Tail => offered.reverse(),
            Keep::Best | Keep::Head => {
                offered.sort_by(|a, b| score_of(*b).total_cmp(&score_of(*a)).then(a.cmp(b)));
            }
        }
        for number in offered {
            if ledger.enter(number, share - (before - ledger.left))? {
                entered.push(number);
            } else if keep == Keep::Tail {
                break;
            }
        }
    }
    Ok(entered)
}

fn is_body(corpus: &Corpus, number: u32) -> bool {
    let document = &corpus.documents[corpus.units[corpus.unit_of(number)].document as usize];
    let index = number - document.first_paragraph;
    document.rows.paragraphs[index as usize].role == Role::Body
}
