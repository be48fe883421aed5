//! The binary as it is released: one file that needs nothing of the machine it is copied to.
//!
//! glibc, linked statically, since musl's `memcmp` is many times slower and every received byte is
//! compared. What that costs: names are looked up by the parts of glibc that are in the binary, files
//! and DNS (glibc 2.34 and later). Tried on Debian 12: `localhost`, the host's own name and names of
//! `/etc/hosts` resolve; in an empty root without `/etc/hosts` no name does; numeric addresses always
//! do. Name services beyond files and DNS (mDNS, LDAP) are loaded from the machine and only work where
//! its glibc is the version that was linked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use serde_json::Value;

use crate::cargo;

/// What to build.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// The target triple; this machine's own, with glibc, unless given
    #[arg(long)]
    target: Option<String>,
    /// The binary
    #[arg(long, default_value = "pathscope")]
    binary: String,
}

/// Builds the binary, proves that it is static, runs it, and says where it is.
pub fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    let target = arguments.target.clone().map_or_else(cargo::host_target, Ok)?;
    let metadata = cargo::metadata(root)?;
    let package = package_of(&metadata, &arguments.binary)
        .with_context(|| format!("find a crate that builds the binary `{}`", arguments.binary))?;
    let binary = build(root, &target, package, &arguments.binary)?;
    let bytes = fs::read(&binary).with_context(|| format!("read {}", binary.display()))?;
    let interpreter = interpreter(&bytes).with_context(|| format!("read {}", binary.display()))?;
    if let Some(interpreter) = interpreter {
        bail!("link {} statically: it asks for {interpreter}", binary.display());
    }
    println!("{}: static, {:.1} MiB", binary.display(), bytes.len() as f64 / 1_048_576.0);
    let version = cargo::succeeds(Command::new(&binary).arg("--version"))?;
    ensure!(version, "run {} --version", binary.display());
    Ok(())
}

fn build(root: &Path, target: &str, package: &str, binary: &str) -> Result<PathBuf> {
    let mut command = cargo::cargo(root);
    command.args(["build", "--release", "--package", package, "--bin", binary]);
    // Naming the target keeps the flag from build scripts and procedural macros, which must be dynamic.
    command.args(["--target", target]).env("RUSTFLAGS", "-C target-feature=+crt-static");
    command.args(["--target-dir", "target/dist"]);
    ensure!(cargo::succeeds(&mut command)?, "build {binary}: {}", cargo::words(&command));
    Ok(root.join("target/dist").join(target).join("release").join(binary))
}

fn package_of<'json>(metadata: &'json Value, binary: &str) -> Option<&'json str> {
    let builds = |package: &&Value| {
        let targets = package["targets"].as_array();
        targets.is_some_and(|targets| {
            targets.iter().any(|target| target["name"] == binary && target["kind"][0] == "bin")
        })
    };
    metadata["packages"].as_array()?.iter().find(builds)?["name"].as_str()
}

/// The dynamic loader that an ELF file asks for; none if it is static.
fn interpreter(file: &[u8]) -> Result<Option<String>> {
    const CLASS_64_LITTLE_ENDIAN: &[u8] = b"\x7fELF\x02\x01";
    const PT_INTERP: u64 = 3;
    ensure!(file.starts_with(CLASS_64_LITTLE_ENDIAN), "find a 64-bit little-endian ELF header");
    // Offsets in the file's header and in program headers: ELF-64 object file format, 1.5.
    let table = number(file, 32, 8)?;
    let (size, count) = (number(file, 54, 2)?, number(file, 56, 2)?);
    for header in (0..count).map(|index| table.saturating_add(index * size)) {
        if number(file, header, 4)? == PT_INTERP {
            let (start, length) = (number(file, header + 8, 8)?, number(file, header + 32, 8)?);
            let name = bytes(file, start, length)?;
            return Ok(Some(String::from_utf8_lossy(name).trim_end_matches('\0').to_owned()));
        }
    }
    Ok(None)
}

fn number(file: &[u8], at: u64, length: u64) -> Result<u64> {
    let bytes = bytes(file, at, length)?;
    Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn bytes(file: &[u8], at: u64, length: u64) -> Result<&[u8]> {
    let range = usize::try_from(at)?..usize::try_from(at.saturating_add(length))?;
    file.get(range).context("read beyond the end of the file")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least of an ELF file: a header and one program header of this type, naming a loader.
    fn elf(kind: u8) -> Vec<u8> {
        let mut file = vec![0; 64 + 56];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (file[32], file[54], file[56], file[64]) = (64, 56, 1, kind);
        (file[64 + 8], file[64 + 32]) = (120, 8);
        file.extend_from_slice(b"/ld.so.2\0");
        file
    }

    #[test]
    fn a_file_that_asks_for_a_loader_is_not_static() {
        assert_eq!(interpreter(&elf(3)).expect("well formed"), Some("/ld.so.2".to_owned()));
        assert_eq!(interpreter(&elf(1)).expect("well formed"), None);
    }

    #[test]
    fn a_file_that_is_cut_short_is_an_error() {
        assert!(interpreter(b"\x7fELF\x02\x01").is_err());
        assert!(interpreter(&elf(3)[..121]).is_err());
        assert!(interpreter(b"#!/bin/sh\n").is_err());
    }
}
