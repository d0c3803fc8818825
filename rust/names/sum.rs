//! The counts of many documents added up.

use rustc_hash::FxHashMap;

use super::packed::from_bytes;
use super::{Counted, Key};
use crate::interrupt::checkpoint;

/// A table of the sum: keys in the order in which they came, with their totals.
#[derive(Debug, Clone, Default)]
pub struct Table<'b> {
    rows: Vec<(Key<'b>, u64)>,
    places: FxHashMap<Key<'b>, usize>,
}

impl<'b> Table<'b> {
    /// The rows.
    pub fn rows(&self) -> &[(Key<'b>, u64)] {
        &self.rows
    }

    fn add(&mut self, key: Key<'b>, times: u32) {
        let place = *self.places.entry(key).or_insert(self.rows.len());
        if place == self.rows.len() {
            self.rows.push((key, 0));
        }
        self.rows[place].1 += u64::from(times);
    }
}

/// Counts of documents, added up.
#[derive(Debug, Clone)]
pub struct Sum<'b> {
    /// Of each place how often its character occurs.
    pub characters: Vec<u64>,
    /// As those of the documents.
    pub tables: Vec<Table<'b>>,
}

impl<'b> Sum<'b> {
    /// Nothing.
    pub fn new(places: u32, tables: usize) -> Self {
        Self {
            characters: vec![0; places as usize],
            tables: vec![Table::default(); tables],
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
            self.characters[place as usize] += u64::from(times);
        }
        for (total, rows) in self.tables.iter_mut().zip(tables) {
            for (key, times) in rows {
                total.add(key, times);
            }
        }
        true
    }

    /// Places of the characters that occur, ascending, and how often each does.
    pub fn occurring(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        (0..)
            .zip(&self.characters)
            .filter_map(|(place, &times)| (times > 0).then_some((place, times)))
    }
}
