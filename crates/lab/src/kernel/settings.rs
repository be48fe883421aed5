//! What a network's kernel is told once, by the files below `/proc/sys/net`, which show the network of
//! the thread that opens them.
//!
//! Left alone: the sizes of TCP's buffers, which decide its speed and are the machine's.

use std::fs;
use std::io;
use std::path::Path;

use pathscope_os::namespaces::Network;

use super::KernelError;

/// What kind of network it is to be.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Settings {
    /// Whether it hands on packets that are not its own.
    pub forwards: bool,
    /// Whether it speaks IPv6. One that does greets its neighbours on every link, so those where each
    /// frame counts do not.
    pub ipv6: bool,
}

const IPV6: &str = "/proc/sys/net/ipv6";

/// Tells them to the kernel. Best before there are interfaces: what those begin with is set here.
pub fn apply(network: &Network, name: &str, settings: Settings) -> Result<(), KernelError> {
    network.run(|| {
        // A kernel without IPv6 has nothing to switch off.
        let has_ipv6 = settings.ipv6 || Path::new(IPV6).exists();
        let ipv6 = has_ipv6.then(|| ipv6(settings)).into_iter().flatten();
        for (path, value) in ipv4(settings).into_iter().chain(ipv6) {
            write(name, &path, value)?;
        }
        Ok(())
    })?
}

fn ipv4(settings: Settings) -> Vec<(String, &'static str)> {
    let mut values = vec![
        ("ip_forward".to_owned(), number(settings.forwards)),
        // Every router answers every probe of a path.
        ("icmp_ratelimit".to_owned(), "0"),
        ("icmp_ratemask".to_owned(), "0"),
    ];
    // Paths there and back may differ.
    values.extend(["all", "default"].map(|which| (format!("conf/{which}/rp_filter"), "0")));
    values.into_iter().map(|(name, value)| (format!("/proc/sys/net/ipv4/{name}"), value)).collect()
}

fn ipv6(settings: Settings) -> Vec<(String, &'static str)> {
    let of_interfaces = [
        ("disable_ipv6", number(!settings.ipv6)),
        ("forwarding", number(settings.forwards)),
        ("accept_ra", "0"),
        // An address is ready at once, and is still there after the link was down.
        ("accept_dad", "0"),
        ("keep_addr_on_down", "1"),
    ];
    let mut values = vec![(format!("{IPV6}/icmp/ratelimit"), "0")];
    for which in ["all", "default"] {
        values.extend(
            of_interfaces.map(|(name, value)| (format!("{IPV6}/conf/{which}/{name}"), value)),
        );
    }
    values
}

fn number(on: bool) -> &'static str {
    if on { "1" } else { "0" }
}

fn write(network: &str, path: &str, value: &'static str) -> Result<(), KernelError> {
    let failed = |source: io::Error| KernelError::Setting {
        path: path.to_owned(),
        value,
        network: network.to_owned(),
        source,
    };
    fs::write(path, value).map_err(failed)
}
