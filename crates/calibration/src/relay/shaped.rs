//! A cell once more, on a lab of its own whose one link is the kernel's to shape.

use pathscope_experiments::plan::Step;
use pathscope_experiments::programs::is_installed;
use pathscope_experiments::runner::{Ground, perform};
use pathscope_lab::harness::{Lab, Plan};
use pathscope_lab::running::Shaper;
use pathscope_lab::topology::Topology;
use serde_json::Value;

use crate::place::SHAPED;

/// Why there is nothing.
#[derive(Debug)]
pub enum ShapedError {
    /// The kernel has no such shaper, or there is no tc.
    NoShaper(String),
    /// It was there, and the measurement failed.
    Failed(String),
}

/// What its last program measured.
pub fn measure(plan: &Plan<'_>, ground: &Ground<'_>, step: &Step) -> Result<Value, ShapedError> {
    let network = Topology::read("calibration", SHAPED).network();
    let network = network.map_err(|faults| ShapedError::Failed(faults.to_string()))?;
    let name = format!("{}-tbf", plan.name);
    let plan =
        Plan { network: &network, name: &name, shaper: Shaper::Tc, seed: None, ..plan.clone() };
    let lab = Lab::up(&plan).map_err(|error| {
        let why = error.to_string();
        if lacks(&why) { ShapedError::NoShaper(why) } else { ShapedError::Failed(why) }
    })?;
    let done = perform(&Ground { lab: &lab, at_begin: &|| Ok(()), ..*ground }, step);
    let runs = done.attempt.runs;
    let document = runs.last().and_then(|run| run.document.as_ref());
    let measurement = document.and_then(|document| document.measurements.first());
    let measurement = measurement.and_then(|it| serde_json::to_value(it).ok());
    let fault = || runs.last().and_then(|run| run.fault.clone());
    measurement.ok_or_else(|| {
        let why = done.attempt.failure.or_else(fault);
        ShapedError::Failed(why.unwrap_or_else(|| "it measured nothing".to_owned()))
    })
}

/// Whether this is what is said where the kernel has no such discipline, or there is no tc.
fn lacks(said: &str) -> bool {
    said.contains("qdisc kind is unknown") || !is_installed("tc")
}
