//! Where a term stands inside one unit: a block of a few bytes.
//!
//! Three blocks in five are one paragraph that holds the term once; they take two bytes. A block is a header and one
//! entry per paragraph, in order:
//!
//! - header: `paragraphs` in the low half, `bytes of the entries - paragraphs` in the high half; where either does not
//!   fit into four bits a zero, then both numbers at full width (paragraphs, bytes).
//! - entry: bit 0 says "more than once", the seven above it how many paragraphs were passed over (127: 127 and the
//!   number that follows); then, if more than once, the count less two.
//!
//! Whoever walks over a block needs its header alone.

use super::CorpusError;
use super::varint::{self, Reader};

/// The most that a term is counted for in a paragraph; BM25 has long stopped listening.
pub const MOST: u32 = 255;

const FAR: u32 = 127;

/// A term in a unit.
#[derive(Debug, Clone, Copy)]
pub struct Block<'b> {
    /// In how many of its paragraphs.
    pub paragraphs: u32,
    entries: &'b [u8],
}

impl<'b> Block<'b> {
    /// The block at `at`, which moves past it; the bytes have been checked.
    #[inline]
    pub fn read(bytes: &'b [u8], at: &mut usize) -> Self {
        let header = u32::from(bytes[*at]);
        *at += 1;
        let (paragraphs, length) = if header == 0 {
            (varint::read(bytes, at), varint::read(bytes, at))
        } else {
            (header & 15, (header & 15) + (header >> 4))
        };
        let entries = &bytes[*at..*at + length as usize];
        *at += length as usize;
        Self {
            paragraphs,
            entries,
        }
    }

    /// Call `found` with (paragraph in the unit, count), ascending.
    #[inline]
    pub fn each(self, mut found: impl FnMut(u32, u32)) {
        let mut paragraph = 0;
        if self.entries.len() == self.paragraphs as usize {
            for &entry in self.entries {
                paragraph += u32::from(entry >> 1);
                found(paragraph, 1);
                paragraph += 1;
            }
            return;
        }
        let mut at = 0;
        while at < self.entries.len() {
            let entry = u32::from(self.entries[at]);
            at += 1;
            paragraph += entry >> 1;
            if entry >> 1 == FAR {
                paragraph += varint::read(self.entries, &mut at);
            }
            let count = if entry & 1 == 0 {
                1
            } else {
                2 + varint::read(self.entries, &mut at)
            };
            found(paragraph, count);
            paragraph += 1;
        }
    }

    /// How often the term stands in the unit.
    #[inline]
    pub fn frequency(self) -> u32 {
        if self.entries.len() == self.paragraphs as usize {
            return self.paragraphs;
        }
        let mut sum = 0;
        self.each(|_, count| sum += count);
        sum
    }

    /// The next block of untrusted bytes, of a unit of `paragraphs` paragraphs.
    pub fn check(reader: &mut Reader<'_>, paragraphs: u32) -> Result<(), CorpusError> {
        let header = u32::from(reader.byte()?);
        let (held, length) = if header == 0 {
            (reader.number()?, reader.number()?)
        } else {
            (header & 15, (header & 15) + (header >> 4))
        };
        if held == 0 || held > paragraphs || length < held {
            return Err(reader.damaged("a block of no or too many paragraphs"));
        }
        let bytes = reader.take(length as usize)?;
        let next = if held == length {
            Self::check_short(bytes)
        } else {
            Self::check_long(bytes, held)?
        };
        if next > u64::from(paragraphs) {
            return Err(reader.damaged("a paragraph outside its unit"));
        }
        Ok(())
    }

    /// One past the last paragraph of entries of one byte each; past all when one of them must be longer.
    fn check_short(entries: &[u8]) -> u64 {
        let long = |entry: u8| entry & 1 == 1 || u32::from(entry >> 1) == FAR;
        if entries.iter().any(|&entry| long(entry)) {
            return u64::MAX;
        }
        entries.iter().map(|&entry| u64::from(entry >> 1) + 1).sum()
    }

    /// One past the last paragraph of `held` entries.
    fn check_long(bytes: &[u8], held: u32) -> Result<u64, CorpusError> {
        let mut entries = Reader::new(bytes);
        let mut next = 0_u64;
        for _ in 0..held {
            let entry = u32::from(entries.byte()?);
            next += u64::from(entry >> 1) + 1;
            if entry >> 1 == FAR {
                next += u64::from(entries.number()?);
            }
            if entry & 1 == 1 && entries.number()? > MOST - 2 {
                return Err(entries.damaged("a count that is too high"));
            }
        }
        match entries.left() {
            0 => Ok(next),
            _ => Err(entries.damaged("more entries than paragraphs")),
        }
    }
}

/// Append the block of `postings`, (paragraph in the unit, count >= 1), ascending and at least one.
pub fn write_block(out: &mut Vec<u8>, postings: &[(u32, u32)]) {
    if let [(paragraph, 1)] = *postings
        && paragraph < FAR
    {
        return out.extend_from_slice(&[1, (paragraph << 1) as u8]);
    }
    let header = out.len();
    out.push(0);
    let mut next = 0;
    for &(paragraph, count) in postings {
        let gap = paragraph - next;
        let more = u32::from(count > 1);
        out.push((gap.min(FAR) << 1 | more) as u8);
        if gap >= FAR {
            varint::write(out, gap - FAR);
        }
        if more == 1 {
            varint::write(out, count.min(MOST) - 2);
        }
        next = paragraph + 1;
    }
    let bytes = out.len() - header - 1;
    let extra = bytes - postings.len();
    if postings.len() <= 15 && extra <= 15 {
        out[header] = (extra << 4 | postings.len()) as u8;
    } else {
        let mut long = Vec::with_capacity(10);
        varint::write(&mut long, postings.len() as u32);
        varint::write(&mut long, bytes as u32);
        let entries = header + 1;
        out.splice(entries..entries, long);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_block_gives_back_what_was_written(
            rows in proptest::collection::btree_map(0..2000_u32, prop_oneof![Just(1), 1..700_u32], 1..60),
        ) {
            let rows: Vec<(u32, u32)> = rows.into_iter().map(|(p, n)| (p, n.min(MOST))).collect();
            let mut out = vec![9];
            write_block(&mut out, &rows);
            prop_assert!(Block::check(&mut Reader::new(&out[1..]), rows.last().map_or(0, |r| r.0 + 1)).is_ok());
            prop_assert!(Block::check(&mut Reader::new(&out[1..]), rows.last().map_or(0, |r| r.0)).is_err());
            let mut at = 1;
            let block = Block::read(&out, &mut at);
            prop_assert_eq!(at, out.len());
            prop_assert_eq!(block.paragraphs as usize, rows.len());
            prop_assert_eq!(block.frequency(), rows.iter().map(|r| r.1).sum::<u32>());
            let mut back = Vec::new();
            block.each(|paragraph, count| back.push((paragraph, count)));
            prop_assert_eq!(back, rows);
        }

        #[test]
        fn bytes_that_pass_the_check_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if Block::check(&mut Reader::new(&bytes), 300).is_ok() {
                let block = Block::read(&bytes, &mut 0);
                block.each(|paragraph, count| assert!(paragraph < 300 && count <= MOST));
            }
        }
    }

    #[test]
    fn the_commonest_block_takes_two_bytes() {
        let mut out = Vec::new();
        write_block(&mut out, &[(63, 1)]);
        assert_eq!(out.len(), 2);
    }
}
