//! The answer of luzia to an agent that is about to write a file or to run a command: nothing, a note, or a refusal.

use crate::model::evidence::Verdict;
use crate::policy::shim;

/// The owner of a lock, seen from the calling session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The session holds the lane, or runs below its holder.
    Mine,
    /// Another session or another process holds the lane.
    Other,
    /// The owner cannot be known: a lease without a session.
    Unknown,
}

/// The next action of the agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// To write a file of the lane's work tree.
    Edit,
    /// To run a command that takes the lane.
    Shell {
        /// Whether a busy lane refuses the command.
        gate: bool,
    },
}

/// The answer of luzia for one lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Nothing.
    Nothing,
    /// The lane is busy, and the call continues.
    Note,
    /// The lane is busy, and the call is refused.
    Deny,
}

/// Decides about one lane: its limit, and its holders with their verdicts. A holder counts unless its death is proven. A
/// refusal needs living holders of other sessions in every slot.
pub fn decide(asked: Asked, limit: u32, holders: &[(Owner, Verdict)]) -> Decision {
    let living = || holders.iter().filter(|(_, verdict)| verdict.is_live()).map(|(owner, _)| *owner);
    let count = |wanted: Owner| u32::try_from(living().filter(|owner| *owner == wanted).count()).unwrap_or(u32::MAX);
    let (others, unknown) = (count(Owner::Other), count(Owner::Unknown));
    let limit = limit.max(1);
    if living().any(|owner| owner == Owner::Mine) || others.saturating_add(unknown) < limit {
        return Decision::Nothing;
    }
    match asked {
        Asked::Edit | Asked::Shell { gate: true } if others >= limit => Decision::Deny,
        Asked::Edit | Asked::Shell { .. } => Decision::Note,
    }
}

/// The tools of the heavy calls in a line of shell, each once. The parser is simple on purpose: a wrong guess costs only a note.
pub fn heavy_tools(line: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for words in commands(line) {
        let mut rest = words.iter().map(String::as_str).skip_while(|word| is_before_command(word));
        let Some(tool) = rest.next().map(|word| word.rsplit('/').next().unwrap_or(word)) else { continue };
        let arguments: Vec<&str> = rest.collect();
        if shim::is_known(tool) && shim::is_heavy(tool, &arguments) && !found.iter().any(|one| one == tool) {
            found.push(tool.to_owned());
        }
    }
    found
}

/// Whether a word comes before the command: an assignment, or a program that starts another one.
fn is_before_command(word: &str) -> bool {
    const STARTERS: [&str; 8] = ["sudo", "env", "time", "nice", "nohup", "exec", "command", "then"];
    let name = word.split('=').next().unwrap_or_default();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    STARTERS.contains(&word) || (word.contains('=') && is_name)
}

/// The simple commands of a line as words. Quotes keep separators and blanks together.
fn commands(line: &str) -> Vec<Vec<String>> {
    let (mut all, mut words, mut word, mut quote) = (Vec::new(), Vec::new(), String::new(), None);
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.push(c),
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c.is_whitespace() && c != '\n' => end_word(&mut words, &mut word),
            None if ";|&()\n`".contains(c) => {
                end_word(&mut words, &mut word);
                all.push(std::mem::take(&mut words));
            }
            None => word.push(c),
        }
    }
    end_word(&mut words, &mut word);
    all.push(words);
    all
}

fn end_word(words: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
}

#[cfg(test)]
mod tests;
