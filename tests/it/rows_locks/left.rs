//! What the command of a `luzia lock` leaves behind: it keeps the lane, and every answer names it as what it is.

use crate::support::{Place, lives, signal, until};
use rustix::process::Signal;

const LANE: &str = "lane:build";
/// Leaves a process behind, whose pid goes to a file.
const LEAVES: &str = "setsid sh -c 'echo $$ > $PLACE/left; exec sleep 1000' >/dev/null 2>&1 </dev/null & \
                      until [ -s $PLACE/left ]; do sleep 0.01; done";

fn left_by(place: &Place, options: &[&str]) -> (u32, String) {
    let ran = place.ok(&[&["lock", "-l", "build"], options, &["--", "sh", "-c", LEAVES]].concat());
    (std::fs::read_to_string(place.path("left")).unwrap().trim().parse().unwrap(), ran.err)
}

#[test]
fn a_process_that_the_command_left_behind_is_named_and_the_command_is_not_alive() {
    let place = Place::new();
    let (left, told) = left_by(&place, &[]);
    let named = format!("process {left} \"sleep\"");
    assert!(told.contains(&format!("left {named} behind, which keeps lane \"build\" until it ends")), "{told}");
    assert!(told.contains("--close"), "{told}");
    let said = format!("ago; {named} has the lock file open");
    let text = place.ok(&["explain", LANE]).out;
    assert!(text.contains("its command ended ") && text.contains(&said), "{text}");
    let holder = &place.json(&["explain", LANE])["holders"][0];
    assert_eq!((&holder["alive"], &holder["state"]), (&false.into(), &"held".into()), "{holder}");
    for told in
        [place.luzia(&["check", LANE]).coded(75).err, place.ok(&["list-locks"]).out, holder["evidence"].to_string()]
    {
        assert!(told.replace('\\', "").contains(&said), "{told}");
    }
    let refused = place.luzia(&["lock", "-n", "-l", "build", "--", "true"]).coded(75).err;
    assert!(
        refused.contains("its command ended, and a process that it left behind has the lock file open"),
        "{refused}"
    );
    // It lives, so without force nothing is released; by force it ends, and that is one's own affair.
    place.luzia(&["release", LANE]).coded(1);
    assert!(lives(left));
    place.ok(&["release", LANE, "--force"]);
    assert!(!lives(left));
    place.ok(&["check", LANE]);
}

#[test]
fn the_lane_is_free_when_what_was_left_behind_ends() {
    let place = Place::new();
    let (left, _) = left_by(&place, &[]);
    place.luzia(&["check", LANE]).coded(75);
    signal(left, Signal::KILL);
    until("the lane is free", || (place.luzia(&["check", LANE]).code == 0).then_some(()));
}

#[test]
fn close_ends_the_lane_with_the_command() {
    let place = Place::new();
    let (left, told) = left_by(&place, &["--close"]);
    assert_eq!(told, "");
    assert!(lives(left));
    place.ok(&["check", LANE]);
    // While the command runs, the lane is held all the same, also after luzia was killed.
    place.gate("gate");
    let mut holder =
        place.start(&["lock", "-l", "build", "--close", "--", "sh", "-c", "echo > $PLACE/up; read _ < $PLACE/gate"]);
    place.until_file("up");
    place.luzia(&["check", LANE]).coded(75);
    holder.kill();
    place.luzia(&["check", LANE]).coded(75);
    place.open_gate("gate");
    until("the lane is free", || (place.luzia(&["check", LANE]).code == 0).then_some(()));
}

#[test]
fn of_a_process_that_ends_at_once_nothing_is_said() {
    let place = Place::new();
    let ran = place.ok(&["lock", "-l", "build", "--", "sh", "-c", "sleep 0.03 & exit 0"]);
    assert_eq!(ran.err, "");
    place.ok(&["check", LANE]);
}
