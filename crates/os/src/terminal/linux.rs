//! Linux: the window size of the terminal's driver.

pub fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}
