//! Targets of answers: data goes to stdout, sentences to stderr, each in the requested form. It writes through a function
//! that its maker gives, so it never touches the operating system.

use super::escape::{escape_controls, escape_lines};
use super::json;
use super::lane::Lanes;
use super::live::Live;
use super::report::render;
use super::style::{Style, Tone};
use super::table::{Layout, Table};
use crate::app::AppError;
use crate::cli::args::{Globals, OutputFormat};
use crate::cli::exit::Exit;
use crate::model::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;

/// One of the two streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Channel {
    /// Data.
    Out,
    /// Sentences, hints, progress.
    Err,
}

/// Result of a write.
pub enum Wrote {
    /// All of the text was written.
    Done,
    /// The reader has gone.
    Closed,
    /// The text could not be written.
    Failed(io::Error),
}

/// The reason why nothing more can be written.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The reader has closed the pipe: end quietly with 0.
    #[error("the reader has closed the pipe")]
    Closed,
    /// The answer could not be written.
    #[error("the answer could not be written: {0}")]
    Unwritten(io::Error),
}

/// The end of a command: its exit code, or an error. `main` turns an [`AppError`] or a [`Stop`] in it into a
/// report and an exit code.
pub type Answer = anyhow::Result<u8>;

/// The end of a command whose exit code is 0 unless it fails, or of one with several exit codes.
pub trait End {
    /// The exit code, or the error.
    fn answer(self) -> Answer;
}

impl End for Answer {
    fn answer(self) -> Answer {
        self
    }
}

impl End for anyhow::Result<()> {
    fn answer(self) -> Answer {
        self.map(|()| Exit::Done.code())
    }
}

/// Properties of the two streams.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    /// Style of stdout.
    pub out_style: Style,
    /// Style of stderr.
    pub err_style: Style,
    /// Whether stdout is a terminal.
    pub is_out_terminal: bool,
    /// Whether stderr is a terminal.
    pub is_err_terminal: bool,
    /// The width of the terminal on stdout.
    pub width: Option<u16>,
    /// The width of the terminal on stderr, where a line of it can be written in place.
    pub live_width: Option<u16>,
}

impl Streams {
    /// Streams that are no terminals.
    pub const PLAIN: Self = Self {
        out_style: Style::PLAIN,
        err_style: Style::PLAIN,
        is_out_terminal: false,
        is_err_terminal: false,
        width: None,
        live_width: None,
    };
}

/// An action that is repeated whether it succeeds or not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Repeated {
    /// A pass of a dispatcher, or a look of a verb that waits.
    Pass,
    /// A round of the agent of a store.
    Round,
}

/// The two streams, and the form of answers.
pub struct Console<'a> {
    write: &'a mut dyn FnMut(Channel, &[u8]) -> Wrote,
    /// The properties of the streams.
    pub streams: Streams,
    /// The form of answers.
    pub format: OutputFormat,
    /// No hints and no progress.
    pub quiet: bool,
    /// Report each action.
    pub verbose: bool,
    /// The moment at which the answer is given, for ages.
    pub now: Timestamp,
    /// The texts that sentences show in place of lanes.
    pub lanes: Lanes,
    /// The reported failures that still last.
    troubles: BTreeMap<Repeated, String>,
    live: Live,
}

impl<'a> Console<'a> {
    /// A console for the global options of a command line.
    pub fn new(
        globals: &Globals,
        streams: Streams,
        now: Timestamp,
        write: &'a mut dyn FnMut(Channel, &[u8]) -> Wrote,
    ) -> Self {
        let (quiet, verbose) = (globals.quiet, globals.verbose > 0);
        let (lanes, live) = (Lanes::default(), Live::default());
        Self { write, streams, format: globals.format(), quiet, verbose, now, lanes, troubles: BTreeMap::new(), live }
    }

    /// Whether answers are JSON.
    pub fn is_json(&self) -> bool {
        self.format.is_json()
    }

    /// Whether [`Self::live`] shows anything: on a terminal, without `-q`, `-v` and JSON.
    pub fn is_live(&self) -> bool {
        self.streams.live_width.is_some() && !self.quiet && !self.verbose && !self.is_json()
    }

    /// Shows a text in one line in place, until something else is written.
    pub fn live(&mut self, text: &str) {
        if let Some(width) = self.streams.live_width.filter(|_| self.is_live()) {
            let drawn = self.live.draw(&escape_controls(&self.lanes.shown(text)), width);
            let _ = (self.write)(Channel::Err, &drawn);
        }
    }

    /// Removes the line in place.
    pub fn end_live(&mut self) {
        let erased = self.live.erase();
        if !erased.is_empty() {
            let _ = (self.write)(Channel::Err, erased);
        }
    }

    /// Writes bytes behind the line in place, if they go to a terminal.
    fn put(&mut self, channel: Channel, bytes: &[u8]) -> Wrote {
        let is_terminal = match channel {
            Channel::Out => self.streams.is_out_terminal,
            Channel::Err => self.streams.is_err_terminal,
        };
        if is_terminal {
            self.end_live();
            self.live.passed(bytes);
        }
        (self.write)(channel, bytes)
    }

    /// Writes data.
    pub fn out(&mut self, text: &str) -> Result<(), Stop> {
        self.out_bytes(text.as_bytes())
    }

    /// Writes data that is text from outside: unchanged into a pipe, without control characters on a terminal.
    pub fn text(&mut self, text: &str) -> Result<(), Stop> {
        if self.streams.is_out_terminal { self.out(&escape_lines(text)) } else { self.out(text) }
    }

    /// Writes data unchanged.
    pub fn out_bytes(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        match self.put(Channel::Out, bytes) {
            Wrote::Done => Ok(()),
            Wrote::Closed => Err(Stop::Closed),
            Wrote::Failed(error) => Err(Stop::Unwritten(error)),
        }
    }

    /// Passes on the stderr of a command. Its reader may have gone, as that of stdout may.
    pub fn pass_err_on(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        match self.put(Channel::Err, bytes) {
            Wrote::Closed => Err(Stop::Closed),
            Wrote::Done | Wrote::Failed(_) => Ok(()),
        }
    }

    /// Writes to stderr unchanged; a closed stderr is not an error.
    pub fn err_bytes(&mut self, bytes: &[u8]) {
        let _ = self.put(Channel::Err, bytes);
    }

    /// Writes a document: one line for `jsonl`, indented otherwise.
    pub fn document(&mut self, value: &Value) -> Result<(), Stop> {
        if self.format != OutputFormat::Jsonl {
            return self.out(&json::pretty(value));
        }
        let schema = value["schema"].as_str().and_then(|name| name.strip_prefix("luzia.")?.strip_suffix("/v1"));
        self.line(schema.unwrap_or("document"), value)
    }

    /// Writes the document of one thing, if answers are JSON; false if they are text.
    pub fn json(&mut self, schema: &str, thing: impl FnOnce() -> Value) -> Result<bool, Stop> {
        if self.is_json() {
            self.document(&json::single(schema, thing()))?;
        }
        Ok(self.is_json())
    }

    /// Answers with one thing: its document, its name, or a sentence about it.
    pub fn tell(
        &mut self,
        schema: &str,
        name: &dyn Display,
        thing: impl FnOnce() -> Value,
        sentence: impl FnOnce() -> String,
    ) -> Result<(), Stop> {
        if self.json(schema, thing)? {
            return Ok(());
        }
        if self.format == OutputFormat::Name {
            return self.out(&format!("{name}\n"));
        }
        self.say(&sentence());
        Ok(())
    }

    /// Writes a line of JSON lines, with its kind.
    pub fn line(&mut self, schema: &str, value: &Value) -> Result<(), Stop> {
        self.out(&json::line(&json::of_kind(schema, value)))
    }

    /// A list that is written as its items arrive: a document with `items`, or each by itself for `jsonl`.
    pub fn begin_items(&self, schema: &str) -> json::Items {
        if self.format == OutputFormat::Jsonl { json::Items::lines(schema) } else { json::Items::document(schema) }
    }

    /// Writes a list whose items are all known.
    pub fn items(&mut self, schema: &str, all: impl IntoIterator<Item = Value>) -> Result<(), Stop> {
        let mut items = self.begin_items(schema);
        all.into_iter().for_each(|item| items.push(&item));
        self.out(&items.end())
    }

    /// Writes a table, or only its names.
    pub fn table(&mut self, table: &Table) -> Result<(), Stop> {
        let text = match self.format {
            OutputFormat::Name => table.names(),
            _ => table.render(self.layout()),
        };
        self.out(&text)
    }

    /// Writes a page of a table, and empties it for the next.
    pub fn page(&mut self, table: &mut Table) -> Result<(), Stop> {
        let text = table.page(self.layout());
        self.out(&text)
    }

    fn layout(&self) -> Layout {
        let wide = self.format == OutputFormat::Wide;
        Layout { width: self.streams.width, wide, style: self.streams.out_style }
    }

    /// Prints a sentence on stderr, unless `-q`.
    pub fn say(&mut self, text: &str) {
        if !self.quiet {
            let line = format!("{}\n", escape_controls(&self.lanes.shown(text)));
            self.err_bytes(line.as_bytes());
        }
    }

    /// Prints on stderr what a command waits for, unless `-q` or JSON is requested.
    pub fn progress(&mut self, text: &str) {
        if !self.is_json() {
            self.say(text);
        }
    }

    /// Prints a hint on stderr, unless `-q` or JSON is requested.
    pub fn hint(&mut self, text: &str) {
        if !self.quiet && !self.is_json() {
            let word = self.streams.err_style.paint(Tone::Faint, "hint:").into_owned();
            let line = format!("{word} {}\n", escape_controls(text));
            self.err_bytes(line.as_bytes());
        }
    }

    /// Prints a line on stderr with `-v` only; log lines quoted from a source are printed word for word.
    pub fn log(&mut self, text: &str) {
        if self.verbose {
            let line = format!("{}\n", escape_controls(text));
            self.err_bytes(line.as_bytes());
        }
    }

    /// Reports an error on stderr, with `-q` without its hints, and gives its exit code.
    pub fn report(&mut self, error: &AppError) -> u8 {
        self.report_with(error, error.kind().code())
    }

    /// Reports an error as [`Self::report`] does, with another exit code.
    pub fn report_with(&mut self, error: &AppError, exit: u8) -> u8 {
        let mut error = error.clone().reworded(|message| self.lanes.shown(message));
        if self.quiet && !self.is_json() {
            error = AppError::new(error.code(), error.message());
        }
        self.err_bytes(render(&error, exit, self.is_json(), self.streams.err_style).as_bytes());
        exit
    }

    /// Reports a failure of an action that is tried again, but only once as long as it lasts.
    pub fn trouble(&mut self, action: Repeated, error: &AppError) {
        let text = render(error, error.kind().code(), self.is_json(), self.streams.err_style);
        let failure = match action {
            Repeated::Pass => text.clone(),
            // A server that is away is refused in other words at each try.
            Repeated::Round => error.code().word().to_owned(),
        };
        if self.troubles.insert(action, failure.clone()) != Some(failure) {
            self.err_bytes(text.as_bytes());
        }
    }

    /// Notes that an action succeeds. Returns whether it had failed before.
    pub fn all_is_well(&mut self, action: Repeated) -> bool {
        self.troubles.remove(&action).is_some()
    }
}
