//! The view for people: which event adds what.

use std::io::{self, Write};

use pathscope_core::error::Failure;
use pathscope_core::event::Event;
use pathscope_core::presentation::{Figure, Presentation, Value};

use super::live::LiveTable;
use super::page::Page;
use super::{figures, findings, result};
use crate::view::{Live, Options, View};

/// Rows as intervals pass, then the result.
pub struct Text<'out> {
    out: &'out mut dyn Write,
    options: Options,
    page: Page,
    live: LiveTable,
    /// The part of the context that was shown when the run began.
    seen: Vec<Figure>,
}

impl<'out> Text<'out> {
    /// A view that writes to `out`.
    pub fn new(options: Options, out: &'out mut dyn Write) -> Self {
        let page = Page::new(options.columns, options.color, options.charset);
        Self { out, options, page, live: LiveTable::default(), seen: Vec::new() }
    }

    fn started(&mut self, presentation: &Presentation) {
        result::title(&mut self.page, &presentation.title);
        figures::context(&mut self.page, &presentation.context);
        self.seen.clone_from(&presentation.context);
    }

    fn finished(&mut self, presentation: &Presentation, failure: Option<(Failure, &str)>) {
        let is_told = |figure: &&Figure| match (&figure.value, failure) {
            (Value::Text(text), Some((_, sentence))) => text == sentence,
            _ => false,
        };
        // What stopped the run is said below.
        self.seen.extend(presentation.context.iter().filter(is_told).cloned());
        let has_result = !presentation.sections.is_empty();
        let came_to_nothing = !has_result && presentation.caveats.is_empty() && failure.is_some();
        // Live, its title stands above already.
        if !came_to_nothing || self.options.live == Live::Hidden {
            self.page.gap();
            result::title(&mut self.page, &presentation.title);
        }
        result::result(&mut self.page, presentation, &self.seen, self.options.detail);
        if let Some((failure, sentence)) = failure {
            self.page.gap();
            findings::failure(&mut self.page, failure, sentence, has_result);
        }
    }
}

impl View for Text<'_> {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        let is_live = self.options.live == Live::Shown;
        match event {
            Event::Started { presentation, .. } if is_live => self.started(presentation),
            Event::Interval { row, .. } | Event::AllServers { row } | Event::Trial { row, .. }
                if is_live && !row.cells.is_empty() =>
            {
                self.live.row(&mut self.page, row);
            }
            Event::Note(caveat) if is_live => findings::caveat(&mut self.page, caveat),
            Event::Started { .. }
            | Event::Interval { .. }
            | Event::AllServers { .. }
            | Event::Trial { .. }
            | Event::Note(_)
            | Event::Checkpoint { .. } => {}
            Event::Finished { presentation, failure, .. } => {
                self.finished(presentation, failure);
            }
        }
        self.page.write_to(self.out)
    }
}
