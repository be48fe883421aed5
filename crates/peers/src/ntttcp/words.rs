//! What a server's operator says of ntttcp's senders: where they come, and what of their tests counts. How long they send they say
//! themselves, and over how many connections is seen.

use clap::Args;
use pathscope_core::quantity::Period;
use pathscope_modes::goodput::GoodputPlan;
use pathscope_modes::groups::Test;
use pathscope_modes::limits::PlanError;
use pathscope_modes::load::{LoadArgs, Verify};

use super::PORT;
use crate::operator::OperatorWords;

/// Ports for data, as there.
const PORTS: u16 = 16;
/// Bytes of a read, as there.
const BUFFER: &str = "64KiB";
/// Longer than any sender sends: its time is what counts.
const ENDLESS: Period = Period::from_secs(365 * 86_400);

/// The options.
#[derive(Args, Clone, Debug, Default)]
#[group(skip)]
pub struct NtttcpWords {
    /// First port for data of ntttcp senders; what they say comes to the TCP port before [default: 5001]
    #[arg(id = "ntttcp_port", long = "ntttcp-port", value_name = "PORT", value_parser = clap::value_parser!(u16).range(2..))]
    port: Option<u16>,
    /// So many ports for data, from --ntttcp-port on [default: 16]
    #[arg(id = "ntttcp_ports", long = "ntttcp-ports", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    ports: Option<u16>,
    /// The most that is read from them at once [default: 64KiB]
    #[arg(id = "ntttcp_buffer", long = "ntttcp-buffer", value_name = "BYTES")]
    buffer: Option<String>,
    /// At the start of their tests: not counted [default: 0s]
    #[arg(id = "ntttcp_warm_up", long = "ntttcp-warm-up", value_name = "TIME")]
    warm_up: Option<Period>,
    /// How long their tests count, with the warm-up [default: for as long as they send]
    #[arg(id = "ntttcp_duration", long = "ntttcp-duration", value_name = "TIME")]
    duration: Option<Period>,
    /// Senders take part in one test, which begins when one says that it is the last (-L); each sends for --ntttcp-duration (ntttcp -r -M)
    #[arg(id = "ntttcp_multi_client", long = "ntttcp-multi-client")]
    multi_client: bool,
    /// From one row of status of theirs to the next [default: 1s]
    #[arg(id = "ntttcp_report_every", long = "ntttcp-report-every", value_name = "TIME")]
    report_every: Option<Period>,
}

#[cfg(test)]
impl NtttcpWords {
    /// Of a test of several senders, who send for so long.
    pub fn of_several(duration: Period) -> Self {
        Self { multi_client: true, duration: Some(duration), ..Self::default() }
    }
}

impl OperatorWords for NtttcpWords {
    fn is_said(&self) -> bool {
        self.port.or(self.ports).is_some()
            || self.buffer.is_some()
            || self.multi_client
            || self.warm_up.or(self.duration).or(self.report_every).is_some()
    }

    fn port(&self) -> Option<u16> {
        self.port
    }

    fn ports(&self) -> u16 {
        self.ports.unwrap_or(PORTS)
    }

    fn is_of_several(&self) -> bool {
        self.multi_client
    }

    /// Of one connection: as many as there are are put in its place.
    fn tests(&self) -> Result<Vec<Test>, PlanError> {
        let (first, ports) =
            (u32::from(self.port.unwrap_or(PORT)), u32::from(OperatorWords::ports(self)));
        let last = first + ports - 1;
        if last > u32::from(u16::MAX) {
            let why = format!(
                "{ports} from --ntttcp-port {first} on end at {last}, and ports do at 65535"
            );
            return Err(PlanError::Unfit { option: "--ntttcp-ports", why });
        }
        let buffer = self.buffer.clone().unwrap_or_else(|| BUFFER.to_owned());
        let mut plan = GoodputPlan::of(LoadArgs {
            duration: Some(self.duration.unwrap_or(ENDLESS)),
            warm_up: Some(self.warm_up.unwrap_or(Period(0))),
            buffer: Some(buffer),
            connections: Some(1),
            ..LoadArgs::usual()
        })?;
        // What its senders send says nothing.
        plan.verify = Verify::Off;
        let report_every = self.report_every.unwrap_or(Period::from_secs(1));
        let test = Test::new(plan.into(), None, report_every);
        test.validate()?;
        Ok(vec![test])
    }
}

/// Of those who say nothing: no options.
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
        let why =
            "--accept ntttcp serves ntttcp's senders, with and without their connection for words";
        Err(PlanError::Unfit { option: "--accept", why: why.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_end_where_there_are_no_more() {
        for (port, ports, is_so) in [
            (Some(65_520), None, true),
            (Some(65_521), None, false),
            (Some(65_535), Some(1), true),
            (None, Some(512), true),
        ] {
            let told = NtttcpWords { port, ports, ..NtttcpWords::default() }.tests();
            assert_eq!(told.is_ok(), is_so, "{port:?}, {ports:?}: {told:?}");
        }
        let words = NtttcpWords { port: Some(65_530), ..NtttcpWords::default() };
        let told = words.tests().expect_err("there are too many").to_string();
        assert_eq!(
            told,
            "--ntttcp-ports 16 from --ntttcp-port 65530 on end at 65545, and ports do at 65535"
        );
    }
}
