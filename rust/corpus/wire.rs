//! A part as bytes: what a store keeps of a document.
//!
//! `ARMC`, version, checksum of the rest, then numbers of variable width and texts in the order of the fields. Another
//! version is not read but built again: a part is derived from its file. Whatever the bytes are, reading them ends in a
//! part or an error, and allocates no more than a small multiple of their length.

use std::sync::Arc;

use super::CorpusError;
use super::part::{Part, Terms};
use super::rows::{Kind, Paragraph, Role, Rows, Unit};
use super::terms::{FamilyTerms, UnitSpan};
use super::varint::{Reader, write, write_text};

const MAGIC: &[u8; 4] = b"ARMC";
/// Raise it when the format, the keys or the analysis of text change.
pub const VERSION: u16 = 2;
const HEADER: usize = 4 + 2 + 8;

/// The bytes of a part.
pub fn to_bytes(part: &Part) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&[0; 8]);
    write_rows(&mut out, &part.rows);
    for family in &part.terms.text {
        write_family(&mut out, family);
    }
    write(&mut out, part.terms.ids.len() as u32);
    for id in &part.terms.ids {
        write_text(&mut out, id);
    }
    write_family(&mut out, &part.terms.entities);
    let sum = checksum(&out[HEADER..]);
    out[6..HEADER].copy_from_slice(&sum.to_le_bytes());
    out
}

/// A part from bytes of which nothing is known.
pub fn from_bytes(bytes: &[u8]) -> Result<Part, CorpusError> {
    let damaged = |what: &str| Err(CorpusError::Damaged(what.to_owned()));
    if bytes.len() < HEADER || bytes[..4] != *MAGIC {
        return damaged("not a part of a corpus");
    }
    if bytes[4..6] != VERSION.to_le_bytes() {
        return damaged("of another version");
    }
    if bytes[6..HEADER] != checksum(&bytes[HEADER..]).to_le_bytes() {
        return damaged("the checksum does not fit");
    }
    let mut reader = Reader::new(&bytes[HEADER..]);
    let rows = read_rows(&mut reader)?;
    let units = rows.spans();
    let text = [
        read_family(&mut reader, &units)?,
        read_family(&mut reader, &units)?,
        read_family(&mut reader, &units)?,
    ];
    let ids = (0..reader.count()?)
        .map(|_| Ok(reader.text()?.to_owned()))
        .collect::<Result<Vec<String>, CorpusError>>()?;
    let entities = read_family(&mut reader, &units)?;
    let last = entities
        .cursor(units.len())
        .last()
        .map(|(key, _)| key as usize);
    if !ids.windows(2).all(|pair| pair[0] < pair[1]) || last.is_some_and(|last| last >= ids.len()) {
        return Err(reader.damaged("entities out of order or without an id"));
    }
    if reader.left() > 0 {
        return Err(reader.damaged("bytes after the end"));
    }
    Ok(Part {
        rows: Arc::new(rows),
        terms: Arc::new(Terms {
            text,
            entities,
            ids,
        }),
    })
}

fn write_rows(out: &mut Vec<u8>, rows: &Rows) {
    write_text(out, &rows.path);
    out.push(rows.kind as u8);
    write(out, rows.paragraphs.len() as u32);
    let mut at = 0;
    for paragraph in &rows.paragraphs {
        write(out, paragraph.start - at);
        write(out, paragraph.end - paragraph.start);
        at = paragraph.end;
        out.push(paragraph.role as u8);
        write(out, paragraph.length);
        write(out, paragraph.extent);
    }
    write(out, rows.units.len() as u32);
    for unit in &rows.units {
        write_text(out, &unit.label);
        write(
            out,
            unit.chapter.map_or(0, |chapter| chapter.saturating_add(1)),
        );
        write(out, unit.first);
    }
}

fn read_rows(reader: &mut Reader<'_>) -> Result<Rows, CorpusError> {
    let path = reader.text()?.to_owned();
    let kind = one_of(reader, Kind::ALL)?;
    let count = reader.count()?;
    let mut paragraphs = Vec::with_capacity(count);
    let mut at = 0_u32;
    for _ in 0..count {
        let spans = (at.checked_add(reader.number()?), reader.number()?);
        let (Some(start), length) = spans else {
            return Err(reader.damaged("a span above 32 bits"));
        };
        let Some(end) = start.checked_add(length) else {
            return Err(reader.damaged("a span above 32 bits"));
        };
        at = end;
        paragraphs.push(Paragraph {
            start,
            end,
            role: one_of(reader, Role::ALL)?,
            length: reader.number()?,
            extent: reader.number()?,
        });
    }
    let units = (0..reader.count()?)
        .map(|_| {
            Ok(Unit {
                label: reader.text()?.to_owned(),
                chapter: reader.number()?.checked_sub(1),
                first: reader.number()?,
            })
        })
        .collect::<Result<Vec<Unit>, CorpusError>>()?;
    Rows::new(path, kind, paragraphs, units)
        .map_err(|error| CorpusError::Damaged(error.to_string()))
}

fn one_of<T: Copy, const N: usize>(reader: &mut Reader<'_>, all: [T; N]) -> Result<T, CorpusError> {
    let number = usize::from(reader.byte()?);
    all.get(number)
        .copied()
        .ok_or_else(|| reader.damaged("a number without a name"))
}

fn write_family(out: &mut Vec<u8>, family: &FamilyTerms) {
    write(out, family.keys);
    write(out, family.bytes.len() as u32);
    out.extend_from_slice(&family.bytes);
}

fn read_family(reader: &mut Reader<'_>, units: &[UnitSpan]) -> Result<FamilyTerms, CorpusError> {
    let keys = reader.number()?;
    let length = reader.count()?;
    FamilyTerms::check(keys, reader.take(length)?, units)
}

/// Eight bytes at a time, each mixed into all bits of the sum; against disks, not against people.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = 0x9e37_79b9_7f4a_7c15_u64 ^ bytes.len() as u64;
    let mut mix = |word: u64| {
        sum = (sum ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        sum ^= sum >> 32;
    };
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        mix(u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(u64::from_le_bytes(last));
    sum
}

/// The checksum of a part whose other bytes were changed, so that what comes after it is reached.
#[cfg(any(test, fuzzing))]
pub(crate) fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = checksum(&bytes[HEADER..]);
    bytes[6..HEADER].copy_from_slice(&sum.to_le_bytes());
    bytes
}
