//! The kernel programs of tcpwin. Maps in one file, socket reads in one file, one file a hook.
#![no_std]
#![no_main]
// Loads of kernel fields are written as instructions, see `socket`.
#![feature(asm_experimental_arch)]

mod account;
mod global;
mod hook;
mod map;
mod slot;
mod socket;

/// The helpers used are `gpl_only`.
#[unsafe(no_mangle)]
#[unsafe(link_section = "license")]
static LICENSE: [u8; 4] = *b"GPL\0";

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // The verifier refuses programs in which this can be reached.
    loop {}
}
