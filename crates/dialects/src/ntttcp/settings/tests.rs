//! Defaults, corrections and what is refused. The values are the reference's, section 1.

use super::super::getopt;
use super::*;

fn parsed(line: &str) -> Result<Settings, String> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    read(&getopt::split(&words)?)
}

fn good(line: &str) -> Settings {
    parsed(line).unwrap_or_else(|why| panic!("{line}: {why}"))
}

#[test]
fn nothing_said_is_a_receiver_and_a_bare_sender_has_its_defaults() {
    let receiver = good("");
    assert!(receiver.role == Role::Receiver && receiver.is_default_role && receiver.has_sync);
    assert_eq!((receiver.ports, receiver.port, receiver.buffer), (16, 5_001, 65_536));
    let sender = good("-s");
    assert_eq!((sender.role, sender.address, sender.buffer), (Role::Sender, None, 131_072));
    assert_eq!((sender.threads, sender.connections, sender.all_connections()), (4, 1, 64));
    assert_eq!((sender.warm_up_s, sender.duration_s, sender.cool_down_s), (0, 60, 0));
    assert_eq!((sender.source_port, sender.rate, sender.pacing_rate), (None, None, None));
    assert!(sender.log.is_none() && sender.xml.is_none() && sender.json.is_none());
}

#[test]
fn values_have_their_units_and_files_their_names() {
    let settings = good("-s10.0.0.1 -b 1.5M -B 1.5G -f -O -x a.xml -j -a 10.0.0.2");
    assert_eq!((settings.buffer, settings.rate), (1_572_864, Some(1_500_000_000)));
    assert_eq!(settings.source_port, Some(25_001));
    assert_eq!(settings.log.as_deref(), Some("ntttcp-for-linux-log.log"));
    assert_eq!(settings.xml.as_deref(), Some("a.xml"));
    assert_eq!(settings.json.as_deref(), Some("ntttcp-for-linux-log.json"));
    let lisa = good(
        "-s10.0.0.1 -P 64 -n 16 -t 10 -W 1 -C 1 -b 64k --show-nic-packets eth0 --show-dev-interrupts mana irq",
    );
    assert_eq!((lisa.all_connections(), lisa.buffer, lisa.total_s()), (1_024, 65_536, Some(12)));
    assert_eq!(
        (lisa.interface.as_deref(), lisa.interrupts.as_deref()),
        (Some("eth0"), Some("mana"))
    );
    let old = good("-R -K eth1 -I mlx");
    assert!(old.shows_retransmits && old.interface.as_deref() == Some("eth1"));
    assert_eq!(good("-s -t0").total_s(), None);
}

#[test]
fn what_is_out_of_range_is_what_ntttcp_takes_it_for() {
    for (line, is_so, told) in [
        ("-s -P 600", (|it| it.ports == 512) as fn(&Settings) -> bool, "-P is from 1 to 512; 512"),
        ("-s -P 0", |it| it.ports == 1, "-P is from 1 to 512; 1 is used"),
        ("-s -P -1", |it| it.ports == 512, "512 is used"),
        ("-s -n 30000 -P1", |it| it.threads == 25_600, "25600 is used"),
        ("-s -l 0", |it| it.connections == 1, "1 is used"),
        ("-s -W -1", |it| it.warm_up_s == 0, "-W is below 0; 0 is used"),
        ("-s -t -1", |it| it.duration_s == 60, "60 is used"),
        ("-s -f 80", |it| it.source_port == Some(25_001), "-f 80 is below 1025"),
        (
            "-s -B 1G --fq-rate-limit 1G",
            |it| it.pacing_rate.is_none(),
            "ignored, since -B is given",
        ),
    ] {
        let settings = good(line);
        assert!(is_so(&settings), "{line}: {settings:?}");
        assert_eq!(settings.corrections.len(), 1, "{line}");
        assert!(settings.corrections[0].contains(told), "{line}: {:?}", settings.corrections);
    }
}

#[test]
fn the_windows_form_sets_ports_a_processor_and_an_address() {
    let settings = good("-s -m 8,2,10.0.0.1");
    assert_eq!((settings.ports, settings.threads, settings.cpu), (8, 1, Some(2)));
    assert_eq!(settings.address, Some([10, 0, 0, 1].into()));
    assert_eq!(good("-r -m 8,*,*").cpu, None);
    for wrong in ["-m 0,*,*", "-m x,0,10.0.0.1", "-m 8,-1,*", "-m 8,0,h4", "-m 1,2,10.0.0.1,4"] {
        assert!(parsed(wrong).is_err_and(|why| why.starts_with("-m takes ports")), "{wrong}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    for (line, part) in [
        ("-s -r", "both sender and receiver"),
        ("-s -M", "-M is for a receiver"),
        ("-r -L", "-L is for a sender"),
        ("-s -u --no-delay", "leave one of them out"),
        ("-s -u -6", "leave -6 out"),
        ("-s h4", "'h4' is none"),
        ("-s 10.0.0.1 -6", "other family"),
        ("-s fe80::1", "give -6"),
        ("-s -p 70000", "no port"),
        ("-s -p 65530", "these end at 65545"),
        ("-s -p 1", "from 2 to 65535"),
        ("-s -b 12X", "'12X' is none"),
        ("-s -b -5K", "'-5K' is none"),
        ("-s -t abc", "'abc' is none"),
        ("-s -t 90000", "more than a day"),
        ("-s -t 80000 -C 80000", "together are more than a day"),
        ("-s -f 65530", "no 64 ports"),
    ] {
        let why = parsed(line).expect_err(line);
        assert!(why.contains(part), "{line}: {why}");
    }
}
