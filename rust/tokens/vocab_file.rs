//! Reading a vocabulary file: which tokens are kept of the list before it, and which are its own (`vocab/build.py`).

const MAGIC: &[u8] = b"ATV2";

/// A vocabulary file that does not parse; only a damaged build can produce it.
#[derive(Debug, thiserror::Error)]
#[error("embedded vocabulary is damaged: {0}")]
pub struct Damaged(&'static str);

/// One stretch of a list: leave out `skip` tokens of the base, keep `copy`, then add `own` of the file.
struct Run {
    skip: usize,
    copy: usize,
    own: usize,
}

/// The tokens in rank order of a file that was written over the list `base` (empty for most).
///
/// Cost: linear in the tokens; 1.6 MB of file takes 2 ms.
pub(crate) fn read_file<'a>(file: &'a [u8], base: &[&'a [u8]]) -> Result<Vec<&'a [u8]>, Damaged> {
    let (head, mut rest) = file.split_at_checked(8).ok_or(Damaged("no header"))?;
    let count = match head.strip_prefix(MAGIC) {
        Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]) as usize,
        _ => return Err(Damaged("not a vocabulary")),
    };
    let mut runs = Vec::new();
    for _ in 0..count {
        runs.push(Run {
            skip: number(&mut rest)?,
            copy: number(&mut rest)?,
            own: number(&mut rest)?,
        });
    }
    let own = own_tokens(rest, runs.iter().map(|run| run.own).sum())?;
    let (mut before, mut after) = (base, own.as_slice());
    let mut tokens = Vec::with_capacity(base.len() + own.len());
    for run in runs {
        let short = Damaged("it keeps more than its base has");
        before = before.get(run.skip..).ok_or(short)?;
        let short = Damaged("it keeps more than its base has");
        let (kept, rest) = before.split_at_checked(run.copy).ok_or(short)?;
        let (added, left) = after.split_at(run.own);
        tokens.extend_from_slice(kept);
        tokens.extend_from_slice(added);
        (before, after) = (rest, left);
    }
    Ok(tokens)
}

/// The next LEB128 number, at most 21 bits.
fn number(rest: &mut &[u8]) -> Result<usize, Damaged> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (&byte, tail) = rest.split_first().ok_or(Damaged("numbers end early"))?;
        *rest = tail;
        value |= usize::from(byte & 0x7F) << shift;
        shift += 7;
        if byte < 0x80 {
            return Ok(value);
        }
        if shift > 14 {
            return Err(Damaged("a number beyond reason"));
        }
    }
}

/// Lengths in rank order, then the tokens grouped by length, each group in rank order.
fn own_tokens(mut rest: &[u8], count: usize) -> Result<Vec<&[u8]>, Damaged> {
    let mut lengths = Vec::new();
    let mut cursors = Vec::new();
    for _ in 0..count {
        let length = number(&mut rest)?;
        if length >= cursors.len() {
            cursors.resize(length + 1, 0);
        }
        cursors[length] += length;
        lengths.push(length);
    }
    let mut at = 0;
    for cursor in &mut cursors {
        at += std::mem::replace(cursor, at);
    }
    let mut tokens = Vec::with_capacity(count);
    for length in lengths {
        let from = cursors[length];
        cursors[length] += length;
        tokens.push(
            rest.get(from..from + length)
                .ok_or(Damaged("tokens end early"))?,
        );
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_over_a_base_keeps_leaves_out_and_adds_in_rank_order() {
        let base: [&[u8]; 4] = [b"a", b"b", b"c", b"d"];
        let file = b"ATV2\x02\0\0\0\x00\x01\x02\x01\x02\x01\x02\x01\x01xzyy";
        let tokens = read_file(file, &base).expect("a file over a base");
        assert_eq!(tokens, [&b"a"[..], b"yy", b"x", b"c", b"d", b"z"]);
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        for file in [
            &b""[..],
            b"ATV2",
            b"ATV1\x01\0\0\0\0\0\x01\x01a",
            b"ATV2\x01\0\0\0\0\0",
            b"ATV2\x01\0\0\0\0\0\x02\x01",
            b"ATV2\x01\0\0\0\0\0\x01\x02a",
            b"ATV2\x01\0\0\0\0\x01\0",
            b"ATV2\x01\0\0\0\x01\0\0",
            b"ATV2\x01\0\0\0\xff\xff\xff\x01\0\0",
        ] {
            assert!(read_file(file, &[]).is_err(), "{file:?}");
        }
    }
}
