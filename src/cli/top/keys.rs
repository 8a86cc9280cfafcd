//! The keys of the screen: one table says what each does, what the bar calls it, and what the page of keys says.

/// A key of the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    /// A character.
    Char(char),
    /// Ctrl and a letter.
    Ctrl(char),
    /// The arrow up.
    Up,
    /// The arrow down.
    Down,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
    /// Return.
    Enter,
    /// Tab.
    Tab,
    /// Escape.
    Esc,
    /// Backspace.
    Back,
}

/// The effect of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Leaves the page; on the first page, ends the screen.
    Back,
    /// Ends the screen as Ctrl-C ends a program.
    Interrupt,
    /// Moves by so many rows.
    Move(isize),
    /// Moves by pages.
    Page(isize),
    /// Shows the other pane.
    Switch,
    /// Shows the chosen row in full.
    Open,
    /// Asks for a text that rows must have.
    Filter,
    /// Shows the tasks that are over, or the others again.
    Ended,
    /// Shows the keys.
    Keys,
    /// Cancels the task.
    Cancel,
    /// Retries the task.
    Retry,
    /// Pauses or resumes the task or the lane.
    Pause,
    /// Lets the task start earlier, or later.
    Priority(i8),
    /// Draws everything anew.
    Redraw,
    /// Stops this process until it is continued.
    Stop,
}

/// A row of the table.
pub struct Binding {
    /// The keys.
    pub keys: &'static [Key],
    /// The effect of the keys.
    pub action: Action,
    /// The keys in words.
    pub name: &'static str,
    /// The effect in a word, where the bar names it.
    pub word: &'static str,
    /// The effect in full.
    pub help: &'static str,
}

const fn row(
    keys: &'static [Key],
    action: Action,
    name: &'static str,
    word: &'static str,
    help: &'static str,
) -> Binding {
    Binding { keys, action, name, word, help }
}

/// Every key, in the order of the bar, which names as many as fit.
pub const BINDINGS: &[Binding] = &[
    row(&[Key::Char('q')], Action::Back, "q", "quit", "leave the page, or end"),
    row(&[Key::Char('?')], Action::Keys, "?", "keys", "these keys"),
    row(&[Key::Enter], Action::Open, "Enter", "detail", "explain the task or the lane, with the log as it grows"),
    row(&[Key::Tab], Action::Switch, "Tab", "pane", "to the lanes, and back to the tasks"),
    row(&[Key::Char('c')], Action::Cancel, "c", "cancel", "cancel the task"),
    row(&[Key::Char('r')], Action::Retry, "r", "retry", "retry a task that is over"),
    row(&[Key::Char('p')], Action::Pause, "p", "pause", "pause the task or the lane, or resume it"),
    row(&[Key::Char('/')], Action::Filter, "/", "filter", "show only rows with a text; Esc ends that"),
    row(&[Key::Char('e')], Action::Ended, "e", "ended", "tasks that are over, and back"),
    row(&[Key::Char('+'), Key::Char('=')], Action::Priority(-1), "+", "sooner", "a more urgent priority, towards 0"),
    row(&[Key::Char('-')], Action::Priority(1), "-", "later", "a less urgent priority, towards 9"),
    row(&[Key::Char('j'), Key::Down], Action::Move(1), "j Down", "", "to the next row"),
    row(&[Key::Char('k'), Key::Up], Action::Move(-1), "k Up", "", "to the row before"),
    row(&[Key::Char('g'), Key::Home], Action::Move(isize::MIN), "g Home", "", "to the first row"),
    row(&[Key::Char('G'), Key::End], Action::Move(isize::MAX), "G End", "", "to the last row"),
    row(&[Key::PageDown, Key::Ctrl('f')], Action::Page(1), "PgDn Ctrl-F", "", "a page on"),
    row(&[Key::PageUp, Key::Ctrl('b')], Action::Page(-1), "PgUp Ctrl-B", "", "a page back"),
    row(&[Key::Esc], Action::Back, "Esc", "", "as q; ends a filter first"),
    row(&[Key::Ctrl('l')], Action::Redraw, "Ctrl-L", "", "draw everything anew"),
    row(&[Key::Ctrl('z')], Action::Stop, "Ctrl-Z", "", "stop; fg goes on"),
    row(&[Key::Ctrl('c')], Action::Interrupt, "Ctrl-C", "", "end with code 130"),
];

/// The effect of a key.
pub fn action_of(key: Key) -> Option<Action> {
    BINDINGS.iter().find(|row| row.keys.contains(&key)).map(|row| row.action)
}

/// The names of keys with their effects, as many as fit.
pub fn bar(width: usize) -> String {
    let mut text = String::new();
    for row in BINDINGS.iter().filter(|row| !row.word.is_empty()) {
        let entry = format!("{} {}", row.name, row.word);
        if text.len() + 2 + entry.len() > width {
            break;
        }
        text = if text.is_empty() { entry } else { format!("{text}  {entry}") };
    }
    text
}

/// The page of keys.
pub fn page() -> String {
    BINDINGS.iter().map(|row| format!("{:<12} {}\n", row.name, row.help)).collect()
}

/// The keys in what a terminal has sent. What is no key has no effect.
pub fn keys_in(bytes: &[u8]) -> Vec<Key> {
    let text = String::from_utf8_lossy(bytes);
    let (mut keys, mut rest) = (Vec::new(), text.as_ref());
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        keys.extend(match first {
            '\u{1b}' if rest.starts_with(['[', 'O']) => {
                // ESC [ parameters final, or ESC O final (ECMA-48, xterm).
                let body = &rest[1..];
                let end = body.find(|c: char| matches!(c, '\u{40}'..='\u{7e}')).map_or(body.len(), |at| at + 1);
                rest = &body[end..];
                sequence(&body[..end])
            }
            '\u{1b}' => Some(Key::Esc),
            '\r' | '\n' => Some(Key::Enter),
            '\t' => Some(Key::Tab),
            '\u{8}' | '\u{7f}' => Some(Key::Back),
            '\u{1}'..='\u{1a}' => char::from_u32(u32::from(first) + 0x60).map(Key::Ctrl),
            c if c.is_control() => None,
            c => Some(Key::Char(c)),
        });
    }
    keys
}

fn sequence(body: &str) -> Option<Key> {
    Some(match body {
        "A" => Key::Up,
        "B" => Key::Down,
        "H" | "1~" | "7~" => Key::Home,
        "F" | "4~" | "8~" => Key::End,
        "5~" => Key::PageUp,
        "6~" => Key::PageDown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_one_effect_and_the_bar_fits() {
        let all: Vec<Key> = BINDINGS.iter().flat_map(|row| row.keys).copied().collect();
        for (at, key) in all.iter().enumerate() {
            assert!(!all[at + 1..].contains(key), "{key:?} is there twice");
        }
        assert_eq!(bar(60), "q quit  ? keys  Enter detail  Tab pane  c cancel  r retry");
        assert!(bar(80).ends_with("/ filter") && bar(200).ends_with("- later") && bar(0).is_empty());
    }

    #[test]
    fn sequences_of_terminals_are_keys() {
        let keys = keys_in("j\x1b[A\x1bOB\x1b[6~\r\té\x7f\x03\x1b[1;5C\x1b".as_bytes());
        let wanted = [
            Key::Char('j'),
            Key::Up,
            Key::Down,
            Key::PageDown,
            Key::Enter,
            Key::Tab,
            Key::Char('é'),
            Key::Back,
            Key::Ctrl('c'),
            Key::Esc,
        ];
        assert_eq!(keys, wanted);
        assert_eq!(keys_in(b"\xff\x1b["), [Key::Char('\u{fffd}')]);
    }
}
