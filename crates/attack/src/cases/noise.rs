//! Bytes without sense, to both ports.

use std::io::{self, Write as _};

use crate::caller::greeting;
use crate::crowd::again_and_again;
use crate::ground::Ground;
use crate::random::Random;
use crate::sockets;

/// Half of the callers speak TCP, some of them beginning as a client does; half send datagrams, some of them
/// beginning as those of the protocol do.
pub fn random_bytes(ground: &Ground) -> io::Result<()> {
    again_and_again(ground, 8, |index| {
        let mut random = Random(u64::from(index) * 77 + ground.counted("rounds"));
        let source = ground.address(index);
        if index % 2 == 0 {
            let mut stream = sockets::dial(source, ground.server)?;
            let mut bytes = match random.below(3) {
                0 => Vec::new(),
                1 => greeting(ground.version)[..8].to_vec(),
                _ => greeting(ground.version),
            };
            bytes.extend(random.bytes(2_000));
            ground.add("bytes over TCP", bytes.len() as u64);
            return stream.write_all(&bytes);
        }
        let socket = sockets::seat(source, 0, ground.server)?;
        for _ in 0..64 {
            let length = random.below(1_400);
            let mut bytes = random.bytes(length);
            let magic: [&[u8]; 4] = [b"", b"PSAT\x01", b"PSAT\x03", b"PSCN"];
            if let Some(magic) = random.of(&magic).filter(|magic| magic.len() <= length) {
                bytes[..magic.len()].copy_from_slice(magic);
            }
            socket.send(&bytes)?;
        }
        ground.add("datagrams", 64);
        Ok(())
    })
}
