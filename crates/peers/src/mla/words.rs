//! What a server's operator says of clients of `MultipathLatencyAnalyzer`: where they come. They run nothing that a server would know of.

use clap::Args;
use pathscope_modes::groups::Test;
use pathscope_modes::limits::PlanError;

use crate::operator::OperatorWords;

/// The options.
#[derive(Args, Clone, Copy, Debug, Default)]
#[group(skip)]
pub struct MlaWords {
    /// UDP port at which mla clients are served, whose datagrams are echoed [default: 8888]
    #[arg(long, value_name = "PORT")]
    pub mla_port: Option<u16>,
}

impl OperatorWords for MlaWords {
    fn is_said(&self) -> bool {
        self.mla_port.is_some()
    }

    fn port(&self) -> Option<u16> {
        self.mla_port
    }

    fn tests(&self) -> Result<Vec<Test>, PlanError> {
        Ok(Vec::new())
    }
}
