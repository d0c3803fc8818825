//! Many documents as one dictionary: a term's postings are one binary search away.
//!
//! Units are named by *slots*: numbers that stay as they are while documents change, so that a segment is never rewritten
//! for a change of one chapter. Per family the keys are sorted; the postings of a key are `slot gap, block` over and over,
//! by slot.

use super::key::{FAMILIES, Key};
use super::postings::Block;
use super::varint;

/// One family of a segment.
#[derive(Debug, Default)]
pub struct FamilyIndex {
    keys: Vec<u32>,
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
        match family.keys.binary_search(&key.number) {
            Ok(position) => family.postings(position),
            Err(_) => Postings::default(),
        }
    }

    /// Bytes of all postings: how much work it is to rewrite it.
    pub fn size(&self) -> usize {
        self.families.iter().map(|family| family.bytes.len()).sum()
    }

    /// Bytes that it occupies.
    pub fn resident_bytes(&self) -> usize {
        let one = |family: &FamilyIndex| {
            family.keys.capacity() * 4 + family.ends.capacity() * 4 + family.bytes.capacity()
        };
        self.families.iter().map(one).sum()
    }
}

impl FamilyIndex {
    /// Keys in order, by position.
    pub fn keys(&self) -> &[u32] {
        &self.keys
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
    /// How long the postings are; a rarer term has shorter ones.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The next block with its own bytes.
    pub fn next_raw(&mut self) -> Option<(u32, &'s [u8])> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let slot = self.next_slot + varint::read(self.bytes, &mut self.at);
        self.next_slot = slot + 1;
        let from = self.at;
        Block::read(self.bytes, &mut self.at);
        Some((slot, &self.bytes[from..self.at]))
    }
}

impl<'s> Iterator for Postings<'s> {
    type Item = (u32, Block<'s>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let slot = self.next_slot + varint::read(self.bytes, &mut self.at);
        self.next_slot = slot + 1;
        Some((slot, Block::read(self.bytes, &mut self.at)))
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

    /// The block of `slot`, above all of this key before.
    #[inline]
    pub fn block(&mut self, slot: u32, block: &[u8]) {
        varint::write(&mut self.index.bytes, slot - self.next_slot);
        self.next_slot = slot + 1;
        self.index.bytes.extend_from_slice(block);
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
        Some(self.index)
    }
}
