//! `rate_limit`: a token bucket over all requests.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::Fault;
use super::file::RateLimit;

/// Holds up to `burst` requests and gains one each `interval`.
#[derive(Debug)]
pub(super) struct Bucket {
    interval: Duration,
    burst: f64,
    level: Mutex<Level>,
}

#[derive(Debug)]
struct Level {
    requests: f64,
    at: Instant,
}

impl Bucket {
    /// Full; `None` for an interval of 0, which limits nothing.
    pub(super) fn new(limit: &RateLimit) -> Result<Option<Self>, Fault> {
        let interval = limit.interval.0;
        if interval.is_zero() {
            return Ok(None);
        }
        if limit.burst == 0 {
            let message =
                "rate_limit: `burst` is 0 or missing, which would refuse every request: give at least 1";
            return Err(Fault {
                line: None,
                message: message.to_owned(),
            });
        }
        let burst = f64::from(limit.burst);
        Ok(Some(Self {
            interval,
            burst,
            level: Mutex::new(Level {
                requests: burst,
                at: Instant::now(),
            }),
        }))
    }

    /// Takes one out, if one is in.
    pub(super) fn take(&self) -> bool {
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let gained = now.duration_since(level.at).as_secs_f64() / self.interval.as_secs_f64();
        level.requests = (level.requests + gained).min(self.burst);
        level.at = now;
        let taken = level.requests >= 1.0;
        if taken {
            level.requests -= 1.0;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::GoDuration;
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_then_one_each_interval() {
        let limit = RateLimit {
            interval: GoDuration(Duration::from_secs(2)),
            burst: 3,
        };
        let bucket = Bucket::new(&limit).unwrap().unwrap();
        let passed = |tries: u32| (0..tries).filter(|_| bucket.take()).count();
        assert_eq!(passed(10), 3);
        tokio::time::advance(Duration::from_secs(4)).await;
        assert_eq!(passed(10), 2);
        tokio::time::advance(Duration::from_secs(3_600)).await;
        assert_eq!(passed(10), 3);
    }
}
