//! A screen of another tool, on standard output, and the files that it writes. Whoever does not read it keeps nobody waiting.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use pathscope_core::Tick;
use pathscope_core::error::Failure;
use pathscope_core::journal::Entry;
use pathscope_core::quantity::named;
use pathscope_dialects::screen::{Beginning, Ending, Screen};
use pathscope_os::outlets::{Outlet, explain};
use pathscope_os::readiness::Poller;

use crate::background::Background;
use crate::{Trouble, files, output, terminal};

/// A screen and where it is shown.
pub struct Shown {
    screen: Box<dyn Screen>,
    out: Background,
    /// When times of entries began.
    began: Tick,
    /// Those of the screen, in its order.
    files: Vec<ScreenFile>,
    /// What it could not write, once: nothing is written after that.
    error: Option<io::Error>,
}

/// A file that a screen writes.
struct ScreenFile {
    /// Its option and its name.
    name: String,
    /// Until it takes no more.
    outlet: Option<Outlet>,
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shown").field("error", &self.error).finish_non_exhaustive()
    }
}

impl Shown {
    /// This one, which shows at once that the run begins. Its files are empty from now on.
    pub fn begin(
        screen: Box<dyn Screen>,
        beginning: &Beginning<'_>,
        began: Tick,
    ) -> Result<Self, Trouble> {
        let out = Background::new(io::stdout()).map_err(Trouble::no_thread)?;
        let opened =
            screen.files().into_iter().map(|(option, path)| ScreenFile::open(option, &path));
        let files = opened.collect::<Result<Vec<_>, Trouble>>()?;
        let mut shown = Self { screen, out, began, files, error: None };
        shown.write(|screen, text| screen.begin(beginning, text));
        Ok(shown)
    }

    /// Something was written down.
    pub fn entry(&mut self, entry: &Entry) {
        self.write(|screen, text| screen.entry(entry, text));
    }

    /// When it is to be told the time, where it wants that.
    pub fn wakes_at(&self) -> Option<Tick> {
        self.screen.wakes_at_ns().map(|at_ns| self.began.plus_nanos(at_ns))
    }

    /// Tells it the time.
    pub fn wake(&mut self, now: Tick) {
        let at_ns = now.nanos_since(self.began);
        self.write(|screen, text| screen.wake(at_ns, text));
    }

    /// How often each latency was counted, where that is counted here.
    pub fn frequencies(&self) -> Option<&BTreeMap<u64, u64>> {
        self.screen.frequencies()
    }

    /// The run is over. What could not be shown or written, and whether what went wrong was told there.
    pub fn finish(mut self, ending: &Ending<'_>) -> (Option<Trouble>, bool) {
        pause(self.screen.pause_before_end());
        self.write(|screen, text| screen.finished(ending, text));
        let error = self.error.or(self.out.finish().err());
        let is_told = error.is_none() && self.screen.tells_failures();
        let unseen = error.as_ref().and_then(output::trouble);
        let lacking = self.files.iter().filter(|file| file.outlet.is_none());
        let lacking: Vec<String> =
            lacking.map(|file| format!("{} lacks rows, as was said", file.name)).collect();
        let incomplete = || Trouble::new(Failure::Output, lacking.join("; "));
        (unseen.or_else(|| (!lacking.is_empty()).then(incomplete)), is_told)
    }

    /// What is said at once is written at once.
    fn write(&mut self, show: impl FnOnce(&mut dyn Screen, &mut Vec<u8>) -> io::Result<()>) {
        let mut text = Vec::new();
        let shown = show(&mut *self.screen, &mut text);
        if self.error.is_none() {
            self.error = shown.and_then(|()| self.out.write_all(&spelled(text))).err();
        }
        for (place, rows) in self.screen.take_rows() {
            let rows = terminal::spelled(&rows);
            self.files.get_mut(place).into_iter().for_each(|file| file.write(&rows));
        }
    }
}

/// Sentences of ours in it name what the tool's users know, as they do on standard error.
fn spelled(text: Vec<u8>) -> Vec<u8> {
    match str::from_utf8(&text) {
        Ok(told) => terminal::spelled(told).into_owned().into_bytes(),
        Err(_) => text,
    }
}

/// Waits so long: for nothing, since nothing happens any more.
fn pause(time: Duration) {
    // Without a poller it is left out.
    if let Some(poller) = (!time.is_zero()).then(Poller::new).and_then(Result::ok) {
        let _ = poller.wait(&mut Vec::new(), Some(time));
    }
}

impl ScreenFile {
    fn open(option: &str, path: &Path) -> Result<Self, Trouble> {
        let outlet = files::open(option, path)?;
        outlet.empty().map_err(|error| files::refused(option, path, &error))?;
        Ok(Self { name: format!("{option} {}", named(path)), outlet: Some(outlet) })
    }

    /// Writes whole rows, or gives the file up and says so.
    fn write(&mut self, rows: &str) {
        let Some(outlet) = &mut self.outlet else { return };
        if let Err(unwritten) = outlet.write_rows(rows.as_bytes()) {
            self.outlet = None;
            terminal::complain(&format!(
                "cannot write to {}: {}; it is given up and lacks every later row, the run goes on",
                self.name,
                explain(&unwritten.error)
            ));
        }
    }
}
