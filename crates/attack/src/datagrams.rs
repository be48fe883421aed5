//! Seats of UDP flows, and the consents that keep their streams going (docs/protocol.md, 5).

use std::io;
use std::net::UdpSocket;
use std::time::Duration;

use crate::caller::is_timeout;
use crate::checksum::crc;
use crate::proof::proof;
use crate::random::Random;
use crate::wire::{Pass, Token};

/// What a request is called.
const REQUEST: u8 = 1;

/// What a confirm is called.
const CONFIRM: u8 = 3;

/// What a seat is asked for by.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    pub pass: Pass,
    pub group: u8,
    pub flow: u32,
    pub lane: u8,
}

impl Seat {
    /// The first flow of a test.
    pub const fn first(pass: Pass) -> Self {
        Self { pass, group: 0, flow: 0, lane: 0 }
    }

    fn datagram(self, what: u8, nonce: [u8; 8], cookie: &[u8]) -> [u8; 64] {
        let mut datagram = [0; 64];
        datagram[..4].copy_from_slice(b"PSAT");
        datagram[4..7].copy_from_slice(&[what, self.lane, self.group]);
        datagram[8..12].copy_from_slice(&self.flow.to_be_bytes());
        datagram[16..32].copy_from_slice(&self.pass.token);
        datagram[32..40].copy_from_slice(&nonce);
        datagram[40..40 + cookie.len()].copy_from_slice(cookie);
        if let (CONFIRM, Some(name)) = (what, self.pass.name) {
            let proof = proof(name, &datagram[..56]);
            datagram[56..].copy_from_slice(&proof);
            let checked = [&datagram[..12], &datagram[16..]].concat();
            datagram[12..16].copy_from_slice(&crc(&checked).to_be_bytes());
        }
        datagram
    }

    /// What asks for it.
    pub fn request(self, nonce: [u8; 8]) -> [u8; 64] {
        self.datagram(REQUEST, nonce, &[])
    }

    /// What proves the address by the cookie that a request was answered with.
    pub fn confirmed(self, nonce: [u8; 8], cookie: &[u8]) -> [u8; 64] {
        self.datagram(CONFIRM, nonce, cookie)
    }

    /// Asks for it, and proves the address; the code that answers.
    pub fn take(self, socket: &UdpSocket, random: &mut Random) -> io::Result<u8> {
        let (nonce, cookie) = self.prove(socket, random)?;
        for _ in 0..4 {
            socket.send(&self.confirmed(nonce, &cookie))?;
            if let Some(answer) = answer(socket, 4)? {
                return Ok(answer[5]);
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// A nonce and the cookie that it was answered with.
    pub fn prove(self, socket: &UdpSocket, random: &mut Random) -> io::Result<([u8; 8], Vec<u8>)> {
        let nonce = random.next().to_be_bytes();
        for _ in 0..4 {
            socket.send(&self.request(nonce))?;
            if let Some(challenge) = answer(socket, 2)? {
                return Ok((nonce, challenge[16..32].to_vec()));
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// Confirms with a cookie, and awaits nothing.
    pub fn confirm(self, socket: &UdpSocket, nonce: [u8; 8], cookie: &[u8]) -> io::Result<()> {
        socket.send(&self.confirmed(nonce, cookie)).map(drop)
    }
}

/// The next datagram of that kind within the socket's time.
fn answer(socket: &UdpSocket, what: u8) -> io::Result<Option<[u8; 32]>> {
    for _ in 0..64 {
        let mut bytes = [0; 2_048];
        match socket.recv(&mut bytes) {
            Ok(32) if bytes.starts_with(b"PSAT") && bytes[4] == what => {
                let mut answer = [0; 32];
                answer.copy_from_slice(&bytes[..32]);
                return Ok(Some(answer));
            }
            Ok(_) => {}
            Err(error) if is_timeout(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// A consent of a client.
pub fn consent(token: Token, flow: u32, number: u64) -> [u8; 40] {
    let mut datagram = [0; 40];
    datagram[..4].copy_from_slice(b"PSCN");
    datagram[4..8].copy_from_slice(&(flow | 1 << 31).to_le_bytes());
    datagram[8..16].copy_from_slice(&token[8..]);
    datagram[16..24].copy_from_slice(&number.to_le_bytes());
    datagram[24..32].copy_from_slice(&(number * 250_000_000).to_le_bytes());
    datagram[32..36].copy_from_slice(&40_u32.to_le_bytes());
    let check = check(&datagram);
    datagram[36..].copy_from_slice(&check.to_le_bytes());
    datagram
}

/// The check of a header of a flow's datagram: its first 36 bytes as five words.
pub fn check(header: &[u8; 40]) -> u32 {
    let mut digest: u64 = 0x5053_4447;
    for start in [0, 8, 16, 24, 32] {
        let mut word = [0; 8];
        let end = if start == 32 { 36 } else { start + 8 };
        word[..end - start].copy_from_slice(&header[start..end]);
        digest = (digest ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        digest ^= digest >> 32;
    }
    (digest ^ (digest >> 32)) as u32
}

/// How many datagrams come within a time.
pub fn count(socket: &UdpSocket, within: Duration) -> u64 {
    let until = crate::clock::now() + within;
    let mut came = 0;
    let mut bytes = vec![0; 65_536];
    while crate::clock::now() < until {
        // A refusal by ICMP, or nothing for a while: neither is a datagram.
        if socket.recv(&mut bytes).is_ok() {
            came += 1;
        }
    }
    came
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::token_of;

    fn told(bytes: &[u8]) -> String {
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        digits.join(" ")
    }

    #[test]
    fn a_confirm_is_that_of_the_document() {
        let of = |digits| token_of(digits).expect("32 digits");
        let pass = Pass {
            token: of("aa0102030405060708090a0b0c0d0ebb"),
            name: Some(of("bb0e0d0c0b0a09080706050403020100")),
        };
        let seat = Seat { pass, group: 1, flow: 66_051, lane: 2 };
        let cookie = of("902866272b1dd13d0a5e8a75af206752");
        let nonce = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(
            told(&seat.datagram(CONFIRM, nonce, &cookie)),
            "50 53 41 54 03 02 01 00 00 01 02 03 d4 67 1c dc aa 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e bb 01 02 03 04 \
             05 06 07 08 90 28 66 27 2b 1d d1 3d 0a 5e 8a 75 af 20 67 52 d0 be 54 d7 9d 34 4c a8"
        );
    }

    #[test]
    fn a_consent_is_that_of_the_document() {
        let token = token_of("000102030405060708090a0b0c0d0e0f").expect("32 digits");
        let said = "50 53 43 4e 07 00 00 80 08 09 0a 0b 0c 0d 0e 0f 01 00 00 00 00 00 00 00 80 b2 \
                    e6 0e 00 00 00 00 28 00 00 00 2d 8e d1 41";
        assert_eq!(told(&consent(token, 7, 1)), said);
    }
}
