//! How the streams of a media test run, and what those of one end come to.

use pathscope_core::Tick;
use pathscope_core::id::{FlowId, Role};
use pathscope_core::journal::{Frames, Stream, StreamStatus};
use pathscope_core::record::FlowFacts;
use pathscope_flow::Machine;

use super::{
    FrameCounts, FrameRows, Layout, MediaFlow, MediaInterval, MediaPlan, MediaReport, MediaShared,
    MediaTally, StreamFacts,
};
use crate::flows::{Begin, Flow, Left, Runs, Samples, System, error_of};
use crate::load::FLOWS_TOLD;
use crate::sums::add_fields;

impl Runs for MediaPlan {
    type Client = MediaFlow;
    type Server = MediaFlow;
    type Tally = MediaTally;
    /// Of what is not counted, but known of streams alone.
    type WorkerReport = MediaReport;
    type Accumulator = MediaTally;
    type Rows = FrameRows;

    fn rows(&self) -> Option<FrameRows> {
        Some(FrameRows)
    }

    fn add_interval(sum: &mut MediaInterval, tally: &MediaTally) {
        add_fields!(
            sum, tally.counts;
            frames_sent, sent_datagrams, sent_bytes, received_datagrams, received_bytes, damaged_datagrams,
        );
        sum.frames.add(&tally.counts.frames);
        sum.streams += tally.streams;
        sum.needed_depth_ns = sum.needed_depth_ns.max(tally.counts.needed_depth_ns);
        let (mean_ns, arrivals) = tally.variation.smoothed();
        sum.add_jitter(mean_ns, arrivals);
    }

    fn accumulator(&self, _: Role) -> MediaTally {
        MediaTally::default()
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
    fn shared(
        plan: &MediaPlan,
        begin: &Begin<'_>,
        rows: Option<Samples<MediaPlan>>,
    ) -> MediaShared {
        MediaShared { rows, ..MediaShared::by(begin.conventions, plan, begin.role) }
    }

    fn begin(plan: &MediaPlan, flow: FlowId, begin: &Begin<'_>) -> Self {
        Self::by(begin.conventions, plan, (begin.role, begin.key, flow))
            .with_consent(begin.consents)
    }

    fn worker_report<S: System>(_: &MediaPlan, left: &Left<'_, Self, S>) -> MediaReport {
        let failed = left.flows.iter().filter(|(flow, _)| error_of(flow).is_some()).count() as u64;
        let told = left.flows.iter().filter(|(flow, _)| flow.id().0 < FLOWS_TOLD);
        let ended = told.map(|(flow, system)| {
            let [local, remote] = system.addresses();
            let error = error_of(flow).map(|error| system.named(error));
            StreamFacts { local, remote, error, ..flow.facts() }
        });
        let streams: Vec<_> = ended.collect();
        let streams_omitted = (left.flows.len() - streams.len()) as u64;
        let are_unnumbered = !left.shared.conventions.framing.is_numbered();
        MediaReport { streams, streams_omitted, failed, are_unnumbered, ..MediaReport::default() }
    }

    fn stream_end(&self, plan: &MediaPlan, role: Role) -> Option<(Option<Tick>, Stream)> {
        let facts = self.facts();
        let receives = plan.sends(role.peer());
        let FrameCounts { cut, unsent, .. } = facts.frames;
        let judged = (facts.frames.judged() + cut).saturating_sub(unsent);
        let streamed = if receives { judged } else { facts.frames_sent };
        let stream = Stream {
            streamed_ns: Layout::of(plan).frame_at_ns(streamed),
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
