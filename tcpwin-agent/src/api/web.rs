//! What `--web.config.file` says of TLS, passwords, headers and rates, kept up with the file.
//!
//! The format is that of Prometheus' exporter toolkit. File, certificates and keys are looked at for every connection and
//! every request; what has changed is read again, and what then cannot be read leaves the running settings in force.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderName, HeaderValue, header};
use rustls::ServerConfig;

use crate::exporter::HttpCounts;

mod client_cert;
mod file;
mod password;
mod rate;
mod secret;
mod seen;
mod tls;
mod value;

use self::file::{File, FrameOptions, Headers, Tls};
pub(super) use self::password::Judged;
use self::password::{Users, Verifier};
use self::rate::Bucket;
use self::seen::Seen;

/// Why the file cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}{}: {}", .path.display(), line_text(.fault.line), .fault.message)]
pub struct WebError {
    path: PathBuf,
    fault: Fault,
}

/// What is wrong, and in which line if it is one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    line: Option<usize>,
    message: String,
}

fn line_text(line: Option<usize>) -> String {
    line.map(|line| format!(":{line}")).unwrap_or_default()
}

/// The settings in force; cheap to clone.
#[derive(Clone)]
pub struct Web(Arc<Shared>);

struct Shared {
    path: Option<PathBuf>,
    verifier: Verifier,
    counts: Arc<HttpCounts>,
    kept: Mutex<Kept>,
}

struct Kept {
    active: Arc<Active>,
    /// What the files were when they were last read.
    seen: Seen,
}

/// What one reading of the file gave.
#[derive(Debug, Default)]
pub(super) struct Active {
    tls: Option<TlsSide>,
    users: Users,
    headers: Vec<(HeaderName, HeaderValue)>,
    bucket: Option<Bucket>,
}

/// TLS of a listener.
#[derive(Clone, Debug)]
pub(super) struct TlsSide {
    pub config: Arc<ServerConfig>,
    /// A certificate that a client showed is proof of who it is.
    pub verifies_clients: bool,
}

impl Web {
    /// Neither TLS nor passwords.
    #[must_use]
    pub fn none() -> Self {
        Self::with(None, Active::default(), Seen::default())
    }

    /// As the file says.
    ///
    /// # Errors
    /// When it cannot be read or used, with the line.
    pub fn open(path: &Path) -> Result<Self, WebError> {
        let (seen, read) = read(path);
        Ok(Self::with(Some(path.to_owned()), read?, seen))
    }

    fn with(path: Option<PathBuf>, active: Active, seen: Seen) -> Self {
        Self(Arc::new(Shared {
            path,
            verifier: Verifier::new(),
            counts: Arc::default(),
            kept: Mutex::new(Kept {
                active: Arc::new(active),
                seen,
            }),
        }))
    }

    /// What is counted of requests and connections, for the exporter.
    #[must_use]
    pub fn counts(&self) -> Arc<HttpCounts> {
        Arc::clone(&self.0.counts)
    }

    /// If listeners with an address speak TLS now.
    #[must_use]
    pub fn speaks_tls(&self) -> bool {
        self.current().tls.is_some()
    }

    /// If listeners with an address know who asks: by password or by certificate.
    #[must_use]
    pub fn authenticates(&self) -> bool {
        let active = self.current();
        let certified = active.tls.as_ref().is_some_and(|tls| tls.verifies_clients);
        certified || active.wants_password()
    }

    /// Reads the file again whether it changed or not.
    ///
    /// # Errors
    /// When it cannot be used; what was in force stays so.
    pub fn reload(&self) -> Result<(), WebError> {
        let Some(path) = &self.0.path else {
            return Ok(());
        };
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        self.take(path, &mut kept)
    }

    /// The settings in force, read again if a file has changed.
    pub(super) fn current(&self) -> Arc<Active> {
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = &self.0.path
            && kept.seen.has_changed()
            && let Err(error) = self.take(path, &mut kept)
        {
            tracing::error!("the running web configuration is kept: {error}");
        }
        Arc::clone(&kept.active)
    }

    fn take(&self, path: &Path, kept: &mut Kept) -> Result<(), WebError> {
        let (seen, read) = read(path);
        self.0.counts.note_reload(read.is_ok());
        // Also of what could not be used: it is tried again when it has changed, not at every request.
        kept.seen = seen.with_files_of(&kept.seen);
        kept.active = Arc::new(read?);
        tracing::info!("{} read again", path.display());
        Ok(())
    }

    /// If this is the password of that user.
    pub(super) async fn judge(
        &self,
        active: &Active,
        user: &str,
        password: &[u8],
        from: Option<std::net::IpAddr>,
    ) -> Judged {
        self.0.verifier.judge(&active.users, user, password, from).await
    }
}

impl fmt::Debug for Web {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Web")
            .field("path", &self.0.path)
            .finish_non_exhaustive()
    }
}

impl Active {
    pub(super) fn tls(&self) -> Option<&TlsSide> {
        self.tls.as_ref()
    }

    pub(super) fn wants_password(&self) -> bool {
        !self.users.is_empty()
    }

    pub(super) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// If one more request is within the rate.
    pub(super) fn lets_one_through(&self) -> bool {
        self.bucket.as_ref().is_none_or(Bucket::take)
    }
}

/// The file and those it names, and what it says.
fn read(path: &Path) -> (Seen, Result<Active, WebError>) {
    let error = |fault| WebError {
        path: path.to_owned(),
        fault,
    };
    let mut seen = Seen::default();
    seen.look(path);
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(cause) => {
            let message = format!("cannot read it: {cause}; check the path given to --web.config.file");
            return (seen, Err(error(Fault { line: None, message })));
        }
    };
    let file = match File::parse(path, &text) {
        Ok(file) => file,
        Err(fault) => return (seen, Err(error(fault))),
    };
    // Before they are read: a change in between is then seen as one.
    file.tls_server_config
        .iter()
        .flat_map(Tls::files)
        .for_each(|named| seen.look(named));
    let active = activate(path, file).map_err(|fault| error(with_line(fault, &text)));
    (seen, active)
}

/// A fault of a whole section stands at its head.
fn with_line(fault: Fault, text: &str) -> Fault {
    let section = fault.message.split(':').next().unwrap_or_default();
    let at = text.lines().position(|line| {
        line.strip_prefix(section)
            .is_some_and(|rest| rest.starts_with(':'))
    });
    Fault {
        line: fault.line.or(at.map(|index| index + 1)),
        ..fault
    }
}

fn activate(path: &Path, file: File) -> Result<Active, Fault> {
    let side = match &file.tls_server_config {
        Some(tls) => tls::side(tls)?,
        None => None,
    };
    let http = file.http_server_config.unwrap_or_default();
    let mut warnings = Vec::new();
    if http.http2 == Some(true) {
        warnings.push("`http2: true` has no effect: HTTP/1.1 is spoken".to_owned());
    }
    let users = Users::new(file.basic_auth_users.unwrap_or_default());
    if side.is_none() && !users.is_empty() {
        warnings.push(
            "`basic_auth_users` without `tls_server_config`: passwords cross the network in the clear"
                .to_owned(),
        );
    }
    let bucket = match &file.rate_limit {
        Some(limit) => Bucket::new(limit)?,
        None => None,
    };
    let tls = side.map(|side| {
        warnings.extend(side.warnings);
        TlsSide {
            config: side.config,
            verifies_clients: side.verifies_clients,
        }
    });
    for warning in warnings {
        tracing::warn!("{}: {warning}", path.display());
    }
    Ok(Active {
        tls,
        users,
        headers: http.headers.as_ref().map(headers).unwrap_or_default(),
        bucket,
    })
}

fn headers(given: &Headers) -> Vec<(HeaderName, HeaderValue)> {
    let frame = given.x_frame_options.map(|options| match options {
        FrameOptions::Deny => HeaderValue::from_static("deny"),
        FrameOptions::SameOrigin => HeaderValue::from_static("sameorigin"),
    });
    let no_sniff = given
        .x_content_type_options
        .map(|_| HeaderValue::from_static("nosniff"));
    let text = |value: &Option<value::HeaderText>| value.as_ref().map(|text| text.0.clone());
    let all = [
        (
            header::CONTENT_SECURITY_POLICY,
            text(&given.content_security_policy),
        ),
        (header::X_FRAME_OPTIONS, frame),
        (header::X_CONTENT_TYPE_OPTIONS, no_sniff),
        (header::X_XSS_PROTECTION, text(&given.x_xss_protection)),
        (
            header::STRICT_TRANSPORT_SECURITY,
            text(&given.strict_transport_security),
        ),
    ];
    let given = all.into_iter().filter_map(|(name, value)| Some((name, value?)));
    given.filter(|(_, value)| !value.is_empty()).collect()
}

#[cfg(test)]
mod tests;
