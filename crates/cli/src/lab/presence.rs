//! This program as a program on a lab's node: where it is, for the result, and whether the lab kept up
//! while it measured.
//!
//! Known from the environment that `lab exec` leaves. A lab that cannot be asked is no reason not to
//! measure: the result then says so.

use std::env;
use std::path::PathBuf;

use pathscope_core::record::{Caveat, LabNode};
use pathscope_lab::harness;
use pathscope_lab::relay::RelayAccount;
use pathscope_lab::standing::{
    LAB_VARIABLE, NODE_VARIABLE, REGISTRY_VARIABLE, Registry, Standing, TOKEN_VARIABLE,
};

use super::counts;

/// A lab that this program is in.
pub struct Presence {
    registry: Registry,
    standing: Standing,
    node: String,
    /// What its relay had done when we began, or why that is not known.
    before: Result<RelayAccount, String>,
}

impl Presence {
    /// Where this program is on a node of a lab that is up.
    pub fn find() -> Option<Self> {
        let word = |name| env::var(name).ok();
        let registry = Registry::at(PathBuf::from(env::var_os(REGISTRY_VARIABLE)?));
        let standing = registry.find(Some(&word(LAB_VARIABLE)?)).ok()?;
        // Another lab may have taken the name since.
        if word(TOKEN_VARIABLE)? != standing.token {
            return None;
        }
        let before = harness::account(&registry, &standing).map_err(|error| error.to_string());
        Some(Self { node: word(NODE_VARIABLE)?, registry, standing, before })
    }

    /// As results name it.
    pub fn node(&self) -> LabNode {
        LabNode {
            lab: self.standing.name.clone(),
            node: self.node.clone(),
            shaper: self.standing.shaper.to_string(),
            seed: self.standing.seed,
        }
    }

    /// What the lab, and not the path, did to packets since this value was made.
    pub fn shortcomings(self) -> Vec<Caveat> {
        let after = harness::account(&self.registry, &self.standing);
        let since = self.before.and_then(|before| {
            after.map(|after| after.since(&before)).map_err(|error| error.to_string())
        });
        match since {
            Ok(account) => {
                let invalid = |it| Caveat::new("lab_invalid", counts::sentence(it));
                account.shortcomings().iter().map(invalid).collect()
            }
            Err(why) => {
                let text = format!("whether the lab kept up is not known: {why}");
                vec![Caveat::new("lab_unknown", text)]
            }
        }
    }
}
