//! Cutting a text to a number of tokens, at a boundary a reader accepts. `prefix_counts` finds the place.
//!
//! Which boundary is better than which is decided here; what a boundary is, in `text/segment`. Must hold: the
//! result has at most the tokens asked for, counted as it stands, and is a piece of the text.

mod prefix_counts;
#[cfg(test)]
mod properties;

use self::prefix_counts::{Ruler, Side};
use crate::interrupt::{Pace, paced};
use crate::text::segment::{
    ceil, ends_paragraph, ends_sentence, floor, is_grapheme_boundary, starts_paragraph,
    starts_sentence,
};
use crate::tokens::{Counter, TokensError};

/// Which part of the text stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The beginning.
    Head,
    /// The end.
    Tail,
    /// What stands around a place, half of the budget before it.
    Around(usize),
}

/// Where a cut may be made, from fine to coarse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// Between user-perceived characters.
    Character,
    /// Between sentences of either script, and where lines end.
    Sentence,
    /// Where lines end.
    Paragraph,
}

/// What stays: a byte span and its exact number of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// First byte that stays.
    pub start: usize,
    /// First byte that does not.
    pub end: usize,
    /// Tokens between.
    pub tokens: usize,
    /// Whether a text that went on beyond this one, where it was cut, would have given the same.
    pub settled: bool,
}

/// What trying one place costs, in bytes of counting.
const PLACE: usize = 64;

impl Boundary {
    pub(crate) fn finer(self) -> Option<Self> {
        match self {
            Self::Paragraph => Some(Self::Sentence),
            Self::Sentence => Some(Self::Character),
            Self::Character => None,
        }
    }

    pub(crate) fn allows(self, side: Side, text: &str, at: usize) -> bool {
        let accepted = match (self, side) {
            (Self::Character, _) => true,
            (Self::Sentence, Side::Head) => ends_sentence(text, at),
            (Self::Sentence, Side::Tail) => starts_sentence(text, at),
            (Self::Paragraph, Side::Head) => ends_paragraph(text, at),
            (Self::Paragraph, Side::Tail) => starts_paragraph(text, at),
        };
        accepted && is_grapheme_boundary(text, at)
    }
}

/// The longest piece of `text` of at most `budget` tokens that ends (or starts) at a `boundary`.
///
/// When not even one sentence (or paragraph) fits, the next finer boundary is used; with no budget, or when
/// not even one character fits, the piece is empty. Around a place, the text before it gets half of
/// the budget and what that leaves goes to the text behind; when that reaches the end, the
/// start moves back as far as the budget allows.
///
/// In a stretch of more than 256 bytes that shows nowhere where tokens end (blanks, one sign repeated) the cut is a place
/// behind which one more no longer fits, not always the last such place: trying each would cost the square.
///
/// Cost: linear in the budget, whatever the length of the text.
pub fn truncate(
    counter: &Counter,
    text: &str,
    budget: usize,
    keep: Keep,
    boundary: Boundary,
) -> Result<Cut, TokensError> {
    match keep {
        Keep::Head => head(counter, text, budget, boundary, 0),
        Keep::Tail => tail(counter, text, budget, boundary, text.len()),
        Keep::Around(anchor) => around(counter, text, budget, boundary, anchor),
    }
}

fn around(
    counter: &Counter,
    text: &str,
    budget: usize,
    boundary: Boundary,
    anchor: usize,
) -> Result<Cut, TokensError> {
    let mut anchor = floor(text, anchor);
    while !is_grapheme_boundary(text, anchor) {
        anchor = floor(text, anchor - 1);
    }
    let before = tail(counter, &text[..anchor], budget / 2, boundary, anchor)?;
    let start = before.start;
    let behind = head(counter, &text[start..], budget, boundary, anchor - start)?;
    let end = start + behind.end;
    if end == text.len() && start > 0 {
        return tail(counter, text, budget, boundary, anchor);
    }
    let settled = behind.settled && (before.settled || start == 0);
    Ok(Cut {
        start,
        end,
        tokens: behind.tokens,
        settled,
    })
}

/// The longest head that reaches at least to `least`.
fn head(
    counter: &Counter,
    text: &str,
    budget: usize,
    boundary: Boundary,
    least: usize,
) -> Result<Cut, TokensError> {
    let ruler = Ruler::new(counter, text, Side::Head, budget)?;
    let settled = ruler.settled;
    let cut = |end, tokens| Cut {
        start: 0,
        end,
        tokens,
        settled,
    };
    if ruler.fits {
        return Ok(cut(text.len(), ruler.tokens(text.len())?));
    }
    let (mut step, mut pace) = (Some(boundary), Pace::new());
    while let Some(boundary) = step {
        let mut at = ruler.limit;
        while at > 0 && at >= least {
            pace.step(PLACE);
            if let Some((from, _)) = ruler.blank(at) {
                let places: Vec<usize> = paced(least.max(from + 1)..=at)
                    .filter(|&at| {
                        text.is_char_boundary(at) && boundary.allows(Side::Head, text, at)
                    })
                    .collect();
                if let Some((end, tokens)) = last_fit(&ruler, &places, budget)? {
                    return Ok(cut(end, tokens));
                }
                at = from;
                continue;
            }
            if boundary.allows(Side::Head, text, at) {
                let tokens = ruler.tokens(at)?;
                if tokens <= budget {
                    return Ok(cut(at, tokens));
                }
            }
            at = floor(text, at - 1);
        }
        step = boundary.finer();
    }
    Ok(cut(0, 0))
}

/// The longest tail that starts at `most` or before.
fn tail(
    counter: &Counter,
    text: &str,
    budget: usize,
    boundary: Boundary,
    most: usize,
) -> Result<Cut, TokensError> {
    let end = text.len();
    let ruler = Ruler::new(counter, text, Side::Tail, budget)?;
    let settled = ruler.settled;
    let cut = |start, tokens| Cut {
        start,
        end,
        tokens,
        settled,
    };
    if ruler.fits {
        return Ok(cut(0, ruler.tokens(0)?));
    }
    let (mut step, mut pace) = (Some(boundary), Pace::new());
    while let Some(boundary) = step {
        let mut at = ruler.limit;
        while at < end && at <= most {
            pace.step(PLACE);
            if let Some((_, to)) = ruler.blank(at) {
                let places: Vec<usize> = paced((at..to.min(most + 1)).rev())
                    .filter(|&at| {
                        text.is_char_boundary(at) && boundary.allows(Side::Tail, text, at)
                    })
                    .collect();
                if let Some((start, tokens)) = last_fit(&ruler, &places, budget)? {
                    return Ok(cut(start, tokens));
                }
                at = to;
                continue;
            }
            if boundary.allows(Side::Tail, text, at) {
                let tokens = ruler.tokens(at)?;
                if tokens <= budget {
                    return Ok(cut(at, tokens));
                }
            }
            at = ceil(text, at + 1);
        }
        step = boundary.finer();
    }
    Ok(cut(end, 0))
}

/// The place, of some that keep more and more, where the next no longer fits, with its count.
///
/// Halving in fixed steps: the way there depends on what fits, not on how many places lie beyond.
fn last_fit(
    ruler: &Ruler<'_>,
    places: &[usize],
    budget: usize,
) -> Result<Option<(usize, usize)>, TokensError> {
    let fit = |count: usize| -> Result<Option<(usize, usize)>, TokensError> {
        let Some(&at) = places.get(count - 1) else {
            return Ok(None);
        };
        let tokens = ruler.tokens(at)?;
        Ok((tokens <= budget).then_some((at, tokens)))
    };
    let (mut count, mut step, mut best) = (0, 1, None);
    while let Some(found) = fit(step)? {
        (count, best) = (step, Some(found));
        step *= 2;
    }
    while step > 1 {
        step /= 2;
        if step >= count {
            continue;
        }
        if let Some(found) = fit(count + step)? {
            count += step;
            best = Some(found);
        }
    }
    Ok(best)
}
