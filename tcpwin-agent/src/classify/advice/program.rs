//! Programs whose settings are known by name, and where one usually meets them.

/// A program, or a family of programs with the same settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    /// nginx.
    Nginx,
    /// The Apache HTTP server.
    Httpd,
    /// HAProxy.
    Haproxy,
    /// Envoy.
    Envoy,
    /// OpenSSH, client and server.
    OpenSsh,
    /// The sftp client of OpenSSH.
    Sftp,
    /// PostgreSQL, server and clients.
    Postgres,
    /// rsync; its own daemon, not over ssh.
    Rsync,
    /// Something in Java: Kafka, or a program with the JDK's HTTP client.
    Java,
    /// Something in .NET.
    Dotnet,
    /// Something that speaks gRPC.
    Grpc,
    /// curl.
    Curl,
}

impl Program {
    /// By the name of the process (`comm`, at most 15 characters).
    #[must_use]
    pub fn of(process: &str) -> Option<Self> {
        Some(match process {
            "nginx" => Self::Nginx,
            "apache2" | "httpd" => Self::Httpd,
            "haproxy" => Self::Haproxy,
            "envoy" => Self::Envoy,
            // The server hands a connection to sshd-session since OpenSSH 9.8.
            "ssh" | "sshd" | "sshd-session" | "scp" => Self::OpenSsh,
            "sftp" => Self::Sftp,
            "postgres" | "psql" | "pg_dump" | "pg_restore" | "pg_basebackup" => Self::Postgres,
            "rsync" => Self::Rsync,
            "java" => Self::Java,
            "dotnet" => Self::Dotnet,
            "curl" => Self::Curl,
            _ => return None,
        })
    }

    /// Those that usually listen at a port.
    #[must_use]
    pub const fn serving(port: u16) -> &'static [Self] {
        match port {
            80 | 443 | 8080 | 8443 => &[Self::Nginx, Self::Httpd, Self::Haproxy],
            10_000 | 15_001 | 15_006 => &[Self::Envoy],
            22 => &[Self::OpenSsh],
            873 => &[Self::Rsync],
            5432 => &[Self::Postgres],
            9092 => &[Self::Java],
            50_051 => &[Self::Grpc],
            _ => &[],
        }
    }

    /// Those that usually connect to a port, and have a setting of their own.
    #[must_use]
    pub const fn calling(port: u16) -> &'static [Self] {
        match port {
            80 | 443 | 8080 | 8443 => &[Self::Grpc, Self::Java, Self::Dotnet],
            10_000 | 15_001 | 15_006 => &[Self::Envoy, Self::Grpc],
            22 => &[Self::OpenSsh],
            873 => &[Self::Rsync],
            5432 => &[Self::Postgres],
            9092 => &[Self::Java],
            50_051 => &[Self::Grpc],
            _ => &[],
        }
    }

    /// As its makers write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Httpd => "Apache httpd",
            Self::Haproxy => "HAProxy",
            Self::Envoy => "Envoy",
            Self::OpenSsh => "OpenSSH",
            Self::Sftp => "sftp",
            Self::Postgres => "PostgreSQL",
            Self::Rsync => "rsync",
            Self::Java => "Java",
            Self::Dotnet => ".NET",
            Self::Grpc => "gRPC",
            Self::Curl => "curl",
        }
    }
}
