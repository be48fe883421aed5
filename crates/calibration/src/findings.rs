//! What can be found of a calibration beside its rows.

use pathscope_core::findings;

findings! {
    /// What to mind of a calibration.
    pub enum CalibrationCaveat {
        CellsChosen: "cells_chosen", "only some of the cells were measured",
            "leave --only out for all of them";
        CellsLeftOut: "cells_left_out", "cells were left out, since this machine cannot run them",
            "see the sentence for what it lacks";
        SourceMissing: "source_missing", "some rows are not held to a source of truth that this machine does not have",
            "see the sentence for what it lacks: nft, tbf, or buffers for a capture";
    }
}
