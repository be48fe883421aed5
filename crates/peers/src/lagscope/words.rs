//! What a server's operator can say of lagscope's clients, who say nothing: as its receiver is told on its command line.

use clap::Args;
use pathscope_core::quantity::Bytes;
use pathscope_modes::groups::Test;
use pathscope_modes::limits::PlanError;

use super::echo;
use crate::operator::OperatorWords;

/// Those options.
#[derive(Args, Clone, Debug, Default)]
#[group(skip)]
#[command(next_help_heading = "lagscope's clients (--accept lagscope)")]
pub struct LagscopeWords {
    /// TCP port for lagscope's clients [default: 6001]
    #[arg(long, value_name = "PORT")]
    lagscope_port: Option<u16>,
    /// Send buffer of their connections [default: the system's own, which adapts]
    #[arg(long, value_name = "BYTES")]
    lagscope_send_buffer: Option<Bytes>,
    /// Receive buffer of their connections [default: the system's own, which adapts]
    #[arg(long, value_name = "BYTES")]
    lagscope_receive_buffer: Option<Bytes>,
    /// Processor to keep the threads on that serve them [default: any]
    #[arg(long, value_name = "N")]
    lagscope_cpu: Option<u32>,
}

impl OperatorWords for LagscopeWords {
    fn is_said(&self) -> bool {
        let Self { lagscope_port, lagscope_send_buffer, lagscope_receive_buffer, lagscope_cpu } =
            self;
        let buffers = [lagscope_send_buffer, lagscope_receive_buffer];
        lagscope_port.is_some()
            || lagscope_cpu.is_some()
            || buffers.into_iter().any(Option::is_some)
    }

    fn port(&self) -> Option<u16> {
        self.lagscope_port
    }

    fn tests(&self) -> Result<Vec<Test>, PlanError> {
        let test = echo(|plan| {
            plan.sockets.send_buffer_bytes = self.lagscope_send_buffer;
            plan.sockets.receive_buffer_bytes = self.lagscope_receive_buffer;
            plan.server_cpus = self.lagscope_cpu.into_iter().collect();
        });
        test.validate()?;
        Ok(vec![test])
    }
}
