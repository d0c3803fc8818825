//! The counts of one document as bytes: a version, a checksum of the rest, numbers of variable width.
//!
//! Characters are written by their distance from the one before, a part of a key that is the same as in the row before
//! as one zero: a chapter of 7,000 characters takes 4 KB, less than its rows as JSON after zlib.

use std::cmp::Ordering;

use super::{Counted, Key, PARTS};
use crate::corpus::CorpusError;
use crate::corpus::varint::{Reader, write};
use crate::corpus::wire::checksum;

/// Raise it when the form changes. What zlib writes begins with 0x78, as these counts once did.
const VERSION: u8 = 1;
const HEADER: usize = 1 + 8;

/// The bytes of counts whose tables have keys of as many parts as `parts` says.
pub fn to_bytes(counted: &Counted<'_>, parts: &[usize]) -> Vec<u8> {
    let mut out = vec![0; HEADER];
    write(&mut out, counted.characters.len() as u32);
    let mut next = 0;
    for &(place, times) in &counted.characters {
        write(&mut out, place - next);
        write(&mut out, times);
        next = place + 1;
    }
    for (rows, &parts) in counted.tables.iter().zip(parts) {
        write(&mut out, rows.len() as u32);
        let mut before: Key<'_> = [&[]; PARTS];
        for (key, count) in rows {
            for (part, before) in key.iter().zip(&before).take(parts) {
                if part == before {
                    out.push(0);
                } else {
                    write(&mut out, part.len() as u32 + 1);
                    out.extend_from_slice(part);
                }
            }
            write(&mut out, *count);
            before = *key;
        }
    }
    out[0] = VERSION;
    let sum = checksum(&out[HEADER..]);
    out[1..HEADER].copy_from_slice(&sum.to_le_bytes());
    out
}

/// Counts from bytes of which nothing is known.
///
/// # Errors
/// They are something else, or have characters from `places` on. Of how many parts keys are is not written in them.
pub fn from_bytes<'b>(
    bytes: &'b [u8],
    places: u32,
    parts: &[usize],
) -> Result<Counted<'b>, CorpusError> {
    if bytes.len() < HEADER || bytes[0] != VERSION {
        return Err(CorpusError::Damaged("no counts of a document".to_owned()));
    }
    if bytes[1..HEADER] != checksum(&bytes[HEADER..]).to_le_bytes() {
        return Err(CorpusError::Damaged("the checksum does not fit".to_owned()));
    }
    let mut reader = Reader::new(&bytes[HEADER..]);
    let characters = read_characters(&mut reader, places)?;
    let tables = parts
        .iter()
        .map(|&parts| read_rows(&mut reader, parts))
        .collect::<Result<_, _>>()?;
    if reader.left() > 0 {
        return Err(reader.damaged("bytes after the end"));
    }
    Ok(Counted { characters, tables })
}

fn read_characters(reader: &mut Reader<'_>, places: u32) -> Result<Vec<(u32, u32)>, CorpusError> {
    let count = reader.count()?;
    let mut characters = Vec::with_capacity(count);
    let mut next = 0_u32;
    for _ in 0..count {
        let place = next.saturating_add(reader.number()?);
        let times = reader.number()?;
        if place >= places || times == 0 {
            return Err(reader.damaged("a character that is none, or does not occur"));
        }
        characters.push((place, times));
        next = place + 1;
    }
    Ok(characters)
}

fn read_rows<'b>(
    reader: &mut Reader<'b>,
    parts: usize,
) -> Result<Vec<(Key<'b>, u32)>, CorpusError> {
    let count = reader.count()?;
    // No more than bytes: a row takes as many as its key has parts, and one.
    let mut rows: Vec<(Key<'b>, u32)> = Vec::with_capacity(count.min(reader.left() / (parts + 1)));
    let mut key: Key<'b> = [&[]; PARTS];
    for at in 0..count {
        let mut order = Ordering::Equal; // to the row before
        for part in key.iter_mut().take(parts) {
            let length = reader.number()? as usize;
            if length > 0 {
                let before = std::mem::replace(part, reader.take(length - 1)?);
                check(part, reader)?;
                order = order.then_with(|| before.cmp(part));
            }
        }
        let times = reader.number()?;
        if times == 0 || (at > 0 && order != Ordering::Less) {
            return Err(reader.damaged("rows out of order, or of nothing"));
        }
        rows.push((key, times));
    }
    Ok(rows)
}

/// UTF-8, or with lone surrogates what Python can make a text of.
fn check(part: &[u8], reader: &Reader<'_>) -> Result<(), CorpusError> {
    let mut rest = part;
    while let Err(error) = std::str::from_utf8(rest) {
        match rest[error.valid_up_to()..] {
            [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..] => rest = &rest[error.valid_up_to() + 3..],
            _ => return Err(reader.damaged("a name that is no text")),
        }
    }
    Ok(())
}
