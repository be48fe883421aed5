//! This program as a program on a lab's node: where it is, for the result, and whether the lab kept up
//! while it measured.
//!
//! Known from the environment that `lab exec` leaves. A lab that cannot be asked is no reason not to
//! measure: the result then says so.

use std::env;
use std::path::PathBuf;

use pathscope_core::record::{Caveat, Host, LabNode, Tool};
use pathscope_lab::harness;
use pathscope_lab::relay::RelayAccount;
use pathscope_lab::running::{
    LAB_VARIABLE, NODE_VARIABLE, REGISTRY_VARIABLE, Registry, RunningLab, TOKEN_VARIABLE,
};

use pathscope_os::host;

use super::counts;
use pathscope_lab::findings::LabCaveat;

/// A lab that this program is in.
pub struct Presence {
    registry: Registry,
    running: RunningLab,
    node: String,
}

impl Presence {
    /// Where this program is on a node of a lab that is up.
    pub fn find() -> Option<Self> {
        let word = |name| env::var(name).ok();
        let registry = Registry::at(PathBuf::from(env::var_os(REGISTRY_VARIABLE)?));
        let running = registry.find(Some(&word(LAB_VARIABLE)?)).ok()?;
        // Another lab may have taken the name since.
        if word(TOKEN_VARIABLE)? != running.token {
            return None;
        }
        Some(Self { node: word(NODE_VARIABLE)?, registry, running })
    }

    /// As results name it.
    pub fn node(&self) -> LabNode {
        LabNode {
            lab: self.running.name.clone(),
            node: self.node.clone(),
            shaper: self.running.shaper.to_string(),
            seed: self.running.seed,
        }
    }

    /// Watches the lab from now on: what it, and not the path, did to packets until the answer is asked for.
    pub fn watch(self) -> impl FnOnce() -> Vec<Caveat> {
        let before = self.account();
        move || {
            let since = before.and_then(|before| Ok(self.account()?.since(&before)));
            match since {
                Ok(account) => {
                    let invalid = |it| Caveat::new(LabCaveat::Invalid, counts::sentence(it));
                    account.shortcomings().iter().map(invalid).collect()
                }
                Err(why) => {
                    let text = format!("whether the lab kept up is not known: {why}");
                    vec![Caveat::new(LabCaveat::Unknown, text)]
                }
            }
        }
    }

    fn account(&self) -> Result<RelayAccount, String> {
        harness::account(&self.registry, &self.running).map_err(|error| error.to_string())
    }
}

/// This end, as results describe it.
pub fn here(presence: Option<&Presence>) -> Host {
    Host { tool: tool(), lab: presence.map(Presence::node), ..host::facts() }
}

/// This program.
pub fn tool() -> Tool {
    Tool { name: "pathscope".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}
