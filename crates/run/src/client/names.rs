//! That all names of a run lead to one server, where it can be of one alone: tests that follow one another, or samples. Not the run of
//! several servers, which is `several`.

use std::net::SocketAddr;

use pathscope_core::id::{Role, Token};
use pathscope_os::{clock, random};
use pathscope_peers::dialogue::ClientDialogue;
use pathscope_peers::peer::{ClientEnd, Peer};

use super::ClientRun;
use super::one::{CONNECT_WITHIN, Leaving, take_leave};
use crate::connect::attach;
use crate::error::RunError;
use crate::records::journal::Journal;
use crate::session::driver::{Carrier, Driver, Left};

impl ClientRun<'_> {
    /// Greets the server under each name, before anything is measured with one. What says no identity is believed to be the first.
    pub(super) fn check_names<P: Peer>(&self) -> Result<(), RunError> {
        let mut names: Vec<&Vec<SocketAddr>> = Vec::new();
        for name in &self.targets {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.len() < 2 || self.company.is_some() {
            return Ok(());
        }
        let mut known: Option<(SocketAddr, Token)> = None;
        for name in names {
            let (address, Some(identity)) = self.identity::<P>(name)? else { continue };
            match known {
                Some((first, same)) if same != identity => {
                    return Err(RunError::Usage(format!(
                        "{address} leads to another server than {first}: several servers are measured at once by one \
                         test, which nothing follows (--repeat, --iterations, --step, --target-loss and the like) and which \
                         writes no samples; start a run for each, or leave that out"
                    )));
                }
                _ => known = Some((address, identity)),
            }
        }
        Ok(())
    }

    /// Which server is to be found there, if it says so.
    fn identity<P: Peer>(
        &self,
        name: &[SocketAddr],
    ) -> Result<(SocketAddr, Option<Token>), RunError> {
        let (control, server, _) =
            attach::first_control(&[name.to_vec()], CONNECT_WITHIN, self.stop)?;
        let end = ClientEnd {
            host: self.document.hosts.client.clone(),
            wants_ends: false,
            entropy: random::bytes()?,
        };
        let dialogue = P::client(end, clock::now());
        let ends = (Role::Client, P::CONVENTIONS);
        // Of no test, and so of nothing that is written down.
        let journal = Journal::default();
        let mut driver = Driver::new(dialogue, ends, (Carrier::Control(control), None), &journal)?;
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
