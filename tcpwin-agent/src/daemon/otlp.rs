//! Metrics sent to a receiver, where that is asked for.

use anyhow::Context as _;
use rustls_native_certs::{CertificateResult, load_certs_from_paths, load_native_certs};

use crate::config::{Otlp, headers};
use crate::exporter::Exporter;
use crate::exporter::otlp::{Push, Target};

/// Starts to send, with what the files hold now.
///
/// # Errors
/// When a file cannot be read or holds something else.
pub(super) fn start(otlp: &Otlp, exporter: Exporter) -> anyhow::Result<Push> {
    let headers = match &otlp.headers_file {
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| {
                format!(
                    "cannot read the headers of --otlp.headers-file {}",
                    path.display()
                )
            })?;
            headers(path, &text).map_err(anyhow::Error::msg)?
        }
        None => Vec::new(),
    };
    let target = Target {
        url: otlp.endpoint.url().to_owned(),
        interval: otlp.interval.duration(),
        headers,
        authorities: authorities(otlp)?,
    };
    let push = Push::start(exporter, target)?;
    tracing::info!("sends metrics to {}", otlp.endpoint.url());
    Ok(push)
}

/// Those of the file, else those that the system trusts; none where TLS is not spoken.
fn authorities(otlp: &Otlp) -> anyhow::Result<Vec<Vec<u8>>> {
    if !otlp.endpoint.is_https() {
        return Ok(Vec::new());
    }
    let CertificateResult { certs, errors, .. } = match &otlp.ca_file {
        Some(path) => load_certs_from_paths(Some(path), None),
        None => load_native_certs(),
    };
    if certs.is_empty()
        && let Some(error) = errors.into_iter().next()
    {
        return Err(error).context("cannot read the certificates by which an OTLP receiver is known");
    }
    Ok(certs.iter().map(|certificate| certificate.to_vec()).collect())
}
