//! Bytes of one direction, and when they passed.

use crate::units::{Instant, Nanos};

/// All bytes, and the moments at which they came.
#[derive(Debug, Default)]
pub struct Stream {
    /// All of them.
    pub bytes: Vec<u8>,
    marks: Vec<Mark>,
}

/// What was read at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    /// When the last of its bytes came to this host.
    pub came: Instant,
    /// When it was read.
    pub read: Instant,
    /// Segments with data that had come when it was read.
    pub segments: Option<u32>,
    /// Bytes of the direction up to its end.
    pub end: usize,
}

/// What came before a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Bytes of the direction up to its end.
    pub end: usize,
    /// Segments that it came in; `None` where it was read so late that more may have come.
    pub segments: Option<u32>,
    /// More followed it.
    pub more: bool,
}

impl Stream {
    /// Adds what was read or written at once.
    pub fn add(&mut self, bytes: &[u8], mark: Mark) {
        self.bytes.extend_from_slice(bytes);
        let end = self.bytes.len();
        // The kernel's clock may be set in between; order is kept.
        let last = self.marks.last().map_or(Instant(0), |last| last.came);
        let came = last.max(mark.came);
        self.marks.push(Mark { came, end, ..mark });
    }

    /// When the byte at this offset had come.
    pub fn passed(&self, offset: usize) -> Option<Instant> {
        let at = self.marks.partition_point(|mark| mark.end <= offset);
        self.marks.get(at).map(|mark| mark.came)
    }

    /// What came from the byte at `from` on, up to a pause.
    pub fn burst(&self, from: usize, pause: Nanos) -> Option<Burst> {
        let at = self.marks.partition_point(|mark| mark.end <= from);
        let (before, marks) = self.marks.split_at_checked(at)?;
        let first = marks.first()?;
        let mut last = first;
        let mut more = false;
        for mark in &marks[1..] {
            if mark.came.since(last.came) >= pause {
                more = true;
                break;
            }
            last = mark;
        }
        let counted = before.last().map_or(Some(0), |mark| mark.segments);
        let is_timely = last.read.since(first.came) < pause;
        let segments = last.segments.zip(counted).filter(|_| is_timely);
        Some(Burst {
            end: last.end,
            segments: segments.and_then(|(last, before)| last.checked_sub(before)),
            more,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Burst, Mark, Stream};
    use crate::units::{Instant, Nanos};

    fn stream(marks: &[(u64, u64, u32)]) -> Stream {
        let mut stream = Stream::default();
        for (came, read, segments) in marks {
            let mark = Mark {
                came: Instant(*came),
                read: Instant(*read),
                segments: Some(*segments),
                end: 0,
            };
            stream.add(&[0; 100], mark);
        }
        stream
    }

    #[test]
    fn a_burst_ends_before_a_pause() {
        let stream = stream(&[(10, 11, 2), (20, 22, 3), (90, 91, 9)]);
        let told = |from| stream.burst(from, Nanos(50));
        let burst = |end, segments, more| {
            Some(Burst {
                end,
                segments: Some(segments),
                more,
            })
        };
        assert_eq!(told(0), burst(200, 3, true));
        assert_eq!(told(100), burst(200, 1, true));
        assert_eq!(told(200), burst(300, 6, false));
        assert_eq!(told(300), None);
        assert_eq!(stream.passed(99), Some(Instant(10)));
        assert_eq!(stream.passed(100), Some(Instant(20)));
        assert_eq!(stream.passed(300), None);
    }

    #[test]
    fn what_was_read_late_is_parted_by_when_it_came_and_not_counted() {
        let late = stream(&[(10, 500, 40), (20, 500, 40), (200, 500, 40)]);
        let told = late.burst(0, Nanos(90)).unwrap();
        assert_eq!((told.end, told.more, told.segments), (200, true, None));
    }

    #[test]
    fn moments_never_go_back() {
        let stream = stream(&[(50, 50, 1), (40, 60, 2)]);
        assert_eq!(stream.passed(150), Some(Instant(50)));
    }
}
