//! How a target reads its bytes: numbers from the front, a text from what is left.

/// The bytes of one input, taken from the front; 0 and "" where there are no more.
pub(super) struct Input<'d>(&'d [u8]);

impl<'d> Input<'d> {
    pub(super) fn new(data: &'d [u8]) -> Self {
        Self(data)
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((byte, rest)) => {
                self.0 = rest;
                *byte
            }
            None => 0,
        }
    }

    /// The next two bytes as one number.
    pub(super) fn number(&mut self) -> usize {
        usize::from(u16::from_le_bytes([self.byte(), self.byte()]))
    }

    /// The next byte, below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Up to the next line end, or `most` bytes; what is no UTF-8 becomes U+FFFD.
    pub(super) fn line(&mut self, most: usize) -> String {
        let end = self.0.iter().position(|byte| *byte == b'\n');
        let (line, rest) = match end {
            Some(end) => (&self.0[..end], &self.0[end + 1..]),
            None => (self.0, &self.0[self.0.len()..]),
        };
        self.0 = rest;
        String::from_utf8_lossy(&line[..line.len().min(most)]).into_owned()
    }

    /// All that is left, at most `most` bytes of it, as bytes.
    pub(super) fn rest(self, most: usize) -> &'d [u8] {
        &self.0[..self.0.len().min(most)]
    }

    /// All that is left, at most `most` bytes of it, as a text.
    pub(super) fn text(self, most: usize) -> String {
        String::from_utf8_lossy(self.rest(most)).into_owned()
    }
}
