//! Both ways at once, on flows of each way's own.

use pathscope_core::id::FlowId;

use super::super::*;
use super::{link, plan, run, sim};
use crate::load::Pattern;
use crate::mode::Mode as _;

#[test]
fn in_bidir_each_way_has_flows_of_its_own() {
    let plan = plan(Pattern::Bidir);
    let mut sim = sim(&plan, link());
    let (client, server, _) = run(&mut sim);
    assert_eq!([client.sent, server.received, server.sent, client.received], [1_000; 4]);
    let facts =
        |flow| [sim.client(FlowId(flow)), sim.server(FlowId(flow))].map(DatagramFlow::facts);
    for (flow, moved) in [(0, [1_000, 0, 0, 1_000]), (1, [0, 1_000, 1_000, 0])] {
        let [here, there] = facts(flow);
        assert_eq!([here.sent, here.received, there.sent, there.received], moved, "{flow}");
        assert_eq!((here.error, there.error, here.lost + there.lost), (None, None, 0));
    }
    assert_eq!((plan.flows().flows, DatagramsSummary::of(&plan, &client, None).completed), (2, 0));
    assert!(plan.subtitle().starts_with("1 UDP flow each way, bidir, "), "{}", plan.subtitle());
}
