//! The program that docs/second-interface.md teaches with, in a lab of two interfaces: it does what the page says.

use std::path::{Path, PathBuf};

use super::multipath::{TWO_WAYS, has_ip, ip, put_back, routes};
use super::{BINARY, Stand};

/// The program, beside the binary; said where only the binary was built.
fn program() -> Option<PathBuf> {
    let program = Path::new(BINARY).with_file_name("examples").join("second_interface");
    if !program.is_file() {
        let how = "cargo build -p pathscope-os --example second_interface";
        println!("skipped, because the example was not built: {how}");
        return None;
    }
    Some(program)
}

#[test]
fn it_uses_both_interfaces_and_follows_one_that_goes_and_comes_back() {
    let Some(program) = program().filter(|_| has_ip()) else { return };
    let Some(stand) = Stand::up(TWO_WAYS) else { return };
    let program = program.to_str().expect("plain");
    let kept = routes(&stand, "to-modem");

    let mut server = stand.start("server", &[program, "--echo", "0.0.0.0:7"]);
    server.await_stdout("echoing on 0.0.0.0:7");
    let mut client =
        stand.start("laptop", &[program, &format!("{}:7", stand.address("server", "to-isp"))]);
    for interface in ["to-ap", "to-modem"] {
        let local = stand.address("laptop", interface);
        let line = client.await_stdout(&format!("{interface}: "));
        let expected = format!(
            "{interface}: used; bound to {interface}, from {local} (its own address), 17 bytes came back"
        );
        assert_eq!(line.trim_end(), expected);
    }

    ip(&stand, &["link", "set", "to-modem", "down"]);
    assert_eq!(client.await_stdout("to-modem: ").trim_end(), "to-modem: gone");
    ip(&stand, &["link", "set", "to-modem", "up"]);
    put_back(&stand, "to-modem", &kept);
    client.await_stdout("to-modem: used; bound to to-modem");
}
