//! What is said when all is over: how connections ended, what they moved, and how long it took.

use std::fmt::Write as _;

use pathscope_core::journal::totals::Totals;

/// The summary of connections, or of streams, at the end that receives those or at the one that sends them.
pub fn of(totals: &Totals, (is_udp, is_receiver): (bool, bool), took_ns: u64) -> String {
    let ended = totals.ended();
    let mut text = format!(
        "\n\n  Historic Connection Statistics (all connections over the complete lifetime)\n  \
         -------------------------------------------------------------------------------\n  \
         SuccessfulConnections [{}]   NetworkErrors [{}]   ProtocolErrors [{}]\n\n",
        ended.completed,
        ended.network_errors,
        ended.data_or_protocol_errors()
    );
    let mut line = |label: &str, value: u64| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {label} : {value}");
    };
    match (is_udp, is_receiver) {
        (false, _) => {
            line("Total Bytes Recv", totals.received_bytes);
            line("Total Bytes Sent", totals.sent_bytes);
        }
        (true, true) => {
            line("Total Bytes Recv", totals.received_bytes);
            line("Total Successful Frames", totals.frames.completed);
            line("Total Dropped Frames", totals.frames.missed);
            line("Total Duplicate Frames", totals.frames.repeated);
            line("Total Error Frames", totals.frames.erroneous);
        }
        (true, false) => line("Total Bytes Sent", totals.sent_bytes),
    }
    let _ = writeln!(text, "  Total Time : {} ms.", took_ns / 1_000_000);
    text
}
