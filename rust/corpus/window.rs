//! What stands around a paragraph: neighbours of its unit until a window is full.
//!
//! A paragraph of dialogue is too short to say what it is about; a window is not. Windows overlap, one per paragraph, and
//! never leave the unit. They begin and end in the order of their paragraphs, so that the windows that hold a paragraph
//! are neighbours too: that is what `holding` says.

use super::rows::Paragraph;

/// Wide characters of a full window. Measured on two Chinese novels and an English one (there 1,400 letters): windows
/// are a signal of their own beside the paragraph and the chapter.
pub const WINDOW: u32 = 450;

/// The windows of a document's paragraphs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Windows {
    /// Per paragraph: how many paragraphs before and after it its window holds.
    pub around: Vec<(u8, u8)>,
    /// Per paragraph: how many windows before and after its own hold it.
    pub holding: Vec<(u8, u8)>,
    /// Per paragraph: the length of its window in terms.
    pub lengths: Vec<u32>,
}

impl Windows {
    /// Windows inside units of (first paragraph, number of paragraphs).
    pub fn of(paragraphs: &[Paragraph], units: &[(u32, u32)]) -> Self {
        let mut windows = Self {
            around: vec![(0, 0); paragraphs.len()],
            holding: vec![(0, 0); paragraphs.len()],
            lengths: vec![0; paragraphs.len()],
        };
        for &(first, count) in units {
            let unit = first as usize..(first + count) as usize;
            windows.fill(paragraphs, unit);
        }
        windows
    }

    fn fill(&mut self, paragraphs: &[Paragraph], unit: std::ops::Range<usize>) {
        let (mut least_begin, mut least_last) = (unit.start, unit.start);
        for own in unit.clone() {
            let (begin, last) = around(paragraphs, &unit, own);
            let (begin, last) = (begin.max(least_begin), last.max(least_last));
            (least_begin, least_last) = (begin, last);
            self.around[own] = ((own - begin) as u8, (last - own) as u8);
            let terms = paragraphs[begin..=last].iter();
            self.lengths[own] = terms.fold(0_u32, |sum, p| sum.saturating_add(p.length));
            for held in begin..=last {
                let (before, after) = &mut self.holding[held];
                if held > own {
                    *before = (*before).max((held - own) as u8);
                } else {
                    *after = (*after).max((own - held) as u8);
                }
            }
        }
    }
}

/// First and last paragraph of the window of `own`: grown on the shorter side, after it where both are equal.
fn around(paragraphs: &[Paragraph], unit: &std::ops::Range<usize>, own: usize) -> (usize, usize) {
    let (mut begin, mut last) = (own, own);
    let mut extent = paragraphs[own].extent;
    while extent < WINDOW && last - begin < usize::from(u8::MAX) {
        let (left, right) = (begin > unit.start, last + 1 < unit.end);
        if right && (!left || last - own <= own - begin) {
            last += 1;
            extent = extent.saturating_add(paragraphs[last].extent);
        } else if left {
            begin -= 1;
            extent = extent.saturating_add(paragraphs[begin].extent);
        } else {
            break;
        }
    }
    (begin, last)
}

#[cfg(test)]
mod tests {
    use super::super::rows::Role;
    use super::*;
    use proptest::prelude::*;

    fn paragraphs(extents: &[u32]) -> Vec<Paragraph> {
        extents
            .iter()
            .map(|&extent| Paragraph {
                start: 0,
                end: 0,
                role: Role::Body,
                length: extent,
                extent,
            })
            .collect()
    }

    /// Which windows hold a paragraph, and whether they are exactly the neighbours that `holding` says.
    fn lengths(windows: &Windows, paragraphs: &[Paragraph]) -> Vec<u32> {
        let mut lengths = vec![0; paragraphs.len()];
        for (held, &(before, after)) in windows.holding.iter().enumerate() {
            for length in &mut lengths[held - usize::from(before)..=held + usize::from(after)] {
                *length += paragraphs[held].length;
            }
        }
        lengths
    }

    #[test]
    fn a_full_paragraph_stands_alone_and_a_short_one_takes_its_neighbours() {
        let rows = paragraphs(&[500, 100, 100, 500, 100]);
        let windows = Windows::of(&rows, &[(0, 4), (4, 1)]);
        assert_eq!(windows.lengths, [500, 700, 600, 500, 100]);
        assert_eq!(windows.holding, [(0, 1), (0, 0), (1, 0), (1, 0), (0, 0)]);
    }

    proptest! {
        #[test]
        fn what_holds_a_paragraph_adds_up_to_the_windows(extents in proptest::collection::vec(0..300_u32, 1..80)) {
            let rows = paragraphs(&extents);
            let cut = extents.len() as u32 / 3;
            let units = [(0, cut), (cut, extents.len() as u32 - cut)];
            let windows = Windows::of(&rows, &units);
            prop_assert_eq!(lengths(&windows, &rows), windows.lengths.clone());
            for (own, &(before, after)) in windows.around.iter().enumerate() {
                let held = &rows[own - usize::from(before)..=own + usize::from(after)];
                prop_assert_eq!(held.iter().map(|p| p.length).sum::<u32>(), windows.lengths[own]);
            }
        }
    }
}
