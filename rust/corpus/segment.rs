//! Many documents as one dictionary: a term's postings are one binary search away.
//!
//! Units are named by *slots*: numbers that stay as they are while documents change, so that a segment is never rewritten
//! for a change of one chapter. Per family the keys are sorted; the postings of a key are `slot gap, block` over and over,
//! by slot.

use std::sync::Arc;

use super::key::{FAMILIES, Key};
use super::postings::Block;
use super::varint;

/// One family of a segment.
#[derive(Debug, Default)]
pub struct FamilyIndex {
    keys: Vec<u32>,
    /// Where the keys of a range of numbers begin: one for each `key >> shift`, and the end.
    jumps: Vec<u32>,
    shift: u32,
    /// Per key where its postings end in `bytes`; they begin where those before end.
    ends: Vec<u32>,
    bytes: Vec<u8>,
}

/// The terms of many documents.
#[derive(Debug, Default)]
pub struct Segment {
    /// By family.
    pub families: [FamilyIndex; FAMILIES],
}

impl Segment {
    /// The postings of `key`; none when it does not occur.
    pub fn postings(&self, key: Key) -> Postings<'_> {
        let family = &self.families[key.family as usize];
        family
            .find(key.number)
            .map_or_else(Postings::default, |position| family.postings(position))
    }

    /// Bytes of all postings: how much work it is to rewrite it.
    pub fn size(&self) -> usize {
        self.families.iter().map(|family| family.bytes.len()).sum()
    }

    /// Bytes that it occupies.
    pub fn resident_bytes(&self) -> usize {
        self.families.iter().map(FamilyIndex::resident_bytes).sum()
    }
}

impl FamilyIndex {
    /// One of pieces whose keys follow each other; None when its postings are more than 4 GB.
    pub fn of_pieces(pieces: &[Arc<Self>]) -> Option<Self> {
        let mut whole = Self {
            keys: Vec::with_capacity(pieces.iter().map(|one| one.keys.len()).sum()),
            ends: Vec::with_capacity(pieces.iter().map(|one| one.ends.len()).sum()),
            bytes: Vec::with_capacity(pieces.iter().map(|one| one.bytes.len()).sum()),
            ..Self::default()
        };
        for piece in pieces {
            let before = u32::try_from(whole.bytes.len()).ok()?;
            u32::try_from(whole.bytes.len() + piece.bytes.len()).ok()?;
            whole.keys.extend_from_slice(&piece.keys);
            whole.ends.extend(piece.ends.iter().map(|end| before + end));
            whole.bytes.extend_from_slice(&piece.bytes);
        }
        whole.index();
        Some(whole)
    }

    /// Bytes that it occupies.
    pub fn resident_bytes(&self) -> usize {
        let numbers = self.keys.capacity() + self.ends.capacity() + self.jumps.capacity();
        numbers * 4 + self.bytes.capacity()
    }

    /// Keys in order, by position.
    pub fn keys(&self) -> &[u32] {
        &self.keys
    }

    fn find(&self, key: u32) -> Option<usize> {
        let range = (key >> self.shift) as usize;
        let (from, to) = (
            *self.jumps.get(range)? as usize,
            *self.jumps.get(range + 1)? as usize,
        );
        self.keys[from..to]
            .binary_search(&key)
            .ok()
            .map(|at| from + at)
    }

    /// Ranges of about 32 keys if these were spread evenly; pairs are not, and have longer ones.
    fn index(&mut self) {
        let Some(&last) = self.keys.last() else {
            return;
        };
        let ranges = (self.keys.len() as u32 / 32).max(1).next_power_of_two();
        self.shift = (32 - last.leading_zeros())
            .saturating_sub(ranges.ilog2())
            .min(31);
        let count = (last >> self.shift) + 1;
        self.jumps = (0..count)
            .map(|range| self.keys.partition_point(|key| key >> self.shift < range) as u32)
            .chain([self.keys.len() as u32])
            .collect();
    }

    /// The postings of the key at `position`.
    pub fn postings(&self, position: usize) -> Postings<'_> {
        let from = position
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        Postings {
            bytes: &self.bytes[from as usize..self.ends[position] as usize],
            at: 0,
            next_slot: 0,
        }
    }
}

/// The blocks of one key, by slot.
#[derive(Debug, Clone, Default)]
pub struct Postings<'s> {
    bytes: &'s [u8],
    at: usize,
    next_slot: u32,
}

impl<'s> Postings<'s> {
    /// All of them.
    pub fn bytes(&self) -> &'s [u8] {
        self.bytes
    }

    /// The next block, and where it begins.
    #[inline]
    pub fn next_at(&mut self) -> Option<(u32, u32, Block<'s>)> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let slot = self.next_slot + varint::read(self.bytes, &mut self.at);
        self.next_slot = slot + 1;
        let from = self.at as u32;
        Some((slot, from, Block::read(self.bytes, &mut self.at)))
    }

    /// The next block as a part of `bytes`.
    pub fn next_span(&mut self) -> Option<(u32, usize, usize)> {
        let (slot, from, _) = self.next_at()?;
        Some((slot, from as usize, self.at))
    }
}

impl<'s> Iterator for Postings<'s> {
    type Item = (u32, Block<'s>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_at().map(|(slot, _, block)| (slot, block))
    }
}

/// Builds a family, key by key in order, each with its blocks by slot.
#[derive(Debug, Default)]
pub struct FamilyWriter {
    index: FamilyIndex,
    next_slot: u32,
    open: bool,
}

impl FamilyWriter {
    /// What follows belongs to `key`, which is above all before; a key that gets no block is left out.
    #[inline]
    pub fn begin(&mut self, key: u32) {
        self.end();
        self.index.keys.push(key);
        self.next_slot = 0;
        self.open = true;
    }

    /// The block of `slot`, above all of this key before: `bytes[from..to]`.
    #[inline]
    pub fn block(&mut self, slot: u32, bytes: &[u8], from: usize, to: usize) {
        let out = &mut self.index.bytes;
        varint::write(out, slot - self.next_slot);
        self.next_slot = slot + 1;
        // nearly all are shorter than eight bytes, and eight are copied at once
        match bytes[from..].first_chunk::<8>() {
            Some(eight) if to - from <= 8 => {
                let end = out.len() + to - from;
                out.extend_from_slice(eight);
                out.truncate(end);
            }
            _ => out.extend_from_slice(&bytes[from..to]),
        }
    }

    #[inline]
    fn end(&mut self) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        let end = self.index.bytes.len() as u32;
        if self.index.ends.last().copied().unwrap_or(0) == end {
            self.index.keys.pop();
        } else {
            self.index.ends.push(end);
        }
    }

    /// The family; None when its postings are more than 4 GB.
    pub fn finish(mut self) -> Option<FamilyIndex> {
        self.end();
        u32::try_from(self.index.bytes.len()).ok()?;
        self.index.keys.shrink_to_fit();
        self.index.ends.shrink_to_fit();
        self.index.bytes.shrink_to_fit();
        self.index.index();
        Some(self.index)
    }
}
