//! Any bytes: what is whole is read, what is not is told, nothing panics.

use proptest::prelude::*;

use super::host::{ROOMY, folder, recorded};
use super::*;
use crate::recording::{Contents, read_all};

fn bytes_of(ticks: u64) -> Vec<u8> {
    let (_folder, file) = folder();
    recorded(&file, ROOMY, ticks);
    fs::read(&file).unwrap()
}

#[test]
fn any_cut_leaves_what_is_whole_before_it() {
    let bytes = bytes_of(6);
    let whole = read_all(&bytes);
    assert!(whole.fault.is_none() && whole.frames > 6, "{whole:?}");
    let mut before = 0;
    for length in 0..bytes.len() {
        let Contents { frames, fault, .. } = read_all(&bytes[..length]);
        let fault = fault.unwrap_or_else(|| panic!("{length} of {} bytes are whole", bytes.len()));
        assert!(frames >= before && frames <= whole.frames, "{length}: {fault}");
        before = frames;
    }
}

#[test]
fn the_layout_is_that_of_its_version() {
    // Another checksum without another VERSION: readers in the field would read nonsense. Of what is unpacked, since the
    // packer may change.
    let bytes = bytes_of(3);
    let mut reader = crate::recording::Reader::open(bytes.as_slice()).unwrap();
    let mut crc = crc32fast::Hasher::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        crc.update(&frame.raw);
    }
    let version = crate::recording::frame::VERSION;
    insta::assert_snapshot!(format!("version {version}: {:08x}", crc.finalize()));
}

proptest! {
    #[test]
    fn any_flipped_bit_is_noticed(at in any::<prop::sample::Index>(), bit in 0u8..8) {
        static BYTES: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| bytes_of(4));
        let mut damaged = BYTES.clone();
        damaged[at.index(BYTES.len())] ^= 1_u8 << bit;
        let read = read_all(&damaged);
        prop_assert!(read.fault.is_some());
        prop_assert!(read.inputs <= read_all(&BYTES).inputs);
    }

    #[test]
    fn arbitrary_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..4_096)) {
        prop_assert!(read_all(&bytes).fault.is_some());
    }

    /// As the bytes of a frame that is whole: a recorder of another kind, or of bad intent.
    #[test]
    fn arbitrary_inputs_are_refused_or_read(raw in proptest::collection::vec(any::<u8>(), 0..4_096)) {
        let mut inputs = crate::recording::Inputs::new(raw);
        while let Ok(Some(_)) = inputs.take() {}
    }
}
