//! An environment with little or nothing in it.

use crate::harness::strace;
use crate::support::Place;

fn bare(place: &Place, script: &str) -> crate::support::Ran {
    place.spawn(&mut place.shell(script)).end()
}

#[test]
fn no_home_and_no_variable_is_a_configuration_error_with_a_way_out() {
    let place = Place::new();
    // An account without an entry has no home either; root's entry names one, so HOME alone does not decide.
    let ran = bare(&place, "exec env -i HOME=relative PATH=/usr/bin:/bin \"$LUZIA\" status");
    let state = std::path::Path::new("/var/lib/luzia");
    if !state.exists() {
        assert!([0, 78].contains(&ran.code), "{ran:#?}");
        assert!(ran.code == 0 || ran.err.contains("LUZIA_STATE_DIR"), "{ran:#?}");
    }
    assert_eq!(std::fs::read_dir(place.path("work")).unwrap().count(), 0, "never in the working directory");
}

#[test]
fn the_state_directory_of_a_home_is_below_xdg_or_its_default() {
    let place = Place::new();
    if std::path::Path::new("/var/lib/luzia").exists() {
        return crate::support::skip(
            "the_state_directory_of_a_home_is_below_xdg_or_its_default",
            "a host without /var/lib/luzia",
        );
    }
    for (setting, made) in
        [("XDG_STATE_HOME=$PLACE/xdg HOME=$PLACE", "xdg/luzia"), ("HOME=$PLACE/home", "home/.local/state/luzia")]
    {
        let call = format!("exec env -i {setting} PATH=/usr/bin:/bin \"$LUZIA\" enqueue -u a -- true");
        assert_eq!(bare(&place, &call).coded(0).line(), "task_1");
        assert!(place.path(made).join("spool").is_dir(), "{made}");
    }
}

#[test]
fn cron_and_closed_streams_and_no_terminal_run_a_whole_day_of_work() {
    let place = Place::new();
    let call = |verb: &str, streams: &str| {
        let script = format!(
            "cd /; exec setsid env -i PATH=/usr/bin:/bin LANG=tr_TR.UTF-8 \"$LUZIA\" --state-dir \"$PLACE/state\" {verb} {streams}"
        );
        bare(&place, &script)
    };
    assert_eq!(call("enqueue -u İlker -- sh -c \"echo \\$PATH; tty; exit 3\"", "<&-").coded(0).line(), "task_1");
    call("dispatch --drain", "<&- >&- 2>&-").coded(1);
    assert_eq!(place.show("task_1")["exit_code"], 3);
    assert_eq!(place.ok(&["logs", "task_1", "--stdout"]).out, "/usr/bin:/bin\nnot a tty\n");
    // Turkish has another lower case for I; names are bytes, and words of luzia are not translated.
    call("list --state FAILED", "").coded(2);
    call("acquire I --task t1", ">/dev/full").coded(74);
    call("cleanup-stale", ">/dev/full 2>/dev/full").coded(74);
    call("lock -u x -n -- sh -c \"exit 7\"", "<&- >&- 2>&-").coded(7);
}

#[test]
fn no_lookup_of_an_account_goes_through_the_c_library() {
    let name = "no_lookup_of_an_account_goes_through_the_c_library";
    if !strace::is_available() {
        return crate::support::skip(name, "strace(1) and the right to trace");
    }
    let place = Place::new();
    // No home, no user, an account for the record: in its own process luzia reads the file and nothing else.
    for verb in ["enqueue -- true", "cancel 1", "status", "doctor"] {
        let strace = "strace -qq -e trace=?open,openat,?openat2,connect -o $PLACE/trace";
        let call = format!("exec env -i PATH=/usr/bin:/bin LUZIA_STATE_DIR=$PLACE/state {strace} \"$LUZIA\" {verb}");
        assert_eq!(bare(&place, &call).code, 0, "{verb}");
        let trace = std::fs::read_to_string(place.path("trace")).unwrap();
        assert!(trace.contains("/etc/passwd"), "{verb}: {trace}");
        for module in ["nsswitch", "libnss", "nscd", "userdb"] {
            assert!(!trace.contains(module), "{verb}: {trace}");
        }
    }
}
