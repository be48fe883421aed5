//! What a server's operator says of ntttcp's senders: nothing, since none are served.

use clap::Args;
use pathscope_modes::groups::Test;
use pathscope_modes::limits::PlanError;

use crate::operator::OperatorWords;

/// No options.
#[derive(Args, Clone, Copy, Debug, Default)]
#[group(skip)]
pub struct Unserved {}

impl OperatorWords for Unserved {
    fn is_said(&self) -> bool {
        false
    }

    fn port(&self) -> Option<u16> {
        None
    }

    fn tests(&self) -> Result<Vec<Test>, PlanError> {
        let why = "ntttcp's senders are not served; 'pathscope goodput --peer ntttcp' sends to its receivers";
        Err(PlanError::Unfit { option: "--accept", why: why.to_owned() })
    }
}
