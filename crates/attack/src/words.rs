//! The words that it is called with: a task, a name, and pairs of an option and its value.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::ground::Ground;
use crate::mutation::Order;
use crate::random::Random;
use crate::wire::Version;

/// The words, taken apart.
#[derive(Debug)]
pub struct Words {
    plain: Vec<String>,
    options: BTreeMap<String, String>,
}

impl Words {
    /// Those of this process.
    pub fn of_process() -> Self {
        let mut words = Self { plain: Vec::new(), options: BTreeMap::new() };
        let mut all = std::env::args().skip(1);
        while let Some(word) = all.next() {
            match word.strip_prefix("--") {
                Some(option) => {
                    words.options.insert(option.to_owned(), all.next().unwrap_or_default());
                }
                None => words.plain.push(word),
            }
        }
        words
    }

    /// What is to be done.
    pub fn task(&self) -> &str {
        self.plain.first().map_or("", String::as_str)
    }

    /// To what.
    pub fn name(&self) -> &str {
        self.plain.get(1).map_or("", String::as_str)
    }

    /// The value of an option.
    pub fn option(&self, name: &str) -> Result<&str, String> {
        self.options.get(name).map(String::as_str).ok_or_else(|| format!("find --{name}"))
    }

    /// All options.
    pub fn options(&self) -> impl Iterator<Item = (&str, &str)> {
        self.options.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The same as a number, or another one where it is not there.
    pub fn number(&self, name: &str, otherwise: u64) -> Result<u64, String> {
        match self.options.get(name) {
            Some(text) => text.parse().map_err(|_| format!("read --{name} `{text}`: no number")),
            None => Ok(otherwise),
        }
    }

    /// What mutations they state.
    pub fn mutations(&self) -> Result<Order, String> {
        // Where no seed is said, the number of this process is as good as any.
        let drawn = Random(u64::from(std::process::id())).next() % 1_000_000;
        Ok(Order {
            binary: self.option("binary")?.into(),
            lasts: Duration::from_secs(self.number("for", 30)?),
            seed: self.number("seed", drawn)?,
            greeted_within: Duration::from_millis(self.number("patience-ms", 1_000)?),
        })
    }

    /// The ground that they state.
    pub fn ground(&self, seconds: u64, version: Version) -> Result<Ground, String> {
        let server = self.option("server")?;
        let base = self.option("base")?;
        let lasts = Duration::from_secs(self.number("for", seconds)?);
        Ok(Ground::new(
            server.parse().map_err(|_| format!("read --server `{server}`"))?,
            base.parse().map_err(|_| format!("read --base `{base}`"))?,
            lasts,
            version,
        ))
    }
}
