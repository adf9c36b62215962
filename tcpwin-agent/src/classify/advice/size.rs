//! Sizes as an engineer types them.

/// Least that is worth typing, bytes.
const LEAST: u64 = 4096;
/// Largest window TCP can say (65,535 << 14 is just below it, RFC 7323, section 2.3), bytes.
const MOST: u64 = 1 << 30;

/// The next power of two, between a page and the largest window of TCP.
pub(super) fn rounded(bytes: u64) -> u64 {
    bytes.clamp(LEAST, MOST).next_power_of_two()
}

/// With the suffix that nginx reads: `512k`, `4m`; plain bytes where neither divides.
pub(super) fn suffixed(bytes: u64) -> String {
    match bytes {
        0 => "0".to_owned(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{}m", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}k", bytes >> 10),
        _ => bytes.to_string(),
    }
}

/// The shift at which a window of 16 bits can say `bytes` (RFC 7323: at most 14).
pub(super) fn scale_for(bytes: u64) -> u8 {
    (0..14).find(|shift| 65_535 << shift >= bytes).unwrap_or(14)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_two_within_tcp() {
        assert_eq!(rounded(0), 4096);
        assert_eq!(rounded(4_525_000), 8 << 20);
        assert_eq!(rounded(8 << 20), 8 << 20);
        assert_eq!(rounded(u64::MAX), 1 << 30);
    }

    #[test]
    fn suffixes_are_those_of_nginx() {
        assert_eq!(suffixed(512 << 10), "512k");
        assert_eq!(suffixed(4 << 20), "4m");
        assert_eq!(suffixed(65_535), "65535");
    }

    #[test]
    fn scale_seven_ends_at_eight_megabytes() {
        assert_eq!(scale_for(65_535), 0);
        assert_eq!(scale_for(65_536), 1);
        assert_eq!(scale_for(8_388_480), 7);
        assert_eq!(scale_for(8_388_608), 8);
        assert_eq!(scale_for(u64::MAX), 14);
    }
}
