//! Field offsets out of the kernel's BTF (Documentation/bpf/btf.rst).
//!
//! Reads only what the look-up of a member path needs: structures, unions, and what stands between a member and its type.

use tcpwin_common::{OFFSET_MISSING, OFFSETS, Offsets, pack_offset};

const MAGIC: u16 = 0xeb9f;

const KIND_INT: u32 = 1;
const KIND_ARRAY: u32 = 3;
const KIND_STRUCT: u32 = 4;
const KIND_UNION: u32 = 5;
const KIND_ENUM: u32 = 6;
const KIND_TYPEDEF: u32 = 8;
const KIND_VOLATILE: u32 = 9;
const KIND_CONST: u32 = 10;
const KIND_RESTRICT: u32 = 11;
const KIND_FUNC: u32 = 12;
const KIND_FUNC_PROTO: u32 = 13;
const KIND_VAR: u32 = 14;
const KIND_DATASEC: u32 = 15;
const KIND_DECL_TAG: u32 = 17;
const KIND_TYPE_TAG: u32 = 18;
const KIND_ENUM64: u32 = 19;

/// Why the kernel's BTF is of no use.
#[derive(Debug, thiserror::Error)]
pub enum BtfError {
    /// Not BTF, or cut short.
    #[error("the kernel's BTF is malformed at byte {0}")]
    Malformed(usize),
    /// A field without which the programs cannot work.
    #[error("this kernel has no field {root}.{path}")]
    NoField {
        /// Structure.
        root: &'static str,
        /// Member path.
        path: &'static str,
    },
}

/// Parsed BTF.
pub struct Btf<'a> {
    strings: &'a [u8],
    types: &'a [u8],
    /// Byte position in `types` by type id; id 0 is void.
    positions: Vec<u32>,
}

/// A type's first three words.
#[derive(Clone, Copy)]
struct Header {
    name: u32,
    info: u32,
    size_or_type: u32,
    /// Position of what follows the three words.
    tail: usize,
}

impl Header {
    const fn kind(self) -> u32 {
        self.info >> 24 & 0x1f
    }
    const fn members(self) -> usize {
        (self.info & 0xffff) as usize
    }
    const fn has_bitfields(self) -> bool {
        self.info >> 31 == 1
    }
}

fn word(bytes: &[u8], at: usize) -> Result<u32, BtfError> {
    let chunk = bytes.get(at..at + 4).ok_or(BtfError::Malformed(at))?;
    Ok(u32::from_ne_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]))
}

impl<'a> Btf<'a> {
    /// Parses the bytes of `/sys/kernel/btf/vmlinux`.
    ///
    /// # Errors
    /// [`BtfError::Malformed`] with the position.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, BtfError> {
        if word(bytes, 0)? & 0xffff != u32::from(MAGIC) {
            return Err(BtfError::Malformed(0));
        }
        let header = word(bytes, 4)? as usize;
        let section = |offset_at: usize| -> Result<&'a [u8], BtfError> {
            let start = header.saturating_add(word(bytes, offset_at)? as usize);
            let end = start.saturating_add(word(bytes, offset_at + 4)? as usize);
            bytes.get(start..end).ok_or(BtfError::Malformed(offset_at))
        };
        let types = section(8)?;
        let strings = section(16)?;
        let mut btf = Self {
            strings,
            types,
            positions: vec![u32::MAX],
        };
        let mut at = 0;
        while at < types.len() {
            btf.positions.push(at as u32);
            let header = btf.header_at(at)?;
            let tail = match header.kind() {
                KIND_INT | KIND_VAR | KIND_DECL_TAG => 4,
                KIND_ARRAY => 12,
                KIND_STRUCT | KIND_UNION | KIND_DATASEC | KIND_ENUM64 => 12 * header.members(),
                KIND_ENUM | KIND_FUNC_PROTO => 8 * header.members(),
                _ => 0,
            };
            at = header.tail + tail;
        }
        Ok(btf)
    }

    fn header_at(&self, at: usize) -> Result<Header, BtfError> {
        Ok(Header {
            name: word(self.types, at)?,
            info: word(self.types, at + 4)?,
            size_or_type: word(self.types, at + 8)?,
            tail: at + 12,
        })
    }

    fn header(&self, id: u32) -> Result<Header, BtfError> {
        let at = *self.positions.get(id as usize).ok_or(BtfError::Malformed(0))?;
        self.header_at(at as usize)
    }

    fn name_is(&self, at: u32, name: &str) -> bool {
        let bytes = self.strings.get(at as usize..).unwrap_or_default();
        bytes
            .strip_prefix(name.as_bytes())
            .is_some_and(|rest| rest.first() == Some(&0))
    }

    /// If the kernel has a function of this name (what fentry can attach to; `btf_trace_NAME` types are tracepoints).
    #[must_use]
    pub fn has_function(&self, name: &str) -> bool {
        self.find(KIND_FUNC, name).is_some()
    }

    /// If the kernel has a tracepoint of this name with its types in BTF.
    #[must_use]
    pub fn has_tracepoint(&self, name: &str) -> bool {
        self.find(KIND_TYPEDEF, &format!("btf_trace_{name}")).is_some()
    }

    fn find(&self, kind: u32, name: &str) -> Option<Header> {
        (1..self.positions.len())
            .filter_map(|id| self.header(id as u32).ok())
            .find(|header| {
                header.kind() == kind
                    && self.name_is(header.name, name)
                    && (kind == KIND_FUNC || header.size_or_type > 0)
            })
    }

    /// Looks through typedefs and qualifiers.
    fn resolve(&self, mut id: u32) -> Result<Header, BtfError> {
        // A chain longer than this is a loop.
        for _ in 0..32 {
            let header = self.header(id)?;
            match header.kind() {
                KIND_TYPEDEF | KIND_VOLATILE | KIND_CONST | KIND_RESTRICT | KIND_TYPE_TAG => {
                    id = header.size_or_type
                }
                _ => return Ok(header),
            }
        }
        Err(BtfError::Malformed(id as usize))
    }

    /// Bit offset, bit-field width (0 for a whole member) and type of a direct member, looking into anonymous ones.
    fn member(&self, of: Header, name: &str, depth: u32) -> Result<Option<(u32, u32, u32)>, BtfError> {
        for index in 0..of.members() {
            let at = of.tail + 12 * index;
            let (member_name, member_type, raw) = (
                word(self.types, at)?,
                word(self.types, at + 4)?,
                word(self.types, at + 8)?,
            );
            let (width, bits) = if of.has_bitfields() {
                (raw >> 24, raw & 0xff_ffff)
            } else {
                (0, raw)
            };
            if member_name != 0 && self.name_is(member_name, name) {
                return Ok(Some((bits, width, member_type)));
            }
            let anonymous = self.strings.get(member_name as usize) == Some(&0);
            if anonymous && depth > 0 {
                let inner = self.resolve(member_type)?;
                if matches!(inner.kind(), KIND_STRUCT | KIND_UNION)
                    && let Some((inner_bits, width, found)) = self.member(inner, name, depth - 1)?
                {
                    return Ok(Some((bits + inner_bits, width, found)));
                }
            }
        }
        Ok(None)
    }

    /// Packed offset of a member path in a structure; `None` if this kernel lacks it.
    ///
    /// # Errors
    /// [`BtfError::Malformed`] for BTF that contradicts itself.
    pub fn offset(&self, root: &str, path: &str) -> Result<Option<u32>, BtfError> {
        let Some(mut of) = self.find(KIND_STRUCT, root) else {
            return Ok(None);
        };
        let (mut bits, mut width) = (0, 0);
        for (step, name) in path.split('.').enumerate() {
            let Some((offset, member_width, member_type)) = self.member(of, name, 8)? else {
                return Ok(None);
            };
            bits += offset;
            width = member_width;
            if step + 1 < path.split('.').count() {
                of = self.resolve(member_type)?;
            }
        }
        if width >= 8 || bits / 8 > 0xf_ffff || bits % 8 + width > 8 {
            return Err(BtfError::Malformed(bits as usize));
        }
        Ok(Some(pack_offset(bits / 8, bits % 8, width)))
    }

    /// All offsets the programs need.
    ///
    /// # Errors
    /// [`BtfError::NoField`] for one they cannot do without.
    pub fn offsets(&self) -> Result<Offsets, BtfError> {
        let mut values = [OFFSET_MISSING; OFFSETS.len()];
        for (value, wanted) in values.iter_mut().zip(OFFSETS) {
            match self.offset(wanted.root, wanted.path)? {
                Some(offset) => *value = offset,
                None if wanted.optional => {}
                None => {
                    return Err(BtfError::NoField {
                        root: wanted.root,
                        path: wanted.path,
                    });
                }
            }
        }
        Ok(Offsets::from_values(&values))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn this_kernel_has_every_field() {
        let Ok(bytes) = std::fs::read("/sys/kernel/btf/vmlinux") else {
            return;
        };
        let btf = Btf::parse(&bytes).unwrap();
        let offsets = btf.offsets().unwrap();
        assert_eq!(offsets.skc_family & 0xf_ffff, 16);
        assert!(btf.has_tracepoint("tcp_probe"));
        assert!(btf.has_function("tcp_sendmsg"));
        assert!(!btf.has_tracepoint("no_such_thing"));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
            if bytes.len() > 24 {
                bytes[..8].copy_from_slice(&[0x9f, 0xeb, 1, 0, 24, 0, 0, 0]);
            }
            if let Ok(btf) = Btf::parse(&bytes) {
                let _ = btf.offsets();
            }
        }
    }
}
