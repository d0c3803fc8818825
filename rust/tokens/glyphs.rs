//! Where text of Han, kana, Hangul and their punctuation falls apart before any merging.
//!
//! Two neighbouring characters that no token of the vocabulary contains side by side can never end up
//! in one token, whatever stands around them: the text may be cut there and the parts counted alone.
//! In Chinese prose that is most places, and one probe of a bit set finds it.
//!
//! Tokens that end or begin inside a character (" \u{e4b8}…", "\u{a0}除") are kept apart: a character next to
//! which such a token can stand is marked, and no cut is made there. Where nothing is marked, every
//! merge across a boundary joins whole characters, so merging may start from characters, not bytes.

use crate::interrupt::{STRETCH, checkpoint};

use super::memo::{Key, LONGEST, Memo};
use super::merge::{count_bytes, count_units};
use super::vocab::{NONE, Vocab};

/// Low bits: tokens of the character alone, 0 when it is not one of ours.
const TOKENS: u8 = 0b0011;
/// A token may begin inside the character before and go on into this one.
const OPEN_LEFT: u8 = 0b0100;
/// A token may begin in this character and end inside the next.
const OPEN_RIGHT: u8 = 0b1000;
const PAIR_BITS: u32 = 20;

/// The characters that cuts are made between: three bytes long, of spaceless or syllabic scripts, and the
/// punctuation that stands among them (most patterns take one mark into the piece of the word behind it).
fn is_glyph(c: u32) -> bool {
    matches!(c, 0x2010..=0x2027 | 0x3001..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3
        | 0xFF01..=0xFF9F)
}

/// Which neighbours may share a token.
pub(crate) struct Glyphs {
    info: Box<[u8]>,
    pairs: Box<[u64]>,
}

/// Decode the three-byte character at `at`.
#[inline]
fn three(text: &[u8], at: usize) -> u32 {
    let (a, b, c) = (
        u32::from(text[at]),
        u32::from(text[at + 1]),
        u32::from(text[at + 2]),
    );
    (a & 0x0F) << 12 | (b & 0x3F) << 6 | c & 0x3F
}

#[inline]
fn pair_bit(left: u32, right: u32) -> (usize, u64) {
    let bit = ((left << 16 | right).wrapping_mul(0x9E37_79B1) >> (32 - PAIR_BITS)) as usize;
    (bit >> 6, 1 << (bit & 63))
}

impl Glyphs {
    /// Read off `tokens`, in rank order, which characters they join.
    pub(crate) fn new(vocab: &Vocab, tokens: &[&[u8]]) -> Self {
        let mut glyphs = Self {
            info: vec![0; 1 << 16].into_boxed_slice(),
            pairs: vec![0; 1 << (PAIR_BITS - 6)].into_boxed_slice(),
        };
        let mut formed = vec![NONE; 1 << 16];
        let mut buffer = [0; 4];
        for c in 0x2010..=0xFF9F {
            let Some(glyph) = char::from_u32(c).filter(|_| is_glyph(c)) else {
                continue;
            };
            let bytes = glyph.encode_utf8(&mut buffer).as_bytes();
            let first = vocab
                .pair(bytes[0], bytes[1])
                .min(vocab.pair(bytes[1], bytes[2]));
            formed[c as usize] = vocab.rank(bytes, 0, 3);
            glyphs.info[c as usize] = match (formed[c as usize] != NONE, first != NONE) {
                (true, true) => 1,
                // A token that merging its bytes does not reach would break the argument above.
                (true, false) => 0,
                (false, true) => 2,
                (false, false) => 3,
            };
        }
        for (rank, token) in tokens.iter().enumerate() {
            if token.len() > 1 && !token.is_ascii() {
                glyphs.learn(&formed, token, rank as u32);
            }
        }
        glyphs
    }

    fn learn(&mut self, formed: &[u32], token: &[u8], rank: u32) {
        let mut at = token
            .iter()
            .position(|b| !matches!(b, 0x80..=0xBF))
            .unwrap_or(token.len());
        let mut open = at > 0;
        let mut last = None;
        let whole = token.len() > 3;
        while at < token.len() {
            let width = match token[at] {
                0..0x80 => 1,
                0x80..0xE0 => 2,
                0xE0..0xF0 => 3,
                _ => 4,
            };
            if at + width > token.len() {
                match last {
                    Some(c) => self.info[c as usize] |= OPEN_RIGHT,
                    None if open => self.open_all_beginning(&token[at..]),
                    None => {}
                }
                return;
            }
            let glyph = if width == 3 {
                Some(three(token, at)).filter(|c| is_glyph(*c))
            } else {
                None
            };
            if let Some(c) = glyph {
                if open {
                    self.info[c as usize] |= OPEN_LEFT;
                }
                if let Some(left) = last {
                    let (word, bit) = pair_bit(left, c);
                    self.pairs[word] |= bit;
                }
                // Merging from characters needs each of them to be formed before the token.
                let formed = formed[c as usize];
                if whole && (formed == NONE || formed > rank) {
                    self.info[c as usize] = 0;
                }
            }
            last = glyph;
            open = false;
            at += width;
        }
    }

    /// A token lies wholly in parts of two characters, the second of which begins with `start`.
    fn open_all_beginning(&mut self, start: &[u8]) {
        let low = usize::from(start[0] & 0x0F) << 12;
        let range = match *start {
            [0xE2..=0xEF] => low..low + 0x1000,
            [0xE2..=0xEF, second] => {
                let low = low | usize::from(second & 0x3F) << 6;
                low..low + 0x40
            }
            _ => return,
        };
        for info in &mut self.info[range] {
            *info |= OPEN_LEFT;
        }
    }

    /// Whether the character at `at` is one that cuts are made between.
    #[inline]
    pub(crate) fn starts_at(&self, text: &[u8], at: usize) -> bool {
        matches!(text[at], 0xE2..=0xEF) && self.info[three(text, at) as usize] & TOKENS != 0
    }

    /// Number of tokens of `text[from..to]`, all of a piece or (not `whole`) a part cut off where no token spans.
    ///
    /// The memo may be given only when a glyph stands at `from`: other atoms share their bytes with whole pieces.
    /// Reports every place inside that no token can span, with the tokens before it.
    #[inline]
    pub(crate) fn count(
        &self,
        vocab: &Vocab,
        mut memo: Option<&mut Memo>,
        text: &[u8],
        (from, to, whole): (usize, usize, bool),
        mut report: impl FnMut(usize, usize),
    ) -> usize {
        let mut total = 0;
        let mut atom = Atom::new(from);
        let (mut at, mut left, mut left_info) = (from, 0, 0);
        let mut stop = from + STRETCH;
        while at < to {
            if at >= stop {
                stop = at + STRETCH;
                checkpoint();
            }
            let (c, info, width) = match text[at] {
                0..0x80 => (0, 0, 1),
                0x80..0xE0 => (0, 0, 2),
                0xE0..0xF0 => {
                    let c = three(text, at);
                    (c, self.info[c as usize], 3)
                }
                _ => (0, 0, 4),
            };
            if at > from {
                let closed = left_info & TOKENS != 0
                    && info & TOKENS != 0
                    && left_info & OPEN_RIGHT == 0
                    && info & OPEN_LEFT == 0;
                let (word, bit) = pair_bit(left, c);
                if closed && self.pairs[word] & bit == 0 {
                    total += atom.count(vocab, memo.as_deref_mut(), text, at, left_info);
                    report(at, total);
                    atom = Atom::new(at);
                } else {
                    atom.simple &= closed;
                }
            }
            atom.characters += 1;
            atom.simple &= info & TOKENS == 1;
            (left, left_info) = (c, info);
            at += width;
        }
        // Some tokenizers take a whole piece from the vocabulary even where no merge leads to it.
        if whole && atom.from == from && vocab.rank(text, from, to) != NONE {
            return 1;
        }
        total + atom.count(vocab, memo, text, to, left_info)
    }
}

/// A stretch with no cut inside.
struct Atom {
    from: usize,
    characters: usize,
    /// Every character is one token and no boundary is open.
    simple: bool,
}

impl Atom {
    fn new(from: usize) -> Self {
        Self {
            from,
            characters: 0,
            simple: true,
        }
    }

    /// Tokens of the atom that ends at `to`; `info` describes its last character.
    #[inline]
    fn count(
        &self,
        vocab: &Vocab,
        memo: Option<&mut Memo>,
        text: &[u8],
        to: usize,
        info: u8,
    ) -> usize {
        if self.characters == 1 && info & TOKENS != 0 {
            return usize::from(info & TOKENS);
        }
        let length = to - self.from;
        match memo {
            Some(memo) if (1..=LONGEST).contains(&length) => memo
                .get_or(Key::of(text, self.from, length), || {
                    self.merge(vocab, text, to)
                }),
            _ => self.merge(vocab, text, to),
        }
    }

    fn merge(&self, vocab: &Vocab, text: &[u8], to: usize) -> usize {
        match self.characters {
            0 => 0,
            2 if self.simple => 2 - usize::from(vocab.rank(text, self.from, to) != NONE),
            n if self.simple => {
                let bounds = (0..=n).map(|i| (self.from + 3 * i) as u32);
                count_units(vocab, text, n, bounds)
            }
            _ => count_bytes(vocab, text, self.from, to),
        }
    }
}
