//! Connects `luzia mcp` to the standard streams and to the state directory.

use super::args::{Command, Deferred, Globals};
use super::commands::operate::mcp::McpArgs;
use super::configuration::{config_of, followed};
use super::context::{app_of, state_dir};
use super::exit::Exit;
use super::mcp::{Answered, Host, LONGEST_LINE, Server, Work};
use crate::app::AppError;
use crate::os::real::{self, Line, RealClock, RealProcesses, term};
use crate::os::{Clock, Processes};
use serde_json::Value;
use std::sync::Mutex;

/// Serves until standard input ends. `call` carries a command line of luzia out.
pub(super) fn serve(globals: &Globals, call: &(dyn Fn(&[String]) -> Answered + Sync)) -> u8 {
    let output = Mutex::new(());
    let write = |message: &Value| {
        // One message a line, whole. Where nobody reads, standard input ends as well.
        let _alone = output.lock();
        let _ = term::write_all(term::Stream::Out, format!("{message}\n").as_bytes());
    };
    let with_app = |work: Work| with_app(globals, work);
    let (now_ms, now) = (|| RealClock.boot_ms(), || RealClock.now());
    let holder = format!("mcp-{}", RealProcesses.me().pid);
    let host = Host { call, with_app: &with_app, write: &write, now_ms: &now_ms, now: &now, holder };
    let server = Server::new(&host);
    let mut take = |line: Line| match line {
        Line::Whole(bytes) => server.take(&bytes),
        Line::TooLong => {
            server.take_long_line();
            None
        }
    };
    real::serve_lines(LONGEST_LINE, &mut take, &|| server.end());
    Exit::Done.code()
}

/// Opens the state directory anew, with the configuration as it is now.
fn with_app(globals: &Globals, work: Work) -> Result<(), AppError> {
    let found = state_dir(globals)?;
    let command = Command::Mcp(Deferred(McpArgs {}));
    work(&app_of(globals, followed(config_of(globals), globals), &found, &command)?)
}
