//! What a server's operator says of iperf3's clients: where they come beside the port of all kinds, and how much one of their
//! tests may move. What they run they say themselves.

use clap::Args;
use pathscope_core::quantity::{BitRate, Period};
use pathscope_modes::groups::Test;
use pathscope_modes::limits::PlanError;

use crate::limits::RateLimit;
use crate::operator::OperatorWords;

const RATE: &str = "--iperf3-limit-rate";
const RATE_OVER: &str = "--iperf3-limit-rate-over";
/// The shortest time that it is averaged over, which is from one report of such a test to the next, and the longest.
const OVER: std::ops::RangeInclusive<Period> = Period::from_secs(1)..=Period::from_secs(60);

/// The options.
#[derive(Args, Clone, Copy, Debug, Default)]
#[group(skip)]
pub struct Iperf3Words {
    /// Port of both transports at which iperf3 clients are served, too, as 5201
    #[arg(id = "iperf3_port", long = "iperf3-port", value_name = "PORT")]
    port: Option<u16>,
    /// What one of their tests may move in all, of all streams and both ways together: one that asks for more is refused, one that moves
    /// more is ended; 0: any rate [default: 0]
    #[arg(id = "iperf3_limit_rate", long = "iperf3-limit-rate", value_name = "RATE")]
    most_rate: Option<BitRate>,
    /// What they move is averaged over so long for that, 1 s to 60 s [default: 5s]
    #[arg(
        id = "iperf3_limit_rate_over",
        long = "iperf3-limit-rate-over",
        value_name = "TIME",
        requires = "iperf3_limit_rate"
    )]
    rate_over: Option<Period>,
}

impl OperatorWords for Iperf3Words {
    fn is_said(&self) -> bool {
        self.port.is_some() || self.most_rate.is_some()
    }

    fn port(&self) -> Option<u16> {
        self.port
    }

    fn rate(&self) -> Option<RateLimit> {
        let most = self.most_rate.filter(|most| most.0 > 0)?;
        Some(RateLimit::new(most, self.rate_over, RATE))
    }

    fn tests(&self) -> Result<Vec<Test>, PlanError> {
        if let Some(over) = self.rate_over.filter(|over| !OVER.contains(over)) {
            let why = format!("{over} is out of range: {} to {}", OVER.start(), OVER.end());
            return Err(PlanError::Unfit { option: RATE_OVER, why });
        }
        Ok(Vec::new())
    }
}
