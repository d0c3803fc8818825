//! The counts of many documents added up.

use rustc_hash::FxHashMap;

use super::packed::from_bytes;
use super::{Counted, Key, PARTS};
use crate::interrupt::checkpoint;

/// A table of the sum: keys in the order in which they came, with their totals; parts as numbers of `Sum::names`.
#[derive(Debug, Clone, Default)]
pub struct Table {
    rows: Vec<([u32; PARTS], u32)>,
    places: FxHashMap<[u32; PARTS], u32>,
}

impl Table {
    /// The rows.
    pub fn rows(&self) -> &[([u32; PARTS], u32)] {
        &self.rows
    }

    fn add(&mut self, key: [u32; PARTS], times: u32) {
        let place = *self.places.entry(key).or_insert(self.rows.len() as u32) as usize;
        if let Some(row) = self.rows.get_mut(place) {
            row.1 = row.1.saturating_add(times);
        } else {
            self.rows.push((key, times));
        }
    }
}

/// Counts of documents, added up.
#[derive(Debug, Clone)]
pub struct Sum<'b> {
    /// Of each place how often its character occurs.
    pub characters: Vec<u32>,
    /// As those of the documents.
    pub tables: Vec<Table>,
    /// Every part of a key, once.
    pub names: Vec<&'b [u8]>,
    numbers: FxHashMap<&'b [u8], u32>,
}

impl<'b> Sum<'b> {
    /// Nothing.
    pub fn new(places: u32, tables: usize) -> Self {
        Self {
            characters: vec![0; places as usize],
            tables: vec![Table::default(); tables],
            names: vec![&[]],
            numbers: [(&[][..], 0)].into_iter().collect(),
        }
    }

    /// Add the counts that `bytes` hold; false, and nothing is added, where they hold none.
    pub fn add(&mut self, bytes: &'b [u8], parts: &[usize]) -> bool {
        checkpoint();
        let Ok(Counted { characters, tables }) =
            from_bytes(bytes, self.characters.len() as u32, parts)
        else {
            return false;
        };
        for (place, times) in characters {
            let total = &mut self.characters[place as usize];
            *total = total.saturating_add(times);
        }
        for (at, rows) in tables.into_iter().enumerate() {
            let (mut before, mut numbers): (Key<'b>, _) = ([&[]; PARTS], [0; PARTS]);
            for (key, times) in rows {
                for ((part, before), number) in key.iter().zip(&before).zip(&mut numbers) {
                    // The same bytes, as rows that share a part have them, or none at all.
                    if !std::ptr::eq(*part, *before) {
                        *number = self.number(part);
                    }
                }
                self.tables[at].add(numbers, times);
                before = key;
            }
        }
        true
    }

    /// Places of the characters that occur, ascending, and how often each does.
    pub fn occurring(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let places = (0..).zip(self.characters.iter().copied());
        places.filter(|&(_, times)| times > 0)
    }

    fn number(&mut self, name: &'b [u8]) -> u32 {
        let number = *self.numbers.entry(name).or_insert(self.names.len() as u32);
        if number as usize == self.names.len() {
            self.names.push(name);
        }
        number
    }
}
