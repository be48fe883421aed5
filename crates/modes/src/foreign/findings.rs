//! What can be found of a file of another tool beside its figures.

use pathscope_core::findings;

findings! {
    /// What to mind of the figures.
    pub(crate) enum ForeignCaveat {
        ClosedLoop: "closed_loop", "each ping waited for the answer to the one before it: a stall is one sample, however many pings it kept from being sent",
            "measure with `pathscope latency`, whose pings leave on schedule";
        CutOff: "foreign_cut_off", "the test did not come to its planned end: its figures are of what there was until then",
            "see what the other tool said, and measure again";
        FirstSlice: "first_slice", "the first row of status has rates over another time than its own: they are in no figure",
            "let it run for several rows";
        NotInTheFile: "not_in_the_file", "the file lacks what a result of pathscope says: what is named is unknown, and not nothing",
            "keep what the other tool printed; measure with pathscope where it matters";
        NotVerified: "foreign_not_verified", "the tool compares no byte of what it receives with what was sent: damage that checksums let through is not seen",
            "measure with pathscope, which compares every byte";
        NumbersMissing: "numbers_missing", "numbers between the first and the last have no row: what became of them is unknown, and in no figure",
            "see whether whoever wrote the file had to leave rows out (`samples_dropped`)";
        WholeMicroseconds: "whole_microseconds", "the file has whole microseconds, rounded down: each duration was up to 1 µs longer",
            "measure with pathscope where microseconds matter";
    }
}
