//! What can be found of a comparison beside its figures.

use pathscope_core::findings;

findings! {
    /// What was to hold of a comparison.
    pub enum ComparisonCheck {
        NotChanged: "not_changed", "a figure has not moved further than `--fail-on` allows; one that cannot be told has",
            "look at the figure's runs on both sides; docs/guide/compare.md says how many are needed";
    }
}

findings! {
    /// What to mind of a comparison.
    pub enum ComparisonCaveat {
        DidNotTakeTurns: "did_not_take_turns", "the runs of the two sides did not take turns, or it is not known whether they did: what else changed meanwhile is part of every difference",
            "let them take turns: one run of each, again and again";
        RunsOverlap: "runs_overlap", "runs of one machine overlap in time: they ran at once, or its clock was set back meanwhile",
            "let runs follow one another, and keep the clock by small steps while they do";
        TooFewRuns: "too_few_runs", "so few runs can show no difference, however large it is",
            "five runs of each side, or better fifteen";
        SettingsDiffer: "settings_differ", "not all settings are the same on both sides",
            "mind that they are part of the difference, or repeat with the same";
        HostsDiffer: "hosts_differ", "the machines or programs are not the same on both sides",
            "mind that they are part of the difference, or repeat on the same";
        RunsDiffer: "runs_differ", "runs of one side are not alike",
            "compare runs of one command with runs of one command";
        RunsFailed: "runs_failed", "runs did not come to their end, or did not hold what they had to",
            "leave them out, or repeat them";
        OnOneSide: "on_one_side", "measurements that one side alone has are not compared",
            "run the same command on both sides";
        MeaningChanged: "meaning_changed", "results of an earlier version tell a figure by another name now",
            "repeat with this version where that figure matters";
    }
}
