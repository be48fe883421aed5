//! Rust as far as rules about text need it: what is code and what is comment or literal, and which
//! paths the code names. Not a parser: it never fails, and macros are read like any other code.

/// The text with comments and the contents of literals replaced by spaces, line for line.
pub fn code_of(text: &str) -> String {
    let mut blanker =
        Blanker { text: text.chars().collect(), at: 0, code: String::with_capacity(text.len()) };
    while blanker.at < blanker.text.len() {
        blanker.step();
    }
    blanker.code
}

struct Blanker {
    text: Vec<char>,
    at: usize,
    code: String,
}

impl Blanker {
    fn step(&mut self) {
        match (self.peek(0), self.peek(1)) {
            ('/', '/') => self.blank_while(|here| here.peek(0) != '\n'),
            ('/', '*') => self.blank_block_comment(),
            ('"', _) => self.blank_string(),
            ('\'', '\\') => self.blank_character(),
            ('\'', _) if self.peek(2) == '\'' => self.blank_character(),
            ('r', '"' | '#') if self.starts_word() => self.blank_raw_string(),
            _ => self.keep(),
        }
    }

    fn peek(&self, ahead: usize) -> char {
        self.text.get(self.at + ahead).copied().unwrap_or('\n')
    }

    fn keep(&mut self) {
        self.code.push(self.peek(0));
        self.at += 1;
    }

    fn blank(&mut self) {
        self.code.push(if self.peek(0) == '\n' { '\n' } else { ' ' });
        self.at += 1;
    }

    fn blank_while(&mut self, more: impl Fn(&Self) -> bool) {
        while self.at < self.text.len() && more(self) {
            self.blank();
        }
    }

    /// A literal's prefix may stand before the `r`: `br"…"`, `cr"…"`.
    fn starts_word(&self) -> bool {
        let before = |back: usize| self.at.checked_sub(back).map_or(' ', |at| self.text[at]);
        let first = if matches!(before(1), 'b' | 'c') { before(2) } else { before(1) };
        !is_word(first)
    }

    fn blank_block_comment(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.text.len() {
            match (self.peek(0), self.peek(1)) {
                ('/', '*') => depth += 1,
                ('*', '/') => depth -= 1,
                _ => {
                    self.blank();
                    continue;
                }
            }
            self.blank();
            self.blank();
            if depth == 0 {
                break;
            }
        }
    }

    fn blank_string(&mut self) {
        self.keep();
        while self.at < self.text.len() && self.peek(0) != '"' {
            if self.peek(0) == '\\' {
                self.blank();
            }
            self.blank();
        }
        if self.at < self.text.len() {
            self.keep();
        }
    }

    fn blank_character(&mut self) {
        self.keep();
        if self.peek(0) == '\\' {
            self.blank();
        }
        self.blank();
        self.blank_while(|here| here.peek(0) != '\'');
        self.keep();
    }

    fn blank_raw_string(&mut self) {
        let hashes = self.text[self.at + 1..].iter().take_while(|next| **next == '#').count();
        if self.peek(hashes + 1) != '"' {
            // A raw identifier.
            return self.keep();
        }
        (0..hashes + 2).for_each(|_| self.keep());
        let closes =
            |here: &Self| here.peek(0) == '"' && (1..=hashes).all(|ahead| here.peek(ahead) == '#');
        self.blank_while(|here| !closes(here));
        (0..=hashes).for_each(|_| self.keep());
    }
}

/// A word or a mark of the code.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Token {
    /// The word, `::`, or one character that is neither.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
}

impl Token {
    /// Whether it is a word: a name, a keyword, a number.
    pub fn is_word(&self) -> bool {
        self.text.starts_with(is_word)
    }
}

/// The words and marks of code, in order.
pub fn tokens(code: &str) -> Vec<Token> {
    let mut found = Vec::new();
    for (line, text) in (1..).zip(code.lines()) {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                word if is_word(word) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                ':' if rest.starts_with("::") => 2,
                other => other.len_utf8(),
            };
            found.push(Token { text: rest[..length].to_owned(), line });
            rest = rest[length..].trim_start();
        }
    }
    found
}

/// A path that code names, and the line where it ends: `std::net::TcpStream`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NamedPath {
    /// All of it, braces of a `use` taken apart.
    pub path: String,
    /// What a `use` makes it known as: its last part, or what stands behind `as`.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
}

/// Every path of `code` whose first part `is_root` accepts.
pub fn paths(code: &str, is_root: impl Fn(&str) -> bool) -> Vec<NamedPath> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut read = 0;
    for (index, token) in tokens.iter().enumerate() {
        let continues = index > 0
            && matches!(tokens[index - 1].text.as_str(), "::" | ".")
            && index > 1
            && tokens[index - 2].is_word()
            && tokens[index - 2].text != "use";
        if index >= read && !continues && is_root(&token.text) {
            read = collect_paths(&tokens, index, "", &mut found);
        }
    }
    found
}

/// Every path that a `use` of `code` makes known.
pub fn uses(code: &str) -> Vec<NamedPath> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    for at in (0..tokens.len()).filter(|at| tokens[*at].text == "use") {
        let is_absolute = tokens.get(at + 1).is_some_and(|next| next.text == "::");
        collect_paths(&tokens, at + 1 + usize::from(is_absolute), "", &mut found);
    }
    found
}

/// Of each line, whether it is compiled for tests alone.
pub fn test_lines(code: &str) -> Vec<bool> {
    let lines: Vec<&str> = code.lines().collect();
    let mut marked = vec![false; lines.len()];
    for at in 0..lines.len() {
        if lines[at].trim() == TEST_MARK {
            marked[at..=end_of_item(&lines, at + 1)].fill(true);
        }
    }
    marked
}

/// The code with all that is compiled for tests alone replaced by empty lines.
pub fn without_tests(code: &str) -> String {
    let lines = code.lines().zip(test_lines(code));
    lines.flat_map(|(line, is_of_tests)| [if is_of_tests { "" } else { line }, "\n"]).collect()
}

/// What stands above an item that is compiled for tests alone.
const TEST_MARK: &str = "#[cfg(test)]";

/// The files that `code` has read as modules for tests alone, by their names.
pub fn test_modules(code: &str) -> Vec<&str> {
    let lines: Vec<&str> = code.lines().collect();
    let marked = (0..lines.len()).filter(|at| lines[*at].trim() == TEST_MARK);
    marked
        .filter_map(|at| {
            let declaration = lines.get(end_of_item(&lines, at + 1))?.trim().strip_suffix(';')?;
            declaration.split_once("mod ").map(|(_, name)| name)
        })
        .collect()
}

/// The index of the line that ends the item which begins at `start`.
fn end_of_item(lines: &[&str], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, line) in lines.iter().enumerate().skip(start) {
        let begins = line.contains('{') || depth > 0;
        depth = (depth + line.matches('{').count()).saturating_sub(line.matches('}').count());
        if depth == 0 && (begins || line.trim_end().ends_with(';')) {
            return at;
        }
    }
    lines.len().saturating_sub(1)
}

/// In how many modules that are no files of their own each line stands: `mod name { … }`.
pub fn inline_modules(code: &str) -> Vec<usize> {
    let lines: Vec<&str> = code.lines().collect();
    let mut depths = vec![0; lines.len()];
    for at in 0..lines.len() {
        let words: Vec<&str> = lines[at].split_whitespace().collect();
        if let [.., "mod", _, "{"] = words.as_slice() {
            let end = end_of_item(&lines, at);
            depths[at..=end].iter_mut().for_each(|depth| *depth += 1);
        }
    }
    depths
}

/// Reads the tree of paths that begins at `at`, and answers where it ends.
fn collect_paths(tokens: &[Token], at: usize, prefix: &str, found: &mut Vec<NamedPath>) -> usize {
    let Some(token) = tokens.get(at) else { return at };
    if token.text == "{" {
        return collect_group(tokens, at + 1, prefix, found);
    }
    let path =
        if prefix.is_empty() { token.text.clone() } else { format!("{prefix}::{}", token.text) };
    let goes_on = tokens.get(at + 1).is_some_and(|next| next.text == "::")
        && tokens.get(at + 2).is_some_and(|next| next.is_word() || "{*".contains(&next.text));
    if goes_on {
        return collect_paths(tokens, at + 2, &path, found);
    }
    let renamed = tokens.get(at + 1).filter(|next| next.text == "as").and(tokens.get(at + 2));
    let last = match token.text.as_str() {
        "self" => prefix.rsplit("::").next().unwrap_or(prefix),
        name => name,
    };
    let name = renamed.map_or(last, |other| &other.text).to_owned();
    found.push(NamedPath { path, name, line: token.line });
    at + 1
}

fn collect_group(
    tokens: &[Token],
    start: usize,
    prefix: &str,
    found: &mut Vec<NamedPath>,
) -> usize {
    let mut at = start;
    while let Some(token) = tokens.get(at) {
        match token.text.as_str() {
            "}" => return at + 1,
            "," => at += 1,
            // `name as other`: the other name is not a path.
            "as" => at += 2,
            _ => at = collect_paths(tokens, at, prefix, found),
        }
    }
    at
}

/// Whether a character is part of a word.
pub fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_line_for_line() {
        for (text, code) in [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            (r#"f("x\"y", 'z', '\'')"#, r#"f("    ", ' ', '  ')"#),
            ("r#\"a\"b\"# c", "r#\"   \"# c"),
            ("br\"a\" r#type", "br\" \" r#type"),
            ("&'a str", "&'a str"),
            ("\"a\nb\"", "\" \n \""),
            ("\"never closed", "\"            "),
        ] {
            assert_eq!(code_of(text), code, "{text}");
        }
    }

    #[test]
    fn paths_are_found_in_use_and_in_place() {
        let named = |code: &str| -> Vec<String> {
            paths(code, |root| root == "std").into_iter().map(|found| found.path).collect()
        };
        assert_eq!(
            named("use std::{fs, io::{self, Read as R}, net::*};"),
            ["std::fs", "std::io::self", "std::io::Read", "std::net::*",]
        );
        assert_eq!(named("let x = std::mem::size_of::<T>();"), ["std::mem::size_of"]);
        assert_eq!(named("use ::std::fs;"), ["std::fs"]);
        assert!(named("self.std.fs; my_std::fs").is_empty());
    }

    #[test]
    fn a_path_knows_its_line() {
        let found = paths("use std::{\n    fs,\n};", |root| root == "std");
        let [path, name] = ["std::fs", "fs"].map(str::to_owned);
        assert_eq!(found, [NamedPath { path, name, line: 2 }]);
    }

    #[test]
    fn what_a_use_makes_known_has_its_name() {
        let known = |code: &str| -> Vec<(String, String)> {
            uses(code).into_iter().map(|found| (found.path, found.name)).collect()
        };
        let expected = [("a::b::self", "b"), ("a::C", "D"), ("a::e::*", "*"), ("f", "f")];
        assert_eq!(
            known("pub use a::{b::{self}, C as D, e::*};\nuse ::f;\nfn g() { h::i() }"),
            expected.map(|(path, name)| (path.to_owned(), name.to_owned()))
        );
    }

    #[test]
    fn what_is_for_tests_alone_is_told_apart() {
        let code = "use a;\n#[cfg(test)]\nuse b::{\n    c,\n};\n#[cfg(test)]\nmod tests;\nfn d() {}\n\
                    #[cfg(test)]\n#[expect(x)]\nmod more {\n    fn e() {\n    }\n}\nfn f() {}\n";
        assert_eq!(without_tests(code), "use a;\n\n\n\n\n\n\nfn d() {}\n\n\n\n\n\n\nfn f() {}\n");
        assert_eq!(test_modules(code), ["tests"]);
    }

    #[test]
    fn modules_inside_a_file_are_known_by_line() {
        let code = "mod a;\npub mod b {\n    mod c {\n    }\n}\nfn d() {}\n";
        assert_eq!(inline_modules(code), [0, 1, 2, 2, 1, 0]);
    }
}
