//! A server of a copy's program, for as long as it is measured with.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// A server that ends with the value.
pub struct Server {
    child: Child,
    /// Where it listens.
    pub port: String,
}

impl Server {
    /// Starts one on a port of its own.
    pub fn start(program: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["server", "--listen", "127.0.0.1", "--port", "0"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().context("start a server")?;
        let stderr = child.stderr.take().context("hear a server")?;
        let mut server = Self { child, port: String::new() };
        for line in BufReader::new(stderr).lines() {
            let line = line.context("hear a server")?;
            if let Some((_, rest)) = line.split_once("127.0.0.1:") {
                server.port = rest.chars().take_while(char::is_ascii_digit).collect();
                return Ok(server);
            }
        }
        bail!("start a server: it ended before it listened")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone is as good as ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
