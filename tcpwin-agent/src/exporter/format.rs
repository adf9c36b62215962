//! The formats of the exposition, and which of them a reader gets.

use prometheus_client::encoding::prometheus_text;

/// A format of the exposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Prometheus' text format 0.0.4, which every reader takes.
    Classic,
    /// OpenMetrics 1.0, with units.
    OpenMetrics,
    /// Prometheus' protobuf, the one that has native histograms.
    Protobuf,
}

impl Format {
    /// From the Accept header (RFC 9110, section 12.5.1): what has the highest weight, and of equals the one that tells more.
    #[must_use]
    pub fn negotiate(accept: Option<&str>) -> Self {
        let mut best = (0.0, Self::Classic);
        for range in accept.unwrap_or_default().split(',') {
            let Some((format, weight)) = Self::wanted(range) else {
                continue;
            };
            if weight > best.0 || (weight == best.0 && weight > 0.0 && format as u8 > best.1 as u8) {
                best = (weight, format);
            }
        }
        best.1
    }

    /// The format that a media range names, and its weight.
    fn wanted(range: &str) -> Option<(Self, f64)> {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next()?;
        let (mut weight, mut delimited, mut families) = (1.0, false, false);
        for part in parts {
            match part.split_once('=') {
                Some(("q", q)) => weight = q.parse().unwrap_or(0.0),
                Some(("encoding", encoding)) => delimited = encoding == "delimited",
                Some(("proto", proto)) => families = proto == "io.prometheus.client.MetricFamily",
                _ => {}
            }
        }
        let format = match media {
            "application/vnd.google.protobuf" if delimited && families => Self::Protobuf,
            "application/openmetrics-text" => Self::OpenMetrics,
            "text/plain" => Self::Classic,
            _ => return None,
        };
        Some((format, weight))
    }

    /// The Content-Type of the answer.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Classic => prometheus_text::CONTENT_TYPE,
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn the_reader_gets_what_it_wants_most() {
        const PROTOBUF: &str =
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
        let text =
            "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        let native = format!("{PROTOBUF},{text}");
        let ranked_last = format!("{PROTOBUF};q=0.2,{text}");
        let equal = format!("text/plain, {PROTOBUF}, application/openmetrics-text");
        for (accept, format) in [
            (None, Format::Classic),
            (Some("*/*"), Format::Classic),
            (Some("text/plain"), Format::Classic),
            (Some("application/openmetrics-text;q=0"), Format::Classic),
            (
                Some("application/openmetrics-text; q=0.2, text/plain; q=0.3"),
                Format::Classic,
            ),
            (Some("application/vnd.google.protobuf"), Format::Classic),
            (Some(text), Format::OpenMetrics),
            (Some(&ranked_last), Format::OpenMetrics),
            (Some(&native), Format::Protobuf),
            (Some(&equal), Format::Protobuf),
        ] {
            assert_eq!(Format::negotiate(accept), format, "{accept:?}");
        }
    }
}
