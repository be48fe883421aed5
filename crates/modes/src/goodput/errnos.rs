//! Connections that failed by an error of the system, by its name, as both ends saw them. Of what else they failed is not here.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::GoodputReport;

/// How many connections failed by one error of the system.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ErrnoCounts {
    /// Its name, such as `ECONNREFUSED`.
    pub errno: String,
    /// Connections, at the client.
    pub client: u64,
    /// Connections, at the server.
    pub server: u64,
}

impl ErrnoCounts {
    /// Those of both ends, by name.
    pub(super) fn of_both(client: &GoodputReport, server: Option<&GoodputReport>) -> Vec<Self> {
        let here = client.errnos.iter().map(|it| (&*it.errno, [it.failed, 0]));
        let there = server.iter().flat_map(|server| &server.errnos);
        Self::sum(here.chain(there.map(|it| (&*it.errno, [0, it.failed]))))
    }

    /// Those of several tests, by name.
    pub(super) fn together<'all>(all: impl Iterator<Item = &'all Self>) -> Vec<Self> {
        Self::sum(all.map(|it| (&*it.errno, [it.client, it.server])))
    }

    fn sum<'all>(counts: impl Iterator<Item = (&'all str, [u64; 2])>) -> Vec<Self> {
        let mut all: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
        for (errno, more) in counts {
            for (sum, more) in all.entry(errno).or_default().iter_mut().zip(more) {
                *sum = sum.saturating_add(more);
            }
        }
        let named = |(errno, [client, server]): (&str, [u64; 2])| {
            let errno = errno.to_owned();
            Self { errno, client, server }
        };
        all.into_iter().map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::ErrnoCount;

    #[test]
    fn errors_of_both_ends_stand_side_by_side() {
        let of = |errnos: &[(&str, u64)]| GoodputReport {
            errnos: errnos
                .iter()
                .map(|&(errno, failed)| ErrnoCount { errno: errno.to_owned(), failed })
                .collect(),
            ..GoodputReport::default()
        };
        let client = of(&[("ETIMEDOUT", 2), ("ECONNRESET", u64::MAX), ("ECONNRESET", 1)]);
        let server = of(&[("ECONNRESET", 3), ("EPIPE", 1)]);
        let told = ErrnoCounts::of_both(&client, Some(&server));
        let told = told.iter().map(|it| (it.errno.as_str(), it.client, it.server));
        let expected = [("ECONNRESET", u64::MAX, 3), ("EPIPE", 0, 1), ("ETIMEDOUT", 2, 0)];
        assert_eq!(told.collect::<Vec<_>>(), expected);
        assert!(ErrnoCounts::of_both(&of(&[]), None).is_empty());
        let [one, other] = [&client, &server].map(|end| ErrnoCounts::of_both(end, Some(&server)));
        let sums = ErrnoCounts::together(one.iter().chain(&other));
        let pipes = sums.iter().find(|it| it.errno == "EPIPE").expect("two servers had it");
        assert_eq!((sums.len(), pipes.client, pipes.server), (3, 1, 2));
    }
}
