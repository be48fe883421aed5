//! What a server is told of a test beside what it is (`--title` and the like): words of whoever measures, for kinds of servers that have a
//! place for them.

use clap::Args;
use pathscope_core::record::Remarks;
use pathscope_peers::peer::Peer;
use pathscope_peers::registry::{PeerKind, PeerVisitor};

use crate::Trouble;

/// What was typed.
#[derive(Args, Clone, Debug, Default)]
pub struct RemarkArgs {
    /// With --peer iperf3: what the test is called, which the server's JSON has
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// With --peer iperf3: what else the server's JSON is to have
    #[arg(long, value_name = "TEXT")]
    extra_data: Option<String>,
    /// With --peer iperf3: ask for what the server prints of the test, and keep it in the result (--json, --output)
    #[arg(long)]
    server_output: bool,
}

impl RemarkArgs {
    /// What a server of this kind is told.
    pub fn told_to(&self, kind: PeerKind) -> Result<Remarks, Trouble> {
        let remarks = Remarks {
            title: self.title.clone(),
            extra_data: self.extra_data.clone(),
            wants_output: self.server_output,
        };
        if let Some(option) = remarks.option()
            && !kind.visit(TakesRemarks)
        {
            let takers = PeerKind::ALL.iter().filter(|kind| kind.visit(TakesRemarks));
            let takers: Vec<String> = takers.map(|kind| format!("--peer {kind}")).collect();
            let text = format!(
                "{option} has no effect with a server of the kind {kind}, which is told nothing of the kind; leave it out, or \
                 name another kind: {}",
                takers.join(", ")
            );
            return Err(Trouble::usage(text));
        }
        remarks.check().map_err(Trouble::usage)?;
        Ok(remarks)
    }
}

/// Whether a kind has a place for them.
struct TakesRemarks;

impl PeerVisitor for TakesRemarks {
    type Output = bool;

    fn visit<P: Peer>(self) -> bool {
        P::TAKES_REMARKS
    }
}
