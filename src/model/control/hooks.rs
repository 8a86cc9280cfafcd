//! Hooks: what people want to be run when something happens (`hook add`).

/// What a hook does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// It runs a command, as it stands.
    Command(Vec<String>),
    /// It posts to a URL, by curl(1).
    Url(String),
}

/// One hook.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hook {
    /// Its name, by which it is removed.
    pub name: String,
    /// The event that it is for.
    pub event: String,
    /// What it does.
    pub action: Action,
    /// Only for tasks and the lane of this user.
    pub user: Option<String>,
    /// Only for events of this lane.
    pub lane: Option<String>,
    /// How long it may take, in milliseconds.
    pub timeout_ms: u64,
    /// The directory in which it was added, and in which its command runs.
    pub cwd: String,
    /// When it was added.
    pub added_at: super::Timestamp,
    /// Who added it.
    pub by: Option<String>,
}

/// The variable that tells a process that it runs for a hook. luzia runs no hooks for what happens there.
pub const HOOK_VARIABLE: &str = "LUZIA_HOOK";
/// How long a hook may take that does not say.
pub const HOOK_TIMEOUT_MS: u64 = 30_000;

impl Hook {
    /// Program and arguments. The payload comes on standard input.
    pub fn argv(&self) -> Vec<String> {
        match &self.action {
            Action::Command(argv) => argv.clone(),
            Action::Url(url) => {
                let seconds = self.timeout_ms.div_ceil(1000).max(1).to_string();
                let words = ["curl", "--fail", "--silent", "--show-error", "--globoff", "--max-time", &seconds];
                let body = [
                    "--request",
                    "POST",
                    "--header",
                    "Content-Type: application/json",
                    "--data-binary",
                    "@-",
                    "--url",
                    url,
                ];
                words.into_iter().chain(body).map(str::to_owned).collect()
            }
        }
    }
}
