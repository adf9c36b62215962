//! Any bytes as a recording, and as the inputs of a frame whose checksum is right: nothing panics, and what is read is as much
//! as the bytes hold.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tcpwin_agent::recording::{Inputs, read_all};

fuzz_target!(|bytes: &[u8]| {
    let contents = read_all(bytes);
    assert!(contents.frames <= bytes.len() as u64);
    let mut inputs = Inputs::new(bytes.to_vec());
    let mut read = 0;
    while let Ok(Some(_)) = inputs.take() {
        read += 1;
    }
    assert!(read <= bytes.len());
});
