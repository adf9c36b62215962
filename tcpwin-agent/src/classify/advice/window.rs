//! Windows of protocols above TCP that are known by their size.

/// A window and whose it is.
const KNOWN: &[(u64, &str)] = &[
    (32_768, "half of HTTP/2's default window"),
    (65_535, "HTTP/2's default window of 65,535 bytes"),
    (98_304, "Kestrel's HTTP/2 stream window of 96 KiB"),
    (131_072, "128 KiB, as Kestrel's HTTP/2 connection window"),
    (262_144, "256 KiB"),
    (524_288, "512 KiB"),
    (
        1 << 20,
        "1 MiB, as the HTTP/2 window of Go's servers and of gRPC in Java",
    ),
    (
        1_982_464,
        "what OpenSSH keeps open of its channel window of 2 MiB",
    ),
    (2 << 20, "2 MiB, OpenSSH's channel window"),
    (4 << 20, "4 MiB, as the HTTP/2 stream window of Go's client"),
    (6 << 20, "6 MiB, as Chromium's HTTP/2 stream window"),
    (8 << 20, "8 MiB"),
    (10 << 20, "10 MiB, as curl's HTTP/2 stream window"),
    (15 << 20, "15 MiB, as Chromium's HTTP/2 connection window"),
    (
        16 << 20,
        "16 MiB, as the HTTP/2 window of Java's client, or the most that gRPC in Go tunes to",
    ),
];

/// What a window of this size is known as, within 3 %; `None` where the size has to speak for itself.
#[must_use]
pub fn name_of_window(bytes: u64) -> Option<&'static str> {
    KNOWN
        .iter()
        .map(|(size, name)| (size.abs_diff(bytes), size, name))
        .filter(|(off, size, _)| off.saturating_mul(100) <= **size * 3)
        .min_by_key(|(off, _, _)| *off)
        .map(|(_, _, name)| *name)
}

/// It is OpenSSH's.
pub(super) fn is_ssh(bytes: u64) -> bool {
    name_of_window(bytes).is_some_and(|name| name.contains("OpenSSH"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_windows_have_names_within_three_percent() {
        for (bytes, part) in [
            (65_535, "65,535"),
            (65_781, "65,535"),
            (64_000, "65,535"),
            (2_097_152, "channel window"),
            (1_982_464, "OpenSSH keeps open"),
            (98_304, "Kestrel"),
            (131_072, "128 KiB"),
        ] {
            let name = name_of_window(bytes).unwrap_or_else(|| panic!("{bytes} has no name"));
            assert!(name.contains(part), "{bytes}: {name}");
        }
    }

    #[test]
    fn others_speak_for_themselves() {
        for bytes in [0, 1, 8_160, 48_000, 75_000, 200_000, 3_000_000, u64::MAX] {
            assert_eq!(name_of_window(bytes), None, "{bytes}");
        }
    }
}
