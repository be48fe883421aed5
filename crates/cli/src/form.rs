//! The words for the form in which results go to standard output.

use clap::Args;
use pathscope_views::Format;

/// In which form results go to standard output.
#[derive(Args, Clone, Copy, Debug)]
pub struct FormArgs {
    /// The result as one JSON document: --format json
    #[arg(long, conflicts_with_all = ["json_stream", "format"])]
    pub json: bool,
    /// Each event as a line of JSON, as it happens: --format json-stream
    #[arg(long, conflicts_with = "format")]
    pub json_stream: bool,
    /// text, json, json-stream, md: tables in Markdown, or html: a page with charts
    #[arg(long, value_name = "FORM", default_value_t, hide_default_value = true)]
    pub format: Format,
}

impl FormArgs {
    /// The format that was asked for.
    pub fn format(self) -> Format {
        let named = [(self.json, "json"), (self.json_stream, "json-stream")];
        let meant = named.into_iter().find(|(is_given, _)| *is_given);
        meant.and_then(|(_, name)| name.parse().ok()).unwrap_or(self.format)
    }
}
