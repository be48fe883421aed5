//! Buffers of sockets that the system's limits make smaller than was asked for: told in the document, for each end.

use std::fs;
use std::process::Command;

use pathscope_core::record::Caveat;
use pathscope_modes::document::Document;

use crate::common::{Running, Server, pathscope};

/// The same program, without the right to go beyond the system's limits, which is root's; or why it cannot be had.
fn held_to_limits(program: &Command) -> Result<Command, String> {
    const WITHOUT: [&str; 2] = ["--bounding-set=-net_admin", "--"];
    let tried = Command::new("setpriv").args(WITHOUT).arg("true").output();
    let tried = tried.map_err(|error| format!("setpriv does not start: {error}"))?;
    if !tried.status.success() {
        return Err(format!("setpriv fails: {}", String::from_utf8_lossy(&tried.stderr).trim()));
    }
    let mut command = Command::new("setpriv");
    command.args(WITHOUT).arg(program.get_program()).args(program.get_args());
    command.env_remove("NO_COLOR").env("COLUMNS", "80");
    Ok(command)
}

/// What was told of buffers, at the client and at the server.
fn cut(document: &Document) -> [Vec<&Caveat>; 2] {
    let [measurement] = &document.measurements[..] else { panic!("one measurement") };
    let server = measurement.server.as_ref().expect("it reported");
    [&measurement.client, server]
        .map(|end| end.caveats.iter().filter(|caveat| caveat.name == "buffer_cut").collect())
}

#[test]
fn a_buffer_that_the_system_cut_is_told_for_each_end() {
    let limit = fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap_or_default();
    let Ok(limit) = limit.trim().parse::<u64>() else {
        return println!("skipped, because this system has no net.core.rmem_max");
    };
    // Datagrams without a rate ask for 32 MiB.
    if limit >= 32 << 20 {
        return println!("skipped, because net.core.rmem_max is {limit}, beyond what is asked for");
    }
    let server = ["server", "--listen", "127.0.0.1", "--port", "0"];
    let server = match held_to_limits(&pathscope(&server)) {
        Ok(server) => Server::listening(Running::start(server)),
        Err(why) => return println!("skipped, because {why}"),
    };
    let host = server.host();
    let asked = "a receive buffer of 64 MiB was asked for";
    let unasked = "a receive buffer of 32 MiB was asked for";
    let table = [
        ("goodput --protocol udp --pattern duplex --receive-buffer 64MiB", asked, [1, 1]),
        ("goodput --protocol udp --pattern push", unasked, [0, 1]),
        ("goodput --receive-buffer 64MiB", asked, [1, 1]),
        ("media --rate 1Mbit --direction both --receive-buffer 64MiB", asked, [1, 1]),
        ("media --rate 1Mbit --receive-buffer 16KiB", asked, [0, 0]),
    ];
    for (words, told, ends) in table {
        let (mode, more) = words.split_once(' ').expect("a mode and its options");
        let words = [mode, &host, "-t", "300ms", "--json"].into_iter().chain(more.split(' '));
        let client = held_to_limits(&pathscope(&words.collect::<Vec<_>>())).expect("as before");
        let ran = Running::start(client).finish().exits(0);
        let document = ran.document();
        let cut = cut(&document);
        assert_eq!(cut.each_ref().map(Vec::len), ends, "{more}: {cut:?}");
        for (caveats, end) in cut.iter().zip(["the client's kernel", "the server's kernel"]) {
            for Caveat { text, .. } in caveats {
                assert!(text.starts_with(told) && text.contains(end), "{more}: {text}");
                assert!(text.ends_with("raise net.core.rmem_max there"), "{more}: {text}");
            }
        }
    }
}
