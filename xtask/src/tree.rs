//! The files of the repository, read once, for rules that look at text.
//!
//! A walk and not a question to git: the rules hold for a file before it is added, and for an unpacked
//! archive too.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::source;

/// Folders that hold nothing of the repository's, at any depth.
const NOT_OURS: [&str; 3] = [".git", "target", "node_modules"];

/// One file that is text.
#[derive(Clone, Debug)]
pub struct TextFile {
    /// From the root of the workspace, with `/` between its parts.
    pub path: String,
    /// All of it.
    pub text: String,
    /// The text with comments and the contents of literals blanked, line for line; for Rust only.
    pub code: String,
}

impl TextFile {
    /// A file of this path and text.
    pub fn new(path: &str, text: &str) -> Self {
        let mut file = Self { path: path.to_owned(), text: text.to_owned(), code: String::new() };
        if file.has_extension("rs") {
            file.code = source::code_of(text);
        }
        file
    }

    /// Its lines, numbered from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// Whether the name ends so.
    pub fn has_extension(&self, extension: &str) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, own)| own == extension)
    }
}

/// The files of the repository.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Those that are text, in the order of their paths.
    pub files: Vec<TextFile>,
    /// The path of each file and folder.
    paths: BTreeSet<String>,
}

impl Tree {
    /// All files below `root`.
    pub fn read(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        tree.walk(root, "")?;
        tree.files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(tree)
    }

    /// A tree of these paths and texts.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.files.push(TextFile::new(path, text));
            path.match_indices('/').for_each(|(end, _)| {
                tree.paths.insert(path[..end].to_owned());
            });
            tree.paths.insert((*path).to_owned());
        }
        tree
    }

    /// The text file of this path.
    pub fn file(&self, path: &str) -> Option<&TextFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether there is a file or folder of this path.
    pub fn holds(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }

    /// The Rust sources.
    pub fn rust(&self) -> impl Iterator<Item = &TextFile> {
        self.files.iter().filter(|file| file.has_extension("rs"))
    }

    /// The manifests of crates, the workspace's own left out.
    pub fn manifests(&self) -> impl Iterator<Item = &TextFile> {
        self.files.iter().filter(|file| {
            crate::rooms::folder_name(&file.path).is_some() && file.path.ends_with("/Cargo.toml")
        })
    }

    fn walk(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        let entries = fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("list {}", folder.display()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if NOT_OURS.contains(&name.as_str()) {
                continue;
            }
            let path = format!("{prefix}{name}");
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.walk(&entry.path(), &format!("{path}/"))?;
            } else {
                self.add(&entry.path(), &path)?;
            }
            self.paths.insert(path);
        }
        Ok(())
    }

    fn add(&mut self, file: &Path, path: &str) -> Result<()> {
        let bytes = fs::read(file).with_context(|| format!("read {}", file.display()))?;
        if let Ok(text) = String::from_utf8(bytes)
            && !text.contains('\0')
        {
            self.files.push(TextFile::new(path, &text));
        }
        Ok(())
    }
}
