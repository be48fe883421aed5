//! What can be found of a lab while something is measured in it.

use pathscope_core::findings;

findings! {
    /// What to mind of what was measured in a lab.
    pub enum LabCaveat {
        Invalid: "lab_invalid", "the lab itself, and not what it stands for, lost or delayed packets during this run",
            "stop other work on this machine (a compiler is enough), lower the rates, run as root; then lab down and lab up";
        Unknown: "lab_unknown", "whether the lab kept up is not known",
            "use pathscope's own relay as the shaper: it counts what it could not keep up with";
    }
}
