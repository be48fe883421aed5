//! Callers and servers that mean harm, as a program: `pathscope-attack case NAME …` and its like.
//!
//! `sessions` means none: it is very many ordinary clients at once, in one program.
//!
//! It speaks the native protocol by docs/protocol.md alone, of iperf3's and ntttcp's as much as it needs, and shares no code with the
//! product, so that neither repeats the other's errors. Who starts servers, measures them and judges is `cargo xtask attack`.

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "what it tells is what it is run for")]

mod caller;
mod cases;
mod checksum;
mod clients;
mod clock;
mod crowd;
mod datagrams;
mod greetings;
mod ground;
mod mutation;
mod process;
mod proof;
mod random;
mod sessions;
mod sockets;
mod tests_asked_for;
mod wire;
mod words;

use std::process::ExitCode;

use words::Words;

const USAGE: &str = "\
pathscope-attack cases
pathscope-attack case NAME --server ADDRESS:PORT --base ADDRESS [--for SECONDS]
pathscope-attack greet --server ADDRESS:PORT --base ADDRESS --for SECONDS
pathscope-attack sessions --server ADDRESS:PORT --base ADDRESS [--count N] [--protocol tcp|udp] [--for SECONDS]
pathscope-attack client NAME --binary PATHSCOPE
pathscope-attack mutate --binary PATHSCOPE --for SECONDS [--seed N] [--patience-ms N]
";

fn main() -> ExitCode {
    sockets::take_all_descriptors();
    match run(&Words::of_process()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("failed to {error}\n{USAGE}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &Words) -> Result<(), String> {
    match words.task() {
        "cases" => {
            let mut all = cases::listed();
            all.extend(clients::listed());
            println!("{}", serde_json::Value::from(all));
            Ok(())
        }
        "case" => {
            let name = words.name();
            let case = cases::CASES.iter().find(|case| case.name == name);
            let case = case.ok_or_else(|| format!("find the case `{name}`"))?;
            let ground = words.ground(case.seconds, case.version)?;
            let ran = (case.run)(&ground);
            println!("{}", ground.told());
            ran.map_err(|error| format!("carry out {name}: {error}"))
        }
        "client" => {
            let name = words.name();
            let case = clients::CASES.iter().find(|case| case.name == name);
            let case = case.ok_or_else(|| format!("find the case `{name}`"))?;
            let told = clients::run(case, words.option("binary")?.as_ref());
            println!("{}", told.map_err(|error| format!("carry out {name}: {error}"))?);
            Ok(())
        }
        "mutate" => {
            let told = mutation::run(&words.mutations()?);
            println!("{}", told.map_err(|error| format!("change recorded sessions: {error}"))?);
            Ok(())
        }
        "greet" => {
            greetings::run(&words.ground(10, wire::Version::Two)?);
            Ok(())
        }
        "sessions" => sessions::run(words),
        "sessions-part" => sessions::run_part(words),
        other => Err(format!("understand `{other}`")),
    }
}
