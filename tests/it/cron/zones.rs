//! Time zones: the host's database comes first, and the program's own stands in for it.

use crate::support::Place;
use std::fs;
use std::path::PathBuf;

/// A database that knows one zone, which is nine hours ahead of UTC and never changes.
fn database(place: &Place) -> PathBuf {
    let half = |text: &[u8]| {
        let counts = [0u32, 0, 0, 0, 1, 4].map(u32::to_be_bytes).concat();
        let header = [b"TZif2".as_slice(), &[0; 15], &counts].concat();
        [header.as_slice(), &32_400i32.to_be_bytes(), &[0, 0], b"+09\0", text].concat()
    };
    let folder = place.path("zoneinfo/Europe");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("Berlin"), [half(b""), half(b"\n<+09>-9\n")].concat()).unwrap();
    place.path("zoneinfo")
}

#[test]
fn the_database_of_the_host_says_what_a_zone_means_and_the_own_one_knows_the_others() {
    let place = Place::new();
    let folder = database(&place);
    let here = |args: &[&str], zone: &str| {
        place.spawn(place.command(args).env("TZDIR", &folder).env("TZ", zone)).end().coded(0)
    };
    let add = |name: &str, zone: &str| {
        let args = ["--json", "cron", "add", name, "0 9 1 7 *", "--tz", zone, "-u", "a", "--", "true"];
        here(&args, "UTC").json()["next_local"].as_str().unwrap().to_owned()
    };
    assert!(add("changed", "europe/berlin").ends_with("-07-01 09:00 +09:00 (Europe/Berlin)"));
    assert!(add("own", "America/New_York").ends_with("-07-01 09:00 -04:00 (America/New_York)"));
    let said = here(&["enqueue", "-u", "a", "--at", "2100-07-01 09:00", "--", "true"], "Europe/Berlin").err;
    assert!(said.contains("2100-07-01 09:00 +09:00"), "{said}");
    let seen = place.spawn(place.command(&["doctor"]).env("TZDIR", &folder)).end().out;
    assert!(seen.contains("differ for Europe/Berlin") && !seen.contains("differ for America"), "{seen}");
}

#[test]
fn a_difference_from_utc_is_refused_because_its_sign_means_two_things() {
    let place = Place::new();
    for (zone, way) in [("UTC+2", "behind UTC"), ("GMT-5", "ahead of UTC")] {
        let ran = place.luzia(&["cron", "add", "x", "0 9 * * *", "--tz", zone, "-u", "a", "--", "true"]).coded(2);
        assert!(ran.err.contains(way) && ran.err.contains("Etc/GMT-2"), "{ran:?}");
    }
    let added = place.json(&["cron", "add", "x", "0 9 * * *", "--tz", "Etc/GMT-2", "-u", "a", "--", "true"]);
    assert!(added["next_local"].as_str().unwrap().contains("09:00 +02:00"), "{added}");
}
