//! Pages of numbers whose figures are known by hand.

use super::*;

fn stamps(sent_us: u64, received_us: impl Into<Option<u64>>) -> Stamps {
    Stamps { sent_us: Some(sent_us), echoed_us: None, received_us: received_us.into() }
}

const NONE: Stamps = Stamps { sent_us: None, echoed_us: None, received_us: None };

#[test]
fn a_page_says_what_became_of_each_number() {
    let mut statistics = Statistics::default();
    // 4 ms and 6 ms; then the secondary first; then lost on the primary; then on both; then not sent on the secondary.
    statistics.add(&[stamps(0, 4_000), stamps(10, 6_010)]);
    statistics.add(&[stamps(1_000_000, 1_008_000), stamps(1_000_010, 1_003_010)]);
    statistics.add(&[stamps(2_000_000, None), stamps(2_000_010, 2_007_000)]);
    statistics.add(&[stamps(3_000_000, None), stamps(3_000_010, None)]);
    statistics.add(&[stamps(4_000_000, 4_002_000), NONE]);
    statistics.set_corrupt([1, 0]);
    let page = "
-----------------------------------------------------------------------
                            STATISTICS
-----------------------------------------------------------------------

--- OVERVIEW ---

5 kB (5 datagrams) were sent in 4.00 seconds. The effective bitrate was 10.00 kb/s.

The secondary interface prevented 1 lost datagrams
The secondary interface reduced the overall time waiting for datagrams by 0.00 ms (0.00%)
2 datagrams were received first on the secondary interface (50.00%)

--- DETAILS ---

Sent datagrams on primary interface: 5
Sent datagrams on secondary interface: 4

Received datagrams on primary interface: 3 (60.00%)
Received datagrams on secondary interface: 3 (75.00%)

Lost datagrams on primary interface: 2 (40.00%)
Lost datagrams on secondary interface: 1 (25.00%)
Lost datagrams on both interface simultaneously: 1 (20.00%)

Average latency on primary interface: 4.66 ms
Average latency on secondary interface: 5.33 ms
Average effective latency on combined interface: 4.00 ms (14.16% improvement over primary)

Jitter (standard deviation) on primary interface: 2.49 ms
Jitter (standard deviation) on secondary interface: 1.69 ms
Jitter (standard deviation) on combined interfaces: 1.87 ms

Median latency on primary interface: 4.00 ms
Median latency on secondary interface: 6.00 ms
Median effective latency on combined interfaces: 4.00 ms (0.00% improvement over primary)

Interquartile range on primary interface: 6.00 ms
Interquartile range on secondary interface: 3.99 ms
Interquartile range latency on combined interfaces: 3.99 ms

Minimum / Maximum latency on primary interface: 2.00 ms / 8.00 ms
Minimum / Maximum latency on secondary interface: 3.00 ms / 6.99 ms

Corrupt datagrams on primary interface: 1
Corrupt datagrams on secondary interface: 0
";
    assert_eq!(statistics.page(), page);
}

#[test]
fn where_nothing_came_there_is_no_figure() {
    let mut statistics = Statistics::default();
    statistics.add(&[stamps(0, None), NONE]);
    let page = statistics.page();
    for line in [
        "1 kB (1 datagrams) were sent in 0.00 seconds. The effective bitrate was 0.00 kb/s.",
        "Received datagrams on secondary interface: 0 (0.00%)",
        "Lost datagrams on both interface simultaneously: 1 (100.00%)",
        "Average latency on primary interface: -",
        "Average effective latency on combined interface: -",
        "Minimum / Maximum latency on secondary interface: - / -",
    ] {
        assert!(page.lines().any(|it| it == line), "{line}: {page}");
    }
    assert!(Statistics::default().page().contains("0 kB (0 datagrams)"));
}

#[test]
fn the_sample_of_the_guide_is_reproduced_by_its_rules() {
    // An hour at hd: 640 numbers a second, but for the last.
    assert_eq!(share(2_300_051, 2_303_999), " (99.82%)");
    assert_eq!(share(2_294_709, 2_296_109), " (99.93%)");
    assert_eq!(share(3_948, 2_303_999), " (0.17%)");
    assert_eq!(share(266_538, 2_302_991), " (11.57%)");
    let (length, shown) = seconds(3_599_998_437);
    assert_eq!(shown, "3599");
    assert_eq!(format!("{:.2}", cut(2_303_999.0 * 8.0 / length)), "5121.42");
    assert_eq!(improvement(Some(6_324.0), Some(5_697.0)), " (9.96% improvement over primary)");
    assert_eq!(improvement(Some(5_600.0), Some(5_440.0)), " (2.85% improvement over primary)");
    assert_eq!(improvement(Some(5_000.0), Some(5_050.0)), " (-1.00% improvement over primary)");
    assert_eq!(milliseconds(1_423_860_949.0), "1423860.94");
}
