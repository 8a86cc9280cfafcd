//! Connects `luzia mcp` to the standard streams and to the state directory.

use super::args::Globals;
use super::configuration::{config_of, followed};
use super::context::{app_of, state_dir};
use super::exit::Exit;
use super::mcp::{Answered, Helper, Host, LONGEST_LINE, Relay, Server, Work};
use crate::app::{AppError, Code};
use crate::os::real::{self, Line, OneRequest, RealClock, RealProcesses, term};
use crate::os::{Clock, Processes};
use serde_json::Value;
use std::ffi::OsString;
use std::io;
use std::sync::Mutex;

/// The first word of the process that stays.
const RELAY: &str = "__mcp";
/// The option with which a process answers by itself.
const HOLDER: &str = "--holder";

/// Runs the relay of a server and gives its exit code. Returns `None` when this process was not started as a relay.
pub(super) fn called(args: &[OsString]) -> Option<u8> {
    let (name, rest) = args.split_first()?;
    let (first, rest) = rest.split_first()?;
    if first != RELAY {
        return None;
    }
    let holder = format!("mcp-{}", RealProcesses.me().pid);
    let words: Vec<OsString> = rest.iter().cloned().chain([HOLDER.into(), holder.into()]).collect();
    let start = || -> io::Result<Box<dyn Helper>> { Ok(Box::new(Process(OneRequest::start(name, &words)?))) };
    let output = Mutex::new(());
    let write = |line: &[u8]| write_alone(&output, line);
    let relay = Relay::new(&start, &write);
    let mut take = |line: Line| match line {
        Line::Whole(bytes) => relay.take(&bytes),
        Line::TooLong => {
            relay.take_long_line();
            None
        }
    };
    real::serve_lines(LONGEST_LINE, &mut take, &|| relay.end());
    Some(Exit::Done.code())
}

struct Process(OneRequest);

impl Helper for Process {
    fn tell(&self, line: &[u8]) {
        self.0.tell(line);
    }

    fn close(&self) {
        self.0.close();
    }

    fn next_line(&self) -> Option<Vec<u8>> {
        self.0.next_line()
    }
}

/// Writes one message a line, whole. When the reader has gone, standard input ends as well.
fn write_alone(output: &Mutex<()>, line: &[u8]) {
    let _alone = output.lock();
    let _ = term::write_all(term::Stream::Out, line);
}

/// Becomes the relay of a server, or answers the requests of standard input where a relay has started this process. `call`
/// carries out a command line of luzia.
pub(super) fn serve(
    globals: &Globals,
    holder: Option<String>,
    call: &(dyn Fn(&[String]) -> Answered + Sync),
) -> Result<u8, AppError> {
    let Some(holder) = holder else {
        let failed = real::begin_anew(RELAY);
        return Err(AppError::new(Code::Server, format!("the server cannot be started: {failed}")));
    };
    let output = Mutex::new(());
    let write = |message: &Value| write_alone(&output, format!("{message}\n").as_bytes());
    let with_app = |work: Work| with_app(globals, work);
    let (now_ms, now) = (|| RealClock.boot_ms(), || RealClock.now());
    let host = Host { call, with_app: &with_app, write: &write, now_ms: &now_ms, now: &now, holder };
    let server = Server::new(&host);
    let mut take = |line: Line| match line {
        Line::Whole(bytes) => server.take(&bytes),
        // A relay passes on no long line.
        Line::TooLong => None,
    };
    real::serve_lines(LONGEST_LINE, &mut take, &|| server.end());
    Ok(Exit::Done.code())
}

/// Opens the state directory anew, with the configuration as it is now.
fn with_app(globals: &Globals, work: Work) -> Result<(), AppError> {
    let found = state_dir(globals)?;
    work(&app_of(globals, followed(config_of(globals), globals), &found, &[])?)
}
