//! Turns this process into a supervisor. Whose, and of what, is not known here.

use crate::os::real::process::signals::{self, Caught};
use rustix::io::Errno;
use rustix::process::{getpid, set_child_subreaper, setsid};
use std::io;

/// Own session, subreaper, no stray descriptor for children, default dispositions and an empty mask for what is
/// started, SIGTERM and SIGUSR1 caught, the signals of a terminal harmless.
pub(crate) fn become_supervisor() -> io::Result<()> {
    // The handlers come first, because the empty mask lets through what waited behind the old one.
    signals::catch_child_deaths()?;
    signals::catch_always(Caught::Terminate)?;
    signals::catch_always(Caught::Pass)?;
    signals::start_clean()?;
    match setsid() {
        // A leader of a group has no session to make: it was started by hand, from a shell with job control.
        Ok(_) | Err(Errno::PERM) => {}
        Err(error) => return Err(error.into()),
    }
    set_child_subreaper(Some(getpid()))?;
    close_fds::set_fds_cloexec(3, &[]);
    Ok(())
}
