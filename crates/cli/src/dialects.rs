//! Command lines of other programs, said in words of ours. What each of them means is read here; nothing else knows of it.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::Trouble;

/// A program whose command line is understood.
struct Dialect {
    /// Its name, without an ending.
    name: &'static str,
    /// Its words, without its name, as words of ours after `pathscope`.
    translate: fn(&[OsString]) -> Result<Vec<OsString>, Trouble>,
}

const DIALECTS: [Dialect; 1] = [Dialect { name: "visualize_data", translate: graph_of_lagscope }];

/// The words of a command line as this program's own. Those of a program that it stands in for are translated, where it was
/// started under that name or the name is its first word.
pub fn native(words: impl Iterator<Item = OsString>) -> Result<Vec<OsString>, Trouble> {
    let words: Vec<OsString> = words.collect();
    let named = (0..2).find_map(|place| {
        let name = words.get(place)?;
        Some((dialect(name)?, place))
    });
    let Some((dialect, place)) = named else { return Ok(words) };
    let program = OsString::from("pathscope");
    Ok([vec![program], (dialect.translate)(&words[place + 1..])?].concat())
}

fn dialect(name: &OsStr) -> Option<&'static Dialect> {
    let name = Path::new(name).file_stem()?.to_str()?;
    DIALECTS.iter().find(|dialect| name.eq_ignore_ascii_case(dialect.name))
}

/// lagscope's `visualize_data.py -json FILE -img FILE`: its latencies as a picture.
fn graph_of_lagscope(words: &[OsString]) -> Result<Vec<OsString>, Trouble> {
    let mut json = OsString::from("freq_table.json");
    let mut image = OsString::from("freq_graph.png");
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let file = match word.to_str() {
            Some("-json" | "--json") => &mut json,
            Some("-img" | "--img") => &mut image,
            Some("-h" | "--help") => return Ok(["show", "--help"].map(OsString::from).to_vec()),
            _ => return Err(unknown(word)),
        };
        *file = words.next().cloned().ok_or_else(|| {
            Trouble::usage(format!("visualize_data: name a file after {}", word.display()))
        })?;
    }
    if Path::new(&image).extension().is_none() {
        image.push(".png");
    }
    Ok([OsString::from("show"), json, OsString::from("--plot"), image].to_vec())
}

fn unknown(word: &OsStr) -> Trouble {
    let word = word.to_string_lossy();
    Trouble::usage(format!(
        "visualize_data: there is no option '{word}'; it takes -json FILE (freq_table.json) and -img FILE (freq_graph.png)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &str) -> Result<String, String> {
        let native = native(words.split(' ').map(OsString::from)).map_err(|it| it.text)?;
        Ok(native.join(OsStr::new(" ")).into_string().expect("it was text"))
    }

    #[test]
    fn words_of_ours_stay_as_they_are() {
        for words in
            ["pathscope", "pathscope show visualize_data.py", "/usr/bin/pathscope latency h4"]
        {
            assert_eq!(said(words).as_deref(), Ok(words));
        }
    }

    #[test]
    fn the_graph_of_lagscope_is_a_plot_of_its_file() {
        for (words, native) in [
            ("visualize_data.py", "pathscope show freq_table.json --plot freq_graph.png"),
            ("./Visualize_Data -json a.json", "pathscope show a.json --plot freq_graph.png"),
            ("pathscope visualize_data.py -json a -img b", "pathscope show a --plot b.png"),
            ("pathscope visualize_data -img b.svg", "pathscope show freq_table.json --plot b.svg"),
            ("visualize_data.py -h", "pathscope show --help"),
        ] {
            assert_eq!(said(words).as_deref(), Ok(native));
        }
        for (words, part) in [
            ("visualize_data.py -json", "name a file after -json"),
            ("visualize_data.py -jsn a", "no option '-jsn'"),
            ("visualize_data.py a.json", "no option 'a.json'"),
        ] {
            let error = said(words).expect_err("it means nothing");
            assert!(error.contains(part), "{error}");
        }
    }
}
