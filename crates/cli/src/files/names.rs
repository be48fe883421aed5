//! Whether two options name one file, however they spell it: what one of them writes would be lost in what the
//! other writes, and what is read would be lost in what comes of it.

use pathscope_core::quantity::named;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::Trouble;
use crate::daemon::LOG_FILE;

/// Links that lead to links are followed so often, as the system does.
const MOST_LINKS: usize = 40;

/// What a name stands for.
#[derive(Debug, Eq, PartialEq)]
enum Identity {
    /// Something that is there.
    There { device: u64, inode: u64 },
    /// A file that is not there yet: its folder, and its name in it.
    ToBe { device: u64, inode: u64, name: OsString },
}

/// Refuses two options that name one file, and one that names the file where standard output or standard error go.
/// `files` are those that are written, each with its option.
pub fn must_differ(files: &[(&str, Option<&Path>)]) -> Result<(), Trouble> {
    let mut taken: Vec<(&str, Identity)> = Vec::new();
    for &(option, path) in files {
        let Some(path) = path else { continue };
        let Some(identity) = identity(path) else { continue };
        let other = taken.iter().find(|(_, there)| *there == identity);
        if let Some((other, _)) = other {
            return Err(clash(option, other, path));
        }
        taken.push((option, identity));
    }
    for (name, handle) in
        [("standard output", io::stdout().as_fd()), ("standard error", io::stderr().as_fd())]
    {
        let Some(there) = redirected_to(handle) else { continue };
        // A daemon's log is where both of them go, and is added to.
        let same = taken.iter().find(|(option, file)| *file == there && *option != LOG_FILE);
        let path = same.and_then(|(option, _)| {
            files.iter().find(|(named, _)| named == option).and_then(|&(_, path)| path)
        });
        if let (Some((option, _)), Some(path)) = (same, path) {
            return Err(clash(option, name, path));
        }
    }
    Ok(())
}

/// Refuses an option that names a file which is read for what it writes: what the file holds would be lost, and may never be
/// measured again. `read` are those files, `-` being standard input; `written` are those that are written, each with its option.
pub fn must_keep(read: &[&Path], written: &[(&str, Option<&Path>)]) -> Result<(), Trouble> {
    let of = |path: &&Path| {
        if *path == Path::new("-") { redirected_to(io::stdin().as_fd()) } else { identity(path) }
    };
    let read: Vec<Identity> = read.iter().filter_map(of).collect();
    for &(option, path) in written {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else { continue };
        if identity(path).is_some_and(|file| read.contains(&file)) {
            return Err(Trouble::usage(format!(
                "{option} names {}, which is read: what it holds would be lost; name another file; nothing was written",
                named(path)
            )));
        }
    }
    Ok(())
}

fn clash(option: &str, other: &str, path: &Path) -> Trouble {
    Trouble::usage(format!(
        "{option} and {other} name the same file, {}; each needs one of its own; nothing was measured",
        named(path)
    ))
}

/// Where a name leads once its links are followed, be it that nothing is there yet.
pub fn follow(path: &Path) -> PathBuf {
    if let Ok(path) = fs::canonicalize(path) {
        return path;
    }
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(&path) else { break };
        // A relative link counts from its own folder; an absolute one replaces all.
        path = folder_of(&path).join(target);
    }
    path
}

/// The folder of a file; `.` where its name has none.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) => Path::new("."),
        None => Path::new("/"),
    }
}

/// `None` where it makes no difference who else writes there, as of terminals and `/dev/null`; and where nothing can be
/// written, which is told by whoever tries.
fn identity(path: &Path) -> Option<Identity> {
    if let Ok(there) = fs::metadata(path) {
        return (!there.file_type().is_char_device()).then(|| of(&there));
    }
    let path = follow(path);
    let folder = fs::metadata(folder_of(&path)).ok()?;
    let name = path.file_name()?.to_owned();
    Some(Identity::ToBe { device: folder.dev(), inode: folder.ino(), name })
}

/// The file on a disk that an open handle leads to. What goes into a pipe is not lost there.
fn redirected_to(handle: BorrowedFd<'_>) -> Option<Identity> {
    let there = File::from(handle.try_clone_to_owned().ok()?).metadata().ok()?;
    there.is_file().then(|| of(&there))
}

fn of(there: &Metadata) -> Identity {
    Identity::There { device: there.dev(), inode: there.ino() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn one_file_is_known_by_all_its_names_and_two_files_are_not_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("x")).expect("a folder of ours");
        fs::write(at("a"), "there").expect("a folder of ours");
        fs::hard_link(at("a"), at("hard")).expect("a folder of ours");
        symlink("a", at("soft")).expect("a folder of ours");
        symlink("to-be", at("dangling")).expect("a folder of ours");
        symlink(folder.path(), at("x/up")).expect("a folder of ours");
        let clash = |one: &str, other: &str| {
            let (one, other) = (at(one), at(other));
            must_differ(&[("--output", Some(&one)), ("--gone", None), ("--samples", Some(&other))])
                .is_err()
        };
        for other in ["a", "./a", "x/../a", "hard", "soft", "x/up/a", "x/up/soft"] {
            assert!(clash("a", other) && clash(other, "a"), "{other}");
        }
        for other in ["to-be", "x/../to-be", "dangling", "x/up/to-be", "x/up/dangling"] {
            assert!(clash("to-be", other) && clash(other, "to-be"), "{other}");
        }
        for other in ["to-be", "x/a", "b", "dangling", "no/such/folder"] {
            assert!(!clash("a", other) && !clash(other, "a"), "{other}");
        }
        assert!(!clash("/dev/null", "/dev/null"));
        let keeps = |read: &str, written: &str| {
            must_keep(&[&at("x"), &at(read)], &[("--plot", None), ("-o", Some(&at(written)))])
        };
        for other in ["a", "x/../a", "hard", "soft", "x/up/soft"] {
            let refused = keeps("a", other).expect_err(other).text;
            assert!(refused.contains("-o names") && refused.contains("is read"), "{refused}");
            assert!(keeps(other, "a").is_err(), "{other}");
        }
        for other in ["to-be", "dangling", "b", "no/such/folder", "-"] {
            assert!(keeps("a", other).is_ok(), "{other}");
        }
        assert!(
            must_keep(&[Path::new("/dev/null")], &[("-o", Some(Path::new("/dev/null")))]).is_ok()
        );
    }
}
