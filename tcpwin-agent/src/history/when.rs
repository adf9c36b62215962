//! Dates and times of day as people write them.

/// Neither `03:00` nor `2026-11-30 03:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a time such as 03:00, or a date and time such as 2026-11-30T03:00")]
pub struct NoTime;

/// A local time as seconds since the epoch. A time of day alone is the last one before `now`. `zone` gives the seconds
/// east of Greenwich at a moment.
///
/// # Errors
/// When it is no time.
pub fn moment(text: &str, now: i64, zone: impl Fn(i64) -> i64) -> Result<i64, NoTime> {
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (Some(date), time),
        None => (None, text),
    };
    let of_day = time_of_day(time).ok_or(NoTime)?;
    let utc = |days: i64| {
        let local = days * 86_400 + of_day;
        // The zone of a moment close by, then that of the moment itself: they differ only around a change of the clocks.
        let close = local - zone(local);
        local - zone(close)
    };
    if let Some(date) = date {
        let mut parts = date.split('-').map(str::parse::<i64>);
        let mut part = || parts.next().and_then(Result::ok).ok_or(NoTime);
        let days = days(part()?, part()?, part()?).ok_or(NoTime)?;
        return if parts.next().is_none() {
            Ok(utc(days))
        } else {
            Err(NoTime)
        };
    }
    let today = (now + zone(now)).div_euclid(86_400);
    let at = utc(today);
    Ok(if at > now { utc(today - 1) } else { at })
}

/// `03:00`, `03:00:30`.
fn time_of_day(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let mut part = |below: i64| -> Option<i64> {
        let text = parts.next()?;
        let number: i64 = text.parse().ok()?;
        (text.len() <= 2 && (0..below).contains(&number)).then_some(number)
    };
    let (hours, minutes) = (part(24)?, part(60)?);
    let seconds = if text.matches(':').count() > 1 {
        part(60)?
    } else {
        0
    };
    (text.matches(':').count() <= 2).then_some(hours * 3_600 + minutes * 60 + seconds)
}

/// `2026-11-30 03:00:00` of a moment.
pub(super) fn local(at: i64, zone: impl Fn(i64) -> i64) -> String {
    let local = at + zone(at);
    let (year, month, day) = date(local.div_euclid(86_400));
    let of_day = local.rem_euclid(86_400);
    let (hours, minutes, seconds) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hours:02}:{minutes:02}:{seconds:02}")
}

/// Days since the epoch of a date of the Gregorian calendar.
pub(super) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years that begin in March: the day that comes and goes is the last one.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let of_year = (153 * month + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + of_year - 719_468;
    (date(days).2 == day).then_some(days)
}

/// The date of a day since the epoch.
pub(super) fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-30 14:02:11 UTC.
    const NOW: i64 = 1_796_047_331;

    #[test]
    fn dates_and_back() {
        for day in (0..40_000).step_by(7) {
            let (year, month, of_month) = date(day);
            assert_eq!(days(year, month, of_month), Some(day));
        }
        assert_eq!(date(20_787), (2026, 11, 30));
        assert_eq!(days(2024, 2, 29), Some(19_782));
        assert_eq!(days(2026, 2, 29), None);
    }

    #[test]
    fn times_as_people_write_them() {
        let utc = |text: &str| moment(text, NOW, |_| 0);
        assert_eq!(utc("14:02:11"), Ok(NOW));
        assert_eq!(utc("14:00"), Ok(NOW - 131));
        // Not yet today: yesterday's.
        assert_eq!(utc("15:00"), Ok(NOW - 131 + 3_600 - 86_400));
        assert_eq!(utc("2026-11-30T03:00"), Ok(NOW - 131 - 11 * 3_600));
        assert_eq!(utc("2026-11-30 03:00"), utc("2026-11-30T03:00"));
        let berlin = moment("15:00", NOW, |_| 3_600);
        assert_eq!(berlin, Ok(NOW - 131));
        for wrong in [
            "",
            "3",
            "25:00",
            "03:60",
            "2026-13-01T00:00",
            "2026-11-30",
            "03:00:00:00",
            "-1:00",
            "003:00",
        ] {
            assert_eq!(utc(wrong), Err(NoTime), "{wrong}");
        }
    }
}
