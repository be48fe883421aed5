//! Links shaped by the kernel: conditions as queueing disciplines, in the words of tc(8).
//!
//! For rates that no relay reaches. What the kernel cannot do as a link here does it is refused, not
//! approximated; and it keeps no ledger: what became of which packet only the `relay` knows. Not here:
//! building the network (`keeper`).

use std::io;
use std::process::Command;

use pathscope_os::OsError;
use pathscope_os::namespaces::Network as Namespace;

use crate::link::{Chance, Conditions, Loss, Queue, Rate, Reordering};

/// Why a link was not shaped.
#[derive(Debug, thiserror::Error)]
pub enum ShapeError {
    /// tc(8) has no word that means the same.
    #[error(
        "link {link} has {condition}, which tc does not do: {why}; put the lab up with --shaper relay"
    )]
    Inexpressible {
        /// The link's name.
        link: String,
        /// As it is typed.
        condition: String,
        /// What it would do instead.
        why: &'static str,
    },
    /// It did not do it.
    #[error("tc cannot shape {interface} of {node}: {said}; {remedy}")]
    Refused {
        /// Where.
        node: String,
        /// Which.
        interface: String,
        /// Its own words.
        said: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The node cannot be entered.
    #[error(transparent)]
    Os(#[from] OsError),
}

/// Frames that netem holds while they are on their way: more than any link here has under way.
const ON_THE_WAY: u32 = 1_000_000;

/// How late the kernel may look after a queue without the rate suffering: what comes in meanwhile is kept in the bucket. With room
/// for one frame and no more, each time that it was late was lost, which took 9 % of a rate of 20 Mbit/s.
const LATE_NS: u64 = 500_000;

/// The queueing disciplines, outermost first, that make an interface send like `conditions` say:
/// behind `tc qdisc add dev INTERFACE`. `link` is for the sentence of an error, `frame_bytes` the longest
/// frame with its Ethernet header.
///
/// On a real link the queue comes before the delay; here netem's delay comes first, since it holds a
/// discipline within it but cannot be held. What arrives, and when, is the same.
pub fn words(
    link: &str,
    conditions: &Conditions,
    frame_bytes: u32,
) -> Result<Vec<String>, ShapeError> {
    check(link, conditions)?;
    let mut disciplines = Vec::new();
    let mut place = "root".to_owned();
    let delays = netem(conditions);
    if !delays.is_empty() {
        disciplines.push(format!("{place} handle 1: netem limit {ON_THE_WAY}{delays}"));
        "parent 1:1".clone_into(&mut place);
    }
    let Rate::Limited(rate) = conditions.rate else { return Ok(disciplines) };
    // tbf holds the frame that is being sent in its queue until there are tokens for all of it.
    let limit = match conditions.queue {
        Queue::Bytes(bytes) => bytes.saturating_add(u64::from(frame_bytes)),
        // The queue within it has its own limit, and this one is not asked.
        Queue::Packets(_) => u64::from(frame_bytes),
    };
    let rate = rate.0;
    let kept = u128::from(rate) * u128::from(LATE_NS) / 8_000_000_000;
    let burst = u128::from(frame_bytes) + kept;
    disciplines.push(format!("{place} handle 2: tbf rate {rate}bit burst {burst} limit {limit}"));
    if let Queue::Packets(frames) = conditions.queue {
        disciplines.push(format!("parent 2:1 handle 3: pfifo limit {}", frames.saturating_add(1)));
    }
    Ok(disciplines)
}

/// What netem does, each with a blank before it; nothing where none is wanted.
fn netem(conditions: &Conditions) -> String {
    let delay = conditions.delay.0;
    // tc reads no nanoseconds, but parts of microseconds.
    let delay = (delay > 0).then(|| format!(" delay {}.{:03}us", delay / 1_000, delay % 1_000));
    let loss = match conditions.loss {
        Loss::None => None,
        Loss::Random(chance) => Some(format!(" loss random {chance}")),
        Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
            Some(format!(" loss gemodel {to_bad} {to_good} {loss_bad} {loss_good}"))
        }
    };
    let duplication = conditions.duplication;
    let duplicate = (duplication > Chance::NEVER).then(|| format!(" duplicate {duplication}"));
    [delay, loss, duplicate].into_iter().flatten().collect()
}

fn check(link: &str, conditions: &Conditions) -> Result<(), ShapeError> {
    let refuse = |is_wanted: bool, condition: String, why| {
        if !is_wanted {
            return Ok(());
        }
        Err(ShapeError::Inexpressible { link: link.to_owned(), condition, why })
    };
    let Conditions { jitter, corruption, reordering, loss, duplication, .. } = conditions;
    // netem, which holds the rate within it, decides before it: see `words`.
    let has_rate = conditions.rate != Rate::Unlimited;
    refuse(
        has_rate && *loss != Loss::None,
        format!("loss = \"{loss}\" together with a rate"),
        "there lost packets take no time on the link and no room in its queue",
    )?;
    refuse(
        has_rate && *duplication > Chance::NEVER,
        format!("dup = \"{duplication}\" together with a rate"),
        "there copies take time on the link and room in its queue",
    )?;
    refuse(
        jitter.0 > 0,
        format!("jitter = \"{jitter}\""),
        "its jitter lets packets overtake each other",
    )?;
    refuse(
        *corruption > Chance::NEVER,
        format!("corrupt = \"{corruption}\""),
        "it leaves the checksums wrong, so that damaged packets are lost on arrival",
    )?;
    refuse(
        reordering.chance > Chance::NEVER,
        format!("reorder = \"{}\"", Reordering { ..*reordering }),
        "it sends packets ahead by a time, not by a number of packets",
    )
}

/// Has tc(8) make an interface of a node send like that.
pub fn apply(
    namespace: &Namespace,
    node: &str,
    interface: &str,
    words: &[String],
) -> Result<(), ShapeError> {
    let refused = |said: String, remedy| ShapeError::Refused {
        node: node.to_owned(),
        interface: interface.to_owned(),
        said,
        remedy,
    };
    for discipline in words {
        let output = namespace.run(|| {
            let mut command = Command::new("tc");
            command.args(["qdisc", "add", "dev", interface]).args(discipline.split(' ')).output()
        })?;
        match output {
            Ok(output) if output.status.success() => {}
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let said = said.trim().trim_end_matches('.').replace('\n', ", ");
                return Err(refused(format!("{discipline}: {said}"), KERNEL));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(refused("there is no such program".to_owned(), PROGRAM));
            }
            Err(error) => return Err(refused(error.to_string(), PROGRAM)),
        }
    }
    Ok(())
}

const KERNEL: &str = "use a kernel with this discipline (netem: CONFIG_NET_SCH_NETEM), or put the lab up \
                      with --shaper relay";
const PROGRAM: &str = "install iproute2, or put the lab up with --shaper relay";

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(words: &str) -> Conditions {
        use crate::link::{Change, Order};
        let Order::Change(change) = Order::from_words(words.split(' ')).expect(words) else {
            panic!("{words} is no change")
        };
        let change: Change = change;
        Conditions::default().after(&change).expect(words)
    }

    #[test]
    fn conditions_become_disciplines() {
        let table: [(&str, &[&str]); 7] = [
            ("rate=none", &[]),
            (
                "rate=100Mbit queue=67p",
                &[
                    "root handle 2: tbf rate 100000000bit burst 7764 limit 1514",
                    "parent 2:1 handle 3: pfifo limit 68",
                ],
            ),
            (
                "rate=20Mbit queue=100KB",
                &["root handle 2: tbf rate 20000000bit burst 2764 limit 101514"],
            ),
            ("delay=20ms", &["root handle 1: netem limit 1000000 delay 20000.000us"]),
            (
                "loss=0.5% dup=1%",
                &["root handle 1: netem limit 1000000 loss random 0.5% duplicate 1%"],
            ),
            (
                "loss=burst:1%,30%",
                &["root handle 1: netem limit 1000000 loss gemodel 1% 30% 100% 0%"],
            ),
            (
                "delay=1ms rate=10Mbit queue=5p",
                &[
                    "root handle 1: netem limit 1000000 delay 1000.000us",
                    "parent 1:1 handle 2: tbf rate 10000000bit burst 2139 limit 1514",
                    "parent 2:1 handle 3: pfifo limit 6",
                ],
            ),
        ];
        for (typed, expected) in table {
            assert_eq!(words("a:b", &conditions(typed), 1_514).expect(typed), expected, "{typed}");
        }
    }

    #[test]
    fn what_tc_does_otherwise_is_refused() {
        for (typed, what) in [
            ("delay=5ms jitter=1ms", "jitter = \"1 ms\""),
            ("corrupt=1%", "corrupt = \"1%\""),
            ("reorder=1%x3", "reorder = \"1%x3\""),
            ("rate=10Mbit queue=5p loss=1%", "loss = \"1%\" together with a rate"),
            ("rate=10Mbit queue=5p loss=burst:1%,30%", "together with a rate"),
            ("rate=10Mbit queue=5p dup=1%", "dup = \"1%\" together with a rate"),
        ] {
            let error = words("a:b", &conditions(typed), 1_514).expect_err(typed).to_string();
            assert!(error.contains(what) && error.contains("--shaper relay"), "{error}");
        }
    }
}
