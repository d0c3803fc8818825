//! Numbers of variable width: seven bits a byte, the lowest first (LEB128).
//!
//! `read` trusts its bytes and is used on what was checked once; `Reader` trusts nothing and is what checks.

use super::CorpusError;

/// Append `value`.
#[inline]
pub fn write(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The number at `at`, which moves past it; the bytes have been checked.
#[inline]
pub fn read(bytes: &[u8], at: &mut usize) -> u32 {
    let first = bytes[*at];
    *at += 1;
    if first < 0x80 {
        return u32::from(first);
    }
    let mut value = u32::from(first & 0x7f);
    let mut shift = 7;
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
        shift += 7;
    }
}

/// Reads bytes of which nothing is known.
#[derive(Debug, Clone)]
pub struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    /// From the first byte on.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes not read yet.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// An error at this place.
    #[cold]
    pub fn damaged(&self, what: &str) -> CorpusError {
        CorpusError::Damaged(format!("{what} at byte {}", self.at))
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'b [u8], CorpusError> {
        if count > self.left() {
            return Err(self.damaged("cut off"));
        }
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    /// The next byte.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, CorpusError> {
        let Some(&byte) = self.bytes.get(self.at) else {
            return Err(self.damaged("cut off"));
        };
        self.at += 1;
        Ok(byte)
    }

    /// The next number.
    #[inline]
    pub fn number(&mut self) -> Result<u32, CorpusError> {
        match self.bytes.get(self.at) {
            Some(&byte) if byte < 0x80 => {
                self.at += 1;
                Ok(u32::from(byte))
            }
            _ => self.long_number(),
        }
    }

    fn long_number(&mut self) -> Result<u32, CorpusError> {
        let mut value = 0_u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return u32::try_from(value).map_err(|_| self.damaged("a number above 32 bits"));
            }
        }
        Err(self.damaged("a number without end"))
    }

    /// A number of things that take at least one byte each: never more than there are bytes, so that it is safe to
    /// allocate for them.
    pub fn count(&mut self) -> Result<usize, CorpusError> {
        let count = self.number()? as usize;
        if count > self.left() {
            return Err(self.damaged("more rows than bytes"));
        }
        Ok(count)
    }

    /// A text: its length in bytes, then UTF-8.
    pub fn text(&mut self) -> Result<&'b str, CorpusError> {
        let length = self.count()?;
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map_err(|_| self.damaged("text that is not UTF-8"))
    }
}

/// Append a text: its length in bytes, then UTF-8.
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    write(out, text.len() as u32);
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_written_is_read(values in proptest::collection::vec(any::<u32>(), 0..40)) {
            let mut out = Vec::new();
            for &value in &values {
                write(&mut out, value);
            }
            let (mut at, mut reader) = (0, Reader::new(&out));
            for value in values {
                prop_assert_eq!(read(&out, &mut at), value);
                prop_assert_eq!(reader.number().ok(), Some(value));
            }
            prop_assert_eq!(reader.left(), 0);
        }
    }

    #[test]
    fn a_number_that_does_not_end_or_does_not_fit_is_an_error() {
        for bytes in [&[0x80][..], &[0xff; 9], &[0xff, 0xff, 0xff, 0xff, 0x7f]] {
            assert!(Reader::new(bytes).number().is_err(), "{bytes:?}");
        }
        assert!(Reader::new(&[200, 1]).count().is_err());
        assert!(Reader::new(&[2, b'a']).text().is_err());
        assert!(Reader::new(&[1, 0xff]).text().is_err());
    }
}
