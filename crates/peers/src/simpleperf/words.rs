//! What a server's operator says of simpleperf's clients: where they come. What they run they say themselves, as far as anybody has to
//! know it.

use clap::Args;
use pathscope_core::quantity::{Bytes, Period};
use pathscope_modes::goodput::{GoodputPlan, Iterations};
use pathscope_modes::groups::Test;
use pathscope_modes::limits::PlanError;
use pathscope_modes::load::{Extent, LoadArgs, Verify};

use crate::in_band::AHEAD;
use crate::operator::OperatorWords;

/// Connections of one client at once: it makes 5 at the most, and may be started several times.
const CONNECTIONS: u32 = 64;

/// The options.
#[derive(Args, Clone, Debug, Default)]
#[group(skip)]
pub struct SimpleperfWords {
    /// TCP port at which simpleperf clients are served [default: 8080]
    #[arg(id = "simpleperf_port", long = "simpleperf-port", value_name = "PORT")]
    port: Option<u16>,
}

impl OperatorWords for SimpleperfWords {
    fn is_said(&self) -> bool {
        self.port.is_some()
    }

    fn port(&self) -> Option<u16> {
        self.port
    }

    /// How much a client sends its words at the end tell, and what it is nobody knows.
    fn tests(&self) -> Result<Vec<Test>, PlanError> {
        let mut plan = GoodputPlan::of(LoadArgs::usual())?;
        plan.connections = CONNECTIONS;
        plan.extent = Extent::TransferBytes(Bytes(u64::from(u32::MAX)));
        plan.warm_up_ns = Period(0);
        plan.verify = Verify::Off;
        plan.shape.iterations = Iterations::Forever;
        plan.shape.connect_limit = AHEAD;
        Ok(vec![Test::new(plan.into(), None, Period::from_secs(1))])
    }
}
