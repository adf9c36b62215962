//! Why no agent can be attached to, and what to do about it.

use std::path::PathBuf;

use super::{DEFAULT_SOCKET, DEFAULT_URL};

/// Why no agent could be attached to.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The address is not one of HTTP.
    #[error(
        "cannot attach to `{url}`: give an address such as {DEFAULT_URL}, https://host:10430 or {DEFAULT_SOCKET}"
    )]
    Url {
        /// What was given.
        url: String,
    },
    /// Nobody answers.
    #[error(
        "no tcpwin agent answers at {url}: {cause}; start one with `tcpwin agent`, \
             or leave --connect out to watch without one"
    )]
    Unreachable {
        /// Where.
        url: String,
        /// What went wrong.
        cause: String,
    },
    /// Somebody else answers.
    #[error("what answers at {url} is not a tcpwin agent ({what}); check the address given to --connect")]
    Stranger {
        /// Where.
        url: String,
        /// What it answered.
        what: String,
    },
    /// The agent wants to know who asks.
    #[error(
        "the agent at {url} {}: put user:password into a file and give it with --web.auth-file, or into TCPWIN_AUTH",
        if *.tried { "does not take this user and password" } else { "wants a user and password" }
    )]
    Unauthorized {
        /// Where.
        url: String,
        /// A user and password were shown.
        tried: bool,
    },
    /// A file with a certificate or key cannot be used.
    #[error("cannot use {} of {flag}: {why}", .path.display())]
    Login {
        /// Which.
        path: PathBuf,
        /// What named it.
        flag: &'static str,
        /// What is wrong.
        why: String,
    },
    /// The agent refuses.
    #[error("the agent at {url} refuses: {why}")]
    Refused {
        /// Where.
        url: String,
        /// Its words.
        why: String,
    },
}
