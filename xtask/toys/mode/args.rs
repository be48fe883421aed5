//! The words of a toy's test, and the plan they make or the reason they make none.

use clap::Args;
use pathscope_core::quantity::Period;

use super::plan::ToyPlan;
use crate::limits::PlanError;

/// What was typed.
#[derive(Args, Clone, Debug)]
pub struct ToyArgs {
    /// From one number to the next
    #[arg(long, value_name = "TIME", default_value_t = Period::from_millis(10))]
    pub tick: Period,
    /// Numbers to send
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub numbers: u64,
    /// Engine, by its name [default: what suits]
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,
}

impl ToyArgs {
    /// The plan that these words make.
    pub fn into_plan(self) -> Result<ToyPlan, PlanError> {
        let plan = ToyPlan { tick_ns: self.tick, numbers: self.numbers, engine: self.engine };
        plan.check()?;
        Ok(plan)
    }
}
