//! ctsTraffic 2.x: its command line, what it prints, and its files.

mod banner;
mod grammar;
mod help;
mod options;
mod read;
mod rows;
mod screen;
mod settings;
mod summary;
mod tables;
mod totals;
mod translate;

use std::ffi::OsString;

use crate::dialect::{Answer, Dialect, Run, Said, Unclear};

/// ctsTraffic. Never a value.
#[derive(Debug)]
pub struct CtsTraffic;

impl Dialect for CtsTraffic {
    const NAMES: &'static [&'static str] = &["ctsTraffic"];

    fn translate(words: &[OsString]) -> Result<Said, Unclear> {
        let typed: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
        let typed = typed.ok_or_else(|| Unclear::new("ctsTraffic: a word is no text in UTF-8"))?;
        if let Some(text) = help::of(&typed) {
            return Ok(answer(text.to_owned(), false));
        }
        let settings = match read::settings(&typed) {
            Ok(settings) => settings,
            Err(why) => {
                let text = format!(
                    "ctsTraffic: {why}\nFor what can be said: -Help, -Help:tcp, -Help:udp, -Help:logging, -Help:advanced\n"
                );
                return Ok(answer(text, true));
            }
        };
        let (words, notes) = translate::words(&settings);
        let screen = Box::new(screen::CtsScreen::new(settings));
        Ok(Said::Run(Run { words, notes, screen: Some(screen) }))
    }
}

/// Help, and what is said of a line that cannot be read, end with a code of the tool's own.
fn answer(text: String, is_error: bool) -> Said {
    Said::Text(Answer { text, is_error, exit_code: help::EXIT_CODE })
}
