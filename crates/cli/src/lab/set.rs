//! Changing links: words to orders.

use pathscope_core::quantity::Period;
use pathscope_lab::link::Order;
use pathscope_lab::running::{Registry, Request, SetOrder, ask};

use super::args::SetArgs;
use crate::Trouble;

/// Tells a link what to do, now and later.
pub fn set(registry: &Registry, args: &SetArgs) -> Result<(), Trouble> {
    let running = super::find(registry, &args.which)?;
    let orders = steps(&args.words)?
        .into_iter()
        .map(|(after, order)| SetOrder {
            link: args.link.clone(),
            from: args.from.clone(),
            order,
            after_ns: after.0,
        })
        .collect();
    ask(registry, &running, &Request::Set(orders)).map(drop).map_err(|error| super::trouble(&error))
}

/// `loss=1% at 5s cut at 10s restore`: three steps. Words may stand before their time, too, as in
/// `loss=1% at 5s` at the end of the line.
fn steps(words: &[String]) -> Result<Vec<(Period, Order)>, Trouble> {
    let groups: Vec<&[String]> = words.split(|word| word == "at").collect();
    let [first, later @ ..] = groups.as_slice() else { return Err(nothing()) };
    let mut steps = Vec::new();
    let mut pending = *first;
    for (index, group) in later.iter().enumerate() {
        let Some((time, rest)) = group.split_first() else {
            return Err(Trouble::usage("'at' wants a time behind it, such as 5s"));
        };
        let time: Period =
            time.parse().map_err(|error| Trouble::usage(format!("'at {time}': {error}")))?;
        let is_last = index + 1 == later.len();
        if rest.is_empty() && is_last && !pending.is_empty() {
            steps.push((time, order(pending)?));
            pending = &[];
        } else {
            push(&mut steps, Period(0), pending)?;
            pending = &[];
            if rest.is_empty() {
                return Err(nothing());
            }
            steps.push((time, order(rest)?));
        }
    }
    push(&mut steps, Period(0), pending)?;
    Ok(steps)
}

fn push(steps: &mut Vec<(Period, Order)>, time: Period, words: &[String]) -> Result<(), Trouble> {
    if !words.is_empty() {
        steps.push((time, order(words)?));
    }
    Ok(())
}

fn order(words: &[String]) -> Result<Order, Trouble> {
    Order::from_words(words.iter().map(String::as_str))
        .map_err(|error| Trouble::usage(format!("cannot {error}")))
}

fn nothing() -> Trouble {
    Trouble::usage("say what the link is to do: KEY=VALUE, 'cut' or 'restore'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Vec<(u64, String)> {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let steps = steps(&words).expect("it can be read");
        steps.into_iter().map(|(time, order)| (time.0, order.to_string())).collect()
    }

    #[test]
    fn words_before_and_behind_their_time() {
        assert_eq!(read("loss=1%"), [(0, "loss=1%".to_owned())]);
        assert_eq!(read("loss=1% at 5s"), [(5_000_000_000, "loss=1%".to_owned())]);
        assert_eq!(
            read("delay=2ms loss=1% at 5s cut at 10s restore"),
            [
                (0, "delay=2ms loss=1%".to_owned()),
                (5_000_000_000, "cut".to_owned()),
                (10_000_000_000, "restore".to_owned()),
            ]
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for words in ["at", "at 5s", "at soon loss=1%", "loss=1% at 5s at 6s", "speed=3"] {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            assert!(steps(&words).is_err(), "{words:?}");
        }
    }
}
