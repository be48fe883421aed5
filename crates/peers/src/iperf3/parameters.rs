//! What a client says of its test, once, as JSON: each key with the kind and range that servers take. What is unknown, or of another kind
//! than it should be, is as if it were not there. Not here: what that comes to as a plan of ours (`plans`).

use pathscope_core::record::Remarks;
use serde_json::{Map, Value};

use super::errors::{
    BLOCK, BUFFER, DATAGRAM, DURATION, Declined, NO_SCTP, OMIT, PARAMETERS, SEGMENT, SERVICE,
    STREAMS, UNIMPLEMENTED,
};
use super::framing::PARAMETERS_MOST;
use super::json::{self, count, is_numbered, is_true, whole};

/// Streams each way.
pub(super) const STREAMS_MOST: u64 = 128;
/// Seconds of a test.
pub(super) const TIME_MOST: u64 = 86_400;
/// Seconds of a warm-up.
pub(super) const OMIT_MOST: u64 = 600;
/// Bytes of one send over TCP.
pub(super) const BLOCK_MOST: u64 = 1 << 20;
/// Bytes of a datagram.
pub(super) const DATAGRAM_BYTES: std::ops::RangeInclusive<u64> = 16..=65_507;
/// Letters of a text that is kept.
const LETTERS: usize = 64;
/// Those of what is kept for results: a client says no more in all.
const REMARK_LETTERS: usize = PARAMETERS_MOST;

/// What carries the data.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Carrier {
    /// TCP.
    #[default]
    Tcp,
    /// UDP.
    Udp,
    /// SCTP.
    Sctp,
}

/// Who sends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Way {
    /// The client.
    #[default]
    Forward,
    /// The server.
    Reverse,
    /// Both, each on streams of its own.
    Both,
}

/// What a client says of its test. By default what a client means that says nothing.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own on the wire")]
pub(super) struct Parameters {
    pub carrier: Carrier,
    pub way: Way,
    /// Seconds of a warm-up.
    pub omit: u64,
    /// Seconds beside those; 0: the client ends it otherwise.
    pub time: u64,
    /// Bytes or blocks after which the client ends it.
    pub num: u64,
    pub blockcount: u64,
    /// Streams each way; absent: one.
    pub parallel: Option<u64>,
    pub mss: Option<u64>,
    pub nodelay: bool,
    pub mptcp: bool,
    /// Both buffers of each socket.
    pub window: Option<u64>,
    /// Bytes of each send; of datagrams exactly so many.
    pub len: Option<u64>,
    /// Bits a second of each stream, kept by the program or by the system.
    pub bandwidth: Option<u64>,
    pub fqrate: Option<u64>,
    /// The type of service.
    pub tos: Option<u64>,
    /// The label of what the client sends, which is nothing to the server.
    pub flowlabel: Option<u64>,
    pub congestion: Option<String>,
    /// A processor of the server.
    pub server_affinity: Option<u64>,
    /// Whether datagrams bear numbers of 64 bits.
    pub wide: bool,
    pub dont_fragment: bool,
    pub get_server_output: bool,
    /// What the test is called, and whatever is to be kept beside it.
    pub title: Option<String>,
    pub extra_data: Option<String>,
    /// What the client calls itself. Nobody reads it.
    pub client_version: Option<String>,
}

impl Parameters {
    /// Whether the jitter that this client counts begins with the time between a stamp and its own machine's begin: that of 3.7 and 3.8.
    pub fn is_of_uptime(&self) -> bool {
        let said = self.client_version.as_deref().unwrap_or_default();
        let of = |version: &str| said.strip_prefix(version);
        let rest = of("3.7").or_else(|| of("3.8"));
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
    }

    /// Whether this client takes its own time for ours: 3.1 reads none in results.
    pub fn reads_no_time(&self) -> bool {
        let said = self.client_version.as_deref().unwrap_or_default();
        said.strip_prefix("3.1")
            .is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
    }

    /// What is said beside what the test is.
    pub fn remarks(&self) -> Remarks {
        let (title, extra_data) = (self.title.clone(), self.extra_data.clone());
        Remarks { title, extra_data, wants_output: self.get_server_output }
    }

    /// The same with these.
    pub fn with(self, remarks: &Remarks) -> Self {
        let Remarks { title, extra_data, wants_output } = remarks.clone();
        Self { title, extra_data, get_server_output: wants_output, ..self }
    }

    /// As they are said.
    pub fn write(&self) -> Vec<u8> {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        let carrier = match self.carrier {
            Carrier::Tcp => "tcp",
            Carrier::Udp => "udp",
            Carrier::Sctp => "sctp",
        };
        let flags = [
            (carrier, true),
            ("reverse", self.way == Way::Reverse),
            ("bidirectional", self.way == Way::Both),
            ("nodelay", self.nodelay),
            ("mptcp", self.mptcp),
        ];
        flags.into_iter().filter(|(_, is_set)| *is_set).for_each(|(key, _)| {
            put(key, Value::Bool(true));
        });
        let one = |is_set: bool| is_set.then_some(1);
        let numbers = [
            ("omit", Some(self.omit)),
            ("time", Some(self.time)),
            ("num", Some(self.num)),
            ("blockcount", Some(self.blockcount)),
            ("parallel", Some(self.parallel.unwrap_or(1))),
            ("MSS", self.mss),
            ("window", self.window),
            ("len", self.len),
            ("bandwidth", self.bandwidth),
            ("fqrate", self.fqrate),
            ("TOS", self.tos),
            ("flowlabel", self.flowlabel),
            ("server_affinity", self.server_affinity),
            ("udp_counters_64bit", one(self.wide)),
            ("dont_fragment", one(self.dont_fragment)),
            ("get_server_output", one(self.get_server_output)),
        ];
        numbers.into_iter().for_each(|(key, number)| {
            number.map(|number| put(key, number.into()));
        });
        let texts = [
            ("congestion", &self.congestion),
            ("title", &self.title),
            ("extra_data", &self.extra_data),
            ("client_version", &self.client_version),
        ];
        texts.into_iter().for_each(|(key, text)| {
            text.clone().map(|text| put(key, text.into()));
        });
        Value::Object(object).to_string().into_bytes()
    }

    /// What a client says, or why no test can come of it.
    pub fn read(document: &[u8]) -> Result<Self, Declined> {
        let object = &json::object(document).map_err(|error| {
            Declined::new(PARAMETERS, format!("what the client asks for cannot be read: {error}"))
        })?;
        let carrier = match () {
            () if is_true(object, "sctp") => Carrier::Sctp,
            () if is_true(object, "udp") => Carrier::Udp,
            () => Carrier::Tcp,
        };
        let way = match () {
            () if is_true(object, "bidirectional") => Way::Both,
            () if is_true(object, "reverse") => Way::Reverse,
            () => Way::Forward,
        };
        let within = Within { object };
        if carrier == Carrier::Sctp {
            return Err(Declined::new(NO_SCTP, "it has no SCTP; TCP and UDP are there"));
        }
        let of_carrier = match carrier {
            Carrier::Udp => (DATAGRAM, *DATAGRAM_BYTES.start(), *DATAGRAM_BYTES.end()),
            Carrier::Tcp | Carrier::Sctp => (BLOCK, 1, BLOCK_MOST),
        };
        // Those that are 0 say nothing.
        let len = within.some("len", of_carrier)?;
        Ok(Self {
            carrier,
            way,
            omit: within.or_none("omit", (OMIT, 0, OMIT_MOST))?,
            time: within.or_none("time", (DURATION, 0, TIME_MOST))?,
            num: within.or_none("num", (DURATION, 0, u64::MAX))?,
            blockcount: within.or_none("blockcount", (DURATION, 0, u64::MAX))?,
            parallel: within.number("parallel", (STREAMS, 1, STREAMS_MOST))?,
            mss: within.some("MSS", (SEGMENT, 1, 32_767))?,
            nodelay: is_true(object, "nodelay"),
            mptcp: is_true(object, "mptcp"),
            window: within.some("window", (BUFFER, 1, 512 << 20))?,
            len,
            bandwidth: within.some("bandwidth", (UNIMPLEMENTED, 1, u64::MAX))?,
            fqrate: within.some("fqrate", (UNIMPLEMENTED, 1, u64::MAX))?,
            tos: within.some("TOS", (SERVICE, 1, 255))?,
            flowlabel: within.some("flowlabel", (UNIMPLEMENTED, 1, 0xf_ffff))?,
            congestion: json::text(object, "congestion", LETTERS),
            server_affinity: within.number("server_affinity", (UNIMPLEMENTED, 0, 1_024))?,
            wide: is_numbered(object, "udp_counters_64bit"),
            dont_fragment: is_numbered(object, "dont_fragment"),
            get_server_output: is_numbered(object, "get_server_output"),
            title: json::text(object, "title", REMARK_LETTERS),
            extra_data: json::text(object, "extra_data", REMARK_LETTERS),
            client_version: json::text(object, "client_version", LETTERS),
        })
    }
}

/// Numbers of a document, each in its range.
struct Within<'document> {
    object: &'document Map<String, Value>,
}

impl Within<'_> {
    /// The number of this name, which is to be declined by the first of these outside the other two.
    fn number(
        &self,
        key: &str,
        (number, least, most): (u32, u64, u64),
    ) -> Result<Option<u64>, Declined> {
        let Some(value) = whole(self.object, key) else { return Ok(None) };
        // Beyond what a signed number holds it is read as one that counts.
        let value = u64::try_from(value).ok().and_then(|_| count(self.object, key));
        match value.filter(|value| (least..=most).contains(value)) {
            Some(value) => Ok(Some(value)),
            None => {
                Err(Declined::new(number, format!("'{key}' is out of range: {least} to {most}")))
            }
        }
    }

    /// The same of one that says nothing where it is 0.
    fn some(&self, key: &str, range: (u32, u64, u64)) -> Result<Option<u64>, Declined> {
        if whole(self.object, key) == Some(0) { Ok(None) } else { self.number(key, range) }
    }

    /// The same of one that is 0 where nothing is said.
    fn or_none(&self, key: &str, range: (u32, u64, u64)) -> Result<u64, Declined> {
        Ok(self.number(key, range)?.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Parameters, Declined> {
        Parameters::read(text.as_bytes())
    }

    #[test]
    fn a_client_that_says_nothing_means_a_usual_test() {
        assert_eq!(read("{}"), Ok(Parameters::default()));
    }

    #[test]
    fn two_versions_begin_their_jitter_with_the_time_since_a_machine_began() {
        for (version, is_so) in [
            ("3.6", false),
            ("3.7", true),
            ("3.8.1", true),
            ("3.7+", true),
            ("3.12", false),
            ("3.70", false),
        ] {
            let client_version = Some(version.to_owned());
            let said = Parameters { client_version, ..Parameters::default() };
            assert_eq!(said.is_of_uptime(), is_so, "{version}");
        }
        assert!(!Parameters::default().is_of_uptime());
    }

    #[test]
    fn the_oldest_version_reads_no_time() {
        for (version, is_so) in [("3.1.3", true), ("3.1", true), ("3.12", false), ("3.2", false)] {
            let client_version = Some(version.to_owned());
            let said = Parameters { client_version, ..Parameters::default() };
            assert_eq!(said.reads_no_time(), is_so, "{version}");
        }
        assert!(!Parameters::default().reads_no_time());
    }

    #[test]
    fn what_a_real_client_says_is_read() {
        // As 3.12 says it, of `iperf3 -c host -R -P 4 -t 2 -O 1`.
        let said = r#"{"tcp":true,"omit":1,"time":2,"num":0,"blockcount":0,"parallel":4,"reverse":true,"len":131072,
            "pacing_timer":1000,"client_version":"3.12"}"#;
        let parameters = read(said).expect("valid");
        let expected = Parameters {
            way: Way::Reverse,
            omit: 1,
            time: 2,
            parallel: Some(4),
            len: Some(131_072),
            client_version: Some("3.12".to_owned()),
            ..Parameters::default()
        };
        assert_eq!(parameters, expected);
    }

    #[test]
    fn what_is_of_another_kind_is_as_if_it_were_not_there() {
        for said in [
            r#"{"udp": 1, "reverse": "true", "parallel": "4", "udp_counters_64bit": true, "len": [1]}"#,
            r#"{"UDP": false, "time": null, "congestion": 7, "nodelay": 1, "window": {}}"#,
        ] {
            assert_eq!(read(said), Ok(Parameters::default()), "{said}");
        }
        let said = r#"{"UDP": true, "Len": 1e3, "tos": 0, "Parallel": 2.9}"#;
        let parameters = read(said).expect("valid");
        assert_eq!(
            (parameters.carrier, parameters.len, parameters.tos),
            (Carrier::Udp, Some(1_000), None)
        );
        assert_eq!(parameters.parallel, Some(2));
    }

    #[test]
    fn what_is_out_of_range_is_declined_by_its_number() {
        for (said, number) in [
            (r#"{"time": 86401}"#, DURATION),
            (r#"{"time": -1}"#, DURATION),
            (r#"{"num": -1}"#, DURATION),
            (r#"{"omit": 601}"#, OMIT),
            (r#"{"parallel": 0}"#, STREAMS),
            (r#"{"parallel": 129}"#, STREAMS),
            (r#"{"parallel": 1e300}"#, STREAMS),
            (r#"{"len": 1048577}"#, BLOCK),
            (r#"{"udp": true, "len": 15}"#, DATAGRAM),
            (r#"{"udp": true, "len": 65508}"#, DATAGRAM),
            (r#"{"MSS": 40000}"#, SEGMENT),
            (r#"{"window": 536870913}"#, BUFFER),
            (r#"{"TOS": 256}"#, SERVICE),
            (r#"{"sctp": true}"#, NO_SCTP),
            ("[1]", PARAMETERS),
            ("{", PARAMETERS),
            (&"[".repeat(4_000), PARAMETERS),
        ] {
            let declined = read(said).expect_err(said);
            assert_eq!(declined.number, Some(number), "{said}: {}", declined.refusal);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            (carrier, way) in (0..2_u8, 0..3_u8),
            (omit, time, num) in (0..=OMIT_MOST, 0..=TIME_MOST, any::<u64>()),
            parallel in 1..=STREAMS_MOST,
            (mss, window) in (prop::option::of(1..=32_767_u64), prop::option::of(1..=512_u64 << 20)),
            len in prop::option::of(16..=65_507_u64),
            (bandwidth, tos) in (prop::option::of(1..=u64::MAX), prop::option::of(1..=255_u64)),
            flags in any::<[bool; 5]>(),
        ) {
            let parameters = Parameters {
                carrier: if carrier == 0 { Carrier::Tcp } else { Carrier::Udp },
                way: [Way::Forward, Way::Reverse, Way::Both][usize::from(way)],
                omit, time, num: num >> 1, blockcount: 0, parallel: Some(parallel), mss, window, len,
                bandwidth: bandwidth.map(|it| it >> 1).filter(|&it| it > 0), fqrate: None, tos,
                flowlabel: tos,
                congestion: Some("cubic".to_owned()), server_affinity: None,
                nodelay: flags[0], mptcp: flags[1], wide: flags[2], dont_fragment: flags[3], get_server_output: flags[4],
                title: (omit > 0).then(|| "a \"title\"".to_owned()), extra_data: (time > 0).then(|| "{}".to_owned()),
                client_version: Some("pathscope".to_owned()),
            };
            prop_assert_eq!(Parameters::read(&parameters.write()), Ok(parameters));
        }

        #[test]
        fn whatever_comes_is_read_or_declined(said in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Parameters::read(&said);
        }
    }
}
