//! A verdict in words, and its evidence.

use pathscope_core::quantity::{counted, duration_ns, ratio, were};
use pathscope_core::record::Limit;

use super::bounds::CPU_USED_UP;
use super::facts::{Facts, Seen};

impl Facts {
    pub fn text(&self, limit: Limit) -> String {
        let of_looks = |share: fn(&Seen) -> f64| self.seen.as_ref().map(|seen| ratio(share(seen)));
        let most_looks = || of_looks(|seen| seen.program).unwrap_or_else(|| "most".to_owned());
        match limit {
            Limit::ConfiguredRate => {
                "the configured rate was reached; nothing else held it back".to_owned()
            }
            Limit::SenderStopped | Limit::ReceiverStopped => self.text_of_stopped(limit),
            Limit::SenderCpu | Limit::ReceiverCpu => self.text_of_cpu(limit),
            Limit::ConfiguredPauses => format!(
                "the configured pauses between bursts: the sender paused for {} of the time",
                share(self.paused)
            ),
            Limit::ReceiveWindow => match of_looks(|seen| seen.receive_window) {
                Some(looks) => format!(
                    "the receiver's window: in {looks} of the looks at the sender's sockets data waited for it"
                ),
                None => format!(
                    "the receiver's window: it stopped the sender for {} of its busy time",
                    share(self.receive_window)
                ),
            },
            Limit::SendBuffer => match of_looks(|seen| seen.send_buffer) {
                Some(looks) => format!(
                    "the send buffer: in {looks} of the looks at the sender's sockets it was full, and the path would have carried more"
                ),
                None => format!(
                    "the send buffer: too small for the path for {} of the sender's busy time",
                    share(self.send_buffer)
                ),
            },
            Limit::Turns => format!(
                "the turns: in {} of the looks neither end had anything to send, since each waits for the other's last byte",
                most_looks()
            ),
            Limit::Network => {
                let again = self.retransmits.map_or_else(String::new, |segments| match segments {
                    0 => "; nothing was lost".to_owned(),
                    _ => format!(
                        ", and {} {} sent again",
                        counted(segments, "segment"),
                        were(segments)
                    ),
                });
                format!("the path: congestion control held the sender{again}")
            }
            Limit::Sender => format!(
                "the sender: in {} of the looks at its sockets they had room, and it gave them nothing",
                most_looks()
            ),
            // The others are of datagrams.
            _ => {
                let text = if self.is_disturbed() {
                    "the processors were used up, and mostly not by this test: other programs disturbed it"
                } else if self.spins {
                    "not known: threads that spin use their processor up whether they have work or not"
                } else {
                    "nothing stands out; see the evidence"
                };
                text.to_owned()
            }
        }
    }

    fn text_of_stopped(&self, limit: Limit) -> String {
        let (name, still, other) = match limit {
            Limit::SenderStopped => ("sender", self.sender_still, self.receiver_still),
            _ => ("receiver", self.receiver_still, self.sender_still),
        };
        let (still_ns, still) = still.unwrap_or_default();
        let other = other.map_or_else(String::new, |(other_ns, _)| {
            format!("; the other end's program stood still for {}, too", duration_ns(other_ns))
        });
        format!(
            "the {name}'s program: it stood still for {}, {} of the time{other}",
            duration_ns(still_ns),
            ratio(still)
        )
    }

    fn text_of_cpu(&self, limit: Limit) -> String {
        let (name, cpu, wait) = match limit {
            Limit::SenderCpu => ("sender", self.sender_cpu, self.sender_wait),
            _ => ("receiver", self.receiver_cpu, self.receiver_wait),
        };
        let is_full = self.reaches(cpu, CPU_USED_UP);
        match self.shared_host_cpu {
            _ if !is_full && self.is_kept_waiting() => format!(
                "the {name}'s CPU: a thread used {} of a processor and waited for one, which a quota or other programs kept from it, for {} of the time",
                share(cpu),
                share(wait)
            ),
            Some(host) if !is_full => format!(
                "the {name}'s CPU: both ends share one machine, whose processors were {} busy, and it used most of them",
                ratio(host)
            ),
            _ => format!("the {name}'s CPU: its busiest thread used {} of a processor", share(cpu)),
        }
    }
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "n/a".to_owned(), ratio)
}
