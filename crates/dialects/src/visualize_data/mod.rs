//! lagscope's `visualize_data.py -json FILE -img FILE`: its latencies as a picture, which `show --plot` draws.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::dialect::{Answer, Dialect, Run, Said, Unclear};

/// lagscope's script.
#[derive(Debug)]
pub enum VisualizeData {}

impl Dialect for VisualizeData {
    const NAMES: &'static [&'static str] = &["visualize_data"];

    fn translate(words: &[OsString]) -> Result<Said, Unclear> {
        let mut json = OsString::from("freq_table.json");
        let mut image = OsString::from("freq_graph.png");
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let file = match word.to_str() {
                Some("-json" | "--json") => &mut json,
                Some("-img" | "--img") => &mut image,
                Some("-h" | "--help") => return Ok(Said::Text(help())),
                _ => return Err(unknown(word)),
            };
            *file = words.next().cloned().ok_or_else(|| {
                Unclear::new(format!("visualize_data: name a file after {}", word.display()))
            })?;
        }
        if Path::new(&image).extension().is_none() {
            image.push(".png");
        }
        Ok(Said::Run(Run::of([OsString::from("show"), json, OsString::from("--plot"), image])))
    }
}

fn help() -> Answer {
    let text = "usage: visualize_data.py [-h] [-json FILE] [-img FILE]\n\n\
                Draws the table of latencies that lagscope -P has written.\n\n\
                options:\n  -h, --help  show this and exit\n  \
                -json FILE  the table (freq_table.json)\n  \
                -img FILE   the picture, .png or .svg (freq_graph.png)\n";
    Answer { text: text.to_owned(), is_error: false, exit_code: 0 }
}

fn unknown(word: &OsStr) -> Unclear {
    let word = word.to_string_lossy();
    Unclear::new(format!(
        "visualize_data: there is no option '{word}'; it takes -json FILE (freq_table.json) and -img FILE (freq_graph.png)"
    ))
}

#[cfg(test)]
mod tests {
    use crate::registry::tests::native;

    #[test]
    fn the_graph_of_lagscope_is_a_plot_of_its_file() {
        for (words, ours) in [
            ("visualize_data.py", "show freq_table.json --plot freq_graph.png"),
            ("./Visualize_Data -json a.json", "show a.json --plot freq_graph.png"),
            ("pathscope visualize_data.py -json a -img b", "show a --plot b.png"),
            ("pathscope visualize_data -img b.svg", "show freq_table.json --plot b.svg"),
        ] {
            assert_eq!(native(words).as_deref(), Ok(ours));
        }
        for (words, part) in [
            ("visualize_data.py -json", "name a file after -json"),
            ("visualize_data.py -jsn a", "no option '-jsn'"),
            ("visualize_data.py a.json", "no option 'a.json'"),
            ("visualize_data.py -h", "-json FILE  the table"),
        ] {
            let error = native(words).expect_err("it means nothing");
            assert!(error.contains(part), "{error}");
        }
    }
}
