//! The difference of two texts, line by line.

/// Number of pairs of lines that are compared at most; the middle of longer texts is shown as replaced.
const MOST_PAIRS: usize = 4_000_000;

/// Lines that only the old text has, with `-`, and those that only the new one has, with `+`, in order.
pub fn lines(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let mut text = String::new();
    let mut say = |mark: char, line: &str| {
        text.push(mark);
        text.push_str(line);
        text.push('\n');
    };
    let (mut a, mut b) = (0, 0);
    for (next_a, next_b) in common(old, new).into_iter().chain([(old.len(), new.len())]) {
        old[a..next_a].iter().for_each(|line| say('-', line));
        new[b..next_b].iter().for_each(|line| say('+', line));
        (a, b) = (next_a + 1, next_b + 1);
    }
    text
}

/// The places of a longest common subsequence.
fn common(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        return Vec::new();
    }
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            let below = (a + 1) * width;
            lengths[a * width + b] = if old[a] == new[b] {
                lengths[below + b + 1] + 1
            } else {
                lengths[below + b].max(lengths[a * width + b + 1])
            };
        }
    }
    let (mut a, mut b, mut found) = (0, 0, Vec::new());
    while a < old.len() && b < new.len() {
        if old[a] == new[b] {
            found.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if lengths[(a + 1) * width + b] >= lengths[a * width + b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn added_and_removed_lines_are_shown() {
        assert_eq!(lines("a\nb\nc\n", "a\nx\nc\ny\n"), "-b\n+x\n+y\n");
        assert_eq!(lines("", "a\n"), "+a\n");
        assert_eq!(lines("a", "a"), "");
    }

    proptest! {
        #[test]
        fn the_difference_turns_the_old_text_into_the_new_one(
            old in proptest::collection::vec("[abc]", 0..12),
            new in proptest::collection::vec("[abc]", 0..12),
        ) {
            let shown = lines(&old.join("\n"), &new.join("\n"));
            let count = |mark: char| shown.lines().filter(|line| line.starts_with(mark)).count();
            prop_assert_eq!(old.len() + count('+'), new.len() + count('-'));
        }
    }
}
