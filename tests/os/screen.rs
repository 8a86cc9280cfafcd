//! The full screen is given back.

use luzia::os::real::Screen;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

const AT_TERMINAL: &str = "LUZIA_TEST_AT_TERMINAL";

/// Starts this test again at a terminal. Its exit code, what it wrote there, and the modes of the terminal afterwards.
fn at_terminal(test: &str) -> (Option<i32>, String, LocalModes) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let slave = File::from(ioctl_tiocgptpeer(&master, flags).unwrap());
    let stream = || Stdio::from(slave.try_clone().unwrap());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(AT_TERMINAL, "yes");
    let mut child = command.stdin(stream()).stdout(stream()).stderr(stream()).spawn().unwrap();
    drop(command);
    let mut reader = File::from(master.try_clone().unwrap());
    let written = std::thread::spawn(move || {
        let (mut written, mut bytes) = (Vec::new(), [0; 4096]);
        while let Ok(count @ 1..) = reader.read(&mut bytes) {
            written.extend_from_slice(&bytes[..count]);
        }
        String::from_utf8_lossy(&written).into_owned()
    });
    let code = child.wait().unwrap().code();
    let modes = tcgetattr(&slave).unwrap().local_modes;
    drop(slave);
    (code, written.join().unwrap(), modes)
}

#[test]
fn a_panic_gives_the_first_screen_back_before_its_message() {
    if std::env::var_os(AT_TERMINAL).is_some() {
        let _screen = Screen::begin().unwrap();
        panic!("the screen is shown");
    }
    let (code, written, modes) = at_terminal("screen::a_panic_gives_the_first_screen_back_before_its_message");
    assert_eq!(code, Some(101), "{written:?}");
    let at = |text: &str| written.find(text).unwrap_or_else(|| panic!("{text:?} in {written:?}"));
    assert!(at("\u{1b}[?1049h") < at("\u{1b}[?1049l") && at("\u{1b}[?1049l") < at("the screen is shown"));
    assert_eq!(written.matches("\u{1b}[?1049l").count(), 1, "{written:?}");
    assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG), "{modes:?}");
}
