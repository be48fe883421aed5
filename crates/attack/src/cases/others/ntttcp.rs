//! Strangers who speak as ntttcp's senders do: words of four bytes to one port, and connections to those behind it that carry anything.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;

use super::{SESSIONS, at, patient, reset};
use crate::crowd::{again_and_again, held};
use crate::ground::Ground;
use crate::sockets::{self, is_open};

/// Where words are heard; data goes to those behind it.
const WORDS: u16 = 5_000;
const DATA: u16 = 5_001;
/// Words: is it busy, it is not, begin.
const ASKS: u32 = 88;
const FREE: u32 = 11;
const BEGIN: u32 = 82;
/// Addresses that call, each of which may have a test.
const ADDRESSES: u32 = 256;

fn says(stream: &mut TcpStream, word: u32) -> io::Result<()> {
    stream.write_all(&word.to_be_bytes())
}

fn hears(stream: &mut TcpStream) -> io::Result<u32> {
    let mut heard = [0; 4];
    stream.read_exact(&mut heard)?;
    Ok(u32::from_be_bytes(heard))
}

/// A sender that was told it may have a test of its address.
fn greet(ground: &Ground, index: u32) -> io::Result<TcpStream> {
    let mut stream = sockets::dial(ground.address(index), at(ground, WORDS))?;
    patient(&stream)?;
    says(&mut stream, ASKS)?;
    if hears(&mut stream)? == FREE {
        Ok(stream)
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// What many do, each from an address of its own, and what of it the server keeps until the end.
fn kept(ground: &Ground, each: impl Fn(u32) -> io::Result<TcpStream> + Sync) -> io::Result<()> {
    let held = held(ground, (ADDRESSES, "connections"), each)?;
    let open = held.iter().filter(|stream| is_open(stream)).count() as u64;
    ground.add("sessions left at the end", open);
    ground.holds_at_most(SESSIONS, "sessions", open);
    Ok(())
}

/// Senders that stop: before a word, amid one, behind the first answer, behind their seconds.
pub fn silent(ground: &Ground) -> io::Result<()> {
    kept(ground, |index| {
        if index % 4 < 2 {
            let mut stream = sockets::dial(ground.address(index), at(ground, WORDS))?;
            stream.write_all(&[0; 2][..2 * (index % 4) as usize])?;
            return Ok(stream);
        }
        let mut stream = greet(ground, index)?;
        if index % 4 == 3 {
            says(&mut stream, 60)?;
            hears(&mut stream)?;
        }
        Ok(stream)
    })
}

/// Connections to the ports of data without a word, which never carry any: each is a test of its address.
pub fn data_alone(ground: &Ground) -> io::Result<()> {
    kept(ground, |index| {
        let port = DATA + u16::try_from(index % 16).unwrap_or_default();
        sockets::dial(ground.address(index), at(ground, port))
    })
}

/// Tests whose connections are reset amid what they carry.
pub fn broken(ground: &Ground) -> io::Result<()> {
    again_and_again(ground, 8, |index| {
        let mut words = greet(ground, index)?;
        says(&mut words, 60)?;
        hears(&mut words)?;
        let dial = |port| sockets::dial(ground.address(index), at(ground, DATA + port));
        let streams: io::Result<Vec<_>> = (0..4).map(dial).collect();
        let mut streams = streams?;
        says(&mut words, BEGIN)?;
        hears(&mut words)?;
        for stream in &mut streams {
            patient(stream)?;
            stream.write_all(&vec![b'A'; 65_536])?;
        }
        ground.count("tests");
        streams.into_iter().for_each(reset);
        reset(words);
        Ok(())
    })
}
