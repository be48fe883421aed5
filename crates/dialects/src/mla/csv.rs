//! The file of raw stamps, as the original lays it out: a row for each number, with both paths whether they were used or not.

use std::path::PathBuf;

use super::statistics::Stamps;

/// A file, and the rows of it that nobody has taken.
#[derive(Debug)]
pub(super) struct Csv {
    pub path: PathBuf,
    rows: String,
}

impl Csv {
    /// A file of this name, which has its head.
    pub fn new(path: PathBuf) -> Self {
        let mut rows = "Sequence number".to_owned();
        for path in ["Primary", "Secondary"] {
            for what in ["Send", "Echo", "Receive"] {
                for part in [", ", path, " ", what, " timestamp (microsec)"] {
                    rows.push_str(part);
                }
            }
        }
        rows.push('\n');
        Self { path, rows }
    }

    /// What became of a number on each path.
    pub fn add(&mut self, number: u64, paths: &[Stamps; 2]) {
        self.rows.push_str(&number.to_string());
        let stamps = paths.iter().flat_map(|it| [it.sent_us, it.echoed_us, it.received_us]);
        for stamp in stamps {
            self.rows.push_str(", ");
            self.rows.push_str(&stamp.map_or_else(|| "-1".to_owned(), |us| us.to_string()));
        }
        self.rows.push('\n');
    }

    /// Whole rows, once.
    pub fn take(&mut self) -> Option<String> {
        (!self.rows.is_empty()).then(|| std::mem::take(&mut self.rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_happen_is_less_than_nothing() {
        let mut csv = Csv::new("a.csv".into());
        let head = "Sequence number, Primary Send timestamp (microsec), Primary Echo timestamp (microsec), \
                    Primary Receive timestamp (microsec), Secondary Send timestamp (microsec), \
                    Secondary Echo timestamp (microsec), Secondary Receive timestamp (microsec)\n";
        assert_eq!(csv.take().as_deref(), Some(head));
        let sent = Stamps { sent_us: Some(1), echoed_us: Some(77_001), received_us: Some(20) };
        csv.add(7, &[sent, Stamps::default()]);
        assert_eq!(csv.take().as_deref(), Some("7, 1, 77001, 20, -1, -1, -1\n"));
        assert_eq!(csv.take(), None);
    }
}
