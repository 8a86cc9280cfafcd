//! The verbs: each asks its use case and puts the answer into words.

pub mod demo;
pub mod list;
pub mod locks;
pub mod logs;
pub mod look;
pub mod status;
pub mod tend;
pub mod work;

/// Looks the name of the account up that calls.
pub type Account = fn() -> Result<String, crate::app::AppError>;
