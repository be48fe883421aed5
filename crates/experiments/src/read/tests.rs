//! What is read of a file, and which faults of it are told.

use super::*;

const NETWORK: &str = "hosts = ['a', 'b']\nswitches = ['s']\n[links]\n\
    'a:s' = { rate = '20Mbit', delay = '10ms', queue = '33p' }\n's:b' = {}\n";

fn read(experiments: &str) -> Result<Plan, String> {
    Plan::read("x.toml", &format!("{NETWORK}{experiments}")).map_err(|error| error.to_string())
}

/// A step with these runs and expectations.
fn step(runs: &str, expect: &str) -> Result<Plan, String> {
    read(&format!("[[experiments.one.steps]]\nruns = [{runs}]\nexpect = [{expect}]"))
}

const PING: &str = "{ from = 'a', to = 'b', run = 'ping -c 3 {to}' }";

#[test]
fn a_step_is_read_as_it_is_meant() {
    let plan = read(
        "[experiments.1]\ntitle = 'Rates'\nduration = '25s'\n[[experiments.1.steps]]\nname = 'a-b'\nrepeat = 3\n\
         runs = [{ from = 'a', to = 'b', run = 'ping -c 3 {to}' },\n\
         { from = 'a', to = 'b', run = ['pathscope', 'goodput', '{to}'], name = 'load', after = 'ping' }]\n\
         expect = [{ figure = 'ping.rtt.mean', within = '1ms', published = '22.5ms' },\n\
         { jain = 'goodput.rate.up', is = '1', below = '10%' }]",
    )
    .expect("it is right");
    let experiment = &plan.experiments[0];
    assert_eq!((experiment.name.as_str(), experiment.title.as_str()), ("1", "Rates"));
    let step = &experiment.steps[0];
    assert_eq!((step.name.as_str(), step.repeat, step.duration), ("a-b", 3, Period::from_secs(25)));
    assert_eq!(step.limit(), Period::from_secs(140));
    let shorter = plan.clone().lasting(Period::from_secs(5));
    assert_eq!(shorter.experiments[0].steps[0].limit(), Period::from_secs(60));
    assert_eq!((step.runs[1].name.as_str(), step.runs[1].after), ("load", Some(0)));
    assert!(!step.overlap(0, 1) && !step.overlap(1, 0));
    let [ping, jain] = &step.expectations[..] else { panic!("two") };
    assert_eq!((ping.of, ping.published, ping.stated), (Of::Run(0), Some(22.5e6), None));
    assert_eq!(ping.above, Some(Tolerance::Absolute(1e6)));
    assert_eq!((jain.of, jain.stated, jain.above), (Of::Jain, Some(1.0), None));
    assert_eq!(jain.below, Some(Tolerance::Relative(0.1)));
}

#[test]
fn what_cannot_be_is_told_with_its_line_and_what_is_allowed() {
    let two = "{ from = 'a', to = 'b', run = 'ping {to}' }, { name = 'x', from = 'b', to = 'a', run = 'ping {to}' }";
    let cases = [
        ("{ from = 'c', to = 'b', run = 'ping {to}' }", "", "there is no node `c`; there are a, b"),
        (
            "{ from = 's', to = 'b', run = 'ping {to}' }",
            "",
            "`s` is a switch, and no program runs there",
        ),
        ("{ to = 'b', run = 'ping {to}' }", "", "the run `ping` says not from which node"),
        ("{ from = 'a', run = 'ping {to}' }", "", "the run `ping` says not to which node"),
        ("{ from = 'a', run = 'pathscope goodput b' }", "", "says not to which node"),
        ("{ from = 'a', to = 'b' }", "", "a run says what it starts"),
        ("{ from = 'a', to = 'b', run = 'ping', when = 'now' }", "", "there is no key `when`"),
        (
            "{ from = 'a', to = 'b', run = 'pathscope survey {to}' }",
            "",
            "'pathscope survey' measures nothing between two nodes",
        ),
        (
            "{ from = 'a', to = 'b', run = 'pathscope goodput {to} -o x' }",
            "",
            "-o cannot be said of pathscope",
        ),
        (
            "{ from = 'a', to = 'b', run = 'ping {to}', after = 'load' }",
            "",
            "no run above it is called `load`",
        ),
        ("{ from = 'a', run = 'ls' }, { from = 'a', run = 'ls' }", "", "two runs are called `ls`"),
        (PING, "{ figure = 'ping.rtt' }", "there is no figure ping.rtt"),
        (PING, "{ figure = 'goodput.rate.up' }", "no run of the step has goodput.rate.up"),
        (PING, "{ figure = 'ping.rtt.mean', within = '1' }", "within: "),
        (PING, "{ figure = 'ping.rtt.mean', within = '-1%' }", "is no distance from 0 on"),
        (
            PING,
            "{ figure = 'ping.received', within = '1' }",
            "links promise nothing of ping.received; say what it is to be",
        ),
        (
            PING,
            "{ figure = 'ping.rtt.mean', is = '1ms', within = '10%' }",
            "this cannot come true: between a and b a round trip takes ",
        ),
        (
            "{ from = 'a', to = 'b', run = 'iperf3 -c {to}' }",
            "{ figure = 'iperf3.rate', is = '1Gbit', within = '3%' }",
            "this cannot come true: between a and b no more than ",
        ),
        (
            "{ from = 'a', to = 'b', run = 'iperf3 -c {to} -u' }",
            "{ figure = 'iperf3.lost_share', is = '150%', within = '1%' }",
            "this cannot come true: a share is between 0 and 100 %",
        ),
        (PING, "{ within = '1ms' }", "an expectation is of one of figure, sum and jain"),
        (PING, "{ jain = 'ping.rtt.mean' }", "Jain's index is of rates"),
        (
            two,
            "{ figure = 'ping.rtt.mean' }",
            "several runs have ping.rtt.mean; say whose: run = one of ping, x",
        ),
        (
            two,
            "{ figure = 'ping.rtt.mean', run = 'y' }",
            "no run that has ping.rtt.mean is called `y`; there are ping, x",
        ),
        ("", "", "it starts nothing"),
        (
            "{ name = 'x', from = 'a', to = 'b', run = 'iperf3 -c {to}' }, { from = 'a', to = 'b', run = 'iperf3 -c {to}' }",
            "",
            "the servers of `x` and `iperf3` would take the same port of the same node; let one wait: after = `x`",
        ),
        (
            "{ from = 'a', to = 'b', run = 'iperf3 -c {to}' }, { name = 'x', from = 'a', to = 'b', run = 'iperf3 -c {to}', after = 'iperf3' }",
            "{ sum = 'iperf3.rate' }",
            "come one after another, and nothing is the sum of them",
        ),
        (
            "{ from = 'a', to = 'b', run = 'pathscope goodput {to} --protocol udp' }",
            "{ figure = 'goodput.rate.up' }",
            "no run of the step has goodput.rate.up",
        ),
        (
            "{ from = 'a', to = 'b', run = 'pathscope goodput {to} -p5300' }",
            "",
            "-p5300 cannot be said of pathscope",
        ),
    ];
    for (runs, expect, text) in cases {
        let error = step(runs, expect).expect_err(text);
        assert!(error.contains(text), "{error}\nis not\n{text}");
        assert!(error.starts_with("x.toml:"), "{error}");
    }
    let error = step(
        "{ from = 'a', to = 'b', run = 'ping {to}' }",
        "{ figure = 'ping.rtt.mean', of = 'x' }",
    );
    assert!(error.expect_err("no such key").contains("there is no key `of`"));
}

#[test]
fn a_file_without_experiments_says_what_is_missing() {
    assert!(read("").expect_err("none").contains("it states no experiments"));
    assert!(read("[experiments.x]\n").expect_err("no steps").contains("it has no steps"));
    let error = read("experiments = 3").expect_err("no table");
    assert!(error.contains("is not a table"), "{error}");
    assert!(read("[experiments]\n").expect_err("none").contains("it states no experiments"));
}

#[test]
fn values_are_read_in_units_that_suit_them() {
    assert_eq!(value("28.35Mbit", Unit::BitRate), Ok(28.35e6));
    assert_eq!(value("66.651ms", Unit::Duration), Ok(66_651_000.0));
    assert_eq!(value("69%", Unit::Share), Ok(0.69));
    assert_eq!(value("0.92", Unit::Number), Ok(0.92));
    for (typed, unit) in
        [("28", Unit::BitRate), ("x", Unit::Share), ("NaN", Unit::Number), ("1", Unit::Share)]
    {
        assert!(value(typed, unit).is_err(), "{typed}");
    }
}
