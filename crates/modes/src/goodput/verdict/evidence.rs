//! The figures of a verdict, each with its name and a few words.

use pathscope_core::record::{Evidence, Limit};

use super::facts::{Facts, Seen};

impl Facts {
    /// All that is known, whatever the limit; of a few the limit says that they decide.
    pub fn evidence(&self, _limit: Limit) -> Vec<Evidence> {
        let shares = self.of_ends().into_iter().chain(self.of_sockets());
        let shares = shares.filter_map(|(name, value, of)| Some(Evidence::share(name, value?, of)));
        let retransmits = self.retransmits.map(|segments| Evidence {
            name: "retransmits".to_owned(),
            value: segments as f64,
            text: format!("{segments} segments sent again"),
        });
        shares.chain(retransmits).collect()
    }

    /// What the plan and both programs did.
    fn of_ends(&self) -> [(&'static str, Option<f64>, &'static str); 10] {
        let share = |still: Option<(u64, f64)>| still.map(|(_, share)| share);
        [
            ("configured_rate_share", self.rate, "of the configured rate was reached"),
            ("paused_share", self.paused, "of the time the sender paused between bursts"),
            (
                "sender_still_share",
                share(self.sender_still),
                "of the time the sender's program stood still",
            ),
            (
                "receiver_still_share",
                share(self.receiver_still),
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
        ]
    }

    /// What the sender's sockets waited for: as they were seen, and as the kernel sums it up.
    fn of_sockets(&self) -> [(&'static str, Option<f64>, &'static str); 8] {
        let seen = |share: fn(&Seen) -> f64| self.seen.as_ref().map(share);
        [
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
        ]
    }
}
