//! How flows get their sockets: where connections come from and go to, how each is opened with its token and answered, and
//! when the next is begun.

pub(crate) mod attach;
mod datagrams;
pub(crate) mod destinations;
pub(crate) mod handshake;
pub(crate) mod opener;
pub(crate) mod origins;
pub(crate) mod paths;
pub(crate) mod settings;
