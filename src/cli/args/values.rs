//! The words that options accept. Other code checks values that need a rule of the domain.

use crate::model::control::How;
use crate::model::{AgentKind, ThingKind};
use crate::request::values::words;
use clap::ValueEnum;
use clap::builder::PossibleValue;

words! { How {
    End => "They are cancelled",
    Requeue => "They are queued again in their old place; no attempt is spent",
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

/// The state of the holder of a lock, as far as it is known.
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

/// The form of an answer.
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
