//! The words of a test of datagram goodput: those that it shares with all loads, and its own.

use clap::Args;
use pathscope_core::quantity::Bytes;

use super::{DatagramsPlan, Offload};
use crate::limits::{self, PlanError};
use crate::load::LoadArgs;
use crate::mode::Mode;

/// Fits an Ethernet frame with any usual tunnel around it.
const DEFAULT_DATAGRAM: Bytes = Bytes(1_400);

/// What was typed beside the words of any load.
#[derive(Args, Clone, Debug)]
pub struct DatagramArgs {
    /// What carries it: tcp or udp
    #[arg(long, value_name = "PROTOCOL", default_value = "tcp")]
    pub protocol: String,
    /// Payload of each datagram, 40 to 65507 bytes, with --protocol udp [default: 1400]
    #[arg(long, value_name = "BYTES")]
    pub datagram: Option<Bytes>,
    /// Many datagrams at once through kernel and interface, with --protocol udp: auto or off [default: auto]
    #[arg(long, value_name = "HOW")]
    pub offload: Option<String>,
    /// Let datagrams leave in fragments that are longer than the path takes whole, with --protocol udp [default: they do not leave]
    #[arg(long)]
    pub may_fragment: bool,
    /// Have no datagram leave in fragments, with --protocol udp: so it is unless --may-fragment is given
    #[arg(long, conflicts_with = "may_fragment")]
    pub dont_fragment: bool,
    /// Find the highest rate without loss by trials, with --protocol udp; --rate is then the most that is tried
    #[arg(long)]
    pub find_rate: bool,
}

impl DatagramArgs {
    /// Whether datagrams were asked for. Words of theirs that were typed without that are refused.
    pub fn is_udp(&self) -> Result<bool, PlanError> {
        let is_udp = limits::choice("--protocol", &self.protocol, &PROTOCOLS)?;
        if !is_udp {
            let stray = [
                ("--datagram", self.datagram.is_some()),
                ("--offload", self.offload.is_some()),
                ("--may-fragment", self.may_fragment),
                ("--dont-fragment", self.dont_fragment),
                ("--find-rate", self.find_rate),
            ];
            limits::exclude("--protocol tcp", "give --protocol udp with it", &stray)?;
        }
        Ok(is_udp)
    }

    /// The plan that these words make with those of any load.
    pub fn into_plan(self, words: LoadArgs) -> Result<DatagramsPlan, PlanError> {
        // What means something for connections alone.
        let strangers = [
            ("--iterations", words.iterations.is_some()),
            ("--connect-limit", words.connect_limit.is_some()),
            ("--time-limit", words.time_limit.is_some()),
            ("--buffer", words.buffer.is_some()),
            ("--seed", words.seed.is_some()),
            ("--shutdown", words.shutdown.is_some()),
            ("--fast-open", words.fast_open),
            ("--segments", words.segments.is_some()),
            ("--push-bytes", words.push_bytes.is_some()),
            ("--pull-bytes", words.pull_bytes.is_some()),
            ("--rate-period", words.rate_period.is_some()),
            ("--burst-count", words.burst_count.is_some()),
            ("--congestion", words.congestion.is_some()),
        ];
        limits::exclude("--protocol udp", "it is for connections: leave it out", &strangers)?;
        let transfer = words.transfer()?;
        let is_range = transfer.is_some_and(|transfer| transfer.high.is_some());
        let advice = "give one length: flows are not replaced";
        limits::not_both(["a range of --transfer", "--protocol udp"], is_range, advice)?;
        let extent = words.extent(transfer);
        let connections = words.connections.unwrap_or(1);
        let rate = words.rate(connections)?;
        let is_range = rate.is_some_and(|rate| rate.high.is_some());
        limits::not_both(["a range of --rate", "--protocol udp"], is_range, "give one rate")?;
        let offload = self.offload.as_deref();
        let offload = offload.map(|typed| limits::choice("--offload", typed, &Offload::ALL));
        let plan = DatagramsPlan {
            pattern: words.pattern()?,
            connections,
            extent,
            datagram_bytes: self.datagram.unwrap_or(DEFAULT_DATAGRAM),
            rate_bps: rate.map(|rate| rate.low),
            warm_up_ns: words.warm_up(extent)?,
            verify: words.verify()?,
            offload: offload.transpose()?.unwrap_or_default(),
            may_fragment: self.may_fragment,
            engine: words.engine,
            wait: words.wait,
            sockets: words.sockets.into_plan()?,
            client_cpus: words.client_cpus,
            server_cpus: words.server_cpus,
        };
        plan.validate()?;
        Ok(plan)
    }
}

/// What carries a load: whether it is datagrams.
const PROTOCOLS: [(&str, bool); 2] = [("tcp", false), ("udp", true)];

#[cfg(test)]
mod tests {
    use clap::Parser;
    use pathscope_core::id::Role;
    use pathscope_core::quantity::{BitRate, Period};

    use super::*;
    use crate::load::{Extent, Verify};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        common: LoadArgs,
        #[command(flatten)]
        own: DatagramArgs,
    }

    fn plan(words: &str) -> Result<DatagramsPlan, PlanError> {
        let words = std::iter::once("pathscope").chain(words.split_whitespace());
        let Line { common, own } = Line::try_parse_from(words).expect("known words");
        assert!(own.is_udp()?, "no --protocol udp in a test of it");
        own.into_plan(common)
    }

    #[test]
    fn words_make_a_plan() {
        let bare = plan("--protocol udp").expect("a plan");
        assert_eq!(plan("--protocol udp --dont-fragment").as_ref(), Ok(&bare));
        let cut = plan("--protocol udp --may-fragment").expect("a plan");
        assert_eq!(cut, DatagramsPlan { may_fragment: true, ..bare.clone() });
        for (plan, is_whole) in [(&bare, true), (&cut, false)] {
            let wanted = plan.datagram_sockets(Role::Client).expect("they are datagrams");
            assert_eq!((wanted.keep_whole, wanted.longest_bytes.is_some()), (is_whole, is_whole));
        }
        assert_eq!((bare.connections, bare.datagram_bytes, bare.rate_bps), (1, Bytes(1_400), None));
        assert_eq!(bare.extent, Extent::DurationNs(Period::from_secs(10)));
        let full = plan(
            "--protocol udp --pattern duplex -c 4 --datagram 512 --total-rate 100Mbit -n 1MiB \
             --offload off --verify off --dscp 46 --receive-buffer 1MiB",
        )
        .expect("a plan");
        assert_eq!((full.connections, full.rate_bps), (4, Some(BitRate(25_000_000))));
        assert_eq!((full.offload, full.verify), (Offload::Off, Verify::Off));
        assert_eq!(full.extent, Extent::TransferBytes(Bytes(1 << 20)));
        assert_eq!((full.sockets.dscp, full.receive_buffer()), (Some(46), Bytes(1 << 20)));
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        for (words, named) in [
            ("--datagram 15", "--datagram 15 B is out of range: 16 B to 65507 B"),
            ("--datagram 65508", "--datagram 65508 B is out of range"),
            ("--pattern pushpull", "--pattern pushpull"),
            ("-c 0", "--connections 0 is out of range: 1 to 1000000"),
            ("--rate 10bit", "--rate"),
            ("--congestion cubic", "--congestion and --protocol udp exclude each other"),
            ("--iterations forever", "--iterations and --protocol udp"),
            ("--buffer 64KiB", "--buffer and --protocol udp"),
            ("--nagle", "--nagle and UDP exclude each other"),
            ("--offload maybe", "--offload 'maybe'"),
            ("-n [1KiB,2KiB]", "a range of --transfer"),
            ("--rate [1Mbit,2Mbit]", "a range of --rate"),
        ] {
            let error = plan(&format!("--protocol udp {words}")).expect_err(words).to_string();
            assert!(error.contains(named), "{words}: {error}");
        }
        for words in ["--datagram 100", "--offload off"] {
            let error = plan(&format!("--protocol tcp {words}")).expect_err(words).to_string();
            assert!(error.contains("give --protocol udp"), "{words}: {error}");
        }
    }

    #[test]
    fn the_receive_buffer_is_that_of_a_stall_at_the_rate() {
        let of = |words: &str| {
            plan(&format!("--protocol udp {words}")).expect("a plan").receive_buffer()
        };
        // 25 Mbit/s for 200 ms are 446 datagrams and one begun.
        assert_eq!(of("--rate 25Mbit"), Bytes(447 * (1_400 + 1_024)));
        assert_eq!(of("--rate 1Mbit"), Bytes(256 << 10));
        assert_eq!(of(""), Bytes(32 << 20));
        assert_eq!(of("-c 1000"), Bytes(256 << 10));
    }
}
