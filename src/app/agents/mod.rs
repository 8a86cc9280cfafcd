//! Agents: the answers to their hooks, and the files that `luzia agent setup` writes for them.

pub mod hook;
pub mod json_text;
pub mod plan;
pub mod setup;
pub mod texts;
pub mod toml_text;

#[cfg(test)]
mod tests;
