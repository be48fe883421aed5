//! What an end has to say of a test in the words of results, and what the other end's results come to as a report of ours: what their
//! words do not have is absent.

use pathscope_core::id::{FlowId, Role};
use pathscope_core::record::{Caveat, FlowFacts, SocketFacts, TcpFacts, WorkerUsage};
use pathscope_modes::datagrams::{DatagramFlowFacts, DatagramsReport};
use pathscope_modes::groups::Test;
use pathscope_modes::load::{
    FlowReceived, GoodputReport, RateSpread, RateSums, Rates, ReceiveWindow,
};
use pathscope_modes::registry::{EndReport, Plan};

use super::course::Course;
use super::findings::Iperf3Caveat;
use super::plans;
use super::results::{Results, Stream, id_of, place_of};
use super::sent::{Sent, share};

const SECOND_NS: u64 = 1_000_000_000;

/// Who sends on the flow at this place.
fn sender(test: &Test, place: u64) -> Role {
    plans::sender(test, flow_at(place))
}

/// Streams of a test.
fn streams(test: &Test) -> u64 {
    test.groups().first().map_or(0, |group| u64::from(group.flows))
}

fn flow_at(place: u64) -> FlowId {
    FlowId(u32::try_from(place).unwrap_or(u32::MAX))
}

/// How long a test took for this end: until the word of its end, or to the last that came behind that. What was waited for then, in vain,
/// is none of its time; but that nothing came for a while before is.
fn end_of(course: &Course, report: &EndReport) -> u64 {
    let streams = report.goodput.as_ref().map(|own| &own.window);
    let window = streams.or(report.datagrams.as_ref().map(|own| &own.window));
    let last_ns = window.and_then(|window| window.last_ns);
    match course.lasted_ns {
        Some(lasted_ns) => lasted_ns.max(last_ns.unwrap_or(0)).min(report.elapsed_ns),
        None => report.elapsed_ns,
    }
}

/// The part of an end's time that was over at the word of the test's end, in thousandths. It is all of it where little came behind that: what
/// was on its way there is always a moment late.
fn in_time(course: &Course, end_ns: u64) -> u64 {
    const WHOLE: u64 = 1_000;
    const LITTLE: u64 = 50;
    let counted_ns = |ns: u64| u128::from(ns.saturating_sub(course.omit * SECOND_NS));
    let lasted_ns = course.lasted_ns.unwrap_or(end_ns).min(end_ns);
    let part = counted_ns(lasted_ns) * u128::from(WHOLE) / counted_ns(end_ns).max(1);
    let part = u64::try_from(part).unwrap_or(WHOLE);
    if part + LITTLE >= WHOLE { WHOLE } else { part }
}

/// What an end says of its flows. Who divides by its own time what this end received till all had come is told what had come in that time, in
/// proportion: its rate is right then.
pub(super) fn said(course: &Course, role: Role, report: &EndReport) -> Results {
    let mut results = counted(course, role, report);
    if course.reads_no_time && report.goodput.is_some() {
        let part = in_time(course, end_of(course, report));
        let own = (0..).zip(&mut results.streams);
        own.filter(|(place, _)| sender(&course.test, *place) != role)
            .for_each(|(_, stream)| stream.bytes = stream.bytes.saturating_mul(part) / 1_000);
    }
    results
}

fn counted(course: &Course, role: Role, report: &EndReport) -> Results {
    let &Course { ref test, omit, sent, .. } = course;
    let end_ns = end_of(course, report).saturating_sub(omit * SECOND_NS);
    let end_time = end_ns as f64 / SECOND_NS as f64;
    let all = (0..streams(test)).map(|place| {
        let sends = sender(test, place) == role;
        let stream = Stream { id: id_of(place), end_time: Some(end_time), ..Stream::default() };
        match (&report.goodput, &report.datagrams, &test.plan) {
            (Some(own), _, _) => of_stream(own, (flow_at(place), sends, omit > 0), sent, stream),
            (_, Some(own), Plan::Datagrams(plan)) => {
                let flow = (flow_at(place), sends, omit > 0);
                of_datagrams(own, flow, (sent, plan.datagram_bytes.0), stream)
            }
            _ => stream,
        }
    });
    let streams: Vec<_> = all.collect();
    let sends = (0..).zip(&streams).any(|(place, _)| sender(test, place) == role);
    let counts =
        report.goodput.is_some() && streams.iter().any(|stream| stream.retransmits.is_some());
    Results {
        cpu: cpu_of(&report.workers),
        counts_retransmits: (sends && report.goodput.is_some()).then_some(counts),
        congestion: report.sockets.as_ref().and_then(|sockets| sockets.congestion_control.clone()),
        output: report
            .output
            .clone()
            .filter(|_| role == Role::Server && course.remarks.wants_output),
        streams,
    }
}

fn of_stream(
    own: &GoodputReport,
    (flow, sends, is_part): (FlowId, bool, bool),
    sent: Sent,
    stream: Stream,
) -> Stream {
    let Ok(place) = own.flows.binary_search_by_key(&flow, |facts| facts.flow) else {
        return stream;
    };
    let facts = &own.flows[place];
    let bytes = match (sends, is_part) {
        (true, false) => facts.sent_bytes,
        (false, false) => facts.received_bytes,
        (true, true) => sent.of(facts.sent_bytes),
        // What is counted of all flows, by what each had of it.
        (false, true) => share(facts.received_bytes, own.window.bytes, own.received_bytes),
    };
    let retransmits = facts.tcp.and_then(|tcp| tcp.retransmits).filter(|_| sends);
    Stream { bytes, retransmits, ..stream }
}

fn of_datagrams(
    own: &DatagramsReport,
    (flow, sends, is_part): (FlowId, bool, bool),
    (sent, datagram_bytes): (Sent, u64),
    stream: Stream,
) -> Stream {
    let Some(facts) = own.flows.iter().find(|facts| facts.flow == flow) else { return stream };
    if sends {
        let bytes = facts.sent.saturating_mul(datagram_bytes);
        let bytes = if is_part { sent.of(bytes) } else { bytes };
        return Stream { bytes, packets: facts.sent, ..stream };
    }
    // By its own count what was lost behind the last that came is not lost: who sent knows that.
    let packets = facts.highest.unwrap_or(facts.received);
    let bytes = facts.received.saturating_mul(datagram_bytes);
    let bytes = facts.received_bytes.unwrap_or(bytes);
    Stream {
        bytes: if is_part { share(bytes, own.window.bytes, own.received_bytes) } else { bytes },
        packets,
        errors: packets.saturating_sub(facts.received),
        jitter: facts.smoothed_jitter_ns.unwrap_or(0.0) / SECOND_NS as f64,
        ..stream
    }
}

/// Percent of one processor: all, the program's own, the system's.
fn cpu_of(workers: &[WorkerUsage]) -> [f64; 3] {
    let percent = |of: fn(&WorkerUsage) -> u64| -> f64 {
        let each = workers.iter().filter(|worker| worker.elapsed_ns > 0);
        each.map(|worker| of(worker) as f64 * 100.0 / worker.elapsed_ns as f64).sum()
    };
    let (user, system) = (percent(|it| it.user_ns), percent(|it| it.system_ns));
    [user + system, user, system]
}

/// What the other end's results come to.
pub(super) fn heard(course: &Course, whose: Role, results: &Results) -> EndReport {
    let &Course { ref test, omit, .. } = course;
    let known = results.streams.iter().filter_map(|stream| {
        let place = place_of(stream.id).filter(|&place| place < streams(test))?;
        Some((flow_at(place), sender(test, place) == whose, stream))
    });
    let mut known: Vec<_> = known.collect();
    known.sort_by_key(|&(flow, ..)| flow);
    known.dedup_by_key(|(flow, ..)| *flow);
    let told = known.iter().filter_map(|(_, _, stream)| stream.end_time).reduce(f64::max);
    let length_ns = told.map_or_else(
        || {
            // Before 3.2 nobody says it. It is the same test.
            let own_ns = course.report.as_ref().map(|own| end_of(course, own));
            own_ns.or(course.lasted_ns).unwrap_or(0).saturating_sub(omit * SECOND_NS)
        },
        |seconds| (seconds.clamp(0.0, 1e9) * SECOND_NS as f64) as u64,
    );
    let elapsed_ns = length_ns.saturating_add(omit * SECOND_NS);
    // What nobody has asked for is not kept.
    let is_asked = whose == Role::Server && course.remarks.wants_output;
    let output = results.output.clone().filter(|_| is_asked);
    let mut report = EndReport { elapsed_ns, output, ..EndReport::default() };
    let window = (omit * SECOND_NS, length_ns);
    match &test.plan {
        Plan::Datagrams(_) => {
            report.datagrams = Some(datagrams(&known, window, course.report.as_deref()));
        }
        Plan::Goodput(plan) => {
            // Since 3.16 a stream's thread counts a block when all of it has left, and is ended in the midst of one.
            let uncounted_bytes = plan.buffer_bytes.0;
            report.goodput = Some(GoodputReport { uncounted_bytes, ..goodput(&known, window) });
            report.sockets = results.congestion.clone().map(|name| SocketFacts {
                congestion_control: Some(name),
                ..SocketFacts::default()
            });
        }
        _ => {}
    }
    if omit > 0 {
        let text = format!("the {} counts nothing of the warm-up of {omit} s", name(whose));
        report.caveats.push(Caveat::new(Iperf3Caveat::WarmUpUncounted, text));
    }
    report
}

const fn name(role: Role) -> &'static str {
    match role {
        Role::Client => "client",
        Role::Server => "server",
    }
}

/// A stream of the other end, and whether that sends on it.
type Known<'results> = (FlowId, bool, &'results Stream);

fn window_of(known: &[Known<'_>], (opens_ns, length_ns): (u64, u64)) -> ReceiveWindow {
    let received = known.iter().filter(|(_, sends, _)| !sends).map(|(_, _, stream)| stream.bytes);
    let Some(bytes) = received.reduce(u64::saturating_add) else { return ReceiveWindow::default() };
    ReceiveWindow {
        first_ns: Some(opens_ns),
        last_ns: Some(opens_ns.saturating_add(length_ns)),
        bytes,
    }
}

fn rates_of(known: &[Known<'_>], length_ns: u64) -> (Rates, RateSums) {
    let received = known.iter().filter(|(_, sends, _)| !sends).map(|&(flow, _, stream)| {
        FlowReceived { flow, bytes: stream.bytes, is_brief: false, is_whole: false }
    });
    RateSums::over(length_ns, &received.collect::<Vec<_>>())
}

fn goodput(known: &[Known<'_>], window: (u64, u64)) -> GoodputReport {
    let (rates, sums) = rates_of(known, window.1);
    let flows: Vec<_> = known
        .iter()
        .map(|&(flow, sends, stream)| FlowFacts {
            flow,
            sent_bytes: if sends { stream.bytes } else { 0 },
            received_bytes: if sends { 0 } else { stream.bytes },
            received_bps: rates.get(flow),
            tcp: stream.retransmits.filter(|_| sends).map(|retransmits| TcpFacts {
                retransmits: Some(retransmits),
                ..TcpFacts::default()
            }),
            ..FlowFacts::default()
        })
        .collect();
    let sum = |of: fn(&FlowFacts) -> u64| flows.iter().map(of).fold(0, u64::saturating_add);
    let receives = known.iter().any(|(_, sends, _)| !sends);
    GoodputReport {
        sent_bytes: sum(|flow| flow.sent_bytes),
        received_bytes: sum(|flow| flow.received_bytes),
        window: window_of(known, window),
        // It stops counting when it hears that the test is over, whatever is on its way then, and says nothing of that.
        late_bytes: receives.then_some(0),
        completed: flows.len() as u64,
        rates: sums,
        spread: receives.then(|| RateSpread::of(rates)),
        flows,
        ..GoodputReport::default()
    }
}

fn datagrams(known: &[Known<'_>], window: (u64, u64), own: Option<&EndReport>) -> DatagramsReport {
    let (rates, sums) = rates_of(known, window.1);
    let own_sent = own.and_then(|own| own.datagrams.as_ref()).map_or(0, |own| own.sent);
    let flows: Vec<_> = known
        .iter()
        .map(|&(flow, sends, stream)| {
            let received = stream.packets.saturating_sub(stream.errors);
            DatagramFlowFacts {
                flow,
                sent: if sends { stream.packets } else { 0 },
                expected: None,
                received: if sends { 0 } else { received },
                lost: if sends { 0 } else { stream.errors },
                received_bps: rates.get(flow),
                error: None,
                highest: (!sends).then_some(stream.packets),
                received_bytes: (!sends).then_some(stream.bytes),
                // Up to 3.6 it begins with the first transit, which is that between two clocks.
                smoothed_jitter_ns: (!sends)
                    .then_some(stream.jitter * SECOND_NS as f64)
                    .filter(|jitter_ns| *jitter_ns <= window.1 as f64),
            }
        })
        .collect();
    let sum = |of: fn(&DatagramFlowFacts) -> u64| flows.iter().map(of).fold(0, u64::saturating_add);
    let bytes = |is_sent: bool| {
        let of = known.iter().filter(|(_, sends, _)| *sends == is_sent);
        of.map(|(_, _, stream)| stream.bytes).fold(0, u64::saturating_add)
    };
    let received = sum(|flow| flow.received);
    DatagramsReport {
        sent: sum(|flow| flow.sent),
        sent_bytes: bytes(true),
        received,
        received_bytes: bytes(false),
        window: window_of(known, window),
        // Its own count knows nothing of what was lost behind the last that came: this end knows what it sent.
        lost: if known.iter().any(|(_, sends, _)| !sends) {
            own_sent.saturating_sub(received)
        } else {
            0
        },
        completed: flows.len() as u64,
        rates: sums,
        flows,
        ..DatagramsReport::default()
    }
}

/// What the other end says that it has sent on each flow: bytes, or datagrams.
pub(super) fn totals(test: &Test, whose: Role, results: &Results) -> Vec<(FlowId, u64)> {
    let is_datagrams = matches!(test.plan, Plan::Datagrams(_));
    let of = |stream: &Stream| {
        let place = place_of(stream.id).filter(|&place| place < streams(test))?;
        let total = if is_datagrams { stream.packets } else { stream.bytes };
        (sender(test, place) == whose).then(|| (flow_at(place), total))
    };
    results.streams.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use pathscope_modes::datagrams::DatagramsInterval;
    use pathscope_modes::registry::EndInterval;

    use super::*;

    #[test]
    fn bytes_of_datagrams_are_those_after_the_warm_up_at_either_end() {
        const WARM_UP_S: u64 = 2;
        let mut sent = Sent::default();
        for (second, sent_bytes) in [(0, 3_000), (1, 1_000), (2, 6_000)] {
            let datagrams = Some(DatagramsInterval { sent_bytes, ..DatagramsInterval::default() });
            let (start_ns, end_ns) = (second * SECOND_NS, (second + 1) * SECOND_NS);
            let interval = EndInterval { start_ns, end_ns, datagrams, ..EndInterval::default() };
            sent.add(WARM_UP_S, &interval);
        }
        let flow = FlowId(0);
        let facts = DatagramFlowFacts {
            flow,
            sent: 100,
            received: 80,
            received_bytes: Some(8_000),
            expected: None,
            lost: 20,
            received_bps: None,
            error: None,
            highest: None,
            smoothed_jitter_ns: None,
        };
        let own = DatagramsReport {
            received_bytes: 8_000,
            window: ReceiveWindow { bytes: 4_500, ..ReceiveWindow::default() },
            flows: vec![facts],
            ..DatagramsReport::default()
        };
        for (sends, is_part, bytes, packets) in [
            (true, false, 10_000, 100),
            (true, true, 6_000, 100),
            (false, false, 8_000, 80),
            (false, true, 4_500, 80),
        ] {
            let stream = Stream { id: 1, ..Stream::default() };
            let told = of_datagrams(&own, (flow, sends, is_part), (sent, 100), stream);
            assert_eq!((told.bytes, told.packets), (bytes, packets), "{sends} {is_part}");
        }
    }
}
