//! Exceptions from lints say why; nothing is left unfinished; platforms are told apart by file.

use crate::source::{self, Token};
use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

const RULE: &str = "lints";

/// No lint is allowed away; one that is expected states its reason.
pub fn exceptions_have_reasons(tree: &Tree) -> Vec<Violation> {
    tree.rust().flat_map(|file| exceptions(file).collect::<Vec<_>>()).collect()
}

fn exceptions(file: &TextFile) -> impl Iterator<Item = Violation> {
    let tokens = source::tokens(&file.code);
    attributes(&tokens).into_iter().filter_map(|attribute| {
        let first = attribute.first()?;
        let names = |word: &str| {
            attribute.windows(2).any(|pair| pair[0].text == word && pair[1].text == "(")
        };
        let fault = if names("allow") {
            "`allow` outlives its cause: write `expect` with a reason"
        } else if names("expect") && attribute.iter().all(|token| token.text != "reason") {
            "`expect` states no reason"
        } else {
            return None;
        };
        Some(Violation::new(&file.path, first.line, RULE, fault))
    })
}

/// The words and marks inside each `#[…]` and `#![…]`.
fn attributes(tokens: &[Token]) -> Vec<Vec<Token>> {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.text == text);
    let mut found = Vec::new();
    for at in (0..tokens.len()).filter(|at| is(*at, "#")) {
        let open = if is(at + 1, "!") { at + 2 } else { at + 1 };
        if is(open, "[") {
            found.push(inside_brackets(&tokens[open + 1..]));
        }
    }
    found
}

fn inside_brackets(tokens: &[Token]) -> Vec<Token> {
    let mut depth = 0_i32;
    let inside = tokens.iter().take_while(|token| {
        depth += match token.text.as_str() {
            "[" => 1,
            "]" => -1,
            _ => 0,
        };
        depth >= 0
    });
    inside.cloned().collect()
}

/// No macro that stands for work not done.
pub fn nothing_unfinished(tree: &Tree) -> Vec<Violation> {
    tree.rust().flat_map(|file| unfinished(file).collect::<Vec<_>>()).collect()
}

fn unfinished(file: &TextFile) -> impl Iterator<Item = Violation> {
    let tokens = source::tokens(&file.code);
    let called: Vec<Token> = tokens
        .windows(2)
        .filter(|pair| pair[1].text == "!")
        .map(|pair| pair[0].clone())
        .filter(|token| ["todo", "unimplemented", "dbg"].contains(&token.text.as_str()))
        .collect();
    called.into_iter().map(|token| {
        Violation::new(&file.path, token.line, RULE, format!("`{}!` has no place here", token.text))
    })
}

/// No `cfg` inside a function body: another platform is another file.
pub fn platforms_are_files(tree: &Tree) -> Vec<Violation> {
    tree.rust().flat_map(conditions_in_bodies).collect()
}

fn conditions_in_bodies(file: &TextFile) -> Vec<Violation> {
    let tokens = source::tokens(&file.code);
    let mut bodies = Bodies::default();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        bodies.pass(token);
        let before = at.checked_sub(1).map_or("", |before| &tokens[before].text);
        let after = tokens.get(at + 1).map_or("", |after| &after.text);
        let is_condition = token.text == "cfg" && (before == "[" || after == "!");
        if is_condition && bodies.inside() {
            let text = "`cfg` inside a function: give each platform a file with the same items";
            found.push(Violation::new(&file.path, token.line, RULE, text));
        }
    }
    found
}

/// Which braces are open, and which of them are bodies of functions.
#[derive(Default)]
struct Bodies {
    open: Vec<bool>,
    header_is_function: bool,
}

impl Bodies {
    fn pass(&mut self, token: &Token) {
        match token.text.as_str() {
            "fn" => self.header_is_function = true,
            "{" => self.open.push(std::mem::take(&mut self.header_is_function)),
            "}" => {
                self.open.pop();
                self.header_is_function = false;
            }
            // A declaration without a body.
            ";" => self.header_is_function = false,
            _ => {}
        }
    }

    fn inside(&self) -> bool {
        self.open.contains(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn exceptions_without_reason_are_reported() {
        let text = "#[allow(dead_code)]\n#![allow(x)]\n#[expect(dead_code)]\n\
                    #[cfg_attr(test, allow(x))]\n#[expect(\n    dead_code,\n    reason = \"r\"\n)]\n";
        assert_eq!(lines(exceptions_have_reasons, text), [1, 2, 3, 4]);
    }

    #[test]
    fn calls_named_like_exceptions_are_not_exceptions() {
        let text = "fn f() { x.expect(\"fits\"); g([allow(1)]); }\n// #[allow(x)]\n";
        assert!(lines(exceptions_have_reasons, text).is_empty());
    }

    #[test]
    fn unfinished_work_is_reported() {
        let text =
            "fn f() { todo!() }\nfn g() { dbg!(1) }\n// todo!()\nfn h() { unimplemented!() }";
        assert_eq!(lines(nothing_unfinished, text), [1, 2, 4]);
    }

    #[test]
    fn conditions_belong_outside_of_functions() {
        let good = "#[cfg(unix)]\nmod a {\n    #[cfg(test)]\n    mod tests { fn f() {} }\n}\n\
                    trait T { fn f();\n#[cfg(test)]\nfn g() {} }\n";
        assert!(lines(platforms_are_files, good).is_empty());
        let bad =
            "fn f() {\n    if cfg!(unix) {}\n    loop {\n        #[cfg(unix)]\n        g();\n}}";
        assert_eq!(lines(platforms_are_files, bad), [2, 4]);
    }
}
