//! `luzia top` on a terminal: a full screen with the lanes, the tasks, one of them in full, and the keys to act on them.

mod actions;
mod draw;
mod keys;
mod paint;
mod state;

use super::commands::look::explain::{self, ExplainArgs};
use super::commands::look::top::{TopArgs, interval_ms};
use super::context::{account, variable};
use super::entry::InState;
use super::output::console::{Console, Streams, Wrote};
use super::output::lane::Lanes;
use crate::app::config_reload::follow_control;
use crate::app::locks::consent::foreign_question;
use crate::app::query::glance::{Which, glance};
use crate::app::query::logs::{Wanted, logs};
use crate::app::queue::pause::is_paused_itself;
use crate::app::waits::tail::Piece;
use crate::app::{App, AppError};
use crate::cli::args::{Globals, Instead, OutputFormat};
use crate::model::{Target, TaskId};
use crate::os::real::{Errand, Screen, term};
use crate::store::Changes;
use actions::Planned;
use keys::{Action, keys_in};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use state::{Ask, Detail, Page, Prompt, State, Wish, argument};
use std::time::Duration;

/// Number of lines of each stream of a log that a detail has.
const LOG_LINES: usize = 500;
/// The time between two looks after a change, in milliseconds.
const BUSY_MS: u64 = 1_000;
/// Looks after a change take at most a twentieth of the time, and those without one a two-hundredth.
const RESTS: [u64; 2] = [20, 200];

/// Shows the full screen until it is left. `None` where `top` writes its text: without a terminal on both sides, on a dumb
/// one, with `--once`, and in another form than the table.
pub(super) fn on_screen(args: &TopArgs, at: &InState, console: &mut Console) -> Option<anyhow::Result<()>> {
    let is_dumb = variable("TERM").ok().flatten().is_none_or(|term| term == "dumb");
    let is_text = args.once || console.format != OutputFormat::Table || is_dumb;
    if is_text || !console.streams.is_out_terminal || !term::can_ask() {
        return None;
    }
    let interval_ms = match interval_ms(args) {
        Ok(interval_ms) => interval_ms,
        Err(error) => return Some(Err(error.into())),
    };
    at.app.host.procs.catch_ends();
    let screen = Screen::begin()?;
    let state = State { color: console.streams.out_style.color, ..State::default() };
    let before = Buffer::empty(Rect::ZERO);
    let mut top = Top { app: at.app, screen, state, before, errand: None, interval_ms, looks: [0; 2] };
    let ended = top.run(console);
    drop(top);
    if let Ok(Some(signal)) = ended {
        at.app.host.procs.die_of(signal);
    }
    Some(ended.map(drop).map_err(Into::into))
}

/// The screen and all that it works with.
struct Top<'a> {
    app: &'a App,
    screen: Screen,
    state: State,
    /// The last frame.
    before: Buffer,
    /// The command that runs, as it was shown.
    errand: Option<(String, Errand)>,
    interval_ms: u64,
    /// The moments from which a look is due: after a change, and without one.
    looks: [u64; 2],
}

impl Top<'_> {
    /// Runs until a key or a signal ends it; with the number of the signal.
    fn run(&mut self, console: &Console) -> Result<Option<i32>, AppError> {
        let (mut changes, mut is_changed) = (self.app.store.watch(), true);
        changes.pass_over_sleeps();
        changes.heed(self.screen.input());
        self.state.which = Which::Started;
        self.look(console);
        self.draw();
        (self.state.which, self.looks) = (Which::Unfinished, [0; 2]);
        loop {
            let now_ms = self.app.host.boot_ms();
            if now_ms >= self.looks[usize::from(!is_changed)] {
                is_changed = false;
                self.look(console);
            }
            self.state.now = self.app.host.now();
            self.draw();
            let is_quiet = self.wait(&mut changes, is_changed);
            if let Some(signal) = self.app.host.procs.asked_to_end() {
                return Ok(Some(signal));
            }
            if Screen::was_stopped() {
                self.stop()?;
            }
            is_changed |= self.errand_ended();
            let Some(bytes) = self.screen.keys() else { return Ok(None) };
            is_changed |= !is_quiet && bytes.is_empty();
            for key in keys_in(&bytes) {
                match self.state.press(key) {
                    Wish::Quit => return Ok(None),
                    Wish::Interrupt => return Ok(Some(INTERRUPT)),
                    Wish::Stop => self.stop()?,
                    Wish::Redraw => self.before = Buffer::empty(Rect::ZERO),
                    Wish::Look => self.looks = [0; 2],
                    Wish::Act(action, thing) => self.ask(action, &thing),
                    Wish::Run(words) => self.begin(&words),
                    Wish::Nothing => {}
                }
            }
        }
    }

    /// Waits for a key, a signal, a change or the next look. Whether the time passed without any of them.
    fn wait(&self, changes: &mut Changes, is_changed: bool) -> bool {
        let begin_ms = self.app.host.boot_ms();
        let left_ms = self.looks[usize::from(!is_changed)].saturating_sub(begin_ms).min(self.interval_ms);
        let time = Duration::from_millis(left_ms);
        // Many changes need one look, so nothing but a key or a signal ends the wait for it.
        if is_changed {
            self.screen.wait(time);
            return true;
        }
        changes.wait(time);
        self.app.host.boot_ms().saturating_sub(begin_ms) >= left_ms
    }

    /// Looks at what the page shows.
    fn look(&mut self, console: &Console) {
        let begin_ms = self.app.host.boot_ms();
        self.state.size = self.screen.size();
        let seen = follow_control(self.app).and_then(|()| {
            self.state.now = self.app.host.now();
            self.state.names = Lanes::of_out(self.app, console);
            match &mut self.state.page {
                Page::Detail(detail) => look_closely(self.app, detail),
                Page::Rows => {
                    let shown = draw::shown_tasks(&self.state);
                    glance(self.app, self.state.which, shown).map(|seen| self.state.take(seen))
                }
            }
        });
        if let Err(error) = seen {
            self.state.said = error.message().to_owned();
        }
        let end_ms = self.app.host.boot_ms();
        let cost_ms = end_ms.saturating_sub(begin_ms);
        let quiet_ms = if matches!(self.state.page, Page::Detail(_)) { BUSY_MS } else { self.interval_ms };
        self.looks = [(BUSY_MS, RESTS[0]), (quiet_ms, RESTS[1])]
            .map(|(least_ms, rest)| end_ms + cost_ms.saturating_mul(rest).max(least_ms));
    }

    fn draw(&mut self) {
        self.state.size = self.screen.size();
        let mut frame = Buffer::empty(Rect::new(0, 0, self.state.size.0, self.state.size.1));
        draw::draw(&self.state, &mut frame);
        term::write_all(term::Stream::Out, paint::bytes(&self.before, &frame).as_bytes());
        self.before = frame;
    }

    fn stop(&mut self) -> Result<(), AppError> {
        self.before = Buffer::empty(Rect::ZERO);
        self.screen.stop().map_err(|error| AppError::usage(format!("cannot stop: {error}")))
    }

    /// Plans a command, and runs it or asks first.
    fn ask(&mut self, action: Action, thing: &Target) {
        match self.plan(action, thing).and_then(|(words, care)| Ok((fact(self.app, action, thing)?, words, care))) {
            Err(why) => self.state.said = why,
            Ok((_, words, None)) => self.begin(&words),
            Ok((fact, words, Some(care))) => {
                self.state.prompt = Prompt::Ask(Ask { words, care, fact, typed: String::new() });
            }
        }
    }

    /// The command of an action, by the present state of its thing.
    fn plan(&self, action: Action, thing: &Target) -> Planned {
        match thing {
            Target::Task(id) => {
                let task = self.app.existing(*id).map_err(|error| error.message().to_owned())?;
                actions::of_task(action, &task, is_paused_itself(self.app, &task))
            }
            Target::Lane(lane) => {
                let mut paused = self.state.seen.lanes.iter().filter(|lane| lane.row.hold.is_some());
                let is_paused = paused.any(|paused| paused.row.name == lane.to_string());
                actions::of_lane(action, &argument(thing), is_paused)
            }
        }
    }

    /// Runs a command beside the screen.
    fn begin(&mut self, words: &[String]) {
        let shown = draw::line_of(words);
        if let Some((running, _)) = &self.errand {
            self.state.said = format!("{running} is not over yet; {shown} was not run");
            return;
        }
        let own = [term::own_program()];
        let argv: Vec<String> = own.iter().chain(&self.app.same_place).chain(words).cloned().collect();
        match Errand::begin(&argv) {
            Ok(errand) => self.errand = Some((shown.clone(), errand)),
            Err(error) => self.state.said = format!("{shown}: {error}"),
        }
        if self.state.said.is_empty() {
            self.state.said = format!("{shown} ...");
        }
    }

    /// Shows the output of the command that ran. Whether one has ended.
    fn errand_ended(&mut self) -> bool {
        let Some((shown, errand)) = &mut self.errand else { return false };
        let said = match errand.end() {
            Ok(None) => return false,
            Ok(Some(said)) => {
                let said = String::from_utf8_lossy(&said).into_owned();
                said.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
            }
            Err(error) => error.to_string(),
        };
        self.state.said = if said.is_empty() { format!("{shown}: done") } else { format!("{shown}: {said}") };
        self.errand = None;
        true
    }
}

/// SIGINT, as Ctrl-C sends it.
const INTERRUPT: i32 = 2;

/// The fact on which the answer depends, where a task is somebody else's.
fn fact(app: &App, action: Action, thing: &Target) -> Result<String, String> {
    let verb = if action == Action::Cancel { "end" } else { "stop" };
    let (Target::Task(id), Action::Cancel | Action::Pause) = (thing, action) else { return Ok(String::new()) };
    let question = foreign_question(app, verb, &[*id], &account().unwrap_or_default());
    Ok(question.map_err(|error| error.message().to_owned())?.map_or_else(String::new, |question| question.fact))
}

/// Reads the explanation and the end of the log.
fn look_closely(app: &App, detail: &mut Detail) -> Result<(), AppError> {
    let Some(thing) = &detail.thing else { return Ok(()) };
    detail.explain = explanation(app, thing);
    if let Target::Task(id) = thing {
        detail.log = log_end(app, *id)?;
    }
    Ok(())
}

/// The text of `luzia explain`.
fn explanation(app: &App, thing: &Target) -> String {
    let mut text = Vec::new();
    let mut write = |_, bytes: &[u8]| {
        text.extend_from_slice(bytes);
        Wrote::Done
    };
    let mut console = Console::new(&Globals::default(), Streams::PLAIN, app.host.now(), &mut write);
    let args = ExplainArgs { target: Some(argument(thing)), limit: None, instead: Instead { user: None, lane: None } };
    let explained = explain::run(&args, app, &mut console);
    match explained {
        Ok(_) => String::from_utf8_lossy(&text).into_owned(),
        Err(error) => error.to_string(),
    }
}

fn log_end(app: &App, id: TaskId) -> Result<String, AppError> {
    let mut bytes = Vec::new();
    let wanted = Wanted { last_lines: Some(LOG_LINES), ..Wanted::default() };
    logs(app, &[id], &wanted, false, &mut |_, piece| {
        if let Piece::Bytes { bytes: more, .. } = piece {
            bytes.extend_from_slice(more);
        }
        true
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::query::glance::{Glance, LaneUse, TaskNow};
    use crate::app::query::lanes::{LaneRow, Source};
    use crate::model::task::TaskState;
    use crate::model::{Name, Task, Timestamp};
    use crate::store::tests_support;
    use actions::Care;
    use keys::Key;
    use ratatui_core::style::{Color, Modifier};

    pub(crate) fn task(id: u64, user: &str) -> Task {
        let task = tests_support::task(id);
        Task { state: TaskState::Pending, user: Name::new(user).expect("a name"), ..task }
    }

    fn now(task: Task) -> TaskNow {
        TaskNow { task, obstacle: None, stuck: None, wait: None, estimate: None }
    }

    fn lane(name: &str, active: u64, max: u32) -> LaneUse {
        let (rule, source) = (Default::default(), Source::Default);
        let row = LaneRow {
            name: name.to_owned(),
            max,
            rule,
            active,
            queue: 1,
            source,
            is_pattern: false,
            hold: None,
            shut: None,
            limited_until: None,
        };
        LaneUse { row, oldest: Some(Timestamp(0)) }
    }

    fn screen(columns: u16, rows: u16) -> State {
        let running = Task { state: TaskState::RUNNING, ..task(1, "alice") };
        let tasks = std::iter::once(running).chain((2..40).map(|id| task(id, "bob")));
        let lanes = vec![lane("build", 1, 1), lane("user:alice", 1, 1), lane("user:bob", 0, u32::MAX)];
        let seen = Glance { slots: (1, 4), tasks: tasks.map(now).collect(), lanes, ..Glance::default() };
        State { seen, size: (columns, rows), now: Timestamp(60_000), color: true, ..State::default() }
    }

    fn drawn(state: &State) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, state.size.0, state.size.1));
        draw::draw(state, &mut buffer);
        buffer
    }

    fn lines(state: &State) -> Vec<String> {
        let buffer = drawn(state);
        let rows = buffer.content().chunks(usize::from(state.size.0));
        rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned()).collect()
    }

    #[test]
    fn a_small_screen_has_lanes_tasks_and_keys() {
        for (columns, rows) in [(80, 24), (60, 15)] {
            let mut state = screen(columns, rows);
            let seen = lines(&state);
            assert_eq!(seen[0], "luzia top  1/4 slots, 1 started, 38 waiting, 3 lanes");
            assert!(
                seen[1].starts_with("LANE        USED") && seen[2].starts_with("build       1/1   1      1m"),
                "{seen:?}"
            );
            assert!(seen[4].starts_with("user:bob    0/-") && seen[5].is_empty(), "{seen:?}");
            let words = |line: usize| seen[line].split_whitespace().take(3).collect::<Vec<_>>();
            assert_eq!([words(6), words(7)], [["ID", "USER", "STATUS"], ["task_1", "alice", "running"]]);
            assert!(seen.last().is_some_and(|bar| bar.starts_with("q quit  ? keys") && bar.contains("r retry")));
            state.press(Key::Char('G'));
            let seen = lines(&state);
            let last = usize::from(rows) - 3;
            assert!(seen[last].starts_with("task_39  bob   pending") && seen[last + 1].is_empty(), "{seen:?}");
            let buffer = drawn(&state);
            let is_marked =
                |y: usize| buffer[(0, u16::try_from(y).expect("a row"))].modifier.contains(Modifier::REVERSED);
            assert_eq!((0..usize::from(rows)).filter(|y| is_marked(*y)).collect::<Vec<_>>(), [last]);
            state.press(Key::Char('?'));
            assert!(lines(&state)[2].starts_with("q            leave the page"));
            state.press(Key::Char('G'));
            assert!(lines(&state)[last].starts_with("Ctrl-C "), "{:?}", lines(&state));
        }
        for (columns, rows) in [(1, 1), (5, 3), (20, 5), (300, 2)] {
            lines(&screen(columns, rows));
        }
    }

    #[test]
    fn colour_is_in_words_of_state_only_and_goes_with_no_color() {
        let mut state = screen(80, 24);
        let colours = |state: &State| drawn(state).content().iter().filter(|cell| cell.fg != Color::Reset).count();
        assert_eq!(colours(&state), "running  ".len());
        state.color = false;
        assert_eq!(colours(&state), 0);
        assert!(!paint::bytes(&Buffer::empty(Rect::ZERO), &drawn(&state)).contains(";32m"));
    }

    #[test]
    fn a_row_stays_chosen_while_the_queue_moves_and_a_filter_leaves_what_has_its_text() {
        let mut state = screen(80, 24);
        (0..3).for_each(|_| drop(state.press(Key::Char('j'))));
        assert_eq!(state.chosen(), Some(Target::Task(TaskId(4))));
        let tasks = (3..9).map(|id| now(task(id, "bob"))).collect();
        state.take(Glance { tasks, ..Glance::default() });
        assert_eq!((state.chosen(), state.at[1]), (Some(Target::Task(TaskId(4))), 1));
        for key in [Key::Char('/'), Key::Char('_'), Key::Char('7'), Key::Enter] {
            state.press(key);
        }
        assert_eq!((state.tasks().len(), state.chosen()), (1, Some(Target::Task(TaskId(7)))));
        assert_eq!((state.press(Key::Esc), state.tasks().len()), (Wish::Nothing, 6));
        assert_eq!(state.press(Key::Esc), Wish::Quit);
        state.take(Glance::default());
        assert_eq!((state.chosen(), state.press(Key::Char('c'))), (None, Wish::Nothing));
    }

    #[test]
    fn a_question_is_answered_by_what_it_asks_for() {
        let mut state = screen(60, 15);
        let mut ask = |care, keys: &[Key]| {
            let words = vec!["cancel".to_owned(), "task_1".to_owned()];
            state.prompt = Prompt::Ask(Ask { words, care, fact: "\u{1b}fact".to_owned(), typed: String::new() });
            assert_eq!(lines(&state)[13], "\\x1bfact");
            keys.iter().map(|key| state.press(*key)).last()
        };
        let yes = "yes".chars().map(Key::Char).chain([Key::Enter]).collect::<Vec<_>>();
        assert!(matches!(ask(Care::Word, &yes), Some(Wish::Run(_))));
        assert!(matches!(ask(Care::Key, &[Key::Char('y')]), Some(Wish::Run(_))));
        assert_eq!(ask(Care::Word, &[Key::Char('y'), Key::Enter]), Some(Wish::Nothing));
        assert_eq!(ask(Care::Key, &[Key::Char('n')]), Some(Wish::Nothing));
        assert_eq!(ask(Care::Key, &[Key::Ctrl('c')]), Some(Wish::Interrupt));
    }

    #[test]
    fn the_end_of_a_log_follows_and_moves_back() {
        let mut state = screen(60, 15);
        let log: String = (0..100).map(|at| format!("line {at}\u{1b}\n")).collect();
        let explain =
            "task_1 is running, and this sentence is longer than the sixty columns of the screen\n".to_owned();
        state.page = Page::Detail(Detail { thing: Some(Target::Task(TaskId(1))), explain, log, back: 0 });
        let seen = lines(&state);
        assert_eq!(
            seen[1..4],
            [
                "luzia explain task_1",
                "task_1 is running, and this sentence is longer than the",
                "sixty columns of the screen"
            ]
        );
        assert_eq!((seen[4].as_str(), seen[12].as_str()), ("luzia logs -f task_1", "line 99\\x1b"));
        state.press(Key::Up);
        assert_eq!(lines(&state)[12], "line 98\\x1b");
        state.press(Key::Home);
        assert_eq!(lines(&state)[5], "line 0\\x1b");
        assert_eq!((state.press(Key::Char('q')), state.press(Key::Char('q'))), (Wish::Look, Wish::Quit));
    }
}
