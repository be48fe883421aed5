//! Linux: `uname`, `/proc` and `/sys`.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

use pathscope_core::record::{Host, InterfaceFacts, NetworkFacts, Tool};

use crate::{clock, cpus, offloads};

pub fn facts() -> Host {
    let uname = rustix::system::uname();
    let text = |part: &CStr| part.to_string_lossy().into_owned();
    let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
    Host {
        name: text(uname.nodename()),
        tool: Tool::default(),
        kernel: [uname.sysname(), uname.release(), uname.machine()].map(text).join(" "),
        cpu_model: cpuinfo_line(&cpuinfo, "model name").map(str::to_owned),
        cpu_mhz: cpuinfo_line(&cpuinfo, "cpu MHz").and_then(|mhz| mhz.parse().ok()),
        cpus_allowed: cpus::allowed(),
        cpus_online: read("/sys/devices/system/cpu/online").and_then(|list| count_cpus(&list)),
        virtualized: cpuinfo_line(&cpuinfo, "flags")
            .map(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
        boot_id: read("/proc/sys/kernel/random/boot_id"),
        time_namespace: namespace("time"),
        network_namespace: namespace("net"),
        memory_bytes: memory_bytes(),
        clock: clock::facts(),
        network: network(),
        lab: None,
        labels: BTreeMap::new(),
    }
}

/// What the kernel calls the namespace of this kind that this process is in: `net:[4026531840]`.
fn namespace(kind: &str) -> Option<String> {
    let name = std::fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
    Some(name.display().to_string())
}

fn network() -> NetworkFacts {
    let one = |path| read(path)?.parse().ok();
    NetworkFacts {
        congestion_control: read("/proc/sys/net/ipv4/tcp_congestion_control"),
        tcp_receive_buffer_bytes: three_numbers("/proc/sys/net/ipv4/tcp_rmem"),
        tcp_send_buffer_bytes: three_numbers("/proc/sys/net/ipv4/tcp_wmem"),
        receive_buffer_max_bytes: one("/proc/sys/net/core/rmem_max"),
        send_buffer_max_bytes: one("/proc/sys/net/core/wmem_max"),
        interface: None,
    }
}

fn read(path: &str) -> Option<String> {
    Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
}

fn three_numbers(path: &str) -> Option<[u64; 3]> {
    let numbers: Vec<u64> =
        read(path)?.split_whitespace().map_while(|number| number.parse().ok()).collect();
    numbers.try_into().ok()
}

fn cpuinfo_line<'text>(cpuinfo: &'text str, name: &str) -> Option<&'text str> {
    let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    lines.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim()).next()
}

/// `0-3,8` is five processors.
fn count_cpus(list: &str) -> Option<u32> {
    let counts = list.split(',').map(|range| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        to.parse::<u32>().ok()?.checked_sub(from.parse().ok()?)?.checked_add(1)
    });
    counts.sum()
}

fn memory_bytes() -> Option<u64> {
    let meminfo = read("/proc/meminfo")?;
    let total = cpuinfo_line(&meminfo, "MemTotal")?;
    total.strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1_024)
}

pub fn interface_for(local: IpAddr) -> Option<InterfaceFacts> {
    let name = interfaces().find(|(_, address)| *address == local)?.0;
    let number = |fact: &str| read(&format!("/sys/class/net/{name}/{fact}"))?.parse::<u64>().ok();
    Some(InterfaceFacts {
        mtu_bytes: number("mtu").and_then(|mtu| u32::try_from(mtu).ok()),
        // In Mbit/s; a driver that does not know says -1, which is no u64, or 0.
        speed_bps: number("speed").filter(|&speed| speed > 0).map(|speed| speed * 1_000_000),
        offloads: offloads::active(&name)
            .ok()
            .map(|active| active.iter().map(|offload| offload.name().to_owned()).collect()),
        name,
    })
}

/// Each address of each interface, with its name.
fn interfaces() -> impl Iterator<Item = (String, IpAddr)> {
    let mut first: *mut libc::ifaddrs = ptr::null_mut();
    // SAFETY: the pointer is to a pointer, which the call sets.
    let status = unsafe { libc::getifaddrs(&raw mut first) };
    let mut found = Vec::new();
    let mut next = if status == 0 { first } else { ptr::null_mut() };
    // SAFETY: null, or an entry of the list, which lives until it is freed below.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: every entry has a name that ends with a zero and lives as long as the list.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) };
        if let Some(address) = address(entry.ifa_addr) {
            found.push((name.to_string_lossy().into_owned(), address));
        }
        next = entry.ifa_next;
    }
    if status == 0 {
        // SAFETY: the list came from `getifaddrs` and nothing borrowed from it is left.
        unsafe { libc::freeifaddrs(first) };
    }
    found.into_iter()
}

fn address(pointer: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: null, or an address of the list with at least its family.
    let family = unsafe { pointer.as_ref() }?.sa_family;
    match i32::from(family) {
        libc::AF_INET => {
            // SAFETY: an address of this family has this structure; it need not be aligned for it.
            let address = unsafe { pointer.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(address.sin_addr.s_addr.to_ne_bytes()).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let address = unsafe { pointer.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted_by_their_ranges() {
        assert_eq!(count_cpus("0"), Some(1));
        assert_eq!(count_cpus("0-3,8"), Some(5));
        assert_eq!(count_cpus("3-1"), None);
        assert_eq!(count_cpus("nonsense"), None);
    }

    #[test]
    fn a_line_of_cpuinfo_is_found_by_its_whole_name() {
        let cpuinfo = "model\t: 1\nmodel name\t: Fast: 9000\nflags\t: fpu hypervisor\n";
        assert_eq!(cpuinfo_line(cpuinfo, "model name"), Some("Fast: 9000"));
        assert_eq!(cpuinfo_line(cpuinfo, "cache"), None);
    }
}
