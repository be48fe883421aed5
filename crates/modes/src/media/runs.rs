//! How the streams of a media test run, and what those of one end come to.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::journal::{Frames, Stream, StreamStatus};
use pathscope_core::record::{FlowError, FlowFacts};
use pathscope_flow::Machine;

use super::{
    FrameCounts, FrameRows, MediaFlow, MediaInterval, MediaPlan, MediaReport, MediaShared,
    MediaTally, StreamFacts,
};
use crate::flows::{Accumulate, AtEnd, Begin, Flow, Left, Runs, Samples, System, error_of};

/// Streams that are told one by one.
const STREAMS_TOLD: u32 = 1_000;

/// What the streams of a worker came to.
#[derive(Debug)]
pub struct MediaWorker {
    streams: Vec<StreamFacts>,
    omitted: u64,
    failed: u64,
}

/// What the streams of an end come to.
#[derive(Debug, Default)]
pub struct MediaAccumulator {
    tally: MediaTally,
    streams: Vec<StreamFacts>,
    omitted: u64,
    failed: u64,
}

impl Runs for MediaPlan {
    type Client = MediaFlow;
    type Server = MediaFlow;
    type Tally = MediaTally;
    type WorkerReport = MediaWorker;
    type Accumulator = MediaAccumulator;
    type Rows = FrameRows;

    fn rows(&self) -> Option<FrameRows> {
        Some(FrameRows)
    }

    fn add_interval(sum: &mut MediaInterval, tally: &MediaTally) {
        sum.add(&tally.interval());
    }

    fn accumulator(&self, _: Role) -> MediaAccumulator {
        MediaAccumulator::default()
    }

    fn status(interval: &MediaInterval) -> Option<StreamStatus> {
        Some(StreamStatus {
            sent_bytes: interval.sent_bytes,
            received_bytes: interval.received_bytes,
            streams: interval.streams,
            frames: frames(interval.frames_sent, &interval.frames),
            ..StreamStatus::default()
        })
    }
}

impl Flow<MediaPlan> for MediaFlow {
    fn shared(plan: &MediaPlan, role: Role, rows: Option<Samples<MediaPlan>>) -> MediaShared {
        let shared = MediaShared::new(plan, role);
        if let Some(rows) = rows { shared.with_rows(rows) } else { shared }
    }

    fn begin(plan: &MediaPlan, flow: FlowId, begin: &Begin<'_>) -> Self {
        let flow = Self::new(plan, begin.role, begin.key, flow);
        if begin.consents { flow.with_consent() } else { flow }
    }

    fn worker_report<S: System>(_: &MediaPlan, left: &Left<'_, Self, S>) -> MediaWorker {
        let failed = left.flows.iter().filter(|(flow, _)| error_of(flow).is_some()).count() as u64;
        let told = left.flows.iter().filter(|(flow, _)| flow.id().0 < STREAMS_TOLD);
        let streams: Vec<_> = told.map(|(flow, system)| ended(flow, system)).collect();
        MediaWorker { omitted: (left.flows.len() - streams.len()) as u64, streams, failed }
    }

    fn stream_end(&self, plan: &MediaPlan, role: Role) -> Option<(Option<Tick>, Stream)> {
        let facts = self.facts();
        let receives = plan.sends(role.peer());
        let FrameCounts { cut, unsent, .. } = facts.frames;
        let judged = (facts.frames.judged() + cut).saturating_sub(unsent);
        let streamed = if receives { judged } else { facts.frames_sent };
        let streamed_ns = u128::from(streamed) * 1_000_000_000 / u128::from(plan.frame_rate.max(1));
        let stream = Stream {
            streamed_ns: streamed_ns as u64,
            frames: frames(facts.frames_sent, &facts.frames),
            lost_datagrams: facts.lost_datagrams,
            longest_freeze_ns: facts.longest_freeze_ns,
            needed_depth_ns: facts.needed_depth_ns,
            facts: FlowFacts {
                flow: facts.flow,
                sent_bytes: facts.sent_bytes,
                received_bytes: facts.received_bytes,
                error: error_of(self),
                ..FlowFacts::default()
            },
            ..Stream::default()
        };
        Some((self.ended_at(), stream))
    }
}

/// A stream that has ended, with its addresses.
fn ended(flow: &MediaFlow, system: &impl System) -> StreamFacts {
    let [local, remote] = system.addresses();
    let error = error_of(flow).map(|error| system.named(error));
    StreamFacts { local, remote, error, ..flow.facts() }
}

fn frames(sent: u64, counts: &FrameCounts) -> Frames {
    Frames {
        completed: counts.completed,
        missed: counts.missed.saturating_sub(counts.unsent),
        repeated: counts.repeated,
        erroneous: counts.erroneous,
        late: counts.late,
        sent,
    }
}

impl Accumulate<MediaPlan> for MediaAccumulator {
    fn count(&mut self, tally: &MediaTally) {
        self.tally.merge(tally);
    }

    fn add(&mut self, worker: MediaWorker) {
        self.streams.extend(worker.streams);
        self.omitted += worker.omitted;
        self.failed += worker.failed;
    }

    fn lose(&mut self, flows: u64, _: &FlowError) {
        self.failed += flows;
    }

    fn report(mut self, end: AtEnd<'_>) -> MediaReport {
        self.streams.sort_by_key(|stream| stream.flow);
        for stream in &mut self.streams {
            stream.connection_id = Some((end.name)(stream.flow));
        }
        MediaReport {
            streams: self.streams,
            streams_omitted: self.omitted,
            failed: self.failed,
            socket_drops: end.socket_drops,
            ..self.tally.report()
        }
    }
}
