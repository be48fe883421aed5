//! Whether other programs, a hypervisor or a late lab had a part in what a test measured: then a verdict that names another
//! cause may be right, and the test is skipped with that as its reason.

use pathscope_core::record::{Limit, WorkerUsage};
use pathscope_lab::relay::Shortcoming;
use pathscope_modes::document::Measurement;

/// Of the time; below that neither is the cause of anything.
const DISTURBING_SHARE: f64 = 0.1;

/// Whether this is what the verdict names. Another name is an error, unless other programs or a hypervisor kept processors from
/// this test, or the lab says that it was late, which is told as such.
pub fn is_named(
    measurement: &Measurement,
    shortcomings: &[Shortcoming],
    expected: Limit,
    by: &str,
) -> bool {
    let verdict = measurement.verdict.as_ref().expect("both ends reported");
    if verdict.limit == expected {
        return true;
    }
    let ends = || [Some(&measurement.client), measurement.server.as_ref()].into_iter().flatten();
    let workers = ends().flat_map(|end| &end.workers);
    let waited = workers.filter_map(WorkerUsage::cpu_wait_share).fold(0.0, f64::max);
    let cpus = ends().filter_map(|end| end.host.as_ref()).flat_map(|host| &host.cpus);
    let stolen = cpus.map(|cpu| cpu.stolen).fold(0.0, f64::max);
    let is_disturbed =
        waited >= DISTURBING_SHARE || stolen >= DISTURBING_SHARE || !shortcomings.is_empty();
    assert!(is_disturbed, "{by}: {expected:?} is expected: {verdict:#?}");
    println!(
        "skipped, because threads waited {waited:.2} of the time for processors, {stolen:.2} of a \
         processor was stolen, and the lab says {shortcomings:?}: {by}: not {expected:?} but {}",
        verdict.text
    );
    false
}
