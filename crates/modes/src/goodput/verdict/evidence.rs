//! The figures of a verdict, each with its name and a few words.

use pathscope_core::record::{Evidence, Limit};

use super::facts::{Facts, Seen};
use crate::verdicts;

impl Facts {
    /// All that is known, whatever the limit.
    pub fn evidence(&self) -> Vec<Evidence> {
        let still = |end: Option<(u64, f64)>| end.map(|(_, share)| share);
        let seen = |share: fn(&Seen) -> f64| self.seen.as_ref().map(share);
        let shares = verdicts::shares([
            // What the plan and both programs did.
            ("configured_rate_share", self.rate, "of the configured rate was reached"),
            ("paused_share", self.paused, "of the time the sender paused between bursts"),
            (
                "sender_still_share",
                still(self.sender_still),
                "of the time the sender's program stood still",
            ),
            (
                "receiver_still_share",
                still(self.receiver_still),
                "of the time the receiver's program stood still",
            ),
            ("sender_cpu_share", self.sender_cpu, "of a processor, the sender's busiest thread"),
            (
                "receiver_cpu_share",
                self.receiver_cpu,
                "of a processor, the receiver's busiest thread",
            ),
            (
                "sender_cpu_wait_share",
                self.sender_wait,
                "of the time the sender's thread waited for a processor",
            ),
            (
                "receiver_cpu_wait_share",
                self.receiver_wait,
                "of the time the receiver's thread waited for a processor",
            ),
            (
                "shared_host_cpu_share",
                self.shared_host_cpu,
                "of all processors, which both ends share",
            ),
            ("own_cpu_share", self.own_cpu, "of all processors, both ends' threads"),
            // What the sender's sockets waited for: as they were seen, and as the kernel sums it up.
            (
                "seen_held_by_path_share",
                seen(|seen| seen.path),
                "of the looks at its sockets data waited for the path",
            ),
            (
                "seen_held_by_receive_window_share",
                seen(|seen| seen.receive_window),
                "of the looks data waited for the receiver's window",
            ),
            (
                "seen_held_by_send_buffer_share",
                seen(|seen| seen.send_buffer),
                "of the looks the program waited for room in the send buffer",
            ),
            (
                "seen_held_by_program_share",
                seen(|seen| seen.program),
                "of the looks the program had given no more",
            ),
            (
                "seen_in_queue_share",
                seen(|seen| seen.queued),
                "of the looks a buffer or window was full, and the path had a queue",
            ),
            (
                "seen_stalled_share",
                self.stalled,
                "of the looks data waited, and next to nothing had been acknowledged since the last",
            ),
            (
                "receive_window_limited_share",
                self.receive_window,
                "of its busy time the sender waited for the window",
            ),
            (
                "send_buffer_limited_share",
                self.send_buffer,
                "of its busy time the sender waited for its buffer",
            ),
            ("sender_busy_share", self.busy, "of the time the sender had data in flight"),
        ]);
        let again = |segments| verdicts::count_of("retransmits", segments, "segment", "sent again");
        shares.chain(self.retransmits.map(again)).collect()
    }

    /// The names of the two figures without which the verdict would be another: of what was seen at the sockets where
    /// somebody looked, and else of what the kernel says of the whole run.
    pub fn deciding(&self, limit: Limit) -> [&'static str; 2] {
        let is_seen = self.seen.is_some();
        let seen_or = |seen, summed| if is_seen { seen } else { summed };
        let path = seen_or("seen_held_by_path_share", "sender_busy_share");
        let program = seen_or("seen_held_by_program_share", "sender_busy_share");
        let window = seen_or("seen_held_by_receive_window_share", "receive_window_limited_share");
        match limit {
            Limit::ConfiguredRate => ["configured_rate_share", path],
            Limit::SenderStopped | Limit::ReceiverStopped => {
                ["sender_still_share", "receiver_still_share"]
            }
            // Of a processor that is the limit: in the order in which the rules find it.
            Limit::SenderCpu | Limit::ReceiverCpu if self.is_thread_full() => {
                ["sender_cpu_share", "receiver_cpu_share"]
            }
            Limit::SenderCpu if self.is_kept_waiting() => {
                ["sender_cpu_share", "sender_cpu_wait_share"]
            }
            Limit::ReceiverCpu if self.is_kept_waiting() => {
                ["receiver_cpu_share", "receiver_cpu_wait_share"]
            }
            Limit::SenderCpu | Limit::ReceiverCpu if self.is_machine_full() => {
                ["shared_host_cpu_share", "own_cpu_share"]
            }
            Limit::SenderCpu | Limit::ReceiverCpu | Limit::ReceiveWindow => {
                ["receiver_cpu_share", window]
            }
            Limit::ConfiguredPauses => ["paused_share", program],
            Limit::SendBuffer if is_seen => {
                ["seen_held_by_send_buffer_share", "seen_in_queue_share"]
            }
            Limit::SendBuffer => ["send_buffer_limited_share", "receive_window_limited_share"],
            Limit::Network if self.is_in_queue() => ["seen_in_queue_share", path],
            Limit::Network => [path, "retransmits"],
            Limit::Turns | Limit::Sender => [program, "sender_cpu_share"],
            Limit::Undetermined if self.is_disturbed() => {
                ["shared_host_cpu_share", "own_cpu_share"]
            }
            _ => [path, "sender_cpu_share"],
        }
    }
}
