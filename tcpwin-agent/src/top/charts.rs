//! What the reader chose to see of a connection's past.

/// Span of time on the charts' axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Span {
    Seconds5,
    #[default]
    Seconds30,
    Minutes2,
    Minutes10,
    All,
}

impl Span {
    const ORDER: [Self; 5] = [
        Self::Seconds5,
        Self::Seconds30,
        Self::Minutes2,
        Self::Minutes10,
        Self::All,
    ];

    /// In nanoseconds; none where all that is remembered is shown.
    pub(crate) const fn ns(self) -> Option<u64> {
        match self {
            Self::Seconds5 => Some(5_000_000_000),
            Self::Seconds30 => Some(30_000_000_000),
            Self::Minutes2 => Some(120_000_000_000),
            Self::Minutes10 => Some(600_000_000_000),
            Self::All => None,
        }
    }

    /// In words.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Seconds5 => "last 5 s",
            Self::Seconds30 => "last 30 s",
            Self::Minutes2 => "last 2 min",
            Self::Minutes10 => "last 10 min",
            Self::All => "all that is remembered",
        }
    }

    fn beside(self, step: isize) -> Self {
        let at = Self::ORDER.iter().position(|span| *span == self).unwrap_or(0);
        let to = at.saturating_add_signed(step).min(Self::ORDER.len() - 1);
        Self::ORDER[to]
    }
}

/// A chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chart {
    /// Rate, and its ceiling.
    Rate,
    /// Congestion window, and ssthresh.
    Cwnd,
    /// Bytes in flight, and the peer's window; of a receiving connection our window, and unread bytes.
    InFlight,
    /// Smoothed round-trip time, and the least.
    Rtt,
}

impl Chart {
    /// All, in the order they stand.
    pub(crate) const ALL: [Self; 4] = [Self::Rate, Self::InFlight, Self::Cwnd, Self::Rtt];
}

/// What the reader chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Charts {
    pub(crate) span: Span,
    /// This one alone.
    pub(crate) only: Option<Chart>,
    /// On a page of their own, where there is no room beside the rest.
    pub(crate) page: bool,
}

impl Charts {
    pub(crate) fn zoom_in(&mut self) {
        self.span = self.span.beside(-1);
    }

    pub(crate) fn zoom_out(&mut self) {
        self.span = self.span.beside(1);
    }

    /// The first alone, then the next, after the last all again.
    pub(crate) fn next(&mut self) {
        self.only = match self.only {
            None => Chart::ALL.first(),
            Some(only) => {
                let at = Chart::ALL.iter().position(|chart| *chart == only);
                Chart::ALL.get(at.map_or(0, |at| at + 1))
            }
        }
        .copied();
    }

    pub(crate) fn turn_page(&mut self) {
        self.page = !self.page;
    }
}
