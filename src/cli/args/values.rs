//! The words and numbers that options accept. What needs a rule of the domain is read at the door, not here.

use crate::app::OnConflict;
use crate::model::calendar::Overlap;
use crate::model::control::How;
use crate::model::task::OnInterrupt;
use crate::model::{AgentKind, Status, ThingKind};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use std::fmt::Display;
use std::str::FromStr;

/// Values of the domain as the words of an option, each with its help.
macro_rules! words {
    ($type:ty { $($value:ident => $help:literal,)* }) => {
        impl ValueEnum for $type {
            fn value_variants<'a>() -> &'a [Self] {
                &Self::ALL
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                let help = match self {
                    $(Self::$value => $help,)*
                };
                Some(PossibleValue::new(self.word()).help(help))
            }
        }
    };
}

words! { Status {
    Pending => "Accepted, not started",
    Running => "Its command runs",
    Waiting => "Waits for an event",
    Completed => "Its command ended with 0",
    Failed => "Its command ended otherwise, or could not run",
    Timeout => "A time limit ended it",
    Cancelled => "Somebody ended it",
}}

words! { OnConflict {
    Queue => "Queue the new task behind the other",
    Skip => "Queue nothing and print the id of the other (the default)",
    Replace => "Cancel the last one that waits and what runs, wait for their end, and queue the new task",
    Reject => "Queue nothing and fail",
    Join => "Queue nothing and take the output and the end of the other; with --fresh also of one that has ended",
}}

words! { How {
    End => "They are cancelled",
    Requeue => "They are queued again in their old place; no attempt is spent",
}}

words! { OnInterrupt {
    Retry => "A failure: another attempt follows where one is left (the default)",
    Fail => "The end of the task: its command must not run twice",
}}

words! { Overlap {
    Skip => "It makes no task (the default)",
    Queue => "It makes a task, which waits for its turn (the default with --fill)",
}}

words! { AgentKind {
    ClaudeCode => "Claude Code",
    Codex => "Codex",
    Gemini => "Gemini CLI",
    Cursor => "Cursor",
    Copilot => "GitHub Copilot CLI",
}}

words! { ThingKind {
    GitDir => "The git repository, with all its work trees",
    GitRef => "The branch that is checked out, at its remote",
    Tree => "The git work tree",
    Port => "A port of this host",
    Db => "A database; account, password and options of its URL do not count",
    Dir => "A directory",
}}

/// What is known about the holder of a lock.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockState {
    /// The holder lives
    Held,
    /// The holder is proven dead, or its lease has run out
    Stale,
    /// The supervisor is dead, the command lives
    Orphan,
    /// The holder lives past its limit
    Overdue,
}

impl LockState {
    /// The state's word, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Stale => "stale",
            Self::Orphan => "orphan",
            Self::Overdue => "overdue",
        }
    }
}

/// How to answer.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OutputFormat {
    /// Columns for people
    #[default]
    Table,
    /// More columns
    Wide,
    /// One JSON document
    Json,
    /// One JSON document a line
    Jsonl,
    /// Only the names, one a line
    Name,
    /// OTLP/JSON lines, of `events` only
    #[value(hide = true)]
    Otlp,
    /// Text, of `timeline` only
    #[value(hide = true)]
    Text,
    /// A picture, of `timeline` only
    #[value(hide = true)]
    Svg,
    /// A trace for Perfetto, of `timeline` only
    #[value(hide = true)]
    Trace,
}

impl OutputFormat {
    /// The format's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Wide => "wide",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Name => "name",
            Self::Otlp => "otlp",
            Self::Text => "text",
            Self::Svg => "svg",
            Self::Trace => "trace",
        }
    }

    /// Whether answers and errors are JSON.
    pub fn is_json(self) -> bool {
        match self {
            Self::Json | Self::Jsonl => true,
            Self::Table | Self::Wide | Self::Name | Self::Otlp | Self::Text | Self::Svg | Self::Trace => false,
        }
    }

    /// The verb that alone answers in this form.
    pub fn only_verb(self) -> Option<&'static str> {
        match self {
            Self::Otlp => Some("events"),
            Self::Text | Self::Svg | Self::Trace => Some("timeline"),
            Self::Table | Self::Wide | Self::Json | Self::Jsonl | Self::Name => None,
        }
    }
}

/// When to use colour.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Also in a pipe
    Always,
    /// Not even on a terminal
    Never,
}

/// Reads one digit, 0 to 9.
pub(crate) fn priority(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [digit @ b'0'..=b'9'] => Ok(digit - b'0'),
        _ => Err("a priority is one digit from 0 (first) to 9 (last)".into()),
    }
}

/// A kind of whole number, with the largest one that its values are read up to.
pub(crate) trait Whole: FromStr + Display {
    /// The largest one.
    const MOST: Self;
}

macro_rules! whole {
    ($($kind:ty),*) => { $(impl Whole for $kind { const MOST: Self = <$kind>::MAX; })* };
}

whole!(u8, u32, i32, u64, usize);

/// Reads a plain decimal number: digits only, so neither `+1` nor `1e9`.
pub(crate) fn number<T: Whole>(text: &str) -> Result<T, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("a whole number is written in digits".into());
    }
    text.parse().map_err(|_| format!("the range is 0 to {}", T::MOST))
}

/// Reads the number of a process, from 1.
pub(crate) fn pid(text: &str) -> Result<u32, String> {
    let wrong = || String::from("a pid is a whole number from 1 to 2147483647");
    number::<i32>(text).ok().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0).ok_or_else(wrong)
}
