//! Arrays that a query writes on, kept for the next: zeroing them again costs what was touched, not what there is.

use std::sync::{Mutex, MutexGuard, TryLockError};

/// How many a corpus keeps; more threads than that allocate.
const KEPT: usize = 4;

/// More occurrences than that (4,096) count as so many: all windows of a text then add up below 2^31.
const MOST: u32 = 1 << 22;

/// Frequencies of one group, in the unit of `gather::ONE`: zero wherever `touched` does not say otherwise.
#[derive(Debug, Default)]
pub struct Counts {
    /// By number.
    pub values: Vec<u32>,
    /// Numbers that are not zero, in the order in which they were first added to.
    pub touched: Vec<u32>,
}

impl Counts {
    /// Room for `size` texts.
    pub fn reserve(&mut self, size: usize) {
        if self.values.len() < size {
            self.values.resize(size, 0);
        }
    }

    /// Add `value` > 0, below 2^31, to text `at`.
    #[inline]
    pub fn add(&mut self, at: u32, value: u32) {
        let held = &mut self.values[at as usize];
        if *held == 0 {
            self.touched.push(at);
        }
        *held = (*held + value).min(MOST);
    }

    /// Raise text `at` to `value` > 0 if it is lower.
    #[inline]
    pub fn raise(&mut self, at: u32, value: u32) {
        let held = &mut self.values[at as usize];
        if *held == 0 {
            self.touched.push(at);
        }
        *held = (*held).max(value);
    }

    /// Call `found` with every text that is not zero and its value, which is zero afterwards.
    #[inline]
    pub fn drain(&mut self, mut found: impl FnMut(u32, u32)) {
        for at in self.touched.drain(..) {
            found(at, std::mem::take(&mut self.values[at as usize]));
        }
    }
}

/// What one query needs.
#[derive(Debug, Default)]
pub struct Scratch {
    /// By unit.
    pub units: Counts,
    /// By paragraph.
    pub paragraphs: Counts,
    /// By window.
    pub windows: Counts,
    /// Sums of frequencies before a paragraph.
    pub before: Vec<u32>,
    /// Sums of BM25 of paragraphs and of windows, zero where nothing was looked into.
    pub sums: [Vec<f32>; 2],
    /// By window, how much of the question it holds.
    pub held: Vec<f32>,
    /// Blocks of all terms: unit, and where the block begins.
    pub blocks: Vec<(u32, u32)>,
}

/// Scratch that is not in use.
#[derive(Debug, Default)]
pub struct Pool(Mutex<Vec<Scratch>>);

impl Pool {
    /// Run `work` with scratch as it left it; it must leave it all zero.
    pub fn with<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let mut scratch = self.kept().and_then(|mut kept| kept.pop());
        let done = work(scratch.get_or_insert_default());
        if let (Some(mut kept), Some(scratch)) = (self.kept(), scratch)
            && kept.len() < KEPT
        {
            kept.push(scratch);
        }
        done
    }

    /// None while another thread has it, which may have stayed behind in the parent of a fork.
    fn kept(&self) -> Option<MutexGuard<'_, Vec<Scratch>>> {
        match self.0.try_lock() {
            Ok(kept) => Some(kept),
            Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
