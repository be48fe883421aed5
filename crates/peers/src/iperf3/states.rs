//! The bytes that are said alone on the control connection: how far a test is, as one end tells the other. Not here: what follows some
//! of them (`framing`, `errors`).

/// Server: the streams are there; clocks and counters begin.
pub(super) const TEST_START: u8 = 0x01;
/// Server: data may flow.
pub(super) const TEST_RUNNING: u8 = 0x02;
/// Client: it is over; what sends there has stopped.
pub(super) const TEST_END: u8 = 0x04;
/// Server: the parameters are awaited.
pub(super) const PARAM_EXCHANGE: u8 = 0x09;
/// Server: the streams are awaited.
pub(super) const CREATE_STREAMS: u8 = 0x0a;
/// Server: its program was told to end.
pub(super) const SERVER_TERMINATE: u8 = 0x0b;
/// Client: its program was told to end.
pub(super) const CLIENT_TERMINATE: u8 = 0x0c;
/// Server: the client's results are awaited.
pub(super) const EXCHANGE_RESULTS: u8 = 0x0d;
/// Server: both have the results.
pub(super) const DISPLAY_RESULTS: u8 = 0x0e;
/// Client: nothing follows.
pub(super) const IPERF_DONE: u8 = 0x10;
/// Server: it runs another test, or knows the cookie of no test.
pub(super) const ACCESS_DENIED: u8 = 0xff;
/// Server: it cannot; two numbers follow.
pub(super) const SERVER_ERROR: u8 = 0xfe;

/// What people know a byte as.
pub(super) fn name(state: u8) -> String {
    let known = match state {
        TEST_START => "TEST_START",
        TEST_RUNNING => "TEST_RUNNING",
        TEST_END => "TEST_END",
        PARAM_EXCHANGE => "PARAM_EXCHANGE",
        CREATE_STREAMS => "CREATE_STREAMS",
        SERVER_TERMINATE => "SERVER_TERMINATE",
        CLIENT_TERMINATE => "CLIENT_TERMINATE",
        EXCHANGE_RESULTS => "EXCHANGE_RESULTS",
        DISPLAY_RESULTS => "DISPLAY_RESULTS",
        IPERF_DONE => "IPERF_DONE",
        ACCESS_DENIED => "ACCESS_DENIED",
        SERVER_ERROR => "SERVER_ERROR",
        other => return format!("the byte {other:02x}, which is no state of a test"),
    };
    format!("{known} ({state:02x})")
}
