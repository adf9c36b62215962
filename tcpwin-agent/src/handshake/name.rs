//! Names of numbers, as IANA's TLS registries and OpenSSL's users have them.

/// `TLS 1.3`.
#[must_use]
pub fn version_name(version: u16) -> String {
    match version {
        0x0300 => "SSL 3.0".to_owned(),
        0x0301 => "TLS 1.0".to_owned(),
        0x0302 => "TLS 1.1".to_owned(),
        0x0303 => "TLS 1.2".to_owned(),
        0x0304 => "TLS 1.3".to_owned(),
        other => format!("{other:#06x}"),
    }
}

/// `X25519MLKEM768`.
#[must_use]
pub fn group_name(group: u16) -> String {
    match group {
        0x0017 => "secp256r1".to_owned(),
        0x0018 => "secp384r1".to_owned(),
        0x0019 => "secp521r1".to_owned(),
        0x001d => "x25519".to_owned(),
        0x001e => "x448".to_owned(),
        0x11eb => "SecP256r1MLKEM768".to_owned(),
        0x11ec => "X25519MLKEM768".to_owned(),
        0x11ed => "SecP384r1MLKEM1024".to_owned(),
        other => format!("{other:#06x}"),
    }
}

/// `TLS_AES_256_GCM_SHA384`; those that are still worth offering.
#[must_use]
pub fn cipher_name(cipher: u16) -> String {
    match cipher {
        0x1301 => "TLS_AES_128_GCM_SHA256".to_owned(),
        0x1302 => "TLS_AES_256_GCM_SHA384".to_owned(),
        0x1303 => "TLS_CHACHA20_POLY1305_SHA256".to_owned(),
        0xc02b => "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256".to_owned(),
        0xc02c => "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384".to_owned(),
        0xc02f => "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256".to_owned(),
        0xc030 => "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384".to_owned(),
        0xcca8 => "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256".to_owned(),
        0xcca9 => "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256".to_owned(),
        other => format!("{other:#06x}"),
    }
}
