//! What links promise, on networks whose truth can be worked out by hand.

use pathscope_lab::topology::Topology;

use super::*;

const PORTFOLIO: &str = include_str!("../../../../labs/portfolio.toml");

fn network(text: &str) -> Network {
    Topology::read("t.toml", text).network().expect("a topology")
}

fn up(load: Load) -> Transmission {
    Transmission { offered: Offered { up: Some(load), down: None }, ..Transmission::default() }
}

fn streams(connections: u32) -> Transmission {
    up(Load::Streams { connections, rate_bps: None })
}

fn datagrams(rate_bps: f64) -> Transmission {
    up(Load::Datagrams { flows: 1, rate_bps: Some(rate_bps), payload_bytes: 1_470 })
}

const PING: PingSizes =
    PingSizes { transport: Transport::Datagram, request_bytes: 56, reply_bytes: 56 };

fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("a promise");
    assert!((found - expected).abs() <= expected.abs() * 1e-3, "{found} is not {expected}");
}

/// Of the portfolio's links: 30 Mbit/s of frames of 1514 bytes with 1448 of payload.
const L2: f64 = 30e6 * 1448.0 / 1514.0;
const L3: f64 = 20e6 * 1448.0 / 1514.0;
/// What is ahead of a frame that just finds room in a full queue: 100 frames at 30 Mbit/s, 33 at 20 Mbit/s.
const FULL_L2_NS: f64 = 100.0 * 1514.0 * 8e9 / 30e6;
const FULL_L3_NS: f64 = 33.0 * 1514.0 * 8e9 / 20e6;

#[test]
fn round_trips_are_delays_and_transmissions() {
    let network = network(PORTFOLIO);
    let promises = Promises::new(&network, &[]);
    let ping = |from, to| promises.idle_rtt_ns(from, to, PING, Which::Mean);
    // 98 bytes take 19.6 µs at 40 Mbit/s, 26.1 at 30 and 39.2 at 20.
    near(ping("r1", "r2"), 20e6 + 2.0 * 19_600.0);
    near(ping("h1", "h4"), 60e6 + 2.0 * (19_600.0 + 26_133.0));
    near(ping("h1", "h9"), 80e6 + 2.0 * (19_600.0 + 26_133.0 + 39_200.0));
    near(ping("h9", "h7"), 60e6 + 2.0 * (26_133.0 + 39_200.0));
    assert_eq!(ping("h1", "nobody"), None);
    let waiting = promises.full_queues_ns("h1", "h4");
    assert_eq!(waiting, Some(0.0), "nothing is sent");
}

#[test]
fn the_five_experiments_have_the_promises_of_their_course() {
    let network = network(PORTFOLIO);
    let one = streams(1);
    let alone = Promises::new(&network, &[("h1", "h9", &one)]);
    near(alone.rate_bps(0, Way::Up), L3);
    assert_eq!(alone.rate_bps(0, Way::Down), None);
    near(alone.full_queues_ns("h1", "h9"), FULL_L3_NS);

    let two = Promises::new(&network, &[("h1", "h4", &one), ("h2", "h5", &one)]);
    near(two.rate_bps(0, Way::Up), L2 / 2.0);
    near(two.full_queues_ns("h2", "h5"), FULL_L2_NS);

    // They share L2; L3 has room.
    let crossing = Promises::new(&network, &[("h1", "h4", &one), ("h7", "h9", &one)]);
    near(crossing.rate_bps(0, Way::Up), L2 / 2.0);
    near(crossing.rate_bps(1, Way::Up), L2 / 2.0);
    near(crossing.full_queues_ns("h7", "h9"), FULL_L2_NS);

    let apart = Promises::new(&network, &[("h1", "h4", &one), ("h8", "h9", &one)]);
    near(apart.rate_bps(0, Way::Up), L2);
    near(apart.rate_bps(1, Way::Up), L3);
    near(apart.full_queues_ns("h1", "h4"), FULL_L2_NS);
    near(apart.full_queues_ns("h8", "h9"), FULL_L3_NS);

    let (pair, one) = (streams(2), streams(1));
    let parallel =
        Promises::new(&network, &[("h1", "h4", &pair), ("h2", "h5", &one), ("h3", "h6", &one)]);
    near(parallel.rate_bps(0, Way::Up), L2 / 2.0);
    near(parallel.rate_bps(2, Way::Up), L2 / 4.0);
    assert_eq!(parallel.connections(0, Way::Up), Some(2));
}

#[test]
fn who_is_held_back_elsewhere_leaves_room_to_others() {
    let network = network(PORTFOLIO);
    let one = streams(1);
    let many = streams(3);
    // Three to h9 get 20 of L2's 30 Mbit/s at the most; one to h4 gets a fourth of it as long as that is more than 10.
    let promises = Promises::new(&network, &[("h1", "h9", &many), ("h2", "h5", &one)]);
    near(promises.rate_bps(0, Way::Up), L3);
    near(promises.rate_bps(1, Way::Up), L2 - L3);
    // A stream that is held back by its own rate takes no more.
    let slow = up(Load::Streams { connections: 1, rate_bps: Some(1e6) });
    let promises = Promises::new(&network, &[("h1", "h4", &slow), ("h2", "h5", &one)]);
    near(promises.rate_bps(0, Way::Up), 1e6);
    near(promises.rate_bps(1, Way::Up), L2 - 1e6);
    near(promises.full_queues_ns("h1", "h4"), FULL_L2_NS);
    let alone = Promises::new(&network, &[("h1", "h4", &slow)]);
    assert_eq!(alone.full_queues_ns("h1", "h4"), Some(0.0));
}

#[test]
fn datagrams_lose_what_a_link_cannot_carry() {
    let network = network(PORTFOLIO);
    let ninety = datagrams(90.0 * 1_048_576.0);
    let promises = Promises::new(&network, &[("h1", "h4", &ninety)]);
    // 30 Mbit/s of frames of 1512 bytes with 1470 of payload.
    let arrives = 30e6 * 1470.0 / 1512.0;
    near(promises.rate_bps(0, Way::Up), arrives);
    near(promises.lost_share(0, Way::Up), 1.0 - arrives / (90.0 * 1_048_576.0));
    // Full at L1 as well as at L2.
    let waiting = 67.0 * 1512.0 * 8e9 / 40e6 + 100.0 * 1512.0 * 8e9 / 30e6;
    near(promises.full_queues_ns("h1", "h4"), waiting);
    let slow = datagrams(25.0 * 1_048_576.0);
    let promises = Promises::new(&network, &[("h1", "h4", &slow)]);
    near(promises.rate_bps(0, Way::Up), 25.0 * 1_048_576.0);
    assert_eq!(promises.lost_share(0, Way::Up), Some(0.0));
    // Two at one link, each in proportion to what it offers.
    let (one, other) = (datagrams(30e6), datagrams(10e6));
    let promises = Promises::new(&network, &[("r2", "r3", &one), ("h7", "h8", &other)]);
    near(promises.rate_bps(0, Way::Up), arrives * 0.75);
    near(promises.rate_bps(1, Way::Up), arrives * 0.25);
}

#[test]
fn nothing_is_promised_where_nothing_decides() {
    let base = "hosts = ['a', 'b']\n[links]\n'a:b' = ";
    let lossy = network(&format!("{base}{{ rate = '20Mbit', loss = '1%' }}"));
    let (stream, load) = (streams(1), datagrams(10e6));
    let promises = Promises::new(&lossy, &[("a", "b", &stream)]);
    assert_eq!(promises.rate_bps(0, Way::Up), None);
    assert_eq!(promises.full_queues_ns("a", "b"), None);
    let promises = Promises::new(&lossy, &[("a", "b", &load)]);
    near(promises.lost_share(0, Way::Up), 0.01);
    // What goes the other way is alone on its link.
    let clean = network(&format!("{base}{{ rate = '20Mbit' }}"));
    let promises = Promises::new(&clean, &[("a", "b", &stream), ("a", "b", &load)]);
    assert_eq!((promises.rate_bps(0, Way::Up), promises.rate_bps(1, Way::Up)), (None, None));
    let promises = Promises::new(&clean, &[("a", "b", &stream), ("b", "a", &load)]);
    near(promises.rate_bps(0, Way::Up), L3);
    near(promises.rate_bps(1, Way::Up), 10e6);
    let plain = network(&format!("{base}{{}}"));
    let promises = Promises::new(&plain, &[("a", "b", &stream)]);
    assert_eq!(promises.rate_bps(0, Way::Up), None);
    assert_eq!(promises.full_queues_ns("a", "b"), Some(0.0));
    let unpaced = up(Load::Datagrams { flows: 1, rate_bps: None, payload_bytes: 1_470 });
    let promises = Promises::new(&clean, &[("a", "b", &unpaced)]);
    assert_eq!(promises.lost_share(0, Way::Up), None);
}

#[test]
fn losses_in_bursts_have_the_mean_of_their_chances() {
    let bursts = "burst:1%,30%".parse().expect("words of a loss");
    near(Some(mean_loss(bursts)), 0.01 / 0.31);
    assert!(mean_loss(Loss::None).abs() < f64::EPSILON);
}

#[test]
fn a_link_behind_one_as_slow_has_no_queue() {
    let text = "hosts = ['a', 'b', 'c']\nrouters = ['r']\n[links]\n'a:r' = { rate = '20Mbit', queue = '33p' }\n\
                'c:r' = { rate = '20Mbit', queue = '33p' }\n'r:b' = { rate = '20Mbit', queue = '50p' }";
    let network = network(text);
    let (one, load) = (streams(1), datagrams(30e6));
    for alone in [&one, &load] {
        let frame = if alone == &one { 1514.0 } else { 1512.0 };
        let promises = Promises::new(&network, &[("a", "b", alone)]);
        near(promises.full_queues_ns("a", "b"), 33.0 * frame * 8e9 / 20e6);
        // Nobody comes from there.
        assert_eq!(promises.full_queues_ns("b", "c"), Some(0.0));
    }
    // Two that come by links of their own can fill the third.
    let both = Promises::new(&network, &[("a", "b", &one), ("c", "b", &one)]);
    near(both.full_queues_ns("a", "b"), 50.0 * 1514.0 * 8e9 / 20e6);
}

#[test]
fn who_has_no_limit_takes_no_promise_from_others() {
    let network = network(PORTFOLIO);
    let one = streams(1);
    // Plain wires to h2.
    let promises = Promises::new(&network, &[("h1", "h2", &one), ("h1", "h4", &one)]);
    assert_eq!(promises.rate_bps(0, Way::Up), None);
    near(promises.rate_bps(1, Way::Up), L2);
    // Datagrams as fast as they go leave nothing to be said of those beside them.
    let flat_out = up(Load::Datagrams { flows: 1, rate_bps: None, payload_bytes: 1_470 });
    let slow = datagrams(1e6);
    let promises = Promises::new(&network, &[("h1", "h4", &flat_out), ("h2", "h5", &slow)]);
    assert_eq!(promises.rate_bps(1, Way::Up), None);
    assert_eq!(promises.full_queues_ns("h1", "h4"), None);
    let fragments = up(Load::Datagrams { flows: 1, rate_bps: Some(1e6), payload_bytes: 8_000 });
    let promises = Promises::new(&network, &[("h1", "h4", &fragments)]);
    assert_eq!(promises.rate_bps(0, Way::Up), None);
}

#[test]
fn headers_are_those_of_the_family_that_a_node_is_called_by() {
    let text =
        "hosts = ['a', 'b']\n[links.'a:b']\nrate = '20Mbit'\ndelay = '5ms'\nsubnet = 'fd00:8::/64'";
    let network = network(text);
    let promises = Promises::new(&network, &[("a", "b", &streams(1))]);
    near(promises.rate_bps(0, Way::Up), 20e6 * 1428.0 / 1514.0);
    near(promises.idle_rtt_ns("a", "b", PING, Which::Mean), 10e6 + 2.0 * 118.0 * 8e9 / 20e6);
}

#[test]
fn of_delays_that_differ_by_chance_the_least_is_promised() {
    let text = "hosts = ['a', 'b']\n[links]\n'a:b' = { delay = '5ms', jitter = '2ms' }";
    let network = network(text);
    let promises = Promises::new(&network, &[]);
    near(promises.idle_rtt_ns("a", "b", PING, Which::Least), 6e6);
    assert_eq!(promises.idle_rtt_ns("a", "b", PING, Which::Mean), None);
}
