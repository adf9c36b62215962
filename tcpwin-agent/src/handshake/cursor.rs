//! Bytes taken from the front, with TLS's length-prefixed vectors (RFC 8446, section 3.4).

/// What is left to read. Nothing is taken where too little is left.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// One byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    /// Two bytes, the high one first.
    pub fn u16(&mut self) -> Option<u16> {
        self.number(2).map(|number| number as u16)
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Option<u32> {
        self.number(4)
    }

    /// A vector behind its length of `width` bytes.
    pub fn vector(&mut self, width: usize) -> Option<Self> {
        let mut probe = *self;
        let length = probe.number(width)?;
        let taken = probe.take(usize::try_from(length).ok()?)?;
        *self = probe;
        Some(Self(taken))
    }

    fn number(&mut self, width: usize) -> Option<u32> {
        let bytes = self.take(width.min(4))?;
        Some(bytes.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    #[test]
    fn a_vector_that_is_cut_short_is_not_taken() {
        let mut whole = Cursor(&[0, 2, 7, 8, 9]);
        assert_eq!(whole.vector(2).map(|inner| inner.0), Some(&[7, 8][..]));
        assert_eq!(whole.u8(), Some(9));
        let mut cut = Cursor(&[0, 3, 7, 8]);
        assert!(cut.vector(2).is_none());
        assert_eq!(
            cut.u32(),
            Some(0x0003_0708),
            "and what is there can still be read"
        );
    }
}
