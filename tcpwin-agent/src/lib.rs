//! tcpwin
