//! Protobuf's wire format: enough of it to read a SCIP index, nothing of code generation.
//!
//! A reader never allocates more than the bytes it was given and never panics: whatever is not
//! protobuf is a [`WireError`] with the offset at which it stopped making sense.

use std::fmt;

/// Where and why bytes are not protobuf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireError {
    /// Offset in the message that was being read.
    pub offset: usize,
    /// What was expected there.
    pub reason: &'static str,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.reason, self.offset)
    }
}

impl std::error::Error for WireError {}

/// The value of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 2: a string, a message or packed numbers.
    Bytes(&'a [u8]),
    /// Wire types 1 and 5, which SCIP does not use.
    Fixed,
}

impl<'a> Value<'a> {
    /// The bytes, or none for a number.
    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Value::Bytes(b) => Some(b),
            _ => None,
        }
    }

    /// The number, or 0 for anything else.
    pub fn number(self) -> u64 {
        match self {
            Value::Varint(n) => n,
            _ => 0,
        }
    }

    /// A 32-bit number, or 0 when it does not fit: lines and columns are never that large.
    pub fn small(self) -> u32 {
        u32::try_from(self.number()).unwrap_or(0)
    }
}

/// Reads the fields of one message in order.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    /// Starts at the beginning of a message.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn fail<T>(&self, reason: &'static str) -> Result<T, WireError> {
        Err(WireError {
            offset: self.at,
            reason,
        })
    }

    fn varint(&mut self) -> Result<u64, WireError> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let Some(&byte) = self.bytes.get(self.at) else {
                return self.fail("the message ends inside a number");
            };
            self.at += 1;
            if shift < 64 {
                value |= u64::from(byte & 0x7f) << shift;
            }
            if byte < 0x80 {
                return Ok(value);
            }
        }
        self.fail("a number longer than ten bytes")
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        match self
            .at
            .checked_add(length)
            .and_then(|end| self.bytes.get(self.at..end))
        {
            Some(slice) => {
                self.at += length;
                Ok(slice)
            }
            None => self.fail("the message ends inside a field"),
        }
    }

    /// The next field, or none at the end.
    #[allow(clippy::should_implement_trait)] // fallible, so not an Iterator
    pub fn next(&mut self) -> Result<Option<(u32, Value<'a>)>, WireError> {
        if self.at >= self.bytes.len() {
            return Ok(None);
        }
        let key = self.varint()?;
        let Ok(field) = u32::try_from(key >> 3) else {
            return self.fail("a field number out of range");
        };
        if field == 0 {
            return self.fail("field number 0");
        }
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.take(usize::try_from(length).unwrap_or(usize::MAX))?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            _ => return self.fail("an unknown wire type"),
        };
        Ok(Some((field, value)))
    }
}

/// Up to four packed numbers; a range has three or four. The count says how many there were.
pub fn packed(bytes: &[u8]) -> Result<([u32; 4], usize), WireError> {
    let mut reader = Fields::new(bytes);
    let mut out = [0u32; 4];
    let mut count = 0;
    while reader.at < bytes.len() {
        let n = reader.varint()?;
        if count < 4 {
            out[count] = u32::try_from(n).unwrap_or(0);
        }
        count += 1;
    }
    Ok((out, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_come_in_order_with_their_values() {
        let mut fields = Fields::new(&[0x08, 0x96, 0x01, 0x12, 2, b'h', b'i']);
        assert_eq!(fields.next(), Ok(Some((1, Value::Varint(150)))));
        assert_eq!(fields.next(), Ok(Some((2, Value::Bytes(b"hi")))));
        assert_eq!(fields.next(), Ok(None));
    }

    #[test]
    fn a_length_beyond_the_message_is_an_error() {
        assert!(Fields::new(&[0x12, 9, b'h']).next().is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut fields = Fields::new(&bytes);
            while let Ok(Some(_)) = fields.next() {}
            let _ = packed(&bytes);
        }
    }
}
