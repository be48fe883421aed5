//! What the terminal is and wants, and talk on standard error.

use std::io::{self, IsTerminal, Write};

use pathscope_views as views;

use crate::talk::Color;

/// Columns where nothing says how many there are: a classic terminal's, and a file's.
const COLUMNS: usize = 80;

/// Says something that is no result.
pub fn say(text: &str) {
    // Nobody listens any more: that is no reason to stop measuring.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Says what went wrong.
pub fn complain(text: &str) {
    say(&format!("pathscope: {text}"));
}

/// How results are shown on standard output: with all detail where more was asked for by any `-v`.
pub fn options(color: Color, quiet: bool, verbose: u8) -> views::Options {
    let wanted = match color {
        Color::Always => true,
        Color::Never => false,
        // https://no-color.org: present and not empty.
        Color::Auto => {
            io::stdout().is_terminal()
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    };
    views::Options {
        columns: columns(),
        color: if wanted { views::Color::Always } else { views::Color::Never },
        live: if quiet { views::Live::Hidden } else { views::Live::Shown },
        detail: if verbose > 0 { views::Detail::Full } else { views::Detail::Usual },
    }
}

/// Columns of the terminal, where there is one and it says so.
fn columns() -> usize {
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    stated.or_else(pathscope_os::terminal::columns).unwrap_or(COLUMNS)
}
