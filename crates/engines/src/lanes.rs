//! The sockets of a flow as it is handed in and back: one each for its lanes.

use std::ops::Deref;

use pathscope_os::Socket;

/// The sockets of a flow. Nearly all flows have one, which takes no memory of its own here.
#[derive(Debug)]
pub enum Lanes {
    /// Of a flow with one lane.
    One(Socket),
    /// Any other number.
    Several(Vec<Socket>),
}

impl Default for Lanes {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl FromIterator<Socket> for Lanes {
    fn from_iter<I: IntoIterator<Item = Socket>>(sockets: I) -> Self {
        let mut sockets = sockets.into_iter();
        match (sockets.next(), sockets.next()) {
            (None, _) => Self::default(),
            (Some(one), None) => Self::One(one),
            (Some(one), Some(other)) => {
                Self::Several([one, other].into_iter().chain(sockets).collect())
            }
        }
    }
}

impl Deref for Lanes {
    type Target = [Socket];

    fn deref(&self) -> &[Socket] {
        match self {
            Self::One(socket) => std::slice::from_ref(socket),
            Self::Several(sockets) => sockets,
        }
    }
}

impl IntoIterator for Lanes {
    type Item = Socket;
    type IntoIter = std::iter::Chain<std::option::IntoIter<Socket>, std::vec::IntoIter<Socket>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, several) = match self {
            Self::One(socket) => (Some(socket), Vec::new()),
            Self::Several(sockets) => (None, sockets),
        };
        one.into_iter().chain(several)
    }
}
