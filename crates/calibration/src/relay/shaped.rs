//! A cell once more, on a lab of its own whose one link is the kernel's to shape.

use pathscope_experiments::plan::Step;
use pathscope_experiments::runner::{Ground, perform};
use pathscope_lab::harness::{Lab, Plan};
use pathscope_lab::standing::Shaper;
use pathscope_lab::topology::Topology;
use serde_json::Value;

use crate::place::SHAPED;

/// What its last program measured. A sentence where that is nothing: the kernel may have no such shaper, or tc may be missing.
pub fn measure(plan: &Plan<'_>, ground: &Ground<'_>, step: &Step) -> Result<Value, String> {
    let network = Topology::read("calibration", SHAPED).network();
    let network = network.map_err(|faults| faults.to_string())?;
    let name = format!("{}-tbf", plan.name);
    let plan =
        Plan { network: &network, name: &name, shaper: Shaper::Tc, seed: None, ..plan.clone() };
    let lab = Lab::up(&plan).map_err(|error| error.to_string())?;
    let done = perform(&Ground { lab: &lab, at_begin: &|| Ok(()), ..*ground }, step);
    let runs = done.attempt.runs;
    let document = runs.last().and_then(|run| run.document.as_ref());
    let measurement = document.and_then(|document| document.measurements.first());
    let measurement = measurement.and_then(|it| serde_json::to_value(it).ok());
    let fault = || runs.last().and_then(|run| run.fault.clone());
    measurement.ok_or_else(|| {
        done.attempt.failure.or_else(fault).unwrap_or_else(|| "it measured nothing".to_owned())
    })
}
