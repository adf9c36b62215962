//! Puts the offsets of this kernel into the instructions that load whole fields.
//!
//! What a C compiler's CO-RE relocations are to libbpf: the programs mark such a load by an offset that no load has
//! ([`FIELD_MARK`]), which says what field is meant.

use object::read::elf::ElfFile64;
use object::{LittleEndian, Object as _, ObjectSection as _, SectionKind};
use tcpwin_common::{FIELD_MARK, OFFSET_MISSING, OFFSETS, Offsets};

/// Bytes of an instruction (Documentation/bpf/standardization/instruction-set.rst).
const INSTRUCTION: usize = 8;
/// Class of the loads into a register, and the bits of the class.
const LDX: u8 = 1;
const CLASS: u8 = 7;

/// Why the offsets found no place.
#[derive(Debug, thiserror::Error)]
pub enum FieldError {
    /// No ELF object.
    #[error("the kernel programs are no ELF object: {0}")]
    Object(#[from] object::Error),
    /// A mark that stands for no field.
    #[error("a kernel program loads field {0}, which there is not")]
    Unknown(usize),
    /// An offset that does not fit an instruction.
    #[error("the kernel's field {root}.{path} is at {offset}, too far for a load", root = OFFSETS[*.index].root, path = OFFSETS[*.index].path)]
    TooFar {
        /// Its place in [`OFFSETS`].
        index: usize,
        /// Where the kernel has it.
        offset: u32,
    },
}

/// The object with the offsets in place. A load of a field that this kernel lacks is left marked: the verifier sees that it is
/// never reached, or refuses it.
pub(super) fn place(object: &[u8], offsets: &Offsets) -> Result<Vec<u8>, FieldError> {
    // An allocation of this size is aligned as ELF's structures must be.
    let mut placed = object.to_vec();
    let values = offsets.values();
    for (start, end) in programs(object)? {
        let code = placed.get_mut(start..end).unwrap_or_default();
        for instruction in code.chunks_exact_mut(INSTRUCTION) {
            if let Some(index) = marked(instruction) {
                let packed = *values.get(index).ok_or(FieldError::Unknown(index))?;
                if packed == OFFSET_MISSING {
                    continue;
                }
                let offset = packed & 0xf_ffff;
                let field = u16::try_from(offset).ok().filter(|offset| *offset < FIELD_MARK);
                let field = field.ok_or(FieldError::TooFar { index, offset })?;
                instruction[2..4].copy_from_slice(&field.to_le_bytes());
            }
        }
    }
    Ok(placed)
}

/// Where in the file the programs are.
fn programs(object: &[u8]) -> Result<Vec<(usize, usize)>, FieldError> {
    let file = ElfFile64::<LittleEndian>::parse(object)?;
    let code = file
        .sections()
        .filter(|section| section.kind() == SectionKind::Text);
    let ranges = code.filter_map(|section| section.file_range());
    Ok(ranges
        .map(|(start, size)| (start as usize, (start + size) as usize))
        .collect())
}

/// The field that an instruction loads, if it is marked, by its place in [`OFFSETS`].
fn marked(instruction: &[u8]) -> Option<usize> {
    let offset = i16::from_le_bytes([instruction[2], instruction[3]]);
    let above = u16::try_from(offset).ok()?.checked_sub(FIELD_MARK)?;
    (instruction[0] & CLASS == LDX).then_some(usize::from(above) / size_of::<u32>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::ebpf::load::OBJECT;

    fn marks(object: &[u8]) -> usize {
        let ranges = programs(object).unwrap();
        let code = ranges
            .iter()
            .flat_map(|(start, end)| object[*start..*end].chunks_exact(INSTRUCTION));
        code.filter(|instruction| marked(instruction).is_some()).count()
    }

    fn all_at(offset: u32) -> Offsets {
        Offsets::from_values(&[offset; OFFSETS.len()])
    }

    #[test]
    fn every_marked_load_gets_its_offset() {
        if OBJECT.is_empty() {
            return;
        }
        assert!(marks(OBJECT) > 0);
        let placed = place(OBJECT, &all_at(24)).unwrap();
        assert_eq!(marks(&placed), 0);
        assert_eq!(placed.len(), OBJECT.len());
    }

    #[test]
    fn a_missing_field_stays_marked() {
        if OBJECT.is_empty() {
            return;
        }
        let placed = place(OBJECT, &Offsets::MISSING).unwrap();
        assert_eq!(placed, OBJECT);
    }

    #[test]
    fn what_does_not_fit_or_is_no_object_is_told() {
        assert!(matches!(
            place(b"nothing", &all_at(0)),
            Err(FieldError::Object(_))
        ));
        if !OBJECT.is_empty() {
            let told = place(OBJECT, &all_at(u32::from(FIELD_MARK))).unwrap_err();
            assert!(told.to_string().ends_with("too far for a load"), "{told}");
        }
    }
}
