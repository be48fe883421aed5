//! `pathscope show`: a result again, from its file.

use std::io;

use pathscope_core::event::Event;

use crate::args::ShowArgs;
use crate::output::Outputs;
use crate::stored::Stored;
use crate::{Trouble, files, terminal};

/// Shows what the file holds as it was shown when it was measured, and draws it where that is wanted.
pub fn show(args: &ShowArgs) -> Result<(), Trouble> {
    args.plot.check()?;
    if let Some((option, path)) = args.plot.named() {
        files::must_keep(&[&args.result], &[(option, Some(&path))])?;
    }
    let stored = Stored::open(&args.result)?;
    let plot = args.plot.create()?;
    let mut stdout = io::stdout().lock();
    let options = terminal::options(args.color.color, true, args.verbose);
    let mut outputs = Outputs::new(args.form.format(), options, &mut stdout, None);
    let presentation = stored.presentation();
    let trouble = stored.trouble(&presentation);
    let failure = trouble.as_ref().map(|trouble| (trouble.failure, trouble.text.as_str()));
    let record = stored.record();
    outputs.event(Event::Finished { presentation: &presentation, record, failure });
    let drawn = plot.map_or(Ok(()), |plot| plot.draw(&presentation, trouble.as_ref()));
    Trouble::conclude(drawn.err(), outputs.into_trouble())
}
