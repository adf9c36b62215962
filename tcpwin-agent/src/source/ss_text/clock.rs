//! Times that stand beside `ss` output: prefixes of `ts` and syslog, the output of `date`, the head of `watch`.

use crate::observation::pasted::Moment;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// Words of one date at most.
const LONGEST: usize = 8;

/// The time at the start of the words, and how many of them it took.
#[must_use]
pub fn take(words: &[&str]) -> Option<(Moment, usize)> {
    let mut day = None;
    let mut month = None;
    let mut date = None;
    let mut year = None;
    let mut time = None;
    let mut taken = 0;
    for word in words.iter().take(LONGEST) {
        let bare = word.trim_matches(['[', ']', ',', '(', ')']).trim_end_matches(':');
        if DAYS.contains(&bare) {
            // The day of the week says nothing that is asked for.
        } else if let Some(at) = MONTHS.iter().position(|name| *name == bare) {
            month = Some(at as u32 + 1);
        } else if let Some(found) = iso_date(bare) {
            date = Some(found);
        } else if let Some((found, seconds)) = iso_moment(bare) {
            date = Some(found);
            time = Some(seconds);
        } else if let Some(seconds) = clock_time(bare) {
            time = Some(seconds);
        } else if let Some(number) =
            small(bare).filter(|number| month.is_some() && day.is_none() && *number <= 31)
        {
            day = Some(number);
        } else if let Some(number) =
            small(bare).filter(|number| (1990..2100).contains(number) && time.is_some())
        {
            year = Some(number);
        } else if taken > 0
            && matches!(
                bare,
                "UTC" | "GMT" | "CET" | "CEST" | "EST" | "EDT" | "PST" | "PDT" | "AM" | "PM"
            )
        {
            // Zones and halves of the day: both ends of a difference have the same.
        } else if let Some(seconds) = epoch(bare).filter(|_| taken == 0) {
            return Some((
                Moment {
                    seconds,
                    has_date: true,
                },
                1,
            ));
        } else {
            break;
        }
        taken += 1;
    }
    let date = date.or_else(|| Some(days(year?, month?, day?)));
    let seconds = time? + date.map_or(0.0, |days| days as f64 * 86_400.0);
    Some((
        Moment {
            seconds,
            has_date: date.is_some(),
        },
        taken,
    ))
}

fn small(text: &str) -> Option<u32> {
    (text.len() <= 4).then(|| text.parse().ok())?
}

/// `1700000000.123`.
fn epoch(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.')?;
    let is_one = whole.len() == 10 && !fraction.is_empty() && fraction.len() <= 9;
    is_one.then(|| text.parse().ok())?
}

/// `10:11:12`, `10:11:12.345`.
fn clock_time(text: &str) -> Option<f64> {
    let mut parts = text.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some()
        || hours.len() > 2
        || minutes.len() != 2
        || seconds.len() < 2
        || seconds.len() > 12
    {
        return None;
    }
    let whole = |text: &str, below: u32| text.parse::<u32>().ok().filter(|number| *number < below);
    let seconds = seconds.replace(',', ".");
    let is_number = seconds.starts_with(|letter: char| letter.is_ascii_digit());
    let seconds: f64 = is_number.then(|| seconds.parse().ok())??;
    let minutes = whole(hours, 24)? * 60 + whole(minutes, 60)?;
    (seconds < 61.0).then(|| f64::from(minutes) * 60.0 + seconds)
}

/// `2026-11-30` as days since 1970.
fn iso_date(text: &str) -> Option<i64> {
    let mut parts = text.split(['-', '/']);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let is_date = year.len() == 4 && month.len() == 2 && day.len() == 2 && parts.next().is_none();
    is_date.then_some(())?;
    let (year, month, day) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    let is_possible = (1970..2200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    is_possible.then(|| days(year, month, day))
}

/// `2026-11-30T10:11:12.345Z`, `…+01:00`.
fn iso_moment(text: &str) -> Option<(i64, f64)> {
    let (date, time) = text.split_once('T')?;
    let end = time.find(['Z', '+', '-']).unwrap_or(time.len());
    Some((iso_date(date)?, clock_time(&time[..end])?))
}

/// Days since 1970 in the Gregorian calendar (Hinnant, chrono-compatible low-level date algorithms).
fn days(year: u32, month: u32, day: u32) -> i64 {
    let shifted = i64::from(year) - i64::from(month <= 2);
    let era = shifted.div_euclid(400);
    let of_era = shifted - era * 400;
    let of_year = (153 * ((i64::from(month) + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(f64, bool, usize)> {
        let words: Vec<_> = text.split_whitespace().collect();
        take(&words).map(|(moment, taken)| (moment.seconds, moment.has_date, taken))
    }

    #[test]
    fn times_as_tools_print_them() {
        assert_eq!(read("10:11:12 ESTAB"), Some((36_672.0, false, 1)));
        assert_eq!(read("[10:11:12.500] x"), Some((36_672.5, false, 1)));
        let day = 20_787.0 * 86_400.0;
        assert_eq!(read("2026-11-30T00:00:01Z x"), Some((day + 1.0, true, 1)));
        assert_eq!(read("2026-11-30 00:00:01"), Some((day + 1.0, true, 2)));
        assert_eq!(read("Mon Nov 30 00:00:01 UTC 2026"), Some((day + 1.0, true, 6)));
        assert_eq!(read("Nov 30 00:00:01 host ss"), Some((1.0, false, 3)));
        assert_eq!(read("1700000000.5"), Some((1_700_000_000.5, true, 1)));
        assert_eq!(read("0 0 192.0.2.1:1"), None);
        assert_eq!(read("rtt:1:2"), None);
    }
}
