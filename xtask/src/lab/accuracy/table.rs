//! Markdown tables and the figures in them.

/// A table: its head, whose first column is text and whose others are figures, and its rows.
pub fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(head);
    let rule: Vec<_> = (0..head.len())
        .map(|column| if column == 0 { "---" } else { "--:" }.to_owned())
        .collect();
    text.push_str(&line(&rule));
    text.extend(rows.iter().map(|row| line(row)));
    text
}

/// A share in per cent. Never rounded up to 100 or down to 0.
pub fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let tenths = part * 1000 / whole;
    let tenths = if part > 0 { tenths.max(1) } else { 0 };
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// A relative error in per cent, with its sign.
pub fn signed_percent(error: f64) -> String {
    format!("{:+.1} %", error * 100.0)
}

/// A rate, as a number of Mbit/s.
pub fn mbit(bps: f64) -> String {
    format!("{:.1}", bps / 1e6)
}

/// A count that is dull when it is 0.
pub fn count(number: usize) -> String {
    if number == 0 {
        "·".to_owned()
    } else {
        number.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn a_share_is_not_rounded_to_all_or_nothing() {
        assert_eq!(percent(9999, 10000), "99.9 %");
        assert_eq!(percent(1, 10000), "0.1 %");
        assert_eq!(percent(10, 10), "100.0 %");
        assert_eq!(percent(0, 10), "0.0 %");
        assert_eq!(percent(0, 0), "–");
    }
}
