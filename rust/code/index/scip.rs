//! Reads `index.scip`, one document at a time, into [`Occurrences`].
//!
//! The schema is that of SCIP 0.10: `Index{1 metadata, 2 documents}`, `Document{1 path, 2 occurrences,
//! 5 text, 6 position encoding}`, `Occurrence{1 range, 2 symbol, 3 roles, 7 enclosing range, 8 and 9
//! typed range, 10 and 11 typed enclosing range}`; the typed ranges win over the old ones. Memory is
//! that of the largest document plus 24 bytes per occurrence, however large the file.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use crate::code::index::occurrences::{Collector, Document, Occurrences};
use crate::code::index::wire::{Fields, Value, WireError, packed};
use crate::code::scan::position::{Encoding, Pos, pos};

/// Why a file is not an index.
#[derive(Debug)]
pub enum ScipError {
    /// The file cannot be read.
    Io(io::Error),
    /// The file is no SCIP index, or a damaged one.
    Corrupt(String),
}

impl fmt::Display for ScipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(e) => write!(f, "{e}"),
            Self::Corrupt(reason) => write!(f, "not a SCIP index: {reason}"),
        }
    }
}

impl std::error::Error for ScipError {}

impl From<io::Error> for ScipError {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

impl From<WireError> for ScipError {
    fn from(e: WireError) -> Self {
        Self::Corrupt(e.to_string())
    }
}

fn corrupt<T>(reason: impl Into<String>) -> Result<T, ScipError> {
    Err(ScipError::Corrupt(reason.into()))
}

/// One number of the top level, read from the stream; none at a clean end.
fn varint(reader: &mut impl Read) -> Result<Option<u64>, ScipError> {
    let mut value = 0u64;
    let mut byte = [0u8];
    for shift in (0..70).step_by(7) {
        if reader.read(&mut byte)? == 0 {
            return if shift == 0 {
                Ok(None)
            } else {
                corrupt("the file ends inside a number")
            };
        }
        if shift < 64 {
            value |= u64::from(byte[0] & 0x7f) << shift;
        }
        if byte[0] < 0x80 {
            return Ok(Some(value));
        }
    }
    corrupt("a number longer than ten bytes")
}

/// Reads a whole index.
///
/// Fails on a file that is no protobuf, ends early, or holds neither metadata nor a document.
pub fn read(path: &Path) -> Result<Occurrences, ScipError> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    read_from(BufReader::with_capacity(1 << 16, file), size)
}

/// `read` of `size` bytes.
pub fn read_from(mut reader: impl Read, size: u64) -> Result<Occurrences, ScipError> {
    let mut collector = Collector::default();
    let mut message = Vec::new();
    let mut seen = 0u64;
    let mut recognised = false;
    while let Some(key) = varint(&mut reader)? {
        if key & 7 != 2 || key >> 3 == 0 {
            return corrupt(format!(
                "unexpected field {} of wire type {} at the top level",
                key >> 3,
                key & 7
            ));
        }
        let Some(length) = varint(&mut reader)? else {
            return corrupt("the file ends before the length of a field");
        };
        seen = seen.saturating_add(length);
        if seen > size {
            return corrupt(format!("a field of {length} bytes in a file of {size}"));
        }
        message.clear();
        (&mut reader).take(length).read_to_end(&mut message)?;
        if message.len() as u64 != length {
            return corrupt("the file ends inside a field");
        }
        match key >> 3 {
            1 => {
                collector.tool(tool(&message)?);
                recognised = true;
            }
            2 => {
                document(&message, &mut collector)?;
                recognised = true;
            }
            _ => {}
        }
    }
    if !recognised {
        return corrupt("neither metadata nor documents");
    }
    Ok(collector.finish())
}

fn text(value: Value<'_>) -> Result<&str, ScipError> {
    std::str::from_utf8(value.bytes().unwrap_or_default())
        .map_err(|e| ScipError::Corrupt(format!("a string that is not UTF-8: {e}")))
}

/// `name version` out of the metadata's tool information.
fn tool(metadata: &[u8]) -> Result<String, ScipError> {
    let mut fields = Fields::new(metadata);
    let mut parts = Vec::new();
    while let Some((field, value)) = fields.next()? {
        if let (2, Value::Bytes(info)) = (field, value) {
            let mut info = Fields::new(info);
            while let Some((number, value)) = info.next()? {
                if number <= 2 {
                    parts.push(text(value)?.to_string());
                }
            }
        }
    }
    Ok(parts.join(" "))
}

fn document(message: &[u8], collector: &mut Collector) -> Result<(), ScipError> {
    let number = collector.document(Document::default());
    let mut encoding = 0;
    let mut fields = Fields::new(message);
    let (mut path, mut body) = (String::new(), None);
    while let Some((field, value)) = fields.next()? {
        match field {
            1 => path = text(value)?.replace('\\', "/"),
            2 => occurrence(value.bytes().unwrap_or_default(), number, collector)?,
            5 => body = Some(text(value)?.to_string()).filter(|t| !t.is_empty()),
            6 => encoding = value.number(),
            _ => {}
        }
    }
    if path.is_empty() {
        return corrupt("a document without a path");
    }
    if let Some(slot) = collector.document_mut(number) {
        *slot = Document {
            path,
            encoding: Encoding::from_scip(encoding),
            text: body,
        };
    }
    Ok(())
}

type Range = (Pos, Pos);

/// The old form: three numbers on one line, four over several.
fn plain_range(bytes: &[u8]) -> Result<Option<Range>, ScipError> {
    let (n, count) = packed(bytes)?;
    Ok(match count {
        3 => Some((pos(n[0], n[1]), pos(n[0], n[2]))),
        4 => Some((pos(n[0], n[1]), pos(n[2], n[3]))),
        0 => None,
        _ => return corrupt(format!("a range of {count} numbers")),
    })
}

/// `SingleLineRange{1 line, 2 start, 3 end}` or `MultiLineRange{1 line, 2 start, 3 line, 4 end}`.
fn typed_range(bytes: &[u8], multi: bool) -> Result<Range, ScipError> {
    let mut n = [0u32; 5];
    let mut fields = Fields::new(bytes);
    while let Some((field, value)) = fields.next()? {
        if let Some(slot) = n.get_mut(field as usize) {
            *slot = value.small();
        }
    }
    let end = if multi {
        pos(n[3], n[4])
    } else {
        pos(n[1], n[3])
    };
    Ok((pos(n[1], n[2]), end))
}

fn occurrence(message: &[u8], document: u32, collector: &mut Collector) -> Result<(), ScipError> {
    let mut fields = Fields::new(message);
    let (mut plain, mut plain_extent, mut range, mut extent) = (None, None, None, None);
    let (mut loose, mut loose_extent): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    let (mut symbol, mut roles) = ("", 0);
    while let Some((field, value)) = fields.next()? {
        match (field, value) {
            (1, Value::Bytes(b)) => plain = plain_range(b)?,
            (1, n) => loose.push(n.small()),
            (2, v) => symbol = text(v)?,
            (3, v) => roles = v.number(),
            (7, Value::Bytes(b)) => plain_extent = plain_range(b)?,
            (7, n) => loose_extent.push(n.small()),
            (8 | 9, Value::Bytes(b)) => range = Some(typed_range(b, field == 9)?),
            (10 | 11, Value::Bytes(b)) => extent = Some(typed_range(b, field == 11)?),
            _ => {}
        }
    }
    let unpacked = |n: &[u32]| match *n {
        [line, from, to] => Some((pos(line, from), pos(line, to))),
        [line, from, last, to] => Some((pos(line, from), pos(last, to))),
        _ => None,
    };
    let range = range.or(plain).or_else(|| unpacked(&loose));
    let extent = extent.or(plain_extent).or_else(|| unpacked(&loose_extent));
    if let (Some((start, end)), false) = (range, symbol.is_empty()) {
        let column = if end.line == start.line {
            end.column
        } else {
            start.column
        };
        collector.add(document, symbol, start, column, roles & 1 == 1, extent);
    }
    Ok(())
}
