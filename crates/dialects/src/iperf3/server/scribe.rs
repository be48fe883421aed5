//! What a client is told that asks for what its server prints (`--get-server-output`): the lines, or the document, of its one test, as the
//! server's screen has them. It is said on a control connection, so that rows of intervals are bounded; what sums up is always there.

use std::io;
use std::sync::Arc;

use pathscope_core::journal::{Entry, Scribe};
use pathscope_core::record::Printed;

use super::super::asked::{Common, Json, Server};
use super::ServerScreen;
use crate::screen::{Beginning, Screen as _, ScribeMaker};

/// Rows of intervals: some 100 KB of lines, or three times as much of a document.
const ROWS: usize = 1_000;

/// Writes down one test.
struct ServerScribe {
    screen: ServerScreen,
    text: Vec<u8>,
    is_json: bool,
}

/// Makes them, each in the form of this server's own screen.
pub(in super::super) fn scribes(server: &Server) -> ScribeMaker {
    let is_json = server.common.json != Json::No;
    let common = Common {
        // What is told event by event elsewhere is one document here, as in the original.
        json: if is_json { Json::Whole } else { Json::No },
        ..server.common.clone()
    };
    // Nobody is awaited after it.
    let server = Server { is_one_off: true, common, ..server.clone() };
    Arc::new(move |beginning: &Beginning<'_>| -> Box<dyn Scribe> {
        let mut screen = ServerScreen::bounded(server.clone(), ROWS);
        // What is printed before there is a client is not its own.
        let _ = screen.begin(beginning, &mut io::sink());
        Box::new(ServerScribe { screen, text: Vec::new(), is_json })
    })
}

impl Scribe for ServerScribe {
    fn hear(&mut self, entry: &Entry) {
        // Memory takes whatever is written to it.
        let _ = self.screen.entry(entry, &mut self.text);
    }

    fn printed(&mut self) -> Option<Printed> {
        let text = String::from_utf8(std::mem::take(&mut self.text)).ok()?;
        if self.is_json { Printed::of_json(&text) } else { Some(Printed::Text(text)) }
    }
}
