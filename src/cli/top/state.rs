//! The state of the screen, and the effect of each key on it. Pure.

use super::actions::Care;
use super::keys::{Action, Key, action_of, page};
use crate::app::capacity::full_name;
use crate::app::query::glance::{Glance, LaneUse, TaskNow, Which};
use crate::cli::output::lane::Lanes;
use crate::model::{LaneName, Target, Timestamp};

/// A table of the first page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pane {
    /// The lanes.
    Lanes,
    /// The tasks.
    #[default]
    Tasks,
}

/// A task or a lane as an argument.
pub fn argument(target: &Target) -> String {
    match target {
        Target::Task(id) => id.to_string(),
        Target::Lane(lane) => full_name(&lane.to_string()),
    }
}

/// A text, and a log below it.
pub struct Detail {
    /// The task or lane that the text and the log are about; none for the page of keys.
    pub thing: Option<Target>,
    /// The text, as of `luzia explain`.
    pub explain: String,
    /// The last lines of the log.
    pub log: String,
    /// Number of lines by which the view is before the end of the log; of a text without a log, after its beginning.
    pub back: usize,
}

/// The text that fills the screen.
#[derive(Default)]
pub enum Page {
    /// Lanes and tasks.
    #[default]
    Rows,
    /// A detail, or the keys.
    Detail(Detail),
}

impl Page {
    /// A page with a text.
    pub fn of(thing: Option<Target>, explain: String) -> Self {
        Self::Detail(Detail { thing, explain, log: String::new(), back: 0 })
    }
}

/// A command that waits for an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ask {
    /// The words behind `luzia`.
    pub words: Vec<String>,
    /// The answer that the command needs.
    pub care: Care,
    /// The fact on which the answer depends.
    pub fact: String,
    /// The part of the answer that was typed.
    pub typed: String,
}

/// The reader of the keys, if the page does not read them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Prompt {
    /// No reader: the page reads the keys.
    #[default]
    None,
    /// The filter.
    Filter,
    /// A question.
    Ask(Ask),
}

/// The work that a key leaves to the loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wish {
    /// None.
    Nothing,
    /// A look at the queue.
    Look,
    /// A command for a task or a lane.
    Act(Action, Target),
    /// The run of a command.
    Run(Vec<String>),
    /// Everything drawn anew.
    Redraw,
    /// The stop of this process.
    Stop,
    /// The end.
    Quit,
    /// The end by SIGINT.
    Interrupt,
}

/// The screen.
#[derive(Default)]
pub struct State {
    /// The moment that ages are counted to.
    pub now: Timestamp,
    /// The last look.
    pub seen: Glance,
    /// The tasks that are shown.
    pub which: Which,
    /// The pane with the chosen row.
    pub pane: Pane,
    /// The chosen rows of the lanes and of the tasks, among those that the filter leaves.
    pub at: [usize; 2],
    /// The text that rows must have.
    pub filter: String,
    /// The page.
    pub page: Page,
    /// The question on the last line but one.
    pub prompt: Prompt,
    /// The sentence there, without a question.
    pub said: String,
    /// Whether there is colour.
    pub color: bool,
    /// The texts in place of lanes.
    pub names: Lanes,
    /// Columns and rows.
    pub size: (u16, u16),
}

impl State {
    /// The tasks that the filter leaves.
    pub fn tasks(&self) -> Vec<&TaskNow> {
        let means = |now: &&TaskNow| {
            let task = &now.task;
            let lanes = task.lanes.iter().map(ToString::to_string);
            let texts = [task.id.to_string(), task.user.to_string(), task.status().to_string(), task.command.join(" ")];
            self.filter.is_empty() || texts.into_iter().chain(lanes).any(|text| text.contains(&self.filter))
        };
        self.seen.tasks.iter().filter(means).collect()
    }

    /// The lanes that the filter leaves.
    pub fn lanes(&self) -> Vec<&LaneUse> {
        let means = |lane: &&LaneUse| {
            lane.row.name.contains(&self.filter) || self.names.shown(&lane.row.name).contains(&self.filter)
        };
        self.seen.lanes.iter().filter(means).collect()
    }

    /// The thing that keys act on.
    pub fn chosen(&self) -> Option<Target> {
        match (&self.page, self.pane) {
            (Page::Detail(detail), _) => detail.thing.clone(),
            (_, Pane::Tasks) => self.tasks().get(self.at[1]).map(|now| Target::Task(now.task.id)),
            (_, Pane::Lanes) => {
                self.lanes().get(self.at[0]).and_then(|lane| LaneName::parse(&lane.row.name).ok()).map(Target::Lane)
            }
        }
    }

    /// Takes a look over. The chosen rows stay with what they show.
    pub fn take(&mut self, seen: Glance) {
        let task = self.tasks().get(self.at[1]).map(|now| now.task.id);
        let lane = self.lanes().get(self.at[0]).map(|lane| lane.row.name.clone());
        self.seen = seen;
        let task = task.and_then(|id| self.tasks().iter().position(|now| now.task.id == id));
        let lane = lane.and_then(|name| self.lanes().iter().position(|lane| lane.row.name == name));
        self.at = [lane.unwrap_or(self.at[0]), task.unwrap_or(self.at[1])];
        self.go(0);
    }

    /// Carries a key out.
    pub fn press(&mut self, key: Key) -> Wish {
        match std::mem::take(&mut self.prompt) {
            _ if matches!(key, Key::Ctrl('c' | 'z' | 'l')) => self.act(key),
            Prompt::None => {
                self.said.clear();
                self.act(key)
            }
            Prompt::Filter => self.type_filter(key),
            Prompt::Ask(ask) => self.answer(ask, key),
        }
    }

    fn act(&mut self, key: Key) -> Wish {
        let Some(action) = action_of(key) else { return Wish::Nothing };
        match action {
            Action::Back => self.back(key),
            Action::Interrupt => Wish::Interrupt,
            Action::Redraw => Wish::Redraw,
            Action::Stop => Wish::Stop,
            Action::Move(by) => self.go(by),
            Action::Page(by) => self.go(by.saturating_mul(isize::try_from(self.size.1 / 2).unwrap_or(1))),
            Action::Switch => {
                self.pane = if self.pane == Pane::Tasks { Pane::Lanes } else { Pane::Tasks };
                Wish::Nothing
            }
            Action::Open => match self.chosen() {
                Some(thing) if matches!(self.page, Page::Rows) => {
                    self.page = Page::of(Some(thing), String::new());
                    Wish::Look
                }
                _ => Wish::Nothing,
            },
            Action::Keys => {
                self.page = Page::of(None, page());
                Wish::Nothing
            }
            Action::Filter => {
                self.prompt = Prompt::Filter;
                Wish::Nothing
            }
            Action::Ended => {
                self.which = if self.which == Which::Ended { Which::Unfinished } else { Which::Ended };
                (self.page, self.pane, self.at[1]) = (Page::Rows, Pane::Tasks, 0);
                Wish::Look
            }
            Action::Cancel | Action::Retry | Action::Pause | Action::Priority(_) => {
                self.chosen().map_or(Wish::Nothing, |thing| Wish::Act(action, thing))
            }
        }
    }

    fn back(&mut self, key: Key) -> Wish {
        match &self.page {
            Page::Rows if key == Key::Esc && !self.filter.is_empty() => self.filter.clear(),
            Page::Rows => return Wish::Quit,
            Page::Detail(_) => {
                self.page = Page::Rows;
                return Wish::Look;
            }
        }
        self.go(0)
    }

    /// Moves the chosen row, or scrolls a detail.
    fn go(&mut self, by: isize) -> Wish {
        let most = |length: usize| length.saturating_sub(1);
        let lasts = [most(self.lanes().len()), most(self.tasks().len())];
        match &mut self.page {
            Page::Detail(detail) if by != 0 => {
                // Of a log, the view moves back from the end; of a text alone, on from the beginning.
                let (by, length) = match detail.log.is_empty() {
                    true => (by, detail.explain.lines().count()),
                    false => (by.saturating_neg(), detail.log.lines().count()),
                };
                detail.back = detail.back.saturating_add_signed(by).min(most(length));
            }
            _ => {
                for pane in [Pane::Lanes, Pane::Tasks] {
                    let by = if pane == self.pane { by } else { 0 };
                    let at = &mut self.at[pane as usize];
                    *at = at.saturating_add_signed(by).min(lasts[pane as usize]);
                }
            }
        }
        Wish::Nothing
    }

    fn type_filter(&mut self, key: Key) -> Wish {
        match key {
            Key::Enter => return Wish::Nothing,
            Key::Esc => {
                self.filter.clear();
                return self.go(0);
            }
            Key::Back => drop(self.filter.pop()),
            Key::Char(c) => self.filter.push(c),
            _ => {}
        }
        self.prompt = Prompt::Filter;
        self.go(0)
    }

    fn answer(&mut self, mut ask: Ask, key: Key) -> Wish {
        match (ask.care, key) {
            (Care::Key, Key::Char('y' | 'Y')) => return Wish::Run(ask.words),
            (Care::Word, Key::Enter) if ask.typed == "yes" => return Wish::Run(ask.words),
            (Care::Word, Key::Char(c)) => ask.typed.push(c),
            (Care::Word, Key::Back) => drop(ask.typed.pop()),
            _ => {
                "nothing was changed".clone_into(&mut self.said);
                return Wish::Nothing;
            }
        }
        self.prompt = Prompt::Ask(ask);
        Wish::Nothing
    }
}
