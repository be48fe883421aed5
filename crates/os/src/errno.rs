//! The system's error numbers: their names, and which of them mean what to a flow.

/// The system's name of an error number: `ECONNRESET`. `E?` for one that has none here.
pub const fn errno_name(errno: i32) -> &'static str {
    macro_rules! names {
        ($($name:ident)*) => {
            match errno {
                $(libc::$name => stringify!($name),)*
                _ => "E?",
            }
        };
    }
    names! {
        EPERM ENOENT EINTR EIO ENXIO EBADF EAGAIN ENOMEM EACCES EFAULT EBUSY EEXIST ENODEV EINVAL
        ENFILE EMFILE ENOSPC EPIPE ENOSYS ENOTCONN ETOOMANYREFS EALREADY EINPROGRESS ENOTSOCK EDESTADDRREQ
        EMSGSIZE EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT EOPNOTSUPP EAFNOSUPPORT EADDRINUSE
        EADDRNOTAVAIL ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET ENOBUFS EISCONN
        ESHUTDOWN ETIMEDOUT ECONNREFUSED EHOSTDOWN EHOSTUNREACH EPROTO
    }
}

/// Whether a datagram socket lives on after this error: the network or a host answered a datagram, or
/// dropped it before it left. What was too long for a hop of the way (`EMSGSIZE`) the kernel cuts from then on.
pub const fn is_unreachable(errno: i32) -> bool {
    matches!(
        errno,
        libc::ECONNREFUSED
            | libc::EHOSTUNREACH
            | libc::ENETUNREACH
            | libc::EHOSTDOWN
            | libc::ENETDOWN
            | libc::ENOPROTOOPT
            | libc::EPROTO
            // One that was longer than the path carries in one piece: the kernel knows now, and cuts the next.
            | libc::EMSGSIZE
            | libc::EPERM
            | libc::EACCES
    )
}

/// Whether a SYN is on its way that bears nothing of what was to be said with it: that can be said once it is answered.
pub const fn is_connecting(errno: i32) -> bool {
    errno == libc::EINPROGRESS
}

/// Whether this comes up at a datagram socket because the other end's machine answered an earlier datagram, whatever is done
/// with the socket then.
pub const fn is_answer(errno: i32) -> bool {
    matches!(errno, libc::ECONNREFUSED | libc::ENOPROTOOPT | libc::EPROTO)
}

/// Whether this comes up at a datagram socket because the other end's machine answered that nobody has the port open.
pub const fn is_refusal(errno: i32) -> bool {
    errno == libc::ECONNREFUSED
}

/// Whether the kernel had no room and will have it later.
pub const fn is_no_room(errno: i32) -> bool {
    matches!(errno, libc::EAGAIN | libc::ENOBUFS | libc::ENOMEM)
}

/// Whether this refuses a batch of datagrams that the kernel or the interface was to cut, so that the same datagrams may
/// leave one by one: no such option, no checksum by the interface, longer than the path takes.
pub const fn is_batch_refused(errno: i32) -> bool {
    matches!(
        errno,
        libc::EIO | libc::EINVAL | libc::EMSGSIZE | libc::EOPNOTSUPP | libc::ENOPROTOOPT
    )
}

/// Whether a connection was not there to begin with or was ended by the other end.
pub const fn is_connection_lost(errno: i32) -> bool {
    matches!(
        errno,
        libc::ECONNRESET
            | libc::EPIPE
            | libc::ETIMEDOUT
            | libc::ECONNABORTED
            | libc::ENOTCONN
            | libc::ECONNREFUSED
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_names_of_the_manual() {
        assert_eq!(errno_name(libc::ECONNRESET), "ECONNRESET");
        assert_eq!(errno_name(libc::EHOSTUNREACH), "EHOSTUNREACH");
        assert_eq!(errno_name(0), "E?");
    }

    #[test]
    fn no_error_means_two_things() {
        for errno in 0..200 {
            let meanings = [is_unreachable(errno), is_no_room(errno)];
            assert!(meanings.iter().filter(|&&meaning| meaning).count() < 2, "{errno}");
        }
    }
}
