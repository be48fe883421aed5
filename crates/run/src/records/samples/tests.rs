//! Files of samples of either form, and what does not reach them.

use pathscope_core::id::FlowId;
use pathscope_modes::latency::{Outcome, PingRows, Sample};

use super::*;

const START: Tick = Tick::from_nanos(1_000);

fn sample(sequence: u64, received: Tick) -> Sample {
    let due = Tick::from_nanos(1_010);
    let (from, sent) = (Tick::from_nanos(1_011), Tick::from_nanos(1_012));
    let server = Some((Tick::from_nanos(77), Tick::from_nanos(80)));
    let server = server.filter(|_| received != Tick::NEVER);
    let outcome = if server.is_some() { Outcome::Answered } else { Outcome::Lost };
    Sample { flow: FlowId(3), sequence, due, from, sent, received, server, outcome }
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("pathscope-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for this test");
    folder
}

fn outlet(path: &Path) -> std::io::Result<Outlet> {
    let file = std::fs::OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    Outlet::new(file, Duration::from_secs(60))
}

fn create(path: &Path) -> std::io::Result<SampleFile> {
    std::fs::File::create(path)?;
    Ok(SampleFile::new(path, outlet(path)?))
}

fn write_pings(file: SampleFile) -> (SampleBuffer<Sample>, SampleWriter) {
    let (mut buffers, writer) = file.write(PingRows, 1, START).expect("a thread");
    (buffers.pop().expect("one worker has one"), writer)
}

#[test]
fn each_sample_is_a_row_in_order() {
    let folder = folder("samples");
    let path = folder.join("rows.csv");
    let file = create(&path).expect("a folder of ours");
    let (mut buffer, writer) = write_pings(file);
    buffer.push(sample(7, Tick::from_nanos(1_030)));
    buffer.push(Sample { outcome: Outcome::WarmUp, ..sample(8, Tick::from_nanos(1_040)) });
    buffer.push(Sample { outcome: Outcome::Corrupt, ..sample(9, Tick::NEVER) });
    buffer.push(sample(u64::MAX, Tick::NEVER));
    drop(buffer);
    assert_eq!(writer.finish(), None);
    let text = std::fs::read_to_string(&path).expect("it was written");
    let rows = "3,7,10,12,30,19,3,answered,11,-923\n3,8,10,12,40,29,3,warm_up,11,-923\n\
        3,9,10,12,,,,corrupt,11,\n3,18446744073709551615,10,12,,,,lost,11,\n";
    assert_eq!(text, format!("{}{rows}", PingRows.head()));
    std::fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn a_run_without_samples_leaves_the_head() {
    let folder = folder("no-samples");
    let path = folder.join("rows.csv");
    let (buffer, writer) = write_pings(create(&path).expect("ours"));
    drop(buffer);
    assert_eq!(writer.finish(), None);
    assert_eq!(std::fs::read_to_string(&path).expect("it was written"), PingRows.head());
    std::fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn the_rows_of_one_test_follow_those_of_another_under_one_head() {
    let folder = folder("samples-of-two");
    let path = folder.join("rows.csv");
    let file = create(&path).expect("a folder of ours");
    for number in [1, 2] {
        let (mut buffer, writer) = write_pings(file.clone());
        buffer.push(sample(number, Tick::NEVER));
        drop(buffer);
        assert_eq!(writer.finish(), None);
    }
    let text = std::fs::read_to_string(&path).expect("it was written");
    assert_eq!(text, format!("{}3,1,10,12,,,,lost,11,\n3,2,10,12,,,,lost,11,\n", PingRows.head()));
    std::fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn a_full_disk_is_told_and_keeps_nobody_waiting() {
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped, because this system has no device that is always full");
        return;
    }
    let file = create(Path::new("/dev/full")).expect("it can be opened");
    let (mut buffer, writer) = write_pings(file);
    (0..1_000_000).for_each(|sequence| buffer.push(sample(sequence, START)));
    drop(buffer);
    let caveat = writer.finish().expect("it is full");
    assert_eq!(caveat.name, "samples_unwritten");
    assert!(
        caveat.text.contains("/dev/full") && caveat.text.ends_with("; none is in it"),
        "{caveat:?}"
    );
}

#[test]
fn columns_hold_what_rows_hold_in_whichever_case_the_name_is_written() {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    let folder = folder("samples-in-columns");
    let path = folder.join("pings.PARQUET");
    std::fs::write(&path, "of a run before").expect("a folder of ours");
    let file = SampleFile::new(&path, outlet(&path).expect("ours"));
    // Of two tests, one after the other.
    for number in [7, 8] {
        let (mut buffer, writer) = write_pings(file.clone());
        buffer.push(sample(number, Tick::from_nanos(1_030)));
        buffer.push(sample(number, Tick::NEVER));
        drop(buffer);
        assert_eq!(writer.finish(), None);
    }
    assert_eq!(file.end(), None);
    let reader = SerializedFileReader::new(std::fs::File::open(&path).expect("it is there"));
    let reader = reader.expect("a whole file");
    let rows: Vec<String> = reader
        .get_row_iter(None)
        .expect("rows")
        .map(|row| row.expect("a row").to_string())
        .collect();
    let answered = "flow: 3, ping: 7, scheduled_ns: 10, sent_ns: 12, received_ns: 30, rtt_ns: 19, \
        server_residence_ns: 3, outcome: \"answered\", counted_from_ns: 11, server_received_ns: -923";
    assert_eq!(rows[0], format!("{{{answered}}}"));
    assert_eq!(rows[1].matches("null").count(), 4, "{}", rows[1]);
    assert_eq!(rows[2], rows[0].replace("ping: 7", "ping: 8"));
    assert_eq!(rows.len(), 4);
    std::fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn a_file_of_columns_of_which_nothing_was_measured_is_left_alone() {
    let folder = folder("samples-of-none");
    let path = folder.join("pings.parquet");
    std::fs::write(&path, "of a run before").expect("a folder of ours");
    let file = SampleFile::new(&path, outlet(&path).expect("ours"));
    assert_eq!(file.end(), None);
    assert_eq!(std::fs::read_to_string(&path).expect("it stays"), "of a run before");
    std::fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn columns_for_which_there_is_no_room_are_told_and_leave_nothing_behind() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        eprintln!("skipped, because this system has no device that is always full");
        return;
    }
    let told = |samples: u64| {
        // The name asks for columns; the file is the device.
        let file = SampleFile::new(Path::new("full.parquet"), outlet(full).expect("it opens"));
        let (mut buffer, writer) = write_pings(file.clone());
        (0..samples).for_each(|sequence| buffer.push(sample(sequence, START)));
        drop(buffer);
        (writer.finish(), file.end())
    };
    // While it is written, and at its end; never twice.
    let (meanwhile, none) = told(200_000);
    let (nothing, at_the_end) = told(1);
    assert_eq!((none, nothing), (None, None));
    for caveat in [meanwhile, at_the_end] {
        let caveat = caveat.expect("it is full");
        assert_eq!(caveat.name, "samples_unwritten");
        let text = &caveat.text;
        assert!(text.contains("full.parquet") && text.ends_with("; none is in it"), "{text}");
    }
}

#[test]
fn what_the_ring_does_not_hold_is_counted() {
    let (full, blocks) = mpsc::sync_channel(1);
    let (spent, empty) = mpsc::channel();
    spent.send(Vec::with_capacity(BLOCK)).expect("it is held");
    let dropped = Arc::new(AtomicU64::new(0));
    let ring = Ring { worker: 0, full, empty, dropped: Arc::clone(&dropped) };
    let mut buffer = SampleBuffer::new(Box::new(ring));
    (0..3 * BLOCK as u64).for_each(|sequence| buffer.push(sample(sequence, START)));
    drop(buffer);
    let kept: Vec<Sample> = blocks.into_iter().flat_map(|(_, block)| block).collect();
    assert_eq!((kept.len(), dropped.load(Ordering::Relaxed)), (BLOCK, 2 * BLOCK as u64));
}

#[test]
fn rows_that_are_missing_are_a_caveat() {
    let finished = |dropped| {
        let (done, outcome) = mpsc::channel();
        done.send(Ok(4_096)).expect("it is held");
        let dropped = Arc::new(AtomicU64::new(dropped));
        SampleWriter { path: PathBuf::from("rows.csv"), outcome, dropped }.finish()
    };
    assert_eq!(finished(0), None);
    let caveat = finished(904).expect("some were dropped");
    assert_eq!(caveat.name, "samples_dropped");
    assert!(caveat.text.starts_with("904 of 5,000 samples are not in rows.csv"), "{caveat:?}");
}

/// A Python that has `DuckDB`, where the check installed one.
fn python() -> Option<PathBuf> {
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/analysis/bin/python");
    Some(PathBuf::from(python)).filter(|python| python.is_file())
}

#[test]
fn duckdb_finds_the_same_in_columns_and_in_rows() {
    let Some(python) = python() else {
        return println!("skipped, because there is no DuckDB (cargo xtask check --only machine)");
    };
    let folder = folder("samples-in-duckdb");
    let [csv, columns] = ["pings.csv", "pings.parquet"].map(|name| folder.join(name));
    for path in [&csv, &columns] {
        let file = SampleFile::new(path, outlet(path).expect("ours"));
        let (mut buffer, writer) = write_pings(file.clone());
        for sequence in 0..70_000 {
            let received = Tick::from_nanos(2_000 + sequence * 977 % 100_003);
            buffer.push(sample(sequence, if sequence % 7 == 0 { Tick::NEVER } else { received }));
        }
        drop(buffer);
        assert_eq!((writer.finish(), file.end()), (None, None));
    }
    let script = "import sys, duckdb\n\
        csv, columns = (f\"'{path}'\" for path in sys.argv[1:])\n\
        for one, other in ((csv, columns), (columns, csv)):\n\
        \x20   rows = duckdb.sql(f'from {one} except all from {other}').fetchall()\n\
        \x20   assert not rows, rows[:3]\n\
        print(duckdb.sql(f'select count(*), count(rtt_ns), sum(rtt_ns) from {columns}').fetchall()[0])";
    let ran = std::process::Command::new(python)
        .args(["-c", script])
        .args([&csv, &columns])
        .output()
        .expect("it starts");
    let (said, complained) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let answered = (0..70_000_u64).filter(|sequence| sequence % 7 != 0);
    let lengths = answered.map(|sequence| 2_000 + sequence * 977 % 100_003 - 1_011);
    let (count, sum) = lengths.fold((0, 0), |(count, sum), length| (count + 1, sum + length));
    assert_eq!(said.trim(), format!("(70000, {count}, {sum})"), "{complained}");
    std::fs::remove_dir_all(folder).expect("it is ours");
}
