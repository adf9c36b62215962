//! One direction of the path: what it does to a packet, worked out from the packet's size and time alone.

/// What one direction does to packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkSpec {
    /// One-way delay.
    pub delay_ns: u64,
    /// Serialisation rate in bits per second, IP headers counted; `None`: infinitely fast.
    pub rate_bps: Option<u64>,
    /// Bytes that may wait for serialisation; more is dropped at the tail. Only with a rate.
    pub queue_bytes: Option<u64>,
    /// Share of packets lost at random, 0–1.
    pub loss: f64,
    /// Drops what exceeds a token bucket, delays nothing.
    pub policer: Option<Policer>,
    /// Drops larger packets, as a hop with a small MTU does whose ICMP messages get lost.
    pub largest_bytes: Option<u64>,
    /// Drops everything.
    pub blackhole: bool,
    /// Drops SYNs that carry data, as boxes do that know no Fast Open.
    pub syn_data_blackhole: bool,
}

/// A token bucket that drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policer {
    /// Rate in bits per second at which tokens come.
    pub rate_bps: u64,
    /// Size of the bucket.
    pub burst_bytes: u64,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drop {
    /// The queue was full.
    Tail,
    /// Random loss.
    Loss,
    /// The policer had no tokens.
    Policer,
    /// The packet was larger than the direction lets through.
    TooLarge,
    /// The direction is dead.
    Blackhole,
}

/// One direction with its state.
#[derive(Debug)]
pub struct Link {
    spec: LinkSpec,
    random: u64,
    busy_until_ns: u64,
    tokens_bytes: f64,
    tokens_at_ns: u64,
}

impl Link {
    /// A link with an empty queue and a full bucket; `seed` fixes which packets are lost.
    pub fn new(spec: LinkSpec, seed: u64) -> Self {
        Self {
            spec,
            random: seed,
            busy_until_ns: 0,
            tokens_bytes: f64::MAX,
            tokens_at_ns: 0,
        }
    }

    /// Changes what the link does from now on; what waits in its queue stays there.
    pub fn set(&mut self, spec: LinkSpec) {
        self.spec = spec;
    }

    /// Whether SYNs that carry data are dropped; the owner looks into the packet.
    pub fn drops_syn_data(&self) -> bool {
        self.spec.syn_data_blackhole
    }

    /// What becomes of a packet that arrives now: when it reaches the other end, or why it never does.
    pub fn admit(&mut self, now_ns: u64, wire_bytes: u64) -> Result<u64, Drop> {
        if self.spec.blackhole {
            return Err(Drop::Blackhole);
        }
        if self
            .spec
            .largest_bytes
            .is_some_and(|largest| wire_bytes > largest)
        {
            return Err(Drop::TooLarge);
        }
        if self.spec.loss > 0.0 && self.uniform() < self.spec.loss {
            return Err(Drop::Loss);
        }
        if let Some(policer) = self.spec.policer
            && !self.take_tokens(policer, now_ns, wire_bytes)
        {
            return Err(Drop::Policer);
        }
        let sent_ns = match self.spec.rate_bps {
            None => now_ns,
            Some(rate_bps) => {
                let start_ns = self.busy_until_ns.max(now_ns);
                let waiting_bytes = bytes_in(start_ns - now_ns, rate_bps);
                if self
                    .spec
                    .queue_bytes
                    .is_some_and(|queue| waiting_bytes + wire_bytes > queue)
                {
                    return Err(Drop::Tail);
                }
                self.busy_until_ns = start_ns + wire_bytes * 8_000_000_000 / rate_bps;
                self.busy_until_ns
            }
        };
        Ok(sent_ns + self.spec.delay_ns)
    }

    fn take_tokens(&mut self, policer: Policer, now_ns: u64, wire_bytes: u64) -> bool {
        let elapsed_ns = now_ns.saturating_sub(self.tokens_at_ns);
        let earned = elapsed_ns as f64 * policer.rate_bps as f64 / 8e9;
        self.tokens_bytes = (self.tokens_bytes + earned).min(policer.burst_bytes as f64);
        self.tokens_at_ns = now_ns;
        let enough = self.tokens_bytes >= wire_bytes as f64;
        if enough {
            self.tokens_bytes -= wire_bytes as f64;
        }
        enough
    }

    /// The next number of splitmix64, in 0–1.
    fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn bytes_in(time_ns: u64, rate_bps: u64) -> u64 {
    (u128::from(time_ns) * u128::from(rate_bps) / 8_000_000_000) as u64
}

#[cfg(test)]
mod tests {
    use super::{Drop, Link, LinkSpec, Policer};

    const MS: u64 = 1_000_000;

    #[test]
    fn delay_alone_shifts_every_packet() {
        let mut link = Link::new(
            LinkSpec {
                delay_ns: 15 * MS,
                ..LinkSpec::default()
            },
            1,
        );
        assert_eq!(link.admit(MS, 1500), Ok(16 * MS));
        assert_eq!(link.admit(MS, 60_000), Ok(16 * MS));
    }

    #[test]
    fn rate_serialises_and_the_full_queue_drops_its_tail() {
        let spec = LinkSpec {
            delay_ns: 10 * MS,
            rate_bps: Some(12_000_000),
            queue_bytes: Some(3000),
            ..LinkSpec::default()
        };
        let mut link = Link::new(spec, 1);
        assert_eq!(link.admit(0, 1500), Ok(11 * MS));
        assert_eq!(link.admit(0, 1500), Ok(12 * MS));
        assert_eq!(link.admit(0, 1500), Err(Drop::Tail));
        assert_eq!(link.admit(MS, 1500), Ok(13 * MS));
    }

    #[test]
    fn loss_has_its_share_and_its_seed() {
        let lost = |seed| {
            let mut link = Link::new(
                LinkSpec {
                    loss: 0.01,
                    ..LinkSpec::default()
                },
                seed,
            );
            (0..100_000)
                .filter(|&at| link.admit(at, 1500) == Err(Drop::Loss))
                .collect::<Vec<_>>()
        };
        assert!((900..1100).contains(&lost(7).len()), "{}", lost(7).len());
        assert_eq!(lost(7), lost(7));
        assert_ne!(lost(7), lost(8));
    }

    #[test]
    fn policer_passes_its_burst_then_its_rate() {
        let policer = Policer {
            rate_bps: 12_000_000,
            burst_bytes: 15_000,
        };
        let mut link = Link::new(
            LinkSpec {
                policer: Some(policer),
                ..LinkSpec::default()
            },
            1,
        );
        let burst = (0..20).filter(|_| link.admit(MS, 1500).is_ok()).count();
        assert_eq!(burst, 10);
        let later = (0..2000)
            .filter(|at| link.admit(MS + at * MS / 2, 1500).is_ok())
            .count();
        assert!((999..=1001).contains(&later), "{later}");
    }

    #[test]
    fn only_packets_that_are_too_large_vanish() {
        let spec = LinkSpec {
            largest_bytes: Some(1400),
            ..LinkSpec::default()
        };
        let mut link = Link::new(spec, 1);
        assert_eq!(link.admit(0, 1401), Err(Drop::TooLarge));
        assert_eq!(link.admit(0, 1400), Ok(0));
    }

    #[test]
    fn a_dead_direction_drops_all() {
        let mut link = Link::new(
            LinkSpec {
                blackhole: true,
                ..LinkSpec::default()
            },
            1,
        );
        assert_eq!(link.admit(0, 40), Err(Drop::Blackhole));
    }
}
