//! What a server's operator says of iperf3's clients: where they come beside the port of all kinds. What they run they say themselves.

use clap::Args;
use pathscope_modes::groups::Test;
use pathscope_modes::limits::PlanError;

use crate::operator::OperatorWords;

/// The options.
#[derive(Args, Clone, Copy, Debug, Default)]
#[group(skip)]
pub struct Iperf3Words {
    /// Port of both transports at which iperf3 clients are served, too, as 5201
    #[arg(id = "iperf3_port", long = "iperf3-port", value_name = "PORT")]
    port: Option<u16>,
}

impl OperatorWords for Iperf3Words {
    fn is_said(&self) -> bool {
        self.port.is_some()
    }

    fn port(&self) -> Option<u16> {
        self.port
    }

    fn tests(&self) -> Result<Vec<Test>, PlanError> {
        Ok(Vec::new())
    }
}
