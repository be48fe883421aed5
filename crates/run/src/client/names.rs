//! That all names of a run lead to one server, where it can be of one alone: tests that follow one another, or samples; and where the
//! control connection comes from. Not the run of several servers, which is `several`.

use std::net::SocketAddr;

use pathscope_core::id::Token;
use pathscope_peers::dialogue::ClientDialogue;
use pathscope_peers::peer::{KnownBy, Peer};

use super::ClientRun;
use super::one::{Leaving, take_leave};
use crate::connect::attach::{self, ControlFrom};
use crate::error::RunError;
use crate::records::journal::Journal;
use crate::session::driver::{Carrier, Left};

impl ClientRun<'_> {
    /// Greets the server under each name, before anything is measured with one. What says no identity is believed to be the first.
    pub(super) fn check_names<P: Peer>(&self) -> Result<(), RunError> {
        // Words that lead to the same addresses need no asking.
        if self.company.is_some() || self.targets.iter().all(|name| *name == self.targets[0]) {
            return Ok(());
        }
        if P::KNOWN_BY != KnownBy::Seat {
            return Err(RunError::Usage(format!(
                "{} servers do not say which of several names are theirs: several servers are measured at once by one test, which \
                 nothing follows (--repeat, --sweep, --find-rate, --interleave-with) and which writes no samples; start a run for each, \
                 or leave that out",
                P::NAME
            )));
        }
        let mut known: Option<(SocketAddr, Token)> = None;
        for name in &self.targets {
            let (address, Some(identity)) = self.identity::<P>(name)? else { continue };
            match known {
                Some((first, same)) if same != identity => {
                    return Err(RunError::Usage(format!(
                        "{address} leads to another server than {first}: several servers are measured at once by one \
                         test, which nothing follows (--repeat, media --iterations, --sweep, --find-rate, --interleave-with) and \
                         which writes no samples; start a run for each, or leave that out"
                    )));
                }
                _ => known = Some((address, identity)),
            }
        }
        Ok(())
    }

    /// Where the control connection comes from: to a server that knows flows by where they come from, from the same as they do.
    pub(super) fn control_from(&self) -> ControlFrom {
        let first = self.tests.list.first().map(|(_, test)| &test.plan);
        let sockets = first.and_then(|plan| plan.asks().sockets);
        match sockets.filter(|_| self.peer.known_by() != KnownBy::Seat) {
            None => ControlFrom::default(),
            Some(own) => {
                ControlFrom { addresses: own.bind.clone(), interface: own.interface.clone() }
            }
        }
    }

    /// Which server is to be found there, if it says so.
    fn identity<P: Peer>(
        &self,
        name: &[SocketAddr],
    ) -> Result<(SocketAddr, Option<Token>), RunError> {
        let (control, server, _) = attach::first_control(
            &[name.to_vec()],
            &self.control_from(),
            (self.connect_within, self.stop),
        )?;
        // Of no test, and so of nothing that is written down.
        let mut driver =
            self.driver::<P>(Carrier::Control(control, server), &Journal::default())?;
        let _hearing = self.stop.tell(&driver.inbox);
        let left = driver.drive_until(&mut Leaving, |it| it.peer_facts().is_some());
        if let Some(Left::Ended(result)) = left {
            return result.and(Err(RunError::LeftEarly));
        }
        let identity = driver.dialogue.server_identity();
        take_leave(&mut driver);
        Ok((server, identity))
    }
}
