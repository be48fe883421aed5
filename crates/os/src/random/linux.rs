//! Linux: getrandom, which blocks only in the first moments after a boot.

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::OsError;

pub fn fill(bytes: &mut [u8]) -> Result<(), OsError> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match getrandom(&mut *rest, GetRandomFlags::empty()) {
            Ok(count) => rest = &mut rest[count..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(OsError::call("draw random bytes")(errno)),
        }
    }
    Ok(())
}
