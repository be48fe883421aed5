//! Unpredictable bytes, for tokens and cookies.

#[cfg(all(target_os = "linux", not(pathscope_other)))]
mod linux;
#[cfg(all(target_os = "linux", not(pathscope_other)))]
use linux as imp;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
mod other;
#[cfg(not(all(target_os = "linux", not(pathscope_other))))]
use other as imp;

use crate::OsError;

/// So many bytes that nobody can guess.
pub fn bytes<const N: usize>() -> Result<[u8; N], OsError> {
    let mut bytes = [0; N];
    imp::fill(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
#[cfg(not(pathscope_other))]
mod tests {
    use super::*;

    #[test]
    fn no_two_draws_are_alike() {
        let draw = || bytes::<16>().expect("the kernel has entropy");
        assert_ne!(draw(), draw());
    }
}
