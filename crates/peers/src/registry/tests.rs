//! Who is told from whom by the first bytes.

use super::*;

#[test]
fn a_stranger_is_told_by_as_many_bytes_as_that_needs() {
    let cookie = b"abcdefghijklmnopqrstuvwxyz234567abcd\0";
    for came in 1..cookie.len() {
        let reception = receive(&cookie[..came]);
        assert!(matches!(reception, Reception::More(37)), "{came}: {reception:?}");
    }
    assert!(matches!(receive(cookie), Reception::Known(Purpose::Join(_))));
    for (said, who) in [
        (&b"GET / HTTP/1.1\r\n"[..], "a web client; this port speaks no HTTP"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "nobody that pathscope knows"),
        (b"\xf5Q", "nobody that pathscope knows"),
        (
            b"\xf5PSP\n\x1a\n\x01",
            "a pathscope client through something that rewrites line ends; it must pass bytes as they are",
        ),
    ] {
        match receive(said) {
            Reception::Stranger(told) => assert_eq!(told, who),
            other => panic!("{said:?}: {other:?}"),
        }
    }
}

#[test]
fn who_may_be_of_ours_is_asked_for_no_more_than_an_opening() {
    for said in [&b""[..], b"\xf5", b"\xf5PSP\r\n\x1a"] {
        assert!(matches!(receive(said), Reception::More(32)), "{said:?}");
    }
    assert_eq!(FIRST_BYTES, 48);
}
