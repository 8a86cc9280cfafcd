//! The pictures of `timeline` and `stats`, judged by what is written in them: the place of every text, and its colour on its ground.

use crate::support::Place;
use luzia::app::query::events::{Hold, LaneLine, LaneStats};
use luzia::cli::output::picture::{spreads, timeline};
use luzia::model::Timestamp;
use roxmltree::{Document, Node};
use std::collections::BTreeMap;
use std::path::Path;

const FONT: f64 = 12.0;

/// A text of a picture with the box that it may fill at most.
struct Word {
    text: String,
    x: (f64, f64),
    y: (f64, f64),
    /// The part of the picture that may hold it.
    room: [f64; 4],
    /// The classes of the text and of its ground.
    classes: (String, String),
}

/// The most that the characters of DejaVu Sans Mono, and of the fonts that are used where it has no character, are wide.
fn width(text: &str) -> f64 {
    text.chars().map(|c| if c < '\u{530}' || c == '…' { 0.603 } else { 1.25 }).sum::<f64>() * FONT
}

fn number(node: Node, name: &str) -> f64 {
    node.attribute(name).map_or(0.0, |text| text.parse().unwrap())
}

/// The bars of a picture: their class and their label.
fn bars<'a>(picture: &'a Document) -> Vec<(&'a str, &'a str)> {
    let bars = picture.descendants().filter_map(|node| Some((node, node.attribute("class")?.strip_prefix("b ")?)));
    bars.map(|(bar, class)| (class, bar.first_element_child().unwrap().text().unwrap().lines().next().unwrap()))
        .collect()
}

fn words(picture: &Document) -> Vec<Word> {
    let texts = picture.descendants().filter(|node| node.has_tag_name("text"));
    texts
        .map(|node| {
            let (root, parent) = (picture.root_element(), node.parent_element().unwrap());
            let text = node.text().unwrap_or_default().to_owned();
            let is_inner = parent.has_tag_name("svg") && parent != root;
            let [dx, dy] = if is_inner { [number(parent, "x"), number(parent, "y")] } else { [0.0; 2] };
            let box_of = if is_inner { parent } else { root };
            let (mut x, y) = (number(node, "x") + dx, number(node, "y") + dy);
            if node.attribute("text-anchor") == Some("middle") {
                x -= width(&text) / 2.0;
            }
            let ground = parent.attribute("class").and_then(|class| class.strip_prefix("b ")).unwrap_or("page");
            Word {
                x: (x, x + width(&text)),
                y: (y - 0.93 * FONT, y + 0.24 * FONT),
                room: [dx, dy, dx + number(box_of, "width"), dy + number(box_of, "height")],
                classes: (node.attribute("class").unwrap_or_default().to_owned(), ground.to_owned()),
                text,
            }
        })
        .collect()
}

/// The fill of each selector of a style, in light or in dark.
fn fills(style: &str) -> [BTreeMap<String, [f64; 3]>; 2] {
    let (light, dark) = style.split_once("@media(prefers-color-scheme:dark){").expect("colours for the dark");
    let fills = |rules: &str| -> BTreeMap<String, [f64; 3]> {
        let rules = rules.split('}').filter_map(|rule| rule.split_once('{'));
        let fill = |(selector, rule): (&str, &str)| {
            let hex = rule.split(';').find_map(|part| part.strip_prefix("fill:#"))?;
            let part = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            Some((selector.to_owned(), [part(0), part(2), part(4)]))
        };
        rules.filter_map(fill).collect()
    };
    [fills(light), fills(dark)]
}

/// The contrast of two colours by WCAG 2.
fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let linear = |part: f64| if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
    let luminance = |[r, g, b]: [f64; 3]| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    one.max(other) / one.min(other)
}

/// Checks that every text of a picture can be read, and that the legend has each kind of bar.
#[track_caller]
fn check(picture: &str, what: &str) {
    let picture = Document::parse(picture).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut words = words(&picture);
    for word in &words {
        let [left, top, right, bottom] = word.room;
        let is_inside = word.x.0 >= left && word.x.1 <= right && word.y.0 >= top && word.y.1 <= bottom;
        assert!(is_inside, "{what}: a text leaves its place: \"{}\" at {:?}", word.text, word.x);
    }
    let style = picture.descendants().find(|node| node.has_tag_name("style")).unwrap().text().unwrap();
    for fills in fills(style) {
        for word in &words {
            let (class, ground) = &word.classes;
            let of_bar = (format!(".{ground} text"), format!(".{ground} rect"));
            let (ink, ground) = match (ground.as_str(), class.as_str()) {
                ("page", "faint") => (".faint", ".page"),
                ("page", _) => ("text", ".page"),
                _ => (of_bar.0.as_str(), of_bar.1.as_str()),
            };
            let contrast = contrast(fills[ink], fills[ground]);
            assert!(contrast >= 4.5, "{what}: {contrast} of {ink} on {ground}");
        }
        for class in ["waits", "rests"] {
            assert_ne!(fills[&format!(".{class} rect")], fills[".failed rect"]);
        }
    }
    words.sort_by(|one, other| one.y.0.total_cmp(&other.y.0));
    for (at, one) in words.iter().enumerate() {
        for other in words[at + 1..].iter().take_while(|other| other.y.0 < one.y.1) {
            assert!(
                one.x.1 <= other.x.0 || other.x.1 <= one.x.0,
                "{what}: \"{}\" and \"{}\" overlap",
                one.text,
                other.text
            );
        }
    }
    let legend: Vec<&str> = picture
        .descendants()
        .filter(|node| node.has_tag_name("g"))
        .filter_map(|node| node.attribute("class"))
        .collect();
    for (class, label) in bars(&picture) {
        assert!(legend.contains(&class), "{what}: no legend for {class} of {label}");
    }
}

/// Names of 1 to 64 characters: of letters, wide ones, right to left, with marks, invisible ones, and markup.
fn names() -> Vec<String> {
    let parts = ["a", "W", "漢", "ש", "ﷺ", "e\u{301}", "👩", "\u{202e}", "<&\">'", "-"];
    let of = |part: &&str| [1, 3, 10, 64].map(|count| part.chars().cycle().take(count).collect::<String>());
    parts.iter().flat_map(of).collect()
}

/// Tasks of one user that follow one another in their lane, with each kind of end, each second with a loan and a wait.
fn history(name: &str, tasks: i64, length: i64) -> Vec<Hold> {
    let begin = 1_795_672_297_743;
    let at = |part: i64| Timestamp(begin + length * part / (tasks * 4));
    let ends = ["completed", "failed", "timeout", "interrupted", "cancelled", "", "pending", "waiting"];
    let mut holds = Vec::new();
    for task in 0..tasks {
        let end = ends[usize::try_from(task).unwrap() % ends.len()];
        for (lane, lender) in
            [("global".to_owned(), None), (format!("user:{name}"), None), (name.to_owned(), Some("task_9"))]
        {
            let is_loan = lender.is_some() && task % 2 == 0;
            holds.push(Hold {
                lane,
                holder: if task % 7 == 6 { format!("pid-{task}_17956722") } else { format!("task_{task}") },
                user: Some(name.to_owned()),
                host: (task % 3 == 0).then(|| name.to_owned()),
                asked: Timestamp(begin),
                from: at(task * 4 + 1),
                to: Some(at(task * 4 + 4)).filter(|_| !end.is_empty()),
                run: Some((at(task * 4 + 1), Some(at(task * 4 + 3)))),
                end: end.to_owned(),
                lender: lender.filter(|_| is_loan).map(str::to_owned),
                waits: if task % 2 == 0 { vec![(at(task * 4 + 2), Some(at(task * 4 + 3)))] } else { Vec::new() },
            });
        }
    }
    holds
}

#[test]
fn no_text_of_a_picture_overlaps_another_or_leaves_its_bar() {
    let now = |length: i64| Timestamp(1_795_672_297_743 + length);
    for name in names() {
        for tasks in [1, 12] {
            for length in [10, 10_000, 864_000_000] {
                let holds = history(&name, tasks, length);
                let picture = timeline::svg(&holds, Timestamp(0), now(length));
                check(&picture, &format!("{tasks} tasks of {name:?} in {length} ms"));
            }
        }
    }
    check(&timeline::svg(&history("alice", 300, 100_000), Timestamp(0), now(100_000)), "300 tasks");
    check(&timeline::svg(&history("alice", 300, 10), now(9), now(10)), "the last millisecond of 300 tasks");
    check(&timeline::svg(&[], now(0), now(3_600_000)), "no task");
}

#[test]
fn no_text_of_a_picture_of_spreads_overlaps_another() {
    let line = |(at, name): (u64, String)| {
        let mut stats = LaneStats::default();
        stats.waits = (0..at % 5).map(|part| part * 10_u64.pow(u32::try_from(at % 12).unwrap())).collect();
        stats.holds = vec![at, at * 1000, at * 7_000_000];
        LaneLine { name, stats, depth: 0, active: 0, limit: 1 }
    };
    let lines: Vec<LaneLine> = (0..).zip(names()).map(line).collect();
    for some in [&lines[..], &lines[..1], &[]] {
        check(&spreads::svg(some), &format!("{} lanes", some.len()));
    }
}

#[test]
fn the_axis_has_round_moments_with_room_between_them() {
    for length in [1, 10, 999, 7_000, 61_000, 3_700_000, 90_000_000, 864_000_000, 40_000_000_000] {
        let picture = timeline::svg(&history("a", 1, length), Timestamp(0), Timestamp(1_795_672_297_743 + length));
        let picture = Document::parse(&picture).unwrap();
        let ticks = picture.descendants().find(|node| node.attribute("id") == Some("ticks")).unwrap();
        let words: Vec<&str> =
            ticks.children().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
        let is_round = |word: &&str| !word.contains('.') || length < 1000 * 9;
        assert!((1..=10).contains(&words.len()) && words.iter().all(is_round), "{length}: {words:?}");
    }
}

#[test]
fn the_page_has_the_picture_and_no_name_gets_out_of_it() {
    let place = Place::new();
    let evil = "</svg></script><script>alert(1)</script>";
    place.luzia(&["run", "-u", evil, "--", "true"]).coded(0);
    let path = place.path("hour.html").display().to_string();
    assert_eq!(place.ok(&["timeline", "--html", &path]).out, "");
    let page = std::fs::read_to_string(&path).unwrap();
    let picture = &page[page.find("<svg").unwrap()..page.rfind("</svg>").unwrap() + 6];
    check(picture, "the page");
    assert_eq!(place.ok(&["timeline", "-o", "svg"]).out.split_once('\n').unwrap().1.trim_end(), picture);
    assert!(!page.contains(evil) && page.matches("<script").count() == 1, "{page}");
    assert!(page.contains("default-src 'none'") && page.matches("http").count() == 2, "it loads nothing");
    assert_eq!(place.json(&["timeline", "--html", &path])["html"], serde_json::Value::from(path.as_str()));
    place.luzia(&["timeline", "--html", &path, "--svg", &path]).coded(2);
    place.luzia(&["timeline", "--html", "/nosuch/hour.html"]).coded(73);
}

#[test]
fn the_picture_of_stats_goes_into_a_file() {
    let place = Place::new();
    place.ok(&["run", "-u", "alice", "--", "true"]);
    let path = place.path("waits.svg").display().to_string();
    assert_eq!(place.ok(&["stats", "--svg", &path]).out, "");
    let picture = std::fs::read_to_string(&path).unwrap();
    check(&picture, "stats");
    assert!(picture.contains(">user:alice<") && picture.contains(">p50 "), "{picture}");
    assert_eq!(place.json(&["stats", "locks", "--svg", &path])["svg"], serde_json::Value::from(path.as_str()));
    place.luzia(&["stats", "tasks", "--svg", &path]).coded(2);
    place.luzia(&["stats", "--svg", "/nosuch/waits.svg"]).coded(73);
}

#[test]
fn a_picture_tells_loans_failures_and_waits_apart() {
    let place = Place::new();
    place.ok(&["run", "--thread", "7", "-u", "alice", "--shell", "\"$LUZIA\" run --thread 7 -u bob -- true"]);
    place.luzia(&["run", "-u", "carol", "--", "false"]).coded(1);
    let id = place.enqueue(&["-u", "dave", "--shell", "\"$LUZIA\" await event:GO --park"]);
    place.ok(&["dispatch"]);
    place.until_status(&id, "waiting");
    place.ok(&["lock", "-u", "erin", "--", "true"]);
    let picture = place.ok(&["timeline", "-o", "svg"]).out;
    check(&picture, "a day");
    let picture = Document::parse(&picture).unwrap();
    let bars = bars(&picture);
    let has = |class: &str, label: &str| bars.iter().any(|bar| bar.0 == class && bar.1.contains(label));
    assert!(has("loan", "task_2 bob in the lane of task_1") && has("ran", "task_1"), "{bars:?}");
    assert!(has("failed", "task_3 failed") && has("rests", "task_4") && has("lock", "pid-"), "{bars:?}");
    assert!(!has("failed", "task_4"), "{bars:?}");
}

/// `UPDATE_GENERATED=1 cargo test the_picture_of_the_demo` draws it anew.
#[test]
fn the_picture_of_the_demo_in_the_readme_is_drawn_by_luzia() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/demo.svg");
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        let place = Place::new();
        let out = place.ok(&["demo", "--keep"]).out;
        let kept = out.rsplit_once("kept: ").unwrap().1.trim();
        place.ok(&["timeline", "--state-dir", kept, "--svg", path.to_str().unwrap()]);
        std::fs::remove_dir_all(kept).unwrap();
    }
    let picture = std::fs::read_to_string(path).unwrap();
    check(&picture, "docs/demo.svg");
    assert!(["alice", "bob", "carol"].iter().all(|user| picture.contains(&format!(">user:{user}<"))));
    assert!(include_str!("../../README.md").contains("](docs/demo.svg)"));
}
