//! What a server grants to strangers: how many sessions, how long, how many connections. Each refusal
//! names the limit and the option that lifts it.
//!
//! Bytes and rate are unlimited. Limits on them would be enforced while a test runs, not here.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;

use pathscope_core::quantity::{Period, count};
use pathscope_modes::registry::{Plan, Test};
use serde::{Deserialize, Serialize};

use crate::Refusal;

/// A server's limits; absent: none. Told to each client in the welcome.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Limits {
    /// Sessions at a time.
    pub sessions: Option<u32>,
    /// Of those, from one address.
    pub sessions_per_address: Option<u32>,
    /// How long a run may last.
    pub duration_ns: Option<Period>,
    /// Connections and datagram flows of one session.
    pub connections: Option<u32>,
}

impl Default for Limits {
    /// For a server that listens to strangers. 256 sessions of one thread each are what a small machine
    /// carries; 64 from one address leave room for others; two hours hold a soak test and no forgotten
    /// one. One client address has 65,535 ports towards the server's one, so no test from one address
    /// meets the limit of connections.
    fn default() -> Self {
        Self {
            sessions: Some(256),
            sessions_per_address: Some(64),
            duration_ns: Some(Period::from_secs(2 * 3_600)),
            connections: Some(65_536),
        }
    }
}

impl Limits {
    /// No limits at all: for a server that only its own process can reach.
    pub const NONE: Self =
        Self { sessions: None, sessions_per_address: None, duration_ns: None, connections: None };

    /// Whether a test that a stranger proposes can be run and is within the limits. A test that states
    /// no duration is ended when the limit is reached.
    pub fn check(&self, test: &Test) -> Result<(), Refusal> {
        test.validate().map_err(|error| Refusal::new("invalid", error.to_string()))?;
        let flows = test.groups().iter().map(|group| u64::from(group.flows)).sum::<u64>();
        self.check_connections(flows)?;
        let durations = [test.duration_ns(), probe_duration(test)];
        durations.into_iter().flatten().try_for_each(|duration| self.check_duration(duration))
    }

    fn check_connections(&self, flows: u64) -> Result<(), Refusal> {
        match self.connections {
            Some(most) if flows > u64::from(most) => Err(Refusal::new(
                "connections",
                format!(
                    "{} connections and datagram flows are more than its limit of {} a session",
                    count(flows),
                    count(most.into())
                ),
            )
            .with_hint("ask for fewer, or start the server with a higher --limit-connections")),
            _ => Ok(()),
        }
    }

    fn check_duration(&self, duration: Period) -> Result<(), Refusal> {
        match self.duration_ns {
            Some(most) if duration > most => Err(Refusal::new(
                "duration",
                format!("{duration} is longer than its limit of {most} a run"),
            )
            .with_hint("ask for less, or start the server with a higher --limit-duration")),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |limit: Option<u32>| {
            limit.map_or_else(|| "unlimited".to_owned(), |limit| count(limit.into()))
        };
        let duration =
            self.duration_ns.map_or_else(|| "unlimited".to_owned(), |most| most.to_string());
        write!(
            formatter,
            "{} sessions (--limit-sessions), {} from one address (--limit-sessions-per-address), {} a run \
             (--limit-duration), {} connections a session (--limit-connections); bytes and rate unlimited",
            number(self.sessions),
            number(self.sessions_per_address),
            duration,
            number(self.connections),
        )
    }
}

/// How long a test lasts by its plan, probes included; `None` where the plan states no duration.
pub(crate) fn stated_duration(test: &Test) -> Option<Period> {
    test.duration_ns().max(test.duration_ns().and(probe_duration(test)))
}

/// How long the probes say they last: they may outlast the load.
fn probe_duration(test: &Test) -> Option<Period> {
    let plan = Plan::Latency(test.probe.clone()?);
    Test { plan, probe: None, report_every_ns: test.report_every_ns }.duration_ns()
}

/// Who is in: the sessions of a server, counted by address. An IPv4 address counts as itself in either
/// family.
#[derive(Debug, Default)]
pub struct Census {
    by_address: HashMap<IpAddr, u32>,
    total: u32,
}

impl Census {
    /// Counts a session, unless a limit is reached. To be followed by [`leave`](Self::leave), once.
    pub fn enter(&mut self, address: IpAddr, limits: &Limits) -> Result<(), Refusal> {
        let address = address.to_canonical();
        let present = self.by_address.get(&address).copied().unwrap_or(0);
        if let Some(most) = limits.sessions.filter(|&most| self.total >= most) {
            let sentence = format!("it has reached its limit of {} sessions", count(most.into()));
            let hint =
                "try again when a test has ended, or start it with a higher --limit-sessions";
            return Err(Refusal::new("sessions", sentence).with_hint(hint));
        }
        if let Some(most) = limits.sessions_per_address.filter(|&most| present >= most) {
            let sentence = format!(
                "it has reached its limit of {} sessions from {address}",
                count(most.into())
            );
            let hint = "try again when one of them has ended, or start it with a higher \
                        --limit-sessions-per-address";
            return Err(Refusal::new("sessions_per_address", sentence).with_hint(hint));
        }
        self.by_address.insert(address, present + 1);
        self.total += 1;
        Ok(())
    }

    /// A session that was counted has ended.
    pub fn leave(&mut self, address: IpAddr) {
        let address = address.to_canonical();
        let Some(present) = self.by_address.get_mut(&address) else { return };
        *present -= 1;
        self.total -= 1;
        if *present == 0 {
            self.by_address.remove(&address);
        }
    }

    /// A session that [left](Self::leave) for a while is there again. It is counted whatever the limits say: they are for
    /// newcomers.
    pub fn come_back(&mut self, address: IpAddr) {
        *self.by_address.entry(address.to_canonical()).or_default() += 1;
        self.total += 1;
    }

    /// How many sessions there are.
    pub const fn sessions(&self) -> u32 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::quantity::Bytes;
    use pathscope_modes::goodput;
    use pathscope_modes::latency;

    use super::*;
    use crate::native::fixtures;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn refused(limits: &Limits, test: &Test) -> (String, String) {
        let refusal = limits.check(test).expect_err("beyond the limits");
        (refusal.code.clone(), refusal.to_string())
    }

    #[test]
    fn the_defaults_are_told_with_their_options() {
        assert_eq!(
            Limits::default().to_string(),
            "256 sessions (--limit-sessions), 64 from one address (--limit-sessions-per-address), \
             7200 s a run (--limit-duration), 65,536 connections a session (--limit-connections); bytes \
             and rate unlimited"
        );
        assert!(Limits::NONE.to_string().starts_with("unlimited sessions"));
    }

    #[test]
    fn a_refusal_names_limit_and_option() {
        let limits = Limits { connections: Some(8), ..Limits::default() };
        let (code, sentence) = refused(&limits, &fixtures::load(8));
        assert_eq!(code, "connections");
        assert!(
            sentence.contains("9 connections") && sentence.contains("limit of 8"),
            "{sentence}"
        );
        assert!(sentence.contains("--limit-connections"), "{sentence}");
        assert_eq!(limits.check(&fixtures::load(7)), Ok(()));

        let limits = Limits { duration_ns: Some(Period::from_secs(10)), ..Limits::default() };
        assert_eq!(limits.check(&fixtures::load(1)), Ok(()));
        let limits = Limits { duration_ns: Some(Period(9_999_999_999)), ..Limits::default() };
        let (code, sentence) = refused(&limits, &fixtures::load(1));
        assert_eq!(code, "duration");
        assert!(
            sentence.contains("10 s is longer") && sentence.contains("--limit-duration"),
            "{sentence}"
        );
    }

    #[test]
    fn probes_are_held_to_the_same_duration() {
        let limits = Limits { duration_ns: Some(Period::from_secs(20)), ..Limits::default() };
        let mut test = fixtures::load(1);
        assert_eq!(limits.check(&test), Ok(()));
        let probe = test.probe.as_mut().expect("the fixture has probes");
        probe.extent = latency::Extent::DurationNs(Period::from_secs(21));
        assert_eq!(refused(&limits, &test).0, "duration");
    }

    #[test]
    fn what_cannot_be_run_is_refused_even_without_limits() {
        let mut test = fixtures::load(1);
        let Plan::Goodput(plan) = &mut test.plan else { panic!("the fixture is goodput") };
        plan.buffer_bytes = Bytes(u64::MAX);
        assert_eq!(refused(&Limits::NONE, &test).0, "invalid");
        plan_of(&mut test).buffer_bytes = Bytes(1);
        plan_of(&mut test).connections = 0;
        assert_eq!(refused(&Limits::NONE, &test).0, "invalid");
    }

    fn plan_of(test: &mut Test) -> &mut goodput::GoodputPlan {
        let Plan::Goodput(plan) = &mut test.plan else { panic!("the fixture is goodput") };
        plan
    }

    #[test]
    fn sessions_are_counted_by_address_and_in_all() {
        let limits =
            Limits { sessions: Some(3), sessions_per_address: Some(2), ..Limits::default() };
        let mut census = Census::default();
        let (one, mapped, other) =
            (address("192.0.2.1"), address("::ffff:192.0.2.1"), address("::1"));
        assert_eq!(census.enter(one, &limits), Ok(()));
        assert_eq!(census.enter(mapped, &limits), Ok(()));
        let refusal = census.enter(one, &limits).expect_err("the third from one address");
        assert!(refusal.to_string().contains("--limit-sessions-per-address"), "{refusal}");
        assert_eq!(census.enter(other, &limits), Ok(()));
        let refusal = census.enter(address("192.0.2.9"), &limits).expect_err("the fourth");
        assert_eq!(refusal.code, "sessions");
        census.leave(mapped);
        census.leave(address("192.0.2.77"));
        assert_eq!((census.sessions(), census.enter(one, &limits)), (2, Ok(())));
    }

    #[test]
    fn a_welcome_without_a_limit_means_none() {
        let limits: Limits = serde_json::from_str("{\"sessions\":4}").expect("others are absent");
        assert_eq!(limits, Limits { sessions: Some(4), ..Limits::NONE });
    }
}
