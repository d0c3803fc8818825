//! Arrays that a query writes on, kept for the next: zeroing them again costs what was touched, not what there is.

use std::sync::{Mutex, PoisonError};

/// How many a corpus keeps; more threads than that allocate.
const KEPT: usize = 4;

/// Frequencies of one group: zero wherever `touched` does not say otherwise.
#[derive(Debug, Default)]
pub struct Counts {
    values: Vec<f32>,
    touched: Vec<u32>,
}

impl Counts {
    /// Room for `size` texts.
    pub fn reserve(&mut self, size: usize) {
        if self.values.len() < size {
            self.values.resize(size, 0.0);
        }
    }

    /// Add `value` > 0 to text `at`.
    #[inline]
    pub fn add(&mut self, at: u32, value: f32) {
        let held = &mut self.values[at as usize];
        if *held == 0.0 {
            self.touched.push(at);
        }
        *held += value;
    }

    /// Raise text `at` to `value` > 0 if it is lower.
    #[inline]
    pub fn raise(&mut self, at: u32, value: f32) {
        let held = &mut self.values[at as usize];
        if *held == 0.0 {
            self.touched.push(at);
        }
        *held = held.max(value);
    }

    /// Texts that are not zero, in the order in which they were first added to.
    pub fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// The value of text `at`.
    pub fn get(&self, at: u32) -> f32 {
        self.values[at as usize]
    }

    /// Call `found` with every text that is not zero and its value, which is zero afterwards.
    #[inline]
    pub fn drain(&mut self, mut found: impl FnMut(u32, f32)) {
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
    /// By paragraph looked into.
    pub paragraphs: Counts,
    /// By window looked into.
    pub windows: Counts,
}

/// Scratch that is not in use.
#[derive(Debug, Default)]
pub struct Pool(Mutex<Vec<Scratch>>);

impl Pool {
    /// Run `work` with scratch that is all zero, and leave it so.
    pub fn with<R>(&self, work: impl FnOnce(&mut Scratch) -> R) -> R {
        let mut scratch = self.lock().pop().unwrap_or_default();
        let done = work(&mut scratch);
        let mut kept = self.lock();
        if kept.len() < KEPT {
            kept.push(scratch);
        }
        done
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Scratch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
