//! Words that cannot be meant, and files that cannot be read: a sentence that says what there is, and
//! the exit code of bad input.

use super::{Folder, PAIR, Stand};

#[test]
fn without_a_lab() {
    let Some(folder) = Folder::new() else { return };
    for words in [
        &["exec", "h1", "--", "true"][..],
        &["show"],
        &["set", "a:b", "cut"],
        &["capture", "a:b", "-o", "/dev/null"],
        &["down"],
        &["down", "nobody"],
    ] {
        folder.run(words).exits(2).complains(&["no lab is up; start one with: pathscope lab up"]);
    }
    let pair = folder.file("pair.toml", PAIR);
    for name in ["", ".hidden", "a/b", "../up", "with space", &"long".repeat(11)] {
        let words = ["up", &pair, "--lab", name];
        folder.run(&words).exits(2).complains(&["cannot be a lab's name", "name it with --lab"]);
    }
    let missing = folder.path().join("missing.toml");
    let missing = missing.to_str().expect("plain");
    folder.run(&["up", missing]).exits(2).complains(&["cannot read", missing, "No such file"]);
    let itself = folder.path().to_str().expect("plain");
    folder.run(&["up", itself]).exits(2).complains(&["cannot read", itself, "directory"]);
    std::fs::write(folder.path().join("noise.toml"), [0xff, 0xfe]).expect("a folder of ours");
    let noise = format!("{itself}/noise.toml");
    folder.run(&["up", &noise]).exits(2).complains(&["cannot read", "noise.toml", "UTF-8"]);
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn topologies_with_faults_are_told_with_their_lines() {
    let Some(folder) = Folder::new() else { return };
    // Addresses are judged once all nodes and links are right.
    let words = "hosts = [\"a\", \"b\"]\n\n[links]\n\
                 \"a:b\" = { queue = \"0p\" }\n\
                 \"a:nobody\" = {}\n";
    let addresses = "hosts = [\"a\", \"b\"]\n[links]\n\
                     \"a:b\" = { addresses = { a = \"10.0.0.1\", b = \"10.0.0.1\" } }\n";
    let (words, addresses) =
        (folder.file("words.toml", words), folder.file("same.toml", addresses));
    for verb in ["up", "show"] {
        folder.run(&[verb, &words]).exits(2).complains(&[
            &format!("{words}:4:"),
            "link a:b: queue = 0p: a queue holds at least one frame",
            &format!("{words}:5:1: link a:nobody: there is no node `nobody`; there are a, b"),
        ]);
        folder.run(&[verb, &addresses]).exits(2).complains(&[
            &format!("{addresses}:3:"),
            "link a:b: 10.0.0.1 is the address of a already",
        ]);
    }
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn about_a_lab_that_is_up() {
    let text = "name = \"pair\"\nhosts = [\"a\", \"b\"]\n[links]\n\
                \"a:b\" = { delay = \"1ms\" }\n\"a:b#plain\" = {}\n";
    let Some(stand) = Stand::up(text) else { return };
    for (words, said) in [
        (&["exec", "c", "--", "true"][..], &["lab pair has no node c; it has a, b"][..]),
        (&["set", "a:c", "cut"], &["link a:c is not in this lab; relayed links are: a:b"]),
        (&["set", "a:b#plain", "cut"], &["is a plain wire, which cannot be changed", "delay = "]),
        (&["set", "a:b", "--from", "c", "cut"], &["link a:b does not begin at c"]),
        (&["set", "a:b", "speed=3"], &["speed=3", "rate, delay"]),
        (&["set", "a:b", "queue=0p"], &["a queue holds at least one frame"]),
        (&["set", "a:b", "at", "soon", "cut"], &["at soon"]),
        (&["capture", "a:c", "-o", "/dev/null"], &["lab pair has no link a:c; it has a:b"]),
        (&["exec", "--lab", "other", "a", "--", "true"], &["by the name of other", "pair"]),
        (&["down", "other"], &["by the name of other", "pair"]),
    ] {
        stand.folder.run(words).exits(2).complains(said);
    }
    let unwritable = ["capture", "a:b", "-o", "/nowhere/at/all.pcap"];
    stand.folder.run(&unwritable).exits(6).complains(&["cannot write /nowhere/at/all.pcap"]);
    let missing = stand.start("a", &["no-such-program"]).finish().exits(4);
    missing.complains(&["cannot run no-such-program on a: No such file"]);
    // The code of a program on a node is its own.
    stand.start("a", &["sh", "-c", "exit 7"]).finish().exits(7);

    let file = stand.folder.file("pair.toml", PAIR);
    let in_use = stand.folder.run(&["up", &file]).exits(2);
    in_use.complains(&["by the name of pair is up already", "pathscope lab down pair", "--lab"]);
    let second = stand.folder.run(&["up", &file, "--lab", "second", "--seed", "9"]).exits(0);
    second.complains(&["lab second is up: 2 hosts, 1 relayed link", "seed 9"]);
    let which = stand.folder.run(&["exec", "a", "--", "true"]).exits(2);
    which.complains(&["2 labs are up: pair, second; name one with --lab"]);
    stand.folder.run(&["exec", "--lab", "second", "a", "--", "true"]).exits(0);
    stand.folder.run(&["down", "second"]).exits(0).complains(&["lab second is down"]);
    // What was asked of it in vain changed nothing.
    let account = stand.account();
    let link = account.link("a:b").expect("relayed");
    assert_eq!(link.forward.conditions.delay.0, 1_000_000);
    assert!(!link.forward.is_cut && !link.backward.is_cut);
}
