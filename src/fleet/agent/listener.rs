//! The listener of an agent: a process that hears the hints of the database and wakes the agent. Behind it the agent looks each second.

use crate::app::App;
use crate::fleet::Database;
use crate::model::Identity;
use crate::os::InPlace;
use std::time::Duration;

/// The pauses before a listener that has ended is started again, in milliseconds: the first one, and the longest.
const PAUSES_MS: (u64, u64) = (500, 10_000);
/// Time after which a listener counts as one that works, in milliseconds.
const STEADY_MS: u64 = 30_000;

/// The listener of an agent.
#[derive(Default)]
pub(super) struct Listener {
    process: Option<Identity>,
    begun_ms: u64,
    pause_ms: u64,
}

impl Listener {
    /// Starts the listener, and starts it again once it has ended: it ends with its connection, too. The pauses before that become
    /// longer as long as none works.
    pub(super) fn keep(&mut self, app: &App, database: &Database, host: i32) {
        let now = app.host.boot_ms();
        if let Some(process) = &self.process {
            if !app.host.await_death(process, Duration::ZERO) {
                return;
            }
            app.host.reap();
            self.pause_ms = pause_after(self.pause_ms, now.saturating_sub(self.begun_ms));
            (self.process, self.begun_ms) = (None, now);
        }
        if now.saturating_sub(self.begun_ms) < self.pause_ms {
            return;
        }
        let argv: Vec<String> = [database.program.clone(), "listen-store".to_owned()]
            .into_iter()
            .chain(app.host.identity().words())
            .chain([host.to_string(), database.target.to_string()])
            .collect();
        let place = InPlace { argv: &argv, env: &[], cwd: None, has_input: false, held: Vec::new(), output: None };
        self.begun_ms = now;
        self.process = app.host.start_here(place).ok().and_then(|child| app.host.living(child.pid()));
        if self.process.is_none() {
            self.pause_ms = pause_after(self.pause_ms, 0);
        }
    }
}

/// The pause after a listener that has lived for a while, and before which there was another pause.
fn pause_after(before_ms: u64, lived_ms: u64) -> u64 {
    let longer = if lived_ms >= STEADY_MS { 0 } else { before_ms.saturating_mul(2) };
    longer.clamp(PAUSES_MS.0, PAUSES_MS.1)
}

#[cfg(test)]
mod tests {
    use super::pause_after;

    #[test]
    fn pauses_grow_to_ten_seconds_until_a_listener_works() {
        let mut pause = 0;
        let grown: Vec<u64> = std::iter::repeat_with(|| {
            pause = pause_after(pause, 10);
            pause
        })
        .take(7)
        .collect();
        assert_eq!(grown, [500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
        assert_eq!(pause_after(10_000, 60_000), 500);
    }
}
