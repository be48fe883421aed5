//! What a server's operator says of the streams that ctsTraffic's clients ask for over UDP, whose rate, frames and length no client says.

use clap::Args;
use pathscope_core::quantity::{BitRate, Bytes, Period};
use pathscope_modes::groups::Test;
use pathscope_modes::limits::PlanError;
use pathscope_modes::media::MediaArgs;
use pathscope_modes::sockets::SocketArgs;

/// What ctsTraffic sends at the most in one datagram, unless it is told.
const DATAGRAM: Bytes = Bytes(1_400);
/// Next to nothing comes to a stream that is sent.
const RECEIVE_BUFFER: Bytes = Bytes(1 << 16);

/// The options.
#[derive(Args, Clone, Copy, Debug, Default)]
#[group(skip)]
pub struct StreamWords {
    /// Bits a second of a stream over UDP; the same as theirs. Without it, and the two that follow, they are refused over UDP
    #[arg(
        id = "ctstraffic_bits_per_second",
        long = "ctstraffic-bits-per-second",
        value_name = "RATE"
    )]
    bits_per_second: Option<BitRate>,
    /// Frames a second of such a stream; the same as theirs
    #[arg(id = "ctstraffic_frame_rate", long = "ctstraffic-frame-rate", value_name = "N")]
    frame_rate: Option<u32>,
    /// How long such a stream lasts; the same as theirs
    #[arg(id = "ctstraffic_stream_length", long = "ctstraffic-stream-length", value_name = "TIME")]
    stream_length: Option<Period>,
    /// The largest datagram of such a stream; no more than theirs [default: 1400]
    #[arg(id = "ctstraffic_datagram", long = "ctstraffic-datagram", value_name = "BYTES")]
    datagram: Option<Bytes>,
}

impl StreamWords {
    /// Whether anything was said.
    pub fn is_said(&self) -> bool {
        self.stated() > 0 || self.datagram.is_some()
    }

    /// How many of the three were said that there have to be.
    fn stated(&self) -> usize {
        let said = [
            self.bits_per_second.is_some(),
            self.frame_rate.is_some(),
            self.stream_length.is_some(),
        ];
        said.into_iter().filter(|&is_said| is_said).count()
    }

    /// The stream, if one was stated, with what is asked of the sockets of any client; with reports so often.
    pub fn test(
        &self,
        asked: &SocketArgs,
        report_every: Period,
    ) -> Result<Option<Test>, PlanError> {
        let Self { bits_per_second, frame_rate, stream_length, datagram } = *self;
        let (Some(_), Some(_), Some(duration)) = (bits_per_second, frame_rate, stream_length)
        else {
            if !self.is_said() {
                return Ok(None);
            }
            let why = "is one of three without which nobody knows what is streamed over UDP: say --ctstraffic-bits-per-second, \
                       --ctstraffic-frame-rate and --ctstraffic-stream-length, or none of them";
            let option = "what was said of ctsTraffic's streams";
            return Err(PlanError::Unfit { option, why: why.to_owned() });
        };
        let words = MediaArgs {
            rate: bits_per_second,
            frame_rate,
            duration,
            streams: 1,
            datagram: datagram.unwrap_or(DATAGRAM),
            pacing: "back-to-back".to_owned(),
            receive_buffer: asked.receive_buffer.unwrap_or(RECEIVE_BUFFER),
            ..MediaArgs::default()
        };
        let mut plan = words.into_plan()?;
        plan.sockets.send_buffer_bytes = asked.send_buffer;
        // What is not from 0 to 63 is refused where the connections of clients are stated.
        plan.sockets.dscp = asked.dscp.and_then(|dscp| u8::try_from(dscp).ok());
        let test = Test::new(plan.into(), None, report_every);
        test.validate()?;
        Ok(Some(test))
    }
}

#[cfg(test)]
mod tests {
    use pathscope_modes::registry::Plan;

    use super::*;

    const ALL: StreamWords = StreamWords {
        bits_per_second: Some(BitRate(25_000_000)),
        frame_rate: Some(60),
        stream_length: Some(Period::from_secs(60)),
        datagram: None,
    };

    fn test(words: &StreamWords) -> Result<Option<Test>, PlanError> {
        words.test(&SocketArgs::default(), Period::from_secs(1))
    }

    #[test]
    fn sockets_of_streams_are_set_as_those_of_connections() {
        let (send, receive) = (Bytes(70_000), Bytes(80_000));
        let asked = SocketArgs {
            dscp: Some(46),
            send_buffer: Some(send),
            receive_buffer: Some(receive),
            ..SocketArgs::default()
        };
        let every = Period::from_millis(250);
        let test = ALL.test(&asked, every).expect("it is whole").expect("it is stated");
        assert_eq!(test.report_every_ns, every);
        let Plan::Media(plan) = &test.plan else { panic!("it is of streams") };
        assert_eq!(plan.sockets.dscp, Some(46));
        assert_eq!(plan.sockets.send_buffer_bytes, Some(send));
        assert_eq!(plan.sockets.receive_buffer_bytes, Some(receive));
    }

    #[test]
    fn a_stream_is_stated_whole_or_not_at_all() {
        assert_eq!(test(&StreamWords::default()), Ok(None));
        let stated = test(&ALL).expect("it is whole").expect("it is stated");
        assert_eq!(super::super::streams::carries(&stated), Some(Ok(())));
        for part in [
            StreamWords { frame_rate: None, ..ALL },
            StreamWords { bits_per_second: None, ..ALL },
            StreamWords { stream_length: None, ..ALL },
            StreamWords { datagram: Some(DATAGRAM), ..StreamWords::default() },
        ] {
            let error = test(&part).expect_err("something is missing").to_string();
            assert!(part.is_said() && error.contains("--ctstraffic-stream-length"), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let words = StreamWords { bits_per_second: Some(BitRate(1_000)), ..ALL };
        let error = test(&words).expect_err("no frame has room for a header").to_string();
        assert!(error.contains("frames of 2 bytes"), "{error}");
    }
}
