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
    /// The line, from 1.
    pub line: usize,
}

/// Every path of `code` whose first part `is_root` accepts.
pub fn paths(code: &str, is_root: impl Fn(&str) -> bool) -> Vec<NamedPath> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let continues = index > 0
            && matches!(tokens[index - 1].text.as_str(), "::" | ".")
            && index > 1
            && tokens[index - 2].is_word()
            && tokens[index - 2].text != "use";
        if !continues && is_root(&token.text) {
            collect_paths(&tokens, index, "", &mut found);
        }
    }
    found
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
    found.push(NamedPath { path, line: token.line });
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
        assert_eq!(found, [NamedPath { path: "std::fs".to_owned(), line: 2 }]);
    }
}
