//! Both ends against each other, over a connection that cuts what is said into pieces: in every order in which word of streams and of
//! states can come.

use pathscope_core::id::{FlowId, Role};
use pathscope_core::record::{FlowFacts, Printed};
use pathscope_flow::{Event, GroupId, Input};
use pathscope_modes::load::GoodputReport;

use super::*;
use crate::dialogue::ClientDialogue as _;

/// One end, as far as it got.
#[derive(Default)]
struct Seen {
    words: Vec<&'static str>,
    report: Option<Box<EndReport>>,
    ended: Option<Result<(), PeerError>>,
}

/// What the server prints.
fn printed() -> Printed {
    Printed::Text("lines\n".to_owned())
}

/// What an end says of so many flows, on each of which 1,000 bytes went one way.
fn report(test: &Test, role: Role) -> Box<EndReport> {
    let Plan::Goodput(plan) = &test.plan else { panic!("a load") };
    let facts = |flow| {
        let sends = plan.sends_on(role, FlowId(flow));
        FlowFacts {
            flow: FlowId(flow),
            sent_bytes: if sends { 1_000 } else { 0 },
            received_bytes: if sends { 0 } else { 1_000 },
            ..FlowFacts::default()
        }
    };
    let flows = test.groups()[0].flows;
    let goodput =
        GoodputReport { flows: (0..flows).map(facts).collect(), ..GoodputReport::default() };
    let output = (role == Role::Server).then(printed);
    Box::new(EndReport {
        goodput: Some(goodput),
        elapsed_ns: 10 * SECOND_NS,
        output,
        ..EndReport::default()
    })
}

/// What an end's flows do by the word of its dialogue: what they have sent is 1,000 bytes each, and all of it comes.
fn carry_out<D>(end: &mut D, role: Role, test: &Test, seen: &mut Seen, now: Tick) -> Vec<u8>
where
    D: Dialogue<Plan = Test, Interval = EndInterval, Report = EndReport, Error = PeerError>,
{
    let flows = test.groups()[0].flows;
    let Plan::Goodput(plan) = &test.plan else { panic!("a load") };
    let sends = plan.pattern.sends(role);
    let mut said = Vec::new();
    while let Some(output) = end.output() {
        assert!(seen.ended.is_none(), "something follows the end");
        let attach = |end: &mut D| {
            (0..flows).for_each(|flow| {
                end.input(Input::Attached { group: GroupId(0), flow: FlowId(flow) }, now);
            });
        };
        match output {
            Output::Send(bytes) => said.extend(bytes),
            Output::Open { .. } => attach(end),
            Output::Prepare { .. } => {
                end.input(Input::Prepared(Vec::new()), now);
                attach(end);
            }
            Output::Start => seen.words.push("start"),
            Output::Tell { event: Event::PeerTotal(total), .. } => {
                assert_eq!(total, 1_000);
                if !seen.words.contains(&"over") {
                    seen.words.push("over");
                    end.input(Input::Over(report(test, role)), now);
                }
            }
            // What sends is over by it, and what has settled.
            Output::Tell { event: Event::Stop, .. } if sends || role == Role::Client => {
                if seen.words.last() == Some(&"start") {
                    seen.words.push("over");
                    end.input(Input::Over(report(test, role)), now);
                }
            }
            Output::Tell { .. } => {}
            Output::PeerReport(report) => seen.report = Some(report),
            Output::TestOver => seen.words.push("test over"),
            Output::End(result) => seen.ended = Some(result),
            _ => panic!("nothing else is asked for"),
        }
    }
    said
}

#[test]
fn both_ends_come_to_their_end_whichever_way_data_go_and_however_words_are_cut() {
    for (pattern, connections) in [
        (Pattern::Push, 1),
        (Pattern::Pull, 1),
        (Pattern::Push, 3),
        (Pattern::Pull, 128),
        (Pattern::Bidir, 2),
    ] {
        for cut in [1, 2, 7, 4_096] {
            let test = load(pattern, connections);
            let remarks = Remarks {
                title: Some("a title".to_owned()),
                extra_data: (cut == 1).then(|| "more".to_owned()),
                wants_output: cut == 2,
            };
            let (mut client, mut server) = (client_saying(remarks.clone()), server(Limits::NONE));
            let (mut here, mut there) = (Seen::default(), Seen::default());
            client.propose(test.clone(), NOW);
            let mut now = NOW;
            // The cookie has been taken by who listens.
            let cookie = carry_out(&mut client, Role::Client, &test, &mut here, now);
            assert_eq!(cookie.len(), 37);
            loop {
                let up = carry_out(&mut client, Role::Client, &test, &mut here, now);
                let down = carry_out(&mut server, Role::Server, &test, &mut there, now);
                up.chunks(cut).for_each(|piece| server.input(Input::Received(piece), now));
                down.chunks(cut).for_each(|piece| client.input(Input::Received(piece), now));
                if !up.is_empty() || !down.is_empty() {
                    continue;
                }
                if there.ended.is_some() {
                    break;
                }
                // Nothing is on the way: the time of the test passes.
                assert_eq!(server.remarks(), remarks);
                assert_eq!(
                    (here.words.as_slice(), there.words.as_slice()),
                    (&["start"][..], &["start"][..])
                );
                now = now.plus_nanos(10 * SECOND_NS);
                if pattern == Pattern::Push {
                    here.words.push("over");
                    client.input(Input::Over(report(&test, Role::Client)), now);
                } else {
                    client.input(Input::Deadline, now);
                }
            }
            // Who does not ask is not told.
            let output = here.report.as_ref().and_then(|report| report.output.clone());
            assert_eq!(output, remarks.wants_output.then(printed));
            client.finish(now);
            client.input(Input::ControlClosed, now);
            carry_out(&mut client, Role::Client, &test, &mut here, now);
            for (seen, role) in [(&here, Role::Client), (&there, Role::Server)] {
                assert_eq!(
                    (seen.words.as_slice(), &seen.ended),
                    (&["start", "over", "test over"][..], &Some(Ok(())))
                );
                let report = seen
                    .report
                    .as_ref()
                    .and_then(|it| it.goodput.as_ref())
                    .expect("the other end's");
                let all = 1_000 * u64::from(connections);
                let ways = [pattern.sends(role.peer()), pattern.sends(role)]
                    .map(|is_so| if is_so { all } else { 0 });
                assert_eq!([report.sent_bytes, report.received_bytes], ways);
                assert_eq!(report.flows.len(), pattern.flows(connections) as usize);
            }
        }
    }
}
