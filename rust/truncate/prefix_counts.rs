//! Exact counts of prefixes and suffixes of a text, without counting each from the beginning.
//!
//! One scan of a window about as long as the budget leaves marks: places before (or behind) which the count
//! is known. A prefix is the count at a mark a few pieces back plus a recount of what follows; a suffix
//! is what precedes the next mark plus the count there. Inside very long pieces the marks are the
//! places where no token can span (see `tokens::glyphs`).

use crate::interrupt::Pace;
use crate::text::segment::{ceil, floor};
use crate::tokens::{Bpe, Counter, TokensError};

/// Tokens by which a window must exceed the budget before longer ones are ruled out.
const SLACK: usize = 16;
/// Pieces that cutting off what follows, or what stands before, may change.
const UNSETTLED: usize = 4;
/// Bytes a token has at first guess.
const BYTES_PER_TOKEN: usize = 6;
/// Pieces longer than this are marked inside.
const LONG: usize = 256;

/// A place with a known count; `piece` is where the piece around it starts, itself for a boundary.
#[derive(Clone, Copy)]
struct Mark {
    at: usize,
    tokens: usize,
    piece: usize,
}

/// Which end of the text stays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Head,
    Tail,
}

/// Counts of what is left when `text` is cut at one place.
pub(crate) struct Ruler<'t> {
    counter: &'t Counter,
    text: &'t str,
    side: Side,
    /// `None`: every count starts afresh (tokenizer files, the estimate, text that is rewritten first).
    bpe: Option<&'static Bpe>,
    marks: Vec<Mark>,
    /// Stretches of more than `LONG` bytes with no mark inside: counting there costs their length each time.
    blanks: Vec<(usize, usize)>,
    /// No cut beyond this place fits the budget.
    pub(crate) limit: usize,
    /// Whether the whole text fits.
    pub(crate) fits: bool,
    /// Whether a longer text would have the same limit.
    pub(crate) settled: bool,
}

impl<'t> Ruler<'t> {
    /// A ruler for cuts of `text` to at most `budget` tokens.
    pub(crate) fn new(
        counter: &'t Counter,
        text: &'t str,
        side: Side,
        budget: usize,
    ) -> Result<Self, TokensError> {
        let bpe = counter.bpe();
        let mut ruler = Self {
            counter,
            text,
            side,
            bpe,
            marks: Vec::new(),
            blanks: Vec::new(),
            limit: 0,
            fits: false,
            settled: false,
        };
        let mut length = (budget + SLACK) * BYTES_PER_TOKEN;
        loop {
            let window = ruler.window(length);
            let whole = window.len() == text.len();
            if ruler.bpe.is_some_and(|bpe| bpe.rewrites(window)) {
                ruler.bpe = None;
            }
            let tokens = match ruler.bpe {
                Some(bpe) => ruler.mark(bpe, window.len(), budget),
                None => counter.count(window)?,
            };
            if whole && tokens <= budget {
                ruler.fits = true;
                ruler.limit = ruler.edge(text.len());
                return Ok(ruler);
            }
            if whole || tokens >= budget + SLACK {
                ruler.settled = tokens >= budget + SLACK;
                ruler.limit = match ruler.bpe {
                    Some(_) => ruler.marked_limit(budget, window.len()),
                    None => ruler.searched_limit(budget, window.len())?,
                };
                return Ok(ruler);
            }
            length *= 2;
        }
    }

    /// The place at which `length` bytes are kept.
    fn edge(&self, length: usize) -> usize {
        if self.side == Side::Head {
            length
        } else {
            self.text.len() - length
        }
    }

    /// At most `size` bytes of the side that stays, on a character boundary.
    fn window(&self, size: usize) -> &'t str {
        let size = size.min(self.text.len());
        match self.side {
            Side::Head => &self.text[..floor(self.text, size)],
            Side::Tail => &self.text[ceil(self.text, self.text.len() - size)..],
        }
    }

    /// Scan the window and note the counts; for the tail they are those of what follows.
    ///
    /// A head is scanned no further than its limit: what lies beyond could not move it.
    fn mark(&mut self, bpe: &Bpe, length: usize, budget: usize) -> usize {
        let (from, to) = if self.side == Side::Head {
            (0, length)
        } else {
            (self.text.len() - length, self.text.len())
        };
        let bytes = &self.text.as_bytes()[..to];
        let (mut at, mut tokens, mut beyond) = (from, 0, 0);
        self.marks.clear();
        let mut pace = Pace::new();
        while at < to {
            beyond += usize::from(tokens > budget);
            if self.side == Side::Head && beyond > UNSETTLED && tokens >= budget + SLACK {
                break;
            }
            self.marks.push(Mark {
                at,
                tokens,
                piece: at,
            });
            let end = bpe.piece_end(bytes, at);
            if end - at > LONG {
                let marks = &mut self.marks;
                bpe.cuts(bytes, at, end, |cut, before| {
                    marks.push(Mark {
                        at: cut,
                        tokens: tokens + before,
                        piece: at,
                    });
                });
            }
            tokens += bpe.count_piece(bytes, at, end);
            pace.step(end - at);
            at = end;
        }
        self.marks.push(Mark {
            at,
            tokens,
            piece: at,
        });
        if self.side == Side::Tail {
            for mark in &mut self.marks {
                mark.tokens = tokens - mark.tokens;
            }
        }
        let places = self.marks.windows(2).map(|pair| (pair[0].at, pair[1].at));
        self.blanks = places.filter(|(from, to)| to - from > LONG).collect();
        tokens
    }

    fn marked_limit(&self, budget: usize, length: usize) -> usize {
        match self.side {
            Side::Head => {
                let over = self.marks.partition_point(|mark| mark.tokens <= budget);
                self.marks
                    .get(over + UNSETTLED)
                    .map_or(length, |mark| mark.at)
            }
            Side::Tail => {
                let over = self.marks.partition_point(|mark| mark.tokens > budget);
                let first = self.marks.get(over.saturating_sub(1 + UNSETTLED));
                first.map_or(0, |mark| mark.at)
            }
        }
    }

    /// Halving, for counters that give away nothing but a number.
    fn searched_limit(&self, budget: usize, length: usize) -> Result<usize, TokensError> {
        let (mut fits, mut exceeds) = (0, length);
        while exceeds - fits > 1 {
            let middle = self.window(usize::midpoint(fits, exceeds)).len();
            if middle <= fits {
                break;
            }
            if self.tokens(self.edge(middle))? <= budget {
                fits = middle;
            } else {
                exceeds = middle;
            }
        }
        Ok(self.edge(self.window((fits + LONG / 4).min(length)).len()))
    }

    /// The stretch without marks inside which `at` lies.
    pub(crate) fn blank(&self, at: usize) -> Option<(usize, usize)> {
        let index = self.blanks.partition_point(|blank| blank.1 <= at);
        self.blanks.get(index).copied().filter(|blank| blank.0 < at)
    }

    /// The exact number of tokens of what stays when the text is cut at `at`.
    pub(crate) fn tokens(&self, at: usize) -> Result<usize, TokensError> {
        match (self.bpe, self.side) {
            (None, Side::Head) => self.counter.count(&self.text[..at]),
            (None, Side::Tail) => self.counter.count(&self.text[at..]),
            (Some(bpe), Side::Head) => Ok(self.head(bpe, at)),
            (Some(bpe), Side::Tail) => Ok(self.tail(bpe, at)),
        }
    }

    /// Index of the mark at which the piece around mark `index` starts.
    fn boundary(&self, index: usize) -> usize {
        let piece = self.marks[index].piece;
        self.marks.partition_point(|mark| mark.at < piece)
    }

    /// End of the scanned piece that starts at `piece`.
    fn piece_end(&self, piece: usize) -> usize {
        let next = self.marks.partition_point(|mark| mark.piece <= piece);
        self.marks.get(next).map_or(self.text.len(), |mark| mark.at)
    }

    fn head(&self, bpe: &Bpe, at: usize) -> usize {
        let bytes = &self.text.as_bytes()[..at];
        let mut index = self
            .marks
            .partition_point(|mark| mark.at <= at)
            .saturating_sub(1);
        let last = self.marks[index];
        if last.at != last.piece && bpe.piece_end(bytes, last.piece) == at {
            return last.tokens + bpe.count_part(bytes, last.at, at);
        }
        index = self.boundary(index);
        for _ in 0..UNSETTLED {
            index = self.boundary(index.saturating_sub(1));
        }
        self.marks[index].tokens + bpe.count_from(bytes, self.marks[index].at)
    }

    fn tail(&self, bpe: &Bpe, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let (mut from, mut tokens) = (at, 0);
        loop {
            let index = self.marks.partition_point(|mark| mark.at < from);
            let Some(next) = self.marks.get(index) else {
                return tokens;
            };
            if next.at == from && next.piece == from {
                return tokens + next.tokens;
            }
            let end = bpe.piece_end(bytes, from);
            if next.piece < from && self.piece_end(next.piece) == end {
                return tokens + bpe.count_part(bytes, from, next.at) + next.tokens;
            }
            tokens += bpe.count_piece(bytes, from, end);
            from = end;
        }
    }
}
