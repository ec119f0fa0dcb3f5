//! Servers for S3 and SSH on ports of the loopback interface. Dropping a server stops it.

use crate::missing;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// Returns a free port. It is below the ephemeral ports, because a test that polls an ephemeral port could connect to
/// itself.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id() + NEXT.fetch_add(1, Relaxed);
        let port = 10_000 + u16::try_from(number % 20_000).unwrap();
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

/// An S3 server (`moto_server`).
pub struct Moto {
    server: Child,
    port: u16,
}

impl Moto {
    /// Starts a server with one bucket named `bucket`, or returns `None` if the program is missing.
    pub fn start() -> Option<Moto> {
        let moto = Moto::start_with(&[])?;
        moto.make_bucket();
        Some(moto)
    }

    /// Starts a server that rejects all credentials, or returns `None` if the program is missing.
    pub fn start_strict() -> Option<Moto> {
        Moto::start_with(&[("INITIAL_NO_AUTH_ACTION_COUNT", "0")])
    }

    fn start_with(environment: &[(&str, &str)]) -> Option<Moto> {
        if missing(&["moto_server"]) {
            return None;
        }
        let port = free_port();
        let mut command = Command::new("moto_server");
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        command.envs(environment.iter().copied());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut moto = Moto {
            server: command.spawn().unwrap(),
            port,
        };
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert_eq!(moto.server.try_wait().unwrap(), None, "moto_server ended");
            thread::sleep(Duration::from_millis(20));
        }
        Some(moto)
    }

    fn make_bucket(&self) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        let request = "PUT /bucket HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    /// Returns the environment variables for a client of this server.
    pub fn variables(&self) -> [(&'static str, String); 4] {
        [
            ("AWS_ACCESS_KEY_ID", "key".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            (
                "AWS_ENDPOINT_URL",
                format!("http://127.0.0.1:{}", self.port),
            ),
        ]
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// An SSH server that the current user can log in to with a generated key.
pub struct Sshd {
    server: Child,
    /// The port that the server listens on.
    pub port: u16,
}

const SSHD: &str = "/usr/sbin/sshd";

impl Sshd {
    /// Starts a server with its files in `folder`, including `bin/sftp`, a client that has the key. Returns `None` if a
    /// program is missing.
    pub fn start(folder: &Path) -> Option<Sshd> {
        if missing(&[SSHD, "ssh-keygen", "/usr/bin/sftp"]) {
            return None;
        }
        for key in ["host_key", "user_key"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
            assert!(keygen.arg(folder.join(key)).status().unwrap().success());
        }
        let (at, port) = (folder.display(), free_port());
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host_key\nPidFile none\n\
             AuthorizedKeysFile {at}/user_key.pub\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nSubsystem sftp internal-sftp\n"
        );
        fs::write(folder.join("sshd_config"), config).unwrap();
        let key = fs::read_to_string(folder.join("host_key.pub")).unwrap();
        let known = format!("[127.0.0.1]:{port} {key}");
        fs::write(folder.join("known_hosts"), known).unwrap();
        // `ssh` ignores `$HOME`.
        let config = format!(
            "IdentityFile {at}/user_key\nIdentitiesOnly yes\nUserKnownHostsFile {at}/known_hosts\n\
             GlobalKnownHostsFile none\n"
        );
        fs::write(folder.join("ssh_config"), config).unwrap();
        let sftp = folder.join("bin/sftp");
        fs::create_dir(folder.join("bin")).unwrap();
        let script = format!("#!/bin/sh\nexec /usr/bin/sftp -F '{at}/ssh_config' \"$@\"\n");
        fs::write(&sftp, script).unwrap();
        fs::set_permissions(&sftp, fs::Permissions::from_mode(0o755)).unwrap();
        // A server that root starts needs this folder; it may exist already.
        let _ = fs::create_dir("/run/sshd");
        let mut server = Command::new(SSHD);
        server.arg("-D").arg("-f").arg(folder.join("sshd_config"));
        server.stdin(Stdio::null()).stderr(Stdio::null());
        let mut server = server.spawn().unwrap();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert_eq!(server.try_wait().unwrap(), None, "sshd ended");
            thread::sleep(Duration::from_millis(20));
        }
        Some(Sshd { server, port })
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
