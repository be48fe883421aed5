//! The numbers by which the kernel tells of datagrams that left one lane. Who asks for them is `stamps`.

/// The numbers of what left one lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers {
    /// Datagrams that were sent.
    pub sent: u64,
    /// Of those, how many before the kernel began to count.
    pub base: u64,
    /// One above the last that was told of.
    pub heard: u64,
}

impl Numbers {
    /// The kernel counts anew.
    pub const fn begun_again(self) -> Self {
        Self { sent: self.sent, base: self.sent, heard: self.sent }
    }

    /// Which datagram a number of the kernel's is: it counts in 32 bits.
    pub fn of(self, number: u32) -> u64 {
        let expected = self.heard.wrapping_sub(self.base) as u32;
        let ahead = number.wrapping_sub(expected) as i32;
        self.heard.wrapping_add_signed(ahead.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_numbers_go_on_beyond_32_bits() {
        let numbers = |heard, base| Numbers { sent: u64::MAX, base, heard };
        assert_eq!(numbers(0, 0).of(0), 0);
        assert_eq!(numbers(7, 5).of(2), 7);
        assert_eq!(numbers(7, 5).of(0), 5);
        let many = 3 << 32;
        assert_eq!(numbers(many, 0).of(0), many);
        assert_eq!(numbers(many, 0).of(u32::MAX), many - 1);
        assert_eq!(numbers(many - 1, 0).of(4), many + 4);
    }
}
