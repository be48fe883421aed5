//! Pings larger than the path carries in one piece.

use super::{Stand, only};

/// Two hosts with a router between them, and a second link that carries less than the first.
const NARROW: &str = "name = \"narrow\"\nhosts = [\"a\", \"b\"]\nrouters = [\"r\"]\n\
                      [links]\n\"a:r\" = {}\n\"r:b\" = { mtu = 1000 }\n";

#[test]
fn pings_larger_than_the_path_carries_arrive_in_fragments() {
    let Some(stand) = Stand::up(NARROW) else { return };
    let _server = stand.server("b");
    // More than the second link carries, more than the first one does, and nearly the most there is.
    for size in ["1400", "3000", "60000"] {
        let words = ["latency", "b", "--protocol", "udp", "-n", "20", "--size", size, "--json"];
        let document = stand.pathscope("a", &words).finish().exits(0).document();
        let figures = only(&document).summary.latency.clone().expect("it is latency");
        // The first ping tells the kernel how much the path carries; it is lost, and its sender hears of it.
        assert_eq!((figures.sent, figures.corrupt), (20, 0), "{size}");
        assert!(figures.received >= 18, "{size}: {figures:?}");
        assert!(figures.lost <= figures.unreachable, "{size}: {figures:?}");
    }
    let words = ["latency", "b", "-n", "20", "--size", "60000", "--json"];
    let document = stand.pathscope("a", &words).finish().exits(0).document();
    let figures = only(&document).summary.latency.clone().expect("it is latency");
    assert_eq!((figures.received, figures.corrupt), (20, 0));
}
