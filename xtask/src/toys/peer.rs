//! The toy peers: none has a control connection. Both ends of each run in the copy's own tests, over real sockets.

use anyhow::Result;

use super::Built;
use super::toy::{File, Line, Toy};
use crate::cargo;

/// One whose clients are known by 37 bytes on the port that all kinds share.
pub const COOKIE: Toy = Toy {
    template: "xtask/toys/cookie",
    folder: "crates/peers/src/cookie",
    lines: &[
        Line { path: "crates/peers/src/lib.rs", below: "mod callers;", text: "pub mod cookie;" },
        Line {
            path: "crates/peers/src/registry.rs",
            below: "    Native(Native) as native;",
            text: "    /// A toy that is known by a cookie.\n    Cookie(crate::cookie::CookieToy) as cookie;",
        },
    ],
    tests: &[],
    forbidden: &[
        ("use pathscope_run::client::Request;\n", "imports"),
        ("use crate::native::Client;\n", "kinds"),
        ("use crate::registry::PeerKind;\n", "circles"),
    ],
};

/// One whose server speaks first, on a listener of its own. The tests of both come with it.
pub const WELCOME: Toy = Toy {
    template: "xtask/toys/welcome",
    folder: "crates/peers/src/welcome",
    lines: &[
        Line { path: "crates/peers/src/lib.rs", below: "pub mod seats;", text: "pub mod welcome;" },
        Line {
            path: "crates/peers/src/registry.rs",
            below: "    Native(Native) as native;",
            text: "    /// A toy whose server speaks first.\n    Welcome(crate::welcome::WelcomeToy) as welcome;",
        },
    ],
    tests: &[File { template: "xtask/toys/peers.rs", path: "crates/run/tests/toy_peers.rs" }],
    forbidden: &[
        ("use pathscope_run::server::Server;\n", "imports"),
        ("use crate::native::Server;\n", "kinds"),
        ("use crate::registry::Greeting;\n", "circles"),
    ],
};

/// Their tests.
pub const TEST: &str = "toy_peers";

/// What of their tests does not hold.
pub fn faults(built: &Built) -> Result<Vec<String>> {
    let mut command = built.cargo("test")?;
    command.args(["--test", TEST]);
    println!("{}", cargo::words(&command));
    let holds = cargo::succeeds(&mut command)?;
    Ok((!holds).then(|| "a toy peer's tests do not hold".to_owned()).into_iter().collect())
}
