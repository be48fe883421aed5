//! Strangers who speak as iperf3's clients do: a control connection that begins with a cookie of 37 bytes, parameters as JSON behind their
//! length, and streams to the same port that begin with the same cookie, or four bytes over UDP.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};

use super::{at, patient, reset};
use crate::cases::crowds::PER_ADDRESS;
use crate::crowd::{again_and_again, held};
use crate::ground::Ground;
use crate::random::Random;
use crate::sockets::{self, is_open};

const PORT: u16 = 5_201;
/// Words of the server and of the client.
const PARAMETERS: u8 = 0x09;
const STREAMS: u8 = 0x0a;
const START: u8 = 0x01;
const RUNNING: u8 = 0x02;
const END: u8 = 0x04;
const RESULTS: u8 = 0x0d;
const DENIED: u8 = 0xff;

/// A session, as far as its words go.
struct Control {
    stream: TcpStream,
    cookie: [u8; 37],
}

impl Control {
    /// It has a place, and is asked what it wants.
    fn greet(source: IpAddr, server: SocketAddr, random: &mut Random) -> io::Result<Self> {
        let mut cookie = [b'a'; 37];
        let (letters, end) = cookie.split_at_mut(36);
        for letter in letters {
            *letter = b'a' + random.below(26) as u8;
        }
        end[0] = 0;
        let stream = sockets::dial(source, server)?;
        patient(&stream)?;
        let mut control = Self { stream, cookie };
        control.stream.write_all(&cookie)?;
        control.hears(PARAMETERS)?;
        Ok(control)
    }

    fn hears(&mut self, word: u8) -> io::Result<()> {
        let mut heard = [0];
        self.stream.read_exact(&mut heard)?;
        match heard[0] {
            heard if heard == word => Ok(()),
            DENIED => Err(io::ErrorKind::PermissionDenied.into()),
            heard => Err(io::Error::other(format!("{heard:02x} came in place of {word:02x}"))),
        }
    }

    fn says(&mut self, document: &str) -> io::Result<()> {
        self.stream.write_all(&(document.len() as u32).to_be_bytes())?;
        self.stream.write_all(document.as_bytes())
    }

    /// Asks for a test whose streams may come then.
    fn asks(&mut self, parameters: &str) -> io::Result<()> {
        self.says(parameters)?;
        self.hears(STREAMS)
    }

    /// A stream of it from there.
    fn attach(&self, source: IpAddr, server: SocketAddr) -> io::Result<TcpStream> {
        let mut stream = sockets::dial(source, server)?;
        patient(&stream)?;
        stream.write_all(&self.cookie)?;
        Ok(stream)
    }

    fn runs(&mut self) -> io::Result<()> {
        self.hears(START)?;
        self.hears(RUNNING)
    }
}

/// Sessions of one address that stop: behind the cookie, amid the parameters, before the stream, and with a stream that says nothing.
pub fn silent(ground: &Ground) -> io::Result<()> {
    const TRIED: u32 = 256;
    let each = |index: u32| fall_silent(ground, index % 4, &mut Random(index.into()));
    let held = held(ground, (TRIED, "sessions"), each)?;
    let open = held.iter().filter(|(control, _)| is_open(&control.stream)).count();
    ground.add("sessions left at the end", open as u64);
    ground.holds_at_most(PER_ADDRESS, "sessions of one address", ground.counted("sessions"));
    Ok(())
}

type Held = (Control, Option<TcpStream>);

fn fall_silent(ground: &Ground, stage: u32, random: &mut Random) -> io::Result<Held> {
    let (source, server) = (ground.address(0), at(ground, PORT));
    let mut control = Control::greet(source, server, random)?;
    match stage {
        0 => return Ok((control, None)),
        1 => {
            control.stream.write_all(&[0, 0, 1, 0, b'{', b'"'])?;
            return Ok((control, None));
        }
        _ => control.asks(r#"{"tcp":true,"time":60,"parallel":1}"#)?,
    }
    if stage == 2 {
        return Ok((control, None));
    }
    let stream = control.attach(source, server)?;
    control.runs()?;
    Ok((control, Some(stream)))
}

/// Tests whose streams are reset amid what comes on them, the control connection before or behind them.
pub fn broken(ground: &Ground) -> io::Result<()> {
    again_and_again(ground, 8, |index| {
        let (source, server) = (ground.address(index), at(ground, PORT));
        let mut random = Random(u64::from(index) << 32 | ground.counted("tests"));
        let mut control = Control::greet(source, server, &mut random)?;
        control.asks(r#"{"tcp":true,"time":60,"parallel":4,"reverse":true}"#)?;
        let streams: io::Result<Vec<_>> = (0..4).map(|_| control.attach(source, server)).collect();
        let mut streams = streams?;
        control.runs()?;
        let mut room = vec![0; 65_536];
        for stream in &mut streams {
            stream.read_exact(&mut room)?;
        }
        ground.count("tests");
        if random.happens(50) {
            reset(control.stream);
            streams.into_iter().for_each(reset);
        } else {
            streams.into_iter().for_each(reset);
            reset(control.stream);
        }
        Ok(())
    })
}

/// One test of one stream, and thousands of connections from many addresses that say its cookie.
pub fn one_cookie(ground: &Ground) -> io::Result<()> {
    const CONNECTIONS: u32 = 8_000;
    /// Those that may be on their way to one session.
    const MOST_KEPT: u64 = 256;
    let server = at(ground, PORT);
    let mut control = Control::greet(ground.address(0), server, &mut Random(3))?;
    control.asks(r#"{"tcp":true,"time":60,"parallel":1}"#)?;
    let mut stream = control.attach(ground.address(0), server)?;
    control.runs()?;
    let held = held(ground, (CONNECTIONS, "connections"), |index| {
        control.attach(ground.address(1 + index % 1_000), server)
    })?;
    let open = held.iter().filter(|stream| is_open(stream)).count() as u64;
    ground.add("still open at the end", open);
    ground.holds_at_most(MOST_KEPT, "connections that no test awaits", open);
    // The test that they are not of goes on.
    let goes_on = stream.write_all(&[b'x'; 1_000]).and_then(|()| {
        control.stream.write_all(&[END])?;
        control.hears(RESULTS)
    });
    if let Err(error) = goes_on {
        ground.broken(format!("a test was ended by connections that were none of its: {error}"));
    }
    Ok(())
}

/// Documents that are too long, that never end, and that are deep, as parameters and as results.
pub fn documents(ground: &Ground) -> io::Result<()> {
    again_and_again(ground, 8, |index| {
        let (source, server) = (ground.address(index), at(ground, PORT));
        let round = ground.counted("documents");
        let mut random = Random(u64::from(index) << 32 | round);
        let mut control = Control::greet(source, server, &mut random)?;
        let lengths = [0, 8_193, 1 << 20, (1 << 20) + 1, 16 << 20, u32::MAX];
        let length = random.of(&lengths).copied().unwrap_or_default();
        if round % 2 == 1 {
            // It is results.
            control.asks(r#"{"tcp":true,"time":60,"parallel":1}"#)?;
            let stream = control.attach(source, server)?;
            control.runs()?;
            control.stream.write_all(&[END])?;
            control.hears(RESULTS)?;
            drop(stream);
        }
        ground.count("documents");
        control.stream.write_all(&length.to_be_bytes())?;
        pour(ground, &mut control.stream, random.happens(50));
        Ok(())
    })
}

/// Says what never ends: brackets that open, or one long text.
fn pour(ground: &Ground, stream: &mut TcpStream, is_deep: bool) {
    /// What the kernels of both ends may hold is less.
    const TAKEN_MOST: u64 = 16 << 20;
    let block = vec![if is_deep { b'[' } else { b' ' }; 65_536];
    let mut taken = 0;
    let ends = loop {
        match stream.write(&block) {
            Ok(bytes) if taken <= TAKEN_MOST => taken += bytes as u64,
            Ok(_) => {
                ground.broken(format!("of one document more than {TAKEN_MOST} bytes were taken"));
                return;
            }
            Err(error) => break error,
        }
    };
    ground.add("bytes poured", taken);
    ground.count(match ends.kind() {
        io::ErrorKind::WouldBlock => "not read",
        _ => "closed by the server",
    });
}

/// Datagrams that ask for streams of tests that nobody has, from very many addresses, and others without sense.
pub fn flood(ground: &Ground) -> io::Result<()> {
    let server = at(ground, PORT);
    again_and_again(ground, 8, |index| {
        let mut random = Random(u64::from(index) << 32 | ground.counted("rounds"));
        let socket = sockets::seat(ground.address(random.below(60_000) as u32), 0, server)?;
        socket.set_nonblocking(true)?;
        for number in 0..64 {
            let said = if number % 2 == 0 {
                b"9876".to_vec()
            } else {
                let length = random.below(1_400);
                random.bytes(length)
            };
            // Where there is no room for it, it is one less.
            if socket.send(&said).is_ok() {
                ground.count("datagrams");
            }
        }
        if socket.recv(&mut [0; 16]).is_ok() {
            ground.broken("a datagram was answered that no test awaited".to_owned());
        }
        Ok(())
    })
}
