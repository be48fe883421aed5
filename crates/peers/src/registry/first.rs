//! How many of a caller's first bytes are needed at the most, whichever kind it is.

/// The most of these.
pub(super) const fn most(of: &[usize]) -> usize {
    let (mut most, mut place) = (0, 0);
    while place < of.len() {
        if of[place] > most {
            most = of[place];
        }
        place += 1;
    }
    most
}
