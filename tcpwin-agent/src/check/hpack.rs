//! As much of HPACK (RFC 7541) as one request and one status need: no table is kept, so nothing is added to one.

/// The fields of a GET: indexed where the static table has the whole field, else literals that are not indexed.
pub fn request(host: &str, path: &str) -> Vec<u8> {
    // `:method GET`, `:scheme https`.
    let mut block = vec![0x82, 0x87];
    literal(4, path, &mut block);
    literal(1, host, &mut block);
    literal(
        58,
        concat!("tcpwin-check/", env!("CARGO_PKG_VERSION")),
        &mut block,
    );
    block
}

/// A value of the static table's name at `index`.
fn literal(index: u64, value: &str, block: &mut Vec<u8>) {
    integer(index, 4, 0x00, block);
    integer(value.len() as u64, 7, 0x00, block);
    block.extend_from_slice(value.as_bytes());
}

/// Section 5.1.
fn integer(mut value: u64, bits: u32, first: u8, block: &mut Vec<u8>) {
    let most = (1u64 << bits) - 1;
    if value < most {
        block.push(first | value as u8);
        return;
    }
    block.push(first | most as u8);
    value -= most;
    while value >= 128 {
        block.push(value as u8 | 0x80);
        value >>= 7;
    }
    block.push(value as u8);
}

/// The `:status` of an answer, which is its first field (RFC 9113, section 8.3).
pub fn status(mut block: &[u8]) -> Option<u16> {
    // Changes of the table's size come first (section 4.2).
    while let [0x20..=0x3f, rest @ ..] = block {
        block = match block {
            [0x3f, more @ ..] => &more[more.iter().position(|byte| byte & 0x80 == 0)? + 1..],
            _ => rest,
        };
    }
    let (first, rest) = block.split_first()?;
    match first {
        0x88 => Some(200),
        0x89 => Some(204),
        0x8a => Some(206),
        0x8b => Some(304),
        0x8c => Some(400),
        0x8d => Some(404),
        0x8e => Some(500),
        // A literal of the static table's name at 8 to 14, indexed, not, or never.
        0x48..=0x4e | 0x08..=0x0e | 0x18..=0x1e => value(rest),
        _ => None,
    }
}

fn value(bytes: &[u8]) -> Option<u16> {
    let (length, rest) = bytes.split_first()?;
    let value = rest.get(..usize::from(length & 0x7f))?;
    let digits = if length & 0x80 == 0 {
        String::from_utf8(value.to_vec()).ok()?
    } else {
        huffman_digits(value)?
    };
    digits.parse().ok().filter(|status| (100..1_000).contains(status))
}

/// Appendix B: `0`, `1`, `2` have five bits, the other digits six. Three digits and padding of ones.
fn huffman_digits(bytes: &[u8]) -> Option<String> {
    let bits: Vec<u8> = bytes
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |shift| byte >> shift & 1))
        .collect();
    let mut digits = String::new();
    let mut at = 0;
    while digits.len() < 3 {
        let five = number(bits.get(at..at + 5)?);
        let digit = if five <= 2 {
            at += 5;
            five
        } else {
            let six = number(bits.get(at..at + 6)?);
            at += 6;
            six.checked_sub(0x19)?
                .checked_add(3)
                .filter(|digit| *digit <= 9)?
        };
        digits.push(char::from(b'0' + digit));
    }
    Some(digits)
}

fn number(bits: &[u8]) -> u8 {
    bits.iter().fold(0, |sum, bit| sum << 1 | bit)
}

#[cfg(test)]
mod tests {
    use super::{integer, request, status};

    #[test]
    fn integers_of_appendix_c() {
        let mut block = Vec::new();
        integer(10, 5, 0, &mut block);
        integer(1337, 5, 0, &mut block);
        assert_eq!(block, [0x0a, 0x1f, 0x9a, 0x0a]);
    }

    #[test]
    fn a_request_names_host_and_path() {
        let block = request("example.org", "/a");
        assert_eq!(block[..6], [0x82, 0x87, 0x04, 2, b'/', b'a']);
        assert_eq!(block[6..8], [0x01, 11]);
    }

    #[test]
    fn a_status_is_read_in_each_of_its_forms() {
        assert_eq!(status(&[0x88, 0x61]), Some(200));
        assert_eq!(status(&[0x20, 0x8d]), Some(404));
        assert_eq!(status(&[0x3f, 0xe1, 0x1f, 0x8d]), Some(404));
        assert_eq!(status(&[0x08, 3, b'4', b'0', b'3']), Some(403));
        // RFC 7541, appendices C.6.1 and C.6.2.
        assert_eq!(status(&[0x48, 0x82, 0x64, 0x02]), Some(302));
        assert_eq!(status(&[0x48, 0x83, 0x64, 0x0e, 0xff]), Some(307));
        assert_eq!(status(&[0x48, 0x82, 0x64]), None);
        assert_eq!(status(&[]), None);
        assert_eq!(status(&[0x3f]), None);
    }
}
