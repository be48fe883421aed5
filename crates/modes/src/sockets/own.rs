//! Where this end's sockets stand, as it is typed: addresses, names that have some, and interfaces by name or number. What names and
//! numbers mean is asked of the machine before a plan is made: a plan has addresses and interfaces' names.

use std::net::IpAddr;
use std::str::FromStr;

use pathscope_core::quantity::shown;

use crate::command::{Machine, Refusal};
use crate::limits::{self, PlanError};

/// An address of this end as typed: a link-local one may say which link it is of, as `fe80::1%eth0`; a star is any, and a name stands
/// for all that it has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OwnAddress {
    place: Place,
    interface: Option<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Place {
    /// Whichever the system chooses.
    Any,
    Address(IpAddr),
    Name(String),
}

impl FromStr for OwnAddress {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        if typed == "*" {
            return Ok(Self { place: Place::Any, interface: None });
        }
        let bare = typed.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(typed);
        let (address, interface) = match bare.split_once('%') {
            Some((address, interface)) => (address, Some(interface.to_owned())),
            None => (bare, None),
        };
        let parsed = address.parse().map(|address: IpAddr| address.to_canonical());
        match parsed {
            Ok(address) if interface.is_none() || address.is_ipv6() => {
                Ok(Self { place: Place::Address(address), interface })
            }
            Err(_) if is_name(typed) => {
                Ok(Self { place: Place::Name(typed.to_owned()), interface: None })
            }
            _ => Err(unknown(typed)),
        }
    }
}

/// Whether a host could be called so, and it is not a number that went wrong.
fn is_name(typed: &str) -> bool {
    let is_of_names = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    typed.bytes().all(is_of_names) && typed.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn unknown(typed: &str) -> String {
    let typed = shown(typed);
    format!(
        "'{typed}' is no address and no name; write 192.0.2.1, 2001:db8::1, fe80::1%eth0 or a name that has addresses of this machine"
    )
}

/// Puts all addresses of a name in its place, and its name in that of an interface's number.
pub(crate) fn settle(
    bind: &mut Vec<OwnAddress>,
    interface: &mut Option<String>,
    machine: &dyn Machine,
) -> Result<(), Refusal> {
    let mut settled = Vec::new();
    for OwnAddress { place, interface } in std::mem::take(bind) {
        let interface = interface.map(|typed| interface_of(typed, machine)).transpose()?;
        let Place::Name(name) = &place else {
            settled.push(OwnAddress { place, interface });
            continue;
        };
        let addresses = machine.addresses(name).map_err(|why| why.of("--bind"))?;
        let own = |address| OwnAddress { place: Place::Address(address), interface: None };
        settled.extend(addresses.into_iter().map(own));
    }
    *bind = settled;
    if let Some(typed) = interface.take() {
        *interface = Some(interface_of(typed, machine).map_err(|why| why.of("--interface"))?);
    }
    Ok(())
}

/// The name of an interface of which the number was typed.
pub(crate) fn interface_of(typed: String, machine: &dyn Machine) -> Result<String, Refusal> {
    if typed.parse::<u32>().is_ok() { machine.interface(&typed) } else { Ok(typed) }
}

/// Where this end's sockets stand: its addresses, and the interface that was named, by itself or behind an address.
pub(crate) fn own_place(
    bind: Vec<OwnAddress>,
    interface: Option<String>,
) -> Result<(Vec<IpAddr>, Option<String>), PlanError> {
    let mut links = bind.iter().filter_map(|own| own.interface.as_ref());
    let named = interface.or_else(|| links.next().cloned());
    let is_torn = links.any(|link| Some(link) != named.as_ref());
    let advice = "all sockets of a test are on one interface: name one";
    let both = ["one interface", "another in --bind ADDRESS%INTERFACE"];
    limits::not_both(both, is_torn, advice)?;
    let mut addresses = Vec::new();
    for own in bind {
        match own.place {
            Place::Any => {}
            Place::Address(address) => addresses.push(address),
            // Nobody was asked what it stands for.
            Place::Name(name) => return Err(PlanError::unfit("--bind", unknown(&name))),
        }
    }
    Ok((addresses, named))
}

#[cfg(test)]
mod tests {
    use pathscope_core::error::Failure;

    use super::*;

    /// It knows one name, and one interface.
    struct Known;

    impl Machine for Known {
        fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, Refusal> {
            let known = ["192.0.2.1", "192.0.2.2", "2001:db8::1"];
            let known = known.map(|address| address.parse().expect("an address"));
            if name == "here.example" { Ok(known.to_vec()) } else { Err(refused(name)) }
        }

        fn interface(&self, number: &str) -> Result<String, Refusal> {
            if number == "7" { Ok("eth0".to_owned()) } else { Err(refused(number)) }
        }
    }

    fn refused(what: &str) -> Refusal {
        Refusal { failure: Failure::Unsupported, text: format!("no {what}") }
    }

    fn placed(
        typed: &[&str],
        interface: Option<&str>,
    ) -> Result<(Vec<String>, Option<String>), Refusal> {
        let mut bind = typed.iter().map(|typed| typed.parse().expect("it can be")).collect();
        let mut interface = interface.map(str::to_owned);
        settle(&mut bind, &mut interface, &Known)?;
        let (addresses, interface) = own_place(bind, interface)?;
        Ok((addresses.iter().map(IpAddr::to_string).collect(), interface))
    }

    #[test]
    fn a_name_stands_for_all_of_its_addresses_in_its_place() {
        let (addresses, _) =
            placed(&["::1", "here.example", "*", "127.0.0.1"], None).expect("known");
        let expected = ["::1", "192.0.2.1", "192.0.2.2", "2001:db8::1", "127.0.0.1"];
        assert_eq!(addresses, expected);
        let refused = placed(&["there"], None).expect_err("it is not known");
        assert_eq!(
            (refused.failure, refused.text.as_str()),
            (Failure::Unsupported, "--bind: no there")
        );
    }

    #[test]
    fn an_interface_has_a_name_and_a_number() {
        let eth0 = Some("eth0".to_owned());
        for (bind, interface) in
            [(vec![], Some("7")), (vec!["fe80::1%7"], None), (vec!["fe80::1%7"], Some("eth0"))]
        {
            let (_, placed) = placed(&bind, interface).expect("known");
            assert_eq!(placed, eth0, "{bind:?} {interface:?}");
        }
        // What is no number is a name, whether there is such an interface or not.
        let (_, named) = placed(&[], Some("eth9")).expect("a name");
        assert_eq!(named.as_deref(), Some("eth9"));
        assert_eq!(placed(&[], Some("8")).expect_err("not there").text, "--interface: no 8");
    }

    #[test]
    fn a_name_that_nobody_looked_up_is_no_address() {
        let bind = vec!["here.example".parse().expect("a name")];
        let error = own_place(bind, None).expect_err("it is a name").to_string();
        assert!(error.contains("'here.example' is no address"), "{error}");
    }
}
