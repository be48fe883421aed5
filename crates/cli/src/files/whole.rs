//! A file that holds one whole thing: replaced by another whole one, or left as it was.
//!
//! The new is written beside it, brought to the disk, and moved over it. A disk that is full, a limit that is met and a
//! kill cost the new, and never the old.

use pathscope_core::quantity::named;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use pathscope_os::outlets::{Outlet, explain};

use super::names::{folder_of, follow};
use super::open::{open, refused};
use crate::Trouble;

/// Where one whole thing goes.
#[derive(Debug)]
pub enum Destination {
    /// A file on a disk.
    File(WholeFile),
    /// A pipe or a device: gets it once. Opened before anything is measured, since its reader may wait for that.
    Stream(Outlet),
}

/// A file on a disk.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    beside: PathBuf,
}

impl Destination {
    /// Makes sure before anything is measured that what `option` names can be written. What it holds stays.
    pub fn prepare(option: &str, path: &Path) -> Result<Self, Trouble> {
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return open(option, path).map(Self::Stream);
        }
        let file = WholeFile::at(path);
        file.try_it().map_err(|why| refused(option, path, &why))?;
        Ok(Self::File(file))
    }

    /// Writes all of `text` and a new line.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        self.write_parts(&[text.as_bytes(), b"\n"])
    }

    /// Writes these bytes, and no more.
    pub fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_parts(&[bytes])
    }

    fn write_parts(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        match self {
            Self::File(file) => file.replace_by(parts),
            Self::Stream(stream) => parts.iter().try_for_each(|part| stream.write_all(part)),
        }
    }
}

impl WholeFile {
    /// The file of this name. A link is followed: what it names is replaced, and not the link.
    pub fn at(path: &Path) -> Self {
        let path = follow(path);
        let beside = sibling(&path, "new");
        Self { path, beside }
    }

    /// The file that a run keeps what it has so far in, where this one is not to be touched before its end.
    pub fn for_the_time_being(&self) -> Self {
        Self { path: sibling(&self.path, "partial"), beside: self.beside.clone() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is something that must not be lost.
    pub fn holds_something(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|there| there.len() > 0)
    }

    /// Whether it can be written, and if not, why: found out without touching it.
    pub fn try_it(&self) -> Result<(), String> {
        match OpenOptions::new().append(true).open(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.to_string()),
            _ => {}
        }
        let tried = create_new(&self.beside).and_then(|_| fs::remove_file(&self.beside));
        tried.map_err(|error| match error.kind() {
            ErrorKind::NotFound => error.to_string(),
            _ => format!("cannot create a file in {}: {error}", named(folder_of(&self.path))),
        })
    }

    /// Puts `text` and a new line in the place of what the file holds.
    pub fn replace(&self, text: &str) -> io::Result<()> {
        self.replace_by(&[text.as_bytes(), b"\n"])
    }

    fn replace_by(&self, parts: &[&[u8]]) -> io::Result<()> {
        let moved = self.write_beside(parts).and_then(|()| fs::rename(&self.beside, &self.path));
        match moved {
            // Something is mounted just there: it can be written to, and not moved over.
            Err(error)
                if matches!(error.kind(), ErrorKind::ResourceBusy | ErrorKind::CrossesDevices) =>
            {
                self.overwrite(parts)
            }
            Err(error) => {
                // What is left of it helps nobody; that it cannot be removed changes nothing.
                let _ = fs::remove_file(&self.beside);
                Err(error)
            }
            Ok(()) => Ok(()),
        }
    }

    fn write_beside(&self, parts: &[&[u8]]) -> io::Result<()> {
        let file = create_new(&self.beside)?;
        if let Ok(old) = fs::metadata(&self.path) {
            // Whoever may not give files away keeps what belongs to others as well as he can.
            if fchown(&file, Some(old.uid()), Some(old.gid())).is_err() {
                let _ = fchown(&file, None, Some(old.gid()));
            }
            file.set_permissions(old.permissions())?;
        }
        write_whole(file, parts)
    }

    /// Writes over what is there. Until that is done, the whole of it is beside.
    fn overwrite(&self, parts: &[&[u8]]) -> io::Result<()> {
        let written = OpenOptions::new().write(true).open(&self.path).and_then(|file| {
            file.set_len(parts.iter().map(|part| part.len() as u64).sum())?;
            write_whole(file, parts)
        });
        match written {
            Ok(()) => fs::remove_file(&self.beside),
            Err(error) => {
                let (why, beside) = (explain(&error), named(&self.beside));
                Err(io::Error::new(error.kind(), format!("{why}; all of it is in {beside}")))
            }
        }
    }
}

/// A new file, never one that somebody else has put there.
fn create_new(path: &Path) -> io::Result<File> {
    match File::create_new(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            File::create_new(path)
        }
        created => created,
    }
}

fn write_whole(file: File, parts: &[&[u8]]) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    parts.iter().try_for_each(|part| out.write_all(part))?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_data()
}

/// `run.json` of process 7 has `run.json.7.new` beside it.
fn sibling(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{ending}", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("plain"));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_file_held_stays_until_the_new_is_whole_and_nothing_is_left_beside() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.json");
        fs::write(&path, "old").expect("a folder of ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("ours");
        let mut destination = Destination::prepare("--output", &path).expect("it can be written");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "old");
        assert_eq!(names_in(folder.path()), ["run.json"]);
        destination.write("new").expect("room");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "new\n");
        assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o640);
        assert_eq!(names_in(folder.path()), ["run.json"]);
    }

    #[test]
    fn a_link_to_nothing_yet_is_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        symlink("target.json", folder.path().join("link.json")).expect("a folder of ours");
        let file = WholeFile::at(&folder.path().join("link.json"));
        file.replace("new").expect("room");
        assert_eq!(names_in(folder.path()), ["link.json", "target.json"]);
        assert!(folder.path().join("link.json").is_symlink());
    }

    #[test]
    fn what_lies_beside_by_chance_is_replaced_and_a_link_there_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = WholeFile::at(&folder.path().join("run.json"));
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").expect("a folder of ours");
        symlink(&victim, &file.beside).expect("a folder of ours");
        file.replace("new").expect("room");
        assert_eq!(fs::read_to_string(&victim).expect("it is there"), "precious");
        assert_eq!(names_in(folder.path()), ["run.json", "victim"]);
    }
}
