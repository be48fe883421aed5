//! No text makes the reader or the judge panic, and what is right stays right when it is read again.

use proptest::prelude::*;

use super::PORTFOLIO;
use crate::topology::{MOST_FAULTS, Network, Topology};

/// Every address that a packet can be sent to is one that somebody has, and every name fits.
fn is_whole(network: &Network) -> bool {
    network.nodes().iter().all(|node| {
        let fits = node.interfaces.iter().all(|it| it.name.len() <= 15);
        let leads = node.routes.iter().all(|route| {
            let interface = &node.interfaces[route.interface];
            interface.neighbours.iter().any(|it| it.address == route.gateway)
                && interface.addresses.iter().any(|it| it.address == route.source)
        });
        fits && leads
    })
}

fn judge(text: &str) -> Result<(), TestCaseError> {
    match Topology::read("x.toml", text).network() {
        Ok(network) => prop_assert!(is_whole(&network), "{network:?}"),
        Err(faults) => {
            prop_assert!((1..=MOST_FAULTS).contains(&faults.first().len()));
            prop_assert!(faults.to_string().starts_with("x.toml:"));
        }
    }
    Ok(())
}

fn word() -> impl Strategy<Value = String> {
    let words = [
        "h1",
        "r1",
        "r2",
        "s1",
        "\"",
        "\"r1:r2\"",
        "\"r9:r2\"",
        "=",
        "{}",
        "{",
        "}",
        "[",
        "]",
        "\n",
        "#",
        "[links]",
        "[links.\"r1:r2\"]",
        "rate",
        "\"40Mbit\"",
        "\"0bit\"",
        "queue",
        "\"0p\"",
        "subnet",
        "\"10.0.0.0/8\"",
        "\"fd00::/127\"",
        "mtu",
        "1279",
        "-1",
        "1e400",
        "addresses",
        "routes",
        "default",
        "isolated = true\n",
        "seed",
        ".",
        ",",
        "forward",
        "hosts",
        "switches",
        "routers",
        "é",
        "\u{0}",
    ];
    proptest::sample::select(words.to_vec()).prop_map(str::to_owned)
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        judge(&text)?;
    }

    #[test]
    fn no_words_make_it_panic(words in prop::collection::vec(word(), 0..40)) {
        judge(&words.join(" "))?;
        judge(&words.concat())?;
    }

    #[test]
    fn no_change_to_the_portfolio_makes_it_panic(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..12_usize, word()), 1..6),
    ) {
        let mut text = PORTFOLIO.to_owned();
        for (at, length, word) in cuts {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let from = at.index(places.len());
            let to = (from + length).min(places.len() - 1);
            text.replace_range(places[from]..places[to], &word);
        }
        judge(&text)?;
    }

    #[test]
    fn lines_of_the_portfolio_may_be_missing_or_stand_elsewhere(
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..60),
    ) {
        let lines: Vec<&str> = PORTFOLIO.lines().collect();
        let text: Vec<&str> = order.iter().map(|index| *index.get(&lines)).collect();
        judge(&text.join("\n"))?;
    }

    #[test]
    fn routers_joined_at_random_give_routes_that_arrive(
        pairs in prop::collection::vec((0..8_usize, 0..8_usize), 0..20),
    ) {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let mut topology = Topology::named("x.toml:").routers(names);
        for name in names {
            let host = format!("{name}1");
            topology = topology.host(&host).link(&host, name);
        }
        // A line joins them all; the rest is chance.
        let line = (0..7).map(|index| (index, index + 1));
        for (one, other) in line.chain(pairs).filter(|(one, other)| one != other) {
            topology = topology.link(names[one], names[other]);
        }
        match topology.network() {
            Ok(network) => prop_assert!(is_whole(&network)),
            Err(faults) => prop_assert!(faults.to_string().contains("9 links"), "{faults}"),
        }
    }
}
