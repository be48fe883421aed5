//! Seats of UDP flows, and the consents that keep their streams going (docs/protocol.md, 5).

use std::io;
use std::net::UdpSocket;
use std::time::Duration;

use crate::caller::is_timeout;
use crate::random::Random;
use crate::wire::Token;

/// What a seat is asked for by.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    pub token: Token,
    pub group: u8,
    pub flow: u32,
    pub lane: u8,
}

impl Seat {
    /// The first flow of a test.
    pub const fn first(token: Token) -> Self {
        Self { token, group: 0, flow: 0, lane: 0 }
    }

    fn datagram(self, what: u8, nonce: [u8; 8], cookie: &[u8]) -> [u8; 64] {
        let mut datagram = [0; 64];
        datagram[..4].copy_from_slice(b"PSAT");
        datagram[4..7].copy_from_slice(&[what, self.lane, self.group]);
        datagram[8..12].copy_from_slice(&self.flow.to_be_bytes());
        datagram[16..32].copy_from_slice(&self.token);
        datagram[32..40].copy_from_slice(&nonce);
        datagram[40..40 + cookie.len()].copy_from_slice(cookie);
        datagram
    }

    /// Asks for it, and proves the address; the code that answers.
    pub fn take(self, socket: &UdpSocket, random: &mut Random) -> io::Result<u8> {
        let (nonce, cookie) = self.prove(socket, random)?;
        for _ in 0..4 {
            socket.send(&self.datagram(3, nonce, &cookie))?;
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
            socket.send(&self.datagram(1, nonce, &[]))?;
            if let Some(challenge) = answer(socket, 2)? {
                return Ok((nonce, challenge[16..32].to_vec()));
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// Confirms with a cookie, and awaits nothing.
    pub fn confirm(self, socket: &UdpSocket, nonce: [u8; 8], cookie: &[u8]) -> io::Result<()> {
        socket.send(&self.datagram(3, nonce, cookie)).map(drop)
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

    #[test]
    fn a_consent_is_that_of_the_document() {
        let token = token_of("000102030405060708090a0b0c0d0e0f").expect("32 digits");
        let said = "50 53 43 4e 07 00 00 80 08 09 0a 0b 0c 0d 0e 0f 01 00 00 00 00 00 00 00 80 b2 \
                    e6 0e 00 00 00 00 28 00 00 00 2d 8e d1 41";
        let told: Vec<String> =
            consent(token, 7, 1).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(told.join(" "), said);
    }
}
