//! The events that a task can wait for, and the table of a wait: (state, event) -> (state, effects). Pure.

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;

/// The kinds of events that a task waits for (S1.16).
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
    /// The output of another task.
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

    /// The word of the kind.
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
            // No event is sent: the waiting process reads the logs.
            Self::Output => "OUTPUT",
        }
    }

    /// Whether others can send the event of the kind. The end of a child, of a delay, and output come by themselves.
    pub fn is_sent(self) -> bool {
        !matches!(self, Self::Agent | Self::Delay | Self::Output)
    }

    /// The kind's default time and its longest time, in milliseconds (S1.30, X13).
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

/// The effect of a timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnTimeout {
    /// The task continues (S1.31).
    Continue,
    /// The task ends as `timeout` (S1.32).
    Fail,
    /// The task waits once more (S1.33), this many times, then as `Fail` (X14).
    Retry(u32),
}

impl OnTimeout {
    /// The text of the choice: `continue`, `fail`, or `retry` and the number of retries.
    pub fn text(self) -> String {
        match self {
            Self::Continue => "continue".to_owned(),
            Self::Fail => "fail".to_owned(),
            Self::Retry(most) => format!("retry {most}"),
        }
    }

    /// Parses that text. An invalid text means that the task ends, like the default.
    pub fn parse(text: &str) -> Self {
        match (text, text.strip_prefix("retry ").and_then(|most| most.parse().ok())) {
            ("continue", _) => Self::Continue,
            (_, Some(most)) => Self::Retry(most),
            _ => Self::Fail,
        }
    }
}

/// State of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// The task waits.
    Waiting,
    /// All expected events have come.
    Resumed,
    /// The time has run out, and the task continues.
    PassedOver,
    /// The time has run out, and the task is to end.
    Failed,
    /// The event can no longer come, and the task continues.
    Missed,
}

/// A wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The state of the wait.
    pub phase: Phase,
    /// Number of matching events that have come.
    pub got: u32,
    /// Number of expected events; at least one.
    pub expect: u32,
    /// Number of times that the wait's time has run out.
    pub timeouts: u32,
    /// The effect of a timeout.
    pub on_timeout: OnTimeout,
    /// Whether the wait is a delay: it ends with its time.
    pub is_delay: bool,
}

/// An event of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitEvent {
    /// A matching event came.
    Match,
    /// Another event came.
    Other,
    /// The time of the wait has run out.
    TimeUp,
    /// The awaited event can no longer come.
    Gone,
}

/// The reason that a wait for output ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputSeen {
    /// A matching line.
    Matched,
    /// Silence, for as long as the caller asked.
    Silent,
    /// The end of the task, without a matching line.
    Ended,
}

impl OutputSeen {
    /// The word of the observation.
    pub fn word(self) -> &'static str {
        match self {
            Self::Matched => "matched",
            Self::Silent => "silent",
            Self::Ended => "ended",
        }
    }

    /// The wait event for the observation. A task that is over is silent for ever, so its end also ends a wait for silence.
    pub fn means(self, is_for_silence: bool) -> WaitEvent {
        match self {
            Self::Ended if !is_for_silence => WaitEvent::Gone,
            Self::Matched | Self::Silent | Self::Ended => WaitEvent::Match,
        }
    }
}

/// The effects of an event, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The event is counted and will end no other wait.
    Take,
    /// The command for the end of the time is run.
    TimeoutCommand,
    /// The variables of the event are set.
    SetVariables,
    /// A further time begins.
    BeginTime,
    /// The task continues.
    GoOn,
    /// The task ends as `timeout`.
    EndTask,
}

/// The state after an event and the effects; `None` if the wait is over, because no event changes it then.
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
