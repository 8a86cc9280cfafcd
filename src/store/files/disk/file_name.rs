//! File names that carry data, each parsed in the one spelling that luzia writes: a name in any other spelling is not
//! luzia's, and is ignored. Does no I/O.

use crate::model::{Alarm, Priority, ScheduleKey, TaskId, Timer, Timestamp};

/// A whole number: digits only, and no zero before them.
pub(crate) fn number(name: &str) -> Option<u64> {
    name.parse().ok().filter(|number: &u64| number.to_string() == name)
}

/// The bare number of a task.
pub(crate) fn task(name: &str) -> Option<TaskId> {
    number(name).filter(|number| *number > 0).map(TaskId)
}

/// The name of a timer: the time at which it rings, in milliseconds, and its subject. The subject is the number of a task, or
/// `cron.` and the key of a schedule.
pub(crate) fn timer_name(timer: &Timer) -> String {
    let ms = timer.at.0.max(0);
    match &timer.alarm {
        Alarm::Task(id) => format!("{ms}.{}", id.0),
        Alarm::Schedule(key) => format!("{ms}.cron.{}", key.as_str()),
    }
}

/// Parses the output of [`timer_name`].
pub(crate) fn timer(name: &str) -> Option<Timer> {
    let (ms, rest) = name.split_once('.')?;
    let alarm = match rest.strip_prefix("cron.") {
        Some(key) => Alarm::Schedule(ScheduleKey::read(key)?),
        None => Alarm::Task(task(rest)?),
    };
    Some(Timer { at: Timestamp(i64::try_from(number(ms)?).ok()?), alarm })
}

/// The name of a mark of order: a task's priority and number, and the stem of its user's lane.
pub(crate) fn order_name(priority: Priority, id: TaskId, user_stem: &str) -> String {
    format!("{}.{}.{user_stem}", priority.number(), id.0)
}

/// Parses the output of [`order_name`].
pub(crate) fn order(name: &str) -> Option<(Priority, TaskId, &str)> {
    let mut parts = name.splitn(3, '.');
    let priority = number(parts.next()?).and_then(|number| Priority::new(u8::try_from(number).ok()?))?;
    Some((priority, task(parts.next()?)?, parts.next()?))
}

/// The name of a lane's folder that a process is writing: its first task, and the process.
pub(crate) fn staged_name(first: TaskId, pid: u32) -> String {
    format!("{}.{pid}.d", first.0)
}

/// Whether a name is a [`staged_name`].
pub(crate) fn is_staged(name: &str) -> bool {
    let parts = name.strip_suffix(".d").and_then(|name| name.split_once('.'));
    parts.is_some_and(|(first, pid)| task(first).is_some() && number(pid).is_some())
}

/// Whether a name has the form of a day, `2026-01-31`.
pub(crate) fn is_day(name: &str) -> bool {
    let form = name
        .bytes()
        .enumerate()
        .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() });
    name.len() == 10 && form
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_spelled_otherwise_means_nothing() {
        assert_eq!(timer("1768005905120.12"), Some(Timer::of(TaskId(12), Timestamp(1_768_005_905_120))));
        assert_eq!(order("5.12.user_a.b"), Some((Priority::DEFAULT, TaskId(12), "user_a.b")));
        for wrong in ["+1.2", "01.2", "-1.2", "1.02", "1.task_2", "1.0", "1", "1.2.3"] {
            assert_eq!(timer(wrong), None, "{wrong}");
        }
        for wrong in ["+5.12.u", "05.12.u", "10.12.u", "5.task_12.u", "5.12"] {
            assert_eq!(order(wrong), None, "{wrong}");
        }
        assert_eq!((task("task_5"), task("0"), number("+7"), number("07")), (None, None, None, None));
        assert!(is_staged(&staged_name(TaskId(12), 7)));
        for wrong in ["12.7", "12.d", "0.7.d", "012.7.d", "12.7.d.d", "12.7.x.d", "README"] {
            assert!(!is_staged(wrong), "{wrong}");
        }
    }
}
