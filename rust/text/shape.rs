//! What the lines of a text look like: prose, lists, speech, scripts, and a sketch of its sentences.

/// Sentences shorter than this, in characters, are not hashed: they stand in many texts.
const SENTENCE: usize = 12;
/// Characters by which the scripts are judged.
const SAMPLE: usize = 1_500;

/// Counts of one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape {
    /// Lines that are not blank.
    pub lines: usize,
    /// Characters in them, without the white space around.
    pub length: usize,
    /// Characters in lines that begin with a mark: headings, items, tables, quotes, fields in bold.
    pub marked: usize,
    /// Lines with speech in them.
    pub spoken: usize,
    /// Characters of kana, hangul, han, Cyrillic and Latin letters at the beginning of the text.
    pub scripts: [usize; 5],
    /// The smallest hashes of its sentences, ascending, each once.
    pub sentences: Vec<u32>,
}

/// The shape of a text, with at most `most` hashes. One pass.
pub fn shape(text: &str, most: usize) -> Shape {
    let mut found = Shape::default();
    let mut seen = 0;
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let (mut length, mut hash, mut run, mut speech) =
            (0, FIRST, 0, line.starts_with(['"', '—', '–']));
        let mut before = ' ';
        for character in line.chars() {
            length += 1;
            if seen < SAMPLE {
                seen += 1;
                if let Some(script) = script_of(character) {
                    found.scripts[script] += 1;
                }
            }
            speech |= matches!(character, '“' | '「' | '『' | '„' | '«')
                || (character == '"' && before == ' ');
            before = character;
            if matches!(
                character,
                '。' | '！' | '？' | '!' | '?' | '.' | '…' | '"' | '“' | '”' | '「' | '」'
            ) {
                found.end(&mut hash, &mut run);
            } else if run > 0 || !character.is_whitespace() {
                hash = (hash ^ character as u32).wrapping_mul(PRIME);
                run += 1;
            }
        }
        found.end(&mut hash, &mut run);
        found.lines += 1;
        found.length += length;
        found.spoken += usize::from(speech);
        if is_listed(line) || line.starts_with(['#', '>', '`', '|', '*', '-', '+', '•']) {
            found.marked += length;
        }
    }
    found.sentences.sort_unstable();
    found.sentences.dedup();
    found.sentences.truncate(most);
    found
}

const FIRST: u32 = 0x811c_9dc5; // FNV-1a
const PRIME: u32 = 0x0100_0193;

impl Shape {
    fn end(&mut self, hash: &mut u32, run: &mut usize) {
        if *run >= SENTENCE {
            // FNV leaves the high bits of short texts alike: the smallest hashes must be those of any sentence.
            let mixed = (*hash ^ (*hash >> 15)).wrapping_mul(0x2c1b_3c6d);
            self.sentences.push(mixed ^ (mixed >> 12));
        }
        (*hash, *run) = (FIRST, 0);
    }
}

fn is_listed(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let mut rest = line[digits..].chars();
    match (digits, rest.next()) {
        (0, Some('-' | '+' | '*' | '•')) | (1..=3, Some('.' | ')')) => {
            rest.next().is_some_and(char::is_whitespace)
        }
        (1..=3, Some('、')) => true,
        _ => false,
    }
}

fn script_of(character: char) -> Option<usize> {
    match character {
        '\u{3040}'..='\u{30ff}' => Some(0),
        '\u{ac00}'..='\u{d7a3}' => Some(1),
        '\u{3400}'..='\u{9fff}' => Some(2),
        '\u{400}'..='\u{4ff}' => Some(3),
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' => Some(4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_headings_and_tables_are_marked_and_prose_is_not() {
        let found = shape("# One\n\n- a\n1. b\n| c |\n\nIt rained on the town.\n", 8);
        assert_eq!((found.lines, found.length, found.marked), (5, 39, 17));
    }

    #[test]
    fn the_same_sentence_has_the_same_hash_in_any_text() {
        let one = shape("雨停了。他把怀表放在柜台上然后看着窗外的雨。", 8);
        let other = shape("“好。”\n他把怀表放在柜台上然后看着窗外的雨。夜深了。", 8);
        assert_eq!(one.sentences, other.sentences);
        assert_eq!(other.spoken, 1);
    }
}
