//! The fallback: netlink sock_diag.
