//! What can be found of what an iperf3 server says.

use pathscope_core::findings;

findings! {
    /// What to mind of what an iperf3 server tells.
    pub enum Iperf3Caveat {
        WarmUpUncounted: "warm_up_uncounted", "an iperf3 server counts nothing of the warm-up, so that it received more than it says",
            "none is needed: rates are without the warm-up. --warm-up 0s, to have everything counted";
    }
}
