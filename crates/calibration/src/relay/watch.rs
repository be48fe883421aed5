//! Watching a cell from outside: captures at both ends of its link, counters of the kernel's packet filter at both hosts.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pathscope_core::record::Caveat;
use pathscope_experiments::programs::is_installed;
use pathscope_lab::harness::{Capturing, CapturingError, Lab};

use super::filters::{TAKE_AWAY, TELL, table};
use super::{Crossing, Filtered, RoundTrips, SHAPED_TOO, Witnesses, pcap};
use crate::against::Against;
use crate::cell::Cell;
use crate::findings::CalibrationCaveat;
use crate::place::{NEAR, Place};

/// Bytes that are kept of each frame: all headers, and what tells one datagram from another.
const SNAP: u32 = 128;
const NOT_CAPTURED: &str = "its packets were not captured";
/// More pings than this are not captured.
const MOST_PINGS: u64 = 20_000;

/// What watches a cell. Dropping it takes it away.
#[derive(Debug, Default)]
pub struct Watch {
    /// At the near and at the far interface.
    captures: Option<[(Capturing, PathBuf); 2]>,
    /// Whether the hosts have filters.
    has_filters: bool,
}

/// The link of a cell, as it is called from each of its ends.
fn link(cell: &Cell) -> Option<[String; 2]> {
    match cell.place {
        Place::Wire | Place::Wide | Place::Link => {
            let host = cell.place.host(cell.family);
            Some([format!("{NEAR}:{host}"), format!("{host}:{NEAR}")])
        }
        _ => None,
    }
}

/// Whether each frame of a cell is looked at: where a link does nothing but take its time, and of pings over TCP.
fn is_captured(cell: &Cell) -> bool {
    link(cell).is_some() && (is_even(cell) || has_pings(cell))
}

fn is_even(cell: &Cell) -> bool {
    let is_shaped = |words: &str| {
        words.is_empty()
            || words.split(' ').all(|it| it.starts_with("rate=") || it.starts_with("queue="))
    };
    let is_plain = cell.conditions.iter().all(|it| is_shaped(it.up) && is_shaped(it.down));
    cell.place == Place::Link && is_plain && cell.later.is_empty()
}

fn has_pings(cell: &Cell) -> bool {
    let is_tcp = cell.setting("protocol") == Some("tcp") && cell.ping_bytes.is_some();
    is_tcp && cell.asked.number.is_some_and(|number| number <= MOST_PINGS)
}

/// Whether a cell is done where the kernel shapes its link, too, and its packets are counted by the kernel's filter.
pub fn is_shaped_too(cell: &Cell) -> bool {
    cell.setting(SHAPED_TOO.0) == Some(SHAPED_TOO.1)
}

/// Sources that there were none of, each with a reason.
#[derive(Debug, Default)]
pub struct Missing(Vec<(Against, String)>);

impl Missing {
    /// Notes that there is none of a source.
    pub fn note(&mut self, against: Against, why: String) {
        if !self.sources().contains(&against) {
            self.0.push((against, why));
        }
    }

    /// Which.
    pub fn sources(&self) -> Vec<Against> {
        self.0.iter().map(|(against, _)| *against).collect()
    }

    /// The same for a result.
    pub fn caveats(&self) -> impl Iterator<Item = Caveat> {
        self.0.iter().map(|(against, why)| {
            let text = format!("some rows are not held to {}: {why}", against.words());
            Caveat::new(CalibrationCaveat::SourceMissing, text)
        })
    }
}

impl Watch {
    /// Begins to watch; why it cannot, where it should. A machine may have no filter.
    pub fn begin(
        lab: &Lab,
        cell: &Cell,
        folder: &Path,
        port: u16,
        missing: &mut Missing,
    ) -> Result<Self, String> {
        let mut has_filters = is_shaped_too(cell) && !missing.sources().contains(&Against::Filter);
        if has_filters && let Err(why) = of_both(lab, cell, &["-f", "-"], &table(port)) {
            if !lacks_filter(&why) {
                return Err(why);
            }
            missing.note(Against::Filter, why);
            has_filters = false;
        }
        let names = link(cell).filter(|_| is_captured(cell));
        let captures = names.map(|names| captures(lab, &names, folder)).transpose();
        let captures = captures.map_err(|error| format!("{NOT_CAPTURED}: {error}"))?;
        Ok(Self { captures, has_filters })
    }

    /// Ends it, and tells what was seen. To be called once nothing is on its way.
    pub fn end(
        self,
        lab: &Lab,
        cell: &Cell,
        port: u16,
        missing: &mut Missing,
    ) -> Result<Witnesses, String> {
        let mut witnesses = Witnesses::default();
        if self.has_filters {
            let [near, far] = of_both(lab, cell, &TELL, "")?;
            of_both(lab, cell, &TAKE_AWAY, "")?;
            let filtered = Filtered::read(&near, &far);
            witnesses.filtered = Some(filtered.ok_or("what nft counted cannot be read")?);
        }
        let Some(captures) = self.captures else { return Ok(witnesses) };
        let mut files = Vec::new();
        for (capture, path) in captures {
            let ended = capture.end();
            let file = fs::read(&path);
            // The next is written anew.
            let _ = fs::remove_file(&path);
            match ended {
                Ok(()) => files.push(file.map_err(|error| format!("{NOT_CAPTURED}: {error}"))?),
                Err(CapturingError::Missed(why)) => missing.note(Against::Captures, why),
                Err(CapturingError::Failed(why)) => return Err(format!("{NOT_CAPTURED}: {why}")),
            }
        }
        if let [near, far] = &files[..] {
            look(&mut witnesses, [near, far], lab, cell, port)?;
        }
        Ok(witnesses)
    }
}

/// Captures at both ends of a link that are at work.
fn captures(
    lab: &Lab,
    [near, far]: &[String; 2],
    folder: &Path,
) -> io::Result<[(Capturing, PathBuf); 2]> {
    let begin = |name: &str, file: &str| {
        let file = folder.join(file);
        Ok::<_, io::Error>((lab.capture(name, SNAP, &file)?, file))
    };
    let mut captures = [begin(near, "near.pcap")?, begin(far, "far.pcap")?];
    for (capture, _) in &mut captures {
        capture.await_ready()?;
    }
    Ok(captures)
}

/// What captures at both ends show.
fn look(
    witnesses: &mut Witnesses,
    files: [&[u8]; 2],
    lab: &Lab,
    cell: &Cell,
    port: u16,
) -> Result<(), String> {
    let [near, far] =
        files.map(|file| pcap::frames(file).ok_or("a file of its packets breaks off"));
    let (near, far) = (near?, far?);
    let name = format!("{NEAR}:{}", cell.place.host(cell.family));
    let network = &lab.running().network;
    let interface = network.link(&name).and_then(|(_, link)| network.interface(link.ends[0]));
    if let Some(interface) = interface.filter(|_| is_even(cell)) {
        witnesses.crossing = Some(Crossing::of(&near, &far, interface.mac.0));
    }
    if let (true, Some(number), Some(bytes)) = (has_pings(cell), cell.asked.number, cell.ping_bytes)
    {
        let flows = cell.asked.flows;
        // Absent where some were never sent.
        witnesses.round_trips = RoundTrips::of(&near, &far, port, (flows, number / flows, bytes));
    }
    Ok(())
}

/// What nft says on both hosts of a cell.
fn of_both(lab: &Lab, cell: &Cell, words: &[&str], input: &str) -> Result<[String; 2], String> {
    let far = cell.place.host(cell.family);
    Ok([nft(lab, NEAR, words, input)?, nft(lab, far, words, input)?])
}

/// Whether this is what is said where the kernel has no such filter, or does not let this user, or there is no nft.
fn lacks_filter(said: &str) -> bool {
    let is_refused = ["not supported", "not permitted"].iter().any(|it| said.contains(it));
    is_refused || !is_installed("nft")
}

/// What nft says on a host.
fn nft(lab: &Lab, host: &str, words: &[&str], input: &str) -> Result<String, String> {
    let failed = |error: io::Error| format!("nft cannot be run: {error}");
    let mut command: Command = lab.command(host, "nft");
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that did not begin reads nothing, and says why.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(failed)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("nft on {host}: {}", said.lines().next().unwrap_or("it failed")))
}
