//! What a task can wait for, and the table of a wait: (state, event) -> (state, effects). Pure.

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;

/// What a task waits for (S1.16).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitKind {
    /// An answer of a person or a program.
    Response,
    /// The end of another task.
    Agent,
    /// Documents.
    Document,
    /// A signature.
    Signature,
    /// The result of a test.
    Test,
    /// Any event.
    Event,
    /// A time.
    Delay,
    /// What another task writes.
    Output,
}

impl WaitKind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Response,
        Self::Agent,
        Self::Document,
        Self::Signature,
        Self::Test,
        Self::Event,
        Self::Delay,
        Self::Output,
    ];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Agent => "agent",
            Self::Document => "document",
            Self::Signature => "signature",
            Self::Test => "test",
            Self::Event => "event",
            Self::Delay => "delay",
            Self::Output => "output",
        }
    }

    /// The kind of a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The event that ends the wait (S1.17).
    pub fn event(self) -> &'static str {
        match self {
            Self::Response => "MESSAGE_RECEIVED",
            Self::Agent => "AGENT_COMPLETED",
            Self::Document => "DOCUMENT_UPLOADED",
            Self::Signature => "SIGNATURE_COMPLETED",
            Self::Test => "TEST_COMPLETED",
            Self::Event => "EVENT_COMPLETED",
            Self::Delay => "SCHEDULE_REACHED",
            // No event is sent: who waits reads the logs.
            Self::Output => "OUTPUT",
        }
    }

    /// Whether others can send its event: the end of a child, of a delay, and output come by themselves.
    pub fn is_sent(self) -> bool {
        !matches!(self, Self::Agent | Self::Delay | Self::Output)
    }

    /// How long it waits where nothing is said, and at most, in milliseconds (S1.30, X13).
    pub fn times_ms(self) -> (u64, u64) {
        match self {
            Self::Response => (DAY_MS, 7 * DAY_MS),
            Self::Agent => (HOUR_MS, DAY_MS),
            Self::Document | Self::Signature | Self::Test => (7 * DAY_MS, 30 * DAY_MS),
            Self::Event | Self::Output => (DAY_MS, 30 * DAY_MS),
            Self::Delay => (0, 30 * DAY_MS),
        }
    }
}

/// What a time that has run out means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnTimeout {
    /// The task goes on (S1.31).
    Continue,
    /// The task ends as `timeout` (S1.32).
    Fail,
    /// It waits once more (S1.33), this many times, then as `Fail` (X14).
    Retry(u32),
}

impl OnTimeout {
    /// As it is written: `continue`, `fail`, or `retry` and how often.
    pub fn text(self) -> String {
        match self {
            Self::Continue => "continue".to_owned(),
            Self::Fail => "fail".to_owned(),
            Self::Retry(most) => format!("retry {most}"),
        }
    }

    /// Reads that. What does not read ends the task, as where nothing is said.
    pub fn parse(text: &str) -> Self {
        match (text, text.strip_prefix("retry ").and_then(|most| most.parse().ok())) {
            ("continue", _) => Self::Continue,
            (_, Some(most)) => Self::Retry(most),
            _ => Self::Fail,
        }
    }
}

/// How far a wait has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// It waits.
    Waiting,
    /// All that was expected has come.
    Resumed,
    /// The time has run out, and the task goes on.
    PassedOver,
    /// The time has run out, and the task is to end.
    Failed,
    /// It can come no more, and the task goes on.
    Missed,
}

/// A wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// How far it has come.
    pub phase: Phase,
    /// How many matching events have come.
    pub got: u32,
    /// How many are expected; at least one.
    pub expect: u32,
    /// How often its time has run out.
    pub timeouts: u32,
    /// What that means.
    pub on_timeout: OnTimeout,
    /// Whether the end of the time is what it waits for.
    pub is_delay: bool,
}

/// What happens to a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitEvent {
    /// An event came that matches.
    Match,
    /// An event came that does not.
    Other,
    /// Its time has run out.
    TimeUp,
    /// What it waits for can come no more.
    Gone,
}

/// What ended a wait for output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputSeen {
    /// A line that matches.
    Matched,
    /// Silence, for as long as was asked for.
    Silent,
    /// The end of the task, without a line that matches.
    Ended,
}

impl OutputSeen {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Matched => "matched",
            Self::Silent => "silent",
            Self::Ended => "ended",
        }
    }

    /// What it means for the wait. A task that is over is silent for ever, so to a wait for silence its end is as good.
    pub fn means(self, is_for_silence: bool) -> WaitEvent {
        match self {
            Self::Ended if !is_for_silence => WaitEvent::Gone,
            Self::Matched | Self::Silent | Self::Ended => WaitEvent::Match,
        }
    }
}

/// What is to be done then, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The event is counted and will end no other wait.
    Take,
    /// The command for the end of the time is run.
    TimeoutCommand,
    /// The variables of what came are set.
    SetVariables,
    /// A further time begins.
    BeginTime,
    /// The task goes on.
    GoOn,
    /// The task ends as `timeout`.
    EndTask,
}

/// The state after an event and what is to be done; `None` where the wait is over, which nothing changes.
pub fn next(wait: Wait, event: WaitEvent) -> Option<(Wait, Vec<Effect>)> {
    use Effect::{BeginTime, EndTask, GoOn, SetVariables, Take, TimeoutCommand};
    if wait.phase != Phase::Waiting {
        return None;
    }
    let command = |effects: &[Effect]| {
        let first = (wait.timeouts == 0).then_some(TimeoutCommand);
        first.into_iter().chain(effects.iter().copied()).collect()
    };
    let late = Wait { timeouts: wait.timeouts.saturating_add(1), ..wait };
    Some(match (event, wait.on_timeout) {
        (WaitEvent::Other, _) => (wait, Vec::new()),
        (WaitEvent::Gone, _) => (Wait { phase: Phase::Missed, ..wait }, vec![GoOn]),
        (WaitEvent::Match, _) if wait.got.saturating_add(1) < wait.expect => {
            (Wait { got: wait.got + 1, ..wait }, vec![Take])
        }
        (WaitEvent::Match, _) => {
            let got = wait.got.saturating_add(1);
            (Wait { phase: Phase::Resumed, got, ..wait }, vec![Take, SetVariables, GoOn])
        }
        (WaitEvent::TimeUp, _) if wait.is_delay => (Wait { phase: Phase::Resumed, ..wait }, vec![SetVariables, GoOn]),
        (WaitEvent::TimeUp, OnTimeout::Continue) => (Wait { phase: Phase::PassedOver, ..late }, command(&[GoOn])),
        (WaitEvent::TimeUp, OnTimeout::Retry(most)) if wait.timeouts < most => (late, command(&[BeginTime])),
        (WaitEvent::TimeUp, OnTimeout::Fail | OnTimeout::Retry(_)) => {
            (Wait { phase: Phase::Failed, ..late }, command(&[EndTask]))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wait(expect: u32, on_timeout: OnTimeout, is_delay: bool) -> Wait {
        Wait { phase: Phase::Waiting, got: 0, expect, timeouts: 0, on_timeout, is_delay }
    }

    #[test]
    fn every_kind_has_an_event_of_its_own_and_times_that_fit() {
        for kind in WaitKind::ALL {
            assert_eq!(WaitKind::parse(kind.word()), Some(kind));
            assert_eq!(WaitKind::ALL.into_iter().filter(|other| other.event() == kind.event()).count(), 1);
            let (default, most) = kind.times_ms();
            assert!(default <= most && most > 0, "{kind:?}");
        }
        assert_eq!(WaitKind::Response.times_ms(), (86_400_000, 604_800_000));
        assert_eq!(WaitKind::Agent.times_ms(), (3_600_000, 86_400_000));
        assert_eq!(WaitKind::parse("Response"), None);
    }

    #[test]
    fn what_a_timeout_means_is_read_as_it_was_written() {
        for on_timeout in [OnTimeout::Continue, OnTimeout::Fail, OnTimeout::Retry(0), OnTimeout::Retry(7)] {
            assert_eq!(OnTimeout::parse(&on_timeout.text()), on_timeout);
        }
        assert_eq!(OnTimeout::parse("retry -1"), OnTimeout::Fail);
    }

    #[test]
    fn a_wait_that_is_over_is_changed_by_nothing() {
        for phase in [Phase::Resumed, Phase::PassedOver, Phase::Failed, Phase::Missed] {
            for event in [WaitEvent::Match, WaitEvent::Other, WaitEvent::TimeUp, WaitEvent::Gone] {
                assert_eq!(next(Wait { phase, ..wait(1, OnTimeout::Fail, false) }, event), None);
            }
        }
    }

    #[test]
    fn a_delay_ends_by_its_time_whatever_a_timeout_means() {
        for on_timeout in [OnTimeout::Fail, OnTimeout::Continue, OnTimeout::Retry(3)] {
            let after = next(wait(1, on_timeout, true), WaitEvent::TimeUp).map(|(wait, _)| wait.phase);
            assert_eq!(after, Some(Phase::Resumed));
        }
    }

    fn on_timeout() -> impl Strategy<Value = OnTimeout> {
        prop_oneof![Just(OnTimeout::Continue), Just(OnTimeout::Fail), (0..4_u32).prop_map(OnTimeout::Retry)]
    }

    fn events() -> impl Strategy<Value = Vec<WaitEvent>> {
        let event = prop_oneof![
            5 => Just(WaitEvent::Match),
            5 => Just(WaitEvent::Other),
            5 => Just(WaitEvent::TimeUp),
            1 => Just(WaitEvent::Gone)
        ];
        proptest::collection::vec(event, 0..20)
    }

    proptest! {
        #[test]
        fn a_wait_takes_what_it_expects_and_ends_once(expect in 1..5_u32, on_timeout in on_timeout(), events in events()) {
            let (mut now, mut done) = (wait(expect, on_timeout, false), Vec::new());
            let mut matches = 0;
            for event in events {
                let Some((after, effects)) = next(now, event) else {
                    prop_assert!(now.phase != Phase::Waiting);
                    continue;
                };
                matches += u32::from(event == WaitEvent::Match);
                prop_assert_eq!(effects.contains(&Effect::Take), event == WaitEvent::Match);
                let ends = effects.iter().any(|effect| [Effect::GoOn, Effect::EndTask].contains(effect));
                prop_assert_eq!(ends, after.phase != Phase::Waiting);
                done.extend(effects);
                now = after;
            }
            let count = |wanted: Effect| u32::try_from(done.iter().filter(|effect| **effect == wanted).count()).expect("few");
            prop_assert_eq!((now.got, count(Effect::Take)), (matches, matches));
            prop_assert!(now.got <= expect && (now.phase == Phase::Resumed) == (now.got == expect));
            prop_assert!(count(Effect::GoOn) + count(Effect::EndTask) <= 1);
            prop_assert_eq!(count(Effect::TimeoutCommand), u32::from(now.timeouts > 0));
            let most = if let OnTimeout::Retry(most) = on_timeout { most } else { 0 };
            prop_assert!(count(Effect::BeginTime) <= most && now.timeouts <= most + 1);
        }
    }
}
