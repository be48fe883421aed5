//! A test of which somebody hears beside who reads the journal: what comes of that is told to its client. Not here: what it looks like,
//! which is the affair of who stands in for a program (`dialects`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use pathscope_core::Tick;
use pathscope_core::journal::{Entry, Scribe, Scribes, TestOver};
use pathscope_core::record::{Caveat, Printed, Remarks};
use pathscope_os::clock;

use super::{Journal, SessionJournal, Sink, Wants};
use crate::threads::lock;

/// Where entries go of a session of which somebody hears.
pub(super) struct Scribed {
    /// Who reads them all.
    others: Option<Arc<dyn Sink>>,
    began: Tick,
    /// Until it has said what came of it.
    scribe: Mutex<Option<Box<dyn Scribe>>>,
    /// Whether the test that runs is one of datagrams, whose flows are not told to everybody.
    is_of_datagrams: AtomicBool,
}

impl Scribed {
    fn of(journal: &Journal, scribes: &Scribes) -> Self {
        let now = clock::now();
        let (others, began) =
            journal.open.clone().map_or((None, now), |(sink, at)| (Some(sink), at));
        let wall_unix_ns = clock::wall_unix_ns().saturating_sub(now.nanos_since(began));
        let scribe = Mutex::new(Some(scribes.begin(wall_unix_ns)));
        Self { others, began, scribe, is_of_datagrams: AtomicBool::new(false) }
    }

    /// What came of it. Nothing is heard any more.
    fn printed(&self, over: TestOver) -> Option<Printed> {
        let mut scribe = lock(&self.scribe).take()?;
        let at_ns = clock::now().nanos_since(self.began);
        scribe.hear(&Entry::TestOver(Box::new(TestOver { at_ns, ..over })));
        scribe.printed()
    }

    /// Whether who reads all would have been told of this, had nobody else heard.
    fn is_for_others(&self, entry: &Entry, wants: Wants) -> bool {
        let of_flow = || !self.is_of_datagrams.load(Ordering::Relaxed);
        match entry {
            Entry::Progress(_) => wants.progress,
            Entry::TestBegan(_) | Entry::TestOver(_) => wants.progress || wants.status,
            Entry::Opened(_) | Entry::Closed(_) => wants.progress || of_flow(),
            _ => true,
        }
    }
}

impl Sink for Scribed {
    fn wants(&self) -> Wants {
        let wants = self.others.as_ref().map(|others| others.wants()).unwrap_or_default();
        Wants { progress: true, ..wants }
    }

    fn take(&self, entry: Entry) {
        if let Entry::TestBegan(began) = &entry {
            self.is_of_datagrams.store(began.load.is_udp, Ordering::Relaxed);
        }
        if let Some(scribe) = lock(&self.scribe).as_mut() {
            scribe.hear(&entry);
        }
        if let Some(others) = &self.others
            && self.is_for_others(&entry, others.wants())
        {
            others.take(entry);
        }
    }

    fn settle(&self) -> Vec<Caveat> {
        self.others.as_ref().map(|others| others.settle()).unwrap_or_default()
    }

    fn caveats(&self) -> Vec<Caveat> {
        self.others.as_ref().map(|others| others.caveats()).unwrap_or_default()
    }
}

impl SessionJournal {
    /// What the client has said of the test that was accepted. Where it asks for what is printed of it, and there is who makes that, it is
    /// heard of from now on.
    pub fn remarked(&mut self, remarks: Remarks, scribes: Option<&Scribes>) {
        if let Some(scribes) = scribes.filter(|_| remarks.wants_output) {
            let scribed = Arc::new(Scribed::of(&self.journal, scribes));
            let sink: Arc<dyn Sink> = Arc::<Scribed>::clone(&scribed);
            self.journal = Journal::begin(sink, scribed.began);
            self.scribed = Some(scribed);
        }
        self.remarks = remarks;
    }

    /// What is printed of the test of which this end has just reported, if anybody has heard of it for that.
    pub fn printed(&mut self) -> Option<Printed> {
        let scribed = self.scribed.take()?;
        scribed.printed(self.runs.as_ref()?.over())
    }
}

#[cfg(test)]
mod tests {
    use pathscope_core::journal::{LoadFacts, TestBegan};

    use super::*;

    /// What was told, by the names of entries.
    type Told = Arc<Mutex<Vec<&'static str>>>;

    const fn name(entry: &Entry) -> &'static str {
        match entry {
            Entry::TestBegan(_) => "began",
            Entry::Opened(_) => "opened",
            Entry::Progress(_) => "progress",
            Entry::Closed(_) => "closed",
            Entry::TestOver(_) => "over",
            _ => "other",
        }
    }

    /// Reads all that it wants, which may be none of what costs something.
    struct Reader(Told, Wants);

    impl Sink for Reader {
        fn wants(&self) -> Wants {
            self.1
        }

        fn take(&self, entry: Entry) {
            lock(&self.0).push(name(&entry));
        }

        fn settle(&self) -> Vec<Caveat> {
            Vec::new()
        }

        fn caveats(&self) -> Vec<Caveat> {
            Vec::new()
        }
    }

    struct Listener(Told);

    impl Scribe for Listener {
        fn hear(&mut self, entry: &Entry) {
            lock(&self.0).push(name(entry));
        }

        fn printed(&mut self) -> Option<Printed> {
            Some(Printed::Text(lock(&self.0).join(" ")))
        }
    }

    /// What who reads the journal is told of a test, and what its client is.
    fn told(wants: Wants, is_udp: bool) -> (String, Option<Printed>) {
        let (read, heard) = (Told::default(), Told::default());
        let journal = Journal::begin(Arc::new(Reader(Arc::clone(&read), wants)), clock::now());
        let of = Arc::clone(&heard);
        let scribes = Scribes::new(move |_| Box::new(Listener(Arc::clone(&of))));
        let scribed = Scribed::of(&journal, &scribes);
        assert!(scribed.wants().progress);
        let load = LoadFacts { is_udp, ..LoadFacts::default() };
        scribed.take(Entry::TestBegan(Box::new(TestBegan { load, ..TestBegan::default() })));
        scribed.take(Entry::Opened(Box::default()));
        scribed.take(Entry::Progress(Box::default()));
        let printed = scribed.printed(TestOver::default());
        assert_eq!(scribed.printed(TestOver::default()), None);
        // What follows its client is not told any more.
        scribed.take(Entry::Closed(Box::default()));
        scribed.take(Entry::TestOver(Box::default()));
        let read = lock(&read).join(" ");
        (read, printed)
    }

    #[test]
    fn a_client_is_told_all_of_its_test_and_who_reads_the_journal_no_more_than_without_it() {
        let everything = Wants { status: true, progress: true, ..Wants::default() };
        let all = "began opened progress closed over";
        for (wants, is_udp, read) in [
            (everything, false, all),
            (everything, true, all),
            (Wants::default(), false, "opened closed"),
            (Wants::default(), true, ""),
            (Wants { status: true, ..Wants::default() }, true, "began over"),
        ] {
            let printed = Some(Printed::Text("began opened progress over".to_owned()));
            assert_eq!(told(wants, is_udp), (read.to_owned(), printed), "{wants:?} {is_udp}");
        }
    }
}
