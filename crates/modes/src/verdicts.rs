//! What verdicts of several modes rest on alike.

use pathscope_core::quantity::{counted, duration_ns, ratio};
use pathscope_core::record::Evidence;

use crate::end::EndFacts;

/// Of what is to be explained, what one reason must explain to be sure.
pub(crate) const SURELY: f64 = 2.0 / 3.0;
/// Of a processor, what a hypervisor may take without a doubt about what its threads show.
const STOLEN: f64 = 0.05;

/// Of the time, the most that the hypervisor took of one processor of either end.
pub(crate) fn most_stolen(ends: [EndFacts<'_>; 2]) -> Option<f64> {
    ends.iter().filter_map(|end| end.host?.most_stolen()).reduce(f64::max)
}

/// What speaks against a verdict on a processor of which so much was taken.
pub(crate) fn doubt_by_stolen(stolen: Option<f64>) -> Option<String> {
    let stolen = stolen.filter(|&stolen| stolen >= STOLEN)?;
    Some(format!("the hypervisor took {} of a processor", ratio(stolen)))
}

/// Of these shares those that are known, each with its name and of what it is one.
pub(crate) fn shares<'a>(
    all: impl IntoIterator<Item = (&'a str, Option<f64>, &'a str)>,
) -> impl Iterator<Item = Evidence> {
    all.into_iter().filter_map(|(name, share, of)| Some(Evidence::share(name, share?, of)))
}

/// A count, of what, and what became of those.
pub(crate) fn count_of(name: &str, number: u64, one: &str, became: &str) -> Evidence {
    Evidence::new(name, number as f64, format!("{} {became}", counted(number, one)))
}

/// That the program of this end, `sender` or `receiver`, stood still for so long, where it did.
pub(crate) fn stood_still(end: &str, still_ns: u64) -> Option<Evidence> {
    let text = format!("the {end}'s program stood still for {}", duration_ns(still_ns));
    (still_ns > 0).then(|| Evidence::new(&format!("{end}_still_ns"), still_ns as f64, text))
}
