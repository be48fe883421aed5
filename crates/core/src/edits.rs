//! How near two words are, for whoever suggests what was likely meant. Not here: which words there are, and what is near enough.

/// Letters to put in, to leave out or to change, so that the one becomes the other (Levenshtein 1966). Never less than their lengths differ
/// by; it takes as many steps as the product of both, so that words of strangers are to be bounded before.
pub fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.chars().enumerate() {
        let mut above_left = row[0];
        row[0] = place + 1;
        for (column, its) in other.iter().enumerate() {
            let changed = above_left + usize::from(letter != *its);
            above_left = row[column + 1];
            row[column + 1] = changed.min(row[column] + 1).min(above_left + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", "abc"), 0);
    }
}
