//! The clocks of the host. No other file of this folder reads the wall clock.

use crate::model::Timestamp;
use crate::os::Clock;
use crate::os::real::process::poll::{deadline, poll_until};
use crate::os::real::process::procfs;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId as TimerClock, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::{ClockId, clock_gettime};
use rustix::event::{PollFd, PollFlags};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The clocks of this host.
#[derive(Clone, Copy, Default, Debug)]
pub struct RealClock;

impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        Timestamp(chrono::Utc::now().timestamp_millis())
    }

    fn boot_ms(&self) -> u64 {
        // By the C library, which reads it without a system call, linked statically too. It fails before Linux 2.6.39.
        let time = clock_gettime(ClockId::CLOCK_BOOTTIME).map(Duration::from).unwrap_or_default();
        u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
    }

    fn boot_id(&self) -> String {
        procfs::boot_id().to_owned()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn timer(&self, boot_ms: u64) -> io::Result<Option<File>> {
        let timer = TimerFd::new(TimerClock::CLOCK_BOOTTIME, TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK)?;
        // A moment of 0 would switch the timer off.
        let at = TimeSpec::from_duration(Duration::from_millis(boot_ms.max(1)));
        timer.set(Expiration::OneShot(at), TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
        Ok(Some(OwnedFd::from(timer).into()))
    }

    fn sleep_beside(&self, time: Duration, timer: &File) {
        let mut fds = [PollFd::new(timer, PollFlags::IN)];
        if poll_until(&mut fds, deadline(time)).is_err() {
            self.sleep(time);
        }
    }
}

/// The name of the time zone of this host, where it has one: `/etc/localtime` points to it.
pub fn zone_name() -> Option<String> {
    iana_time_zone::get_timezone().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boot_clock_agrees_with_the_uptime_of_the_kernel() {
        let uptime = std::fs::read_to_string("/proc/uptime").expect("/proc is mounted");
        let seconds: f64 =
            uptime.split(' ').next().and_then(|word| word.parse().ok()).expect("the first word is a number");
        let ours = RealClock.boot_ms() as f64 / 1000.0;
        assert!((ours - seconds).abs() < 5.0, "{ours} against {seconds}");
    }

    #[test]
    fn the_wall_clock_moves_with_a_sleep_and_the_boot_id_stays() {
        let (id, before) = (RealClock.boot_id(), RealClock.boot_ms());
        RealClock.sleep(Duration::from_millis(20));
        assert!(RealClock.boot_ms() >= before + 19);
        assert!(RealClock.now() > Timestamp(1_700_000_000_000));
        assert_eq!((RealClock.boot_id(), id.len()), (id, 36));
    }
}
