//! Mentions of a text by the paragraph they stand in, as an index keeps them.

use super::matcher::Matcher;
use crate::text::offsets::CodePoints;

/// The mentions of one text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Located {
    /// How many of them lie inside a paragraph.
    pub inside: usize,
    /// The entities mentioned, ascending, as indices into `Matcher::ids`.
    pub entities: Vec<u32>,
    /// Four little-endian i32 a mention: index into `entities`, paragraph or -1, start and end in code points.
    pub table: Vec<u8>,
}

/// -1, of what is read as i32.
const NONE: u32 = u32::MAX;

impl Matcher {
    /// The mentions of `text`, each with the paragraph it lies in; spans are ascending, in code points.
    ///
    /// Cost: one search, and one walk along the paragraphs.
    pub fn find_rows(&self, text: &str, paragraphs: &[(u32, u32)]) -> Located {
        let hits = self.find_all(text);
        let mut entities: Vec<u32> = hits
            .iter()
            .flat_map(|hit| self.entities_of(hit.alias))
            .copied()
            .collect();
        let mut table = Vec::with_capacity(16 * entities.len());
        entities.sort_unstable();
        entities.dedup();
        let (mut cursor, mut behind, mut inside) = (CodePoints::new(text), 0, 0);
        for hit in hits {
            let (start, end) = cursor.span(hit.start, hit.end);
            while behind < paragraphs.len() && paragraphs[behind].0 as usize <= start {
                behind += 1;
            }
            let lies = behind > 0 && end <= paragraphs[behind - 1].1 as usize;
            let paragraph = if lies { behind as u32 - 1 } else { NONE };
            for entity in self.entities_of(hit.alias) {
                inside += usize::from(lies);
                let Ok(number) = entities.binary_search(entity) else {
                    continue; // every one of them was put in above
                };
                for value in [number as u32, paragraph, start as u32, end as u32] {
                    table.extend_from_slice(&value.to_le_bytes());
                }
            }
        }
        Located {
            inside,
            entities,
            table,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mention_between_two_paragraphs_is_of_none() {
        let matcher =
            Matcher::new([("a", ["白鹭", "鹭鸶"]), ("b", ["林渡", "白鹭"])]).expect("valid");
        let found = matcher.find_rows("白鹭。\n\n林渡 白鹭", &[(0, 3), (5, 7)]);
        let rows: Vec<i32> = found
            .table
            .chunks(4)
            .map(|four| i32::from_le_bytes(four.try_into().expect("four bytes")))
            .collect();
        let expected = [
            0, 0, 0, 2, 1, 0, 0, 2, 1, 1, 5, 7, 0, -1, 8, 10, 1, -1, 8, 10,
        ];
        assert_eq!((found.inside, found.entities), (3, vec![0, 1]));
        assert_eq!(rows, expected);
        assert_eq!(matcher.find_rows("谁也不在", &[(0, 4)]), Located::default());
    }
}
