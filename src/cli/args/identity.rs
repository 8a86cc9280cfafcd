//! By which name others know the caller. Definition only.

use clap::Args;

/// The name of the caller.
#[derive(Args, Clone, Debug, Default)]
pub struct Identity {
    /// The name by which others see you, instead of LUZIA_AGENT and the variables of your agent
    ///
    /// At most 64 bytes, without control characters. Claude Code, Codex, Gemini CLI, Copilot CLI and Cursor are known by
    /// their own variables.
    #[arg(long = "as", value_name = "NAME", allow_hyphen_values = true)]
    pub as_name: Option<String>,
}
