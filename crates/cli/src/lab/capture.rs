//! `pathscope lab capture`: the packets of a link, to a file.

use pathscope_core::quantity::named;
use std::fs::File;
use std::io;
use std::thread;

use pathscope_core::error::Failure;
use pathscope_core::quantity::counted;
use pathscope_lab::capture::{self, Bounds, CaptureError};
use pathscope_lab::kernel::Kernel;
use pathscope_lab::running::{Registry, RunningLab, enter};
use pathscope_os::namespaces::Network as Namespace;
use pathscope_os::packets::{PacketSocket, Scope};
use pathscope_os::{OsError, Waker, clock};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::args::CaptureArgs;
use super::refuse_standard_output;
use crate::{Trouble, terminal};

/// Bytes that may wait for us in the kernel.
const BUFFER: usize = 32 << 20;

/// Captures until a signal, or a bound.
pub fn capture(registry: &Registry, args: &CaptureArgs) -> Result<(), Trouble> {
    let running = super::find(registry, &args.which)?;
    let (node, interface) = place(&running, &args.link)?;
    refuse_standard_output("capture", &args.output)?;
    // The file is ours to make as the user sees files, so before the node is entered. What it held stays
    // until it is certain that there is something to replace it.
    let path = named(&args.output);
    let unwritten =
        |error: io::Error| Trouble::new(Failure::Output, format!("cannot write {path}: {error}"));
    let mut file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&args.output)
        .map_err(unwritten)?;
    let is_regular = file.metadata().map_err(unwritten)?.is_file();
    enter(registry, &running, &node).map_err(|error| super::trouble(&error))?;
    let failed = |error: &dyn std::fmt::Display| {
        Trouble::new(Failure::Unsupported, format!("cannot capture on {node}: {error}"))
    };
    let socket = open(&node, &interface).map_err(|error| failed(&error))?;
    let stop = Waker::new().map_err(|error| failed(&error))?;
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(|error| failed(&error))?;
    let stopped = stop.clone();
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            stopped.wake();
        }
    });
    let bounds = Bounds {
        packets: args.count,
        until: args.duration.map(|time| clock::now().plus_nanos(time.0)),
        snap: args.snap,
    };
    // Devices and pipes have no length.
    if is_regular {
        file.set_len(0).map_err(unwritten)?;
    }
    terminal::say(&format!("capturing {} at {node}; Ctrl-C ends it", args.link));
    match capture::capture(&socket, bounds, &stop, &mut file) {
        Ok(captured) => {
            terminal::say(&format!("{} in {path}", counted(captured.packets, "packet")));
            match captured.missed {
                0 => Ok(()),
                missed => Err(Trouble::new(
                    Failure::Check,
                    format!("{} more came than could be written down", counted(missed, "packet")),
                )),
            }
        }
        Err(error @ CaptureError::Output { captured, .. }) => {
            // The packet that did not fit would have every reader complain.
            let is_whole = is_regular && file.set_len(captured.bytes).is_ok();
            let rest = if is_whole { "" } else { "; a part of another may be behind them" };
            Err(Trouble::new(Failure::Output, format!("cannot write {path}: {error}{rest}")))
        }
        Err(error) => Err(failed(&error)),
    }
}

fn open(node: &str, interface: &str) -> Result<PacketSocket, String> {
    let text = |error: OsError| error.to_string();
    let here = Namespace::current().map_err(text)?;
    let mut kernel = Kernel::of(&here, node).map_err(|error| error.to_string())?;
    let index = kernel.link(interface).map_err(|error| error.to_string())?.index;
    PacketSocket::open(index, Scope::Both, BUFFER).map_err(text)
}

/// The node and interface where a link ends. Its name may name the ends in the other order.
fn place(running: &RunningLab, link: &str) -> Result<(String, String), Trouble> {
    let network = &running.network;
    let Some((_, end)) = network.link_by_ends(link) else {
        let (lab, known) = (&running.name, network.link_names());
        return Err(Trouble::usage(format!("lab {lab} has no link {link}; it has {known}")));
    };
    let node = &network.nodes()[end.node];
    Ok((node.name.clone(), node.interfaces[end.interface].name.clone()))
}
