//! Tests of tables.

use super::*;
use proptest::prelude::*;

const COLUMNS: [Column; 4] = [Column::new("ID"), Column::new("USER"), Column::wide("FENCE"), Column::new("COMMAND")];

fn example() -> Table {
    let mut table = Table::new(&COLUMNS);
    table.row(["task_1", "alice", "17", "make a very long list of things to do today"]);
    table.row(["task_12", "b\u{1b}[2J\n", "", ""]);
    table
}

fn on(width: u16) -> Layout {
    Layout { width: Some(width), ..Layout::default() }
}

#[test]
fn a_pipe_gets_whole_columns_two_spaces_apart() {
    assert_eq!(
        example().render(Layout::default()),
        "ID       USER        COMMAND\n\
         task_1   alice       make a very long list of things to do today\n\
         task_12  b\\x1b[2J\\n  -\n"
    );
    let wide = Layout { wide: true, ..Layout::default() };
    assert!(example().render(wide).starts_with("ID       USER        FENCE  COMMAND\n"));
}

#[test]
fn a_terminal_gets_its_last_column_cut() {
    assert_eq!(
        example().render(on(40)),
        "ID       USER        COMMAND\n\
         task_1   alice       make a very long l…\n\
         task_12  b\\x1b[2J\\n  -\n"
    );
    assert!(example().render(on(200)).contains("things to do today\n"));
}

#[test]
fn no_width_breaks_a_table() {
    for width in [0, 1, 5, 19, 20, 21, 25, 30, u16::MAX] {
        assert_eq!(example().render(on(width)).lines().count(), 3, "{width}");
    }
    for columns in [&[][..], &COLUMNS[..1], &COLUMNS[2..3]] {
        let mut table = Table::new(columns);
        table.row(["x", "y"]);
        table.render(on(80));
        table.render(Layout::default());
    }
}

#[test]
fn long_cells_stay_whole_in_a_pipe() {
    let mut table = Table::new(&COLUMNS);
    let long = "x y ".repeat(100_000);
    table.row(["task_1", "alice", "", long.as_str()]);
    table.row(["task_2", &"u".repeat(1024), "", "y"]);
    let text = table.render(Layout::default());
    assert_eq!(text.lines().count(), 3);
    assert!(text.contains(long.trim_end()));
    assert_eq!(table.render(on(80)).lines().count(), 3);
}

#[test]
fn a_narrow_terminal_drops_columns_by_rank() {
    let columns =
        [Column::new("ID"), Column::wide("LABEL").ranked(2), Column::new("START").ranked(1), Column::new("COMMAND")];
    let mut table = Table::new(&columns);
    table.row(["task_1", "a label of some length", "2026-01-01", "make all of it, and then test it"]);
    let titles = |width, wide| {
        let text = table.render(Layout { width: Some(width), wide, ..Layout::default() });
        assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{text}");
        text.lines().next().expect("a heading").split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(titles(100, true), ["ID", "LABEL", "START", "COMMAND"]);
    assert_eq!(titles(60, true), ["ID", "START", "COMMAND"]);
    assert_eq!(titles(60, false), ["ID", "START", "COMMAND"]);
    assert_eq!(titles(30, true), ["ID", "COMMAND"]);
    let mut paged = table.clone().without_headings();
    let on30 = Layout { wide: true, ..on(30) };
    let first = paged.page(on30);
    paged.row(["task_2", "", "", "x"]);
    assert_eq!(paged.page(on30), "task_2  x\n", "later pages drop what the first one dropped");
    assert_eq!(first.lines().count(), 1, "no heading");
}

proptest! {
    #[test]
    fn a_plain_table_is_the_text_of_the_layout(
        rows in prop::collection::vec(prop::collection::vec("\\PC{0,9}|[a-z ]{0,9}|\\\\n", 4), 0..6),
    ) {
        let mut table = Table::new(&COLUMNS);
        rows.into_iter().for_each(|row| table.row(row));
        let body = table.bare(&[0, 1, 2], Style::PLAIN, usize::MAX);
        let (whole, mut widths) = (table.whole(&body, 3, Style::PLAIN), [0; 4]);
        prop_assert_eq!(table.plain(&[0, 1, 2, 3], &mut widths), whole);
        prop_assert_eq!(&widths[..3], &body.column_max_content_widths()[..]);
    }
}

#[test]
fn wide_characters_count_two() {
    let mut table = Table::new(&[Column::new("USER"), Column::new("X")]);
    table.row(["日本", "1"]);
    table.row(["abcd", "2"]);
    assert_eq!(table.render(Layout::default()), "USER  X\n日本  1\nabcd  2\n");
}

#[test]
fn colour_comes_only_when_asked_for() {
    let mut table = Table::new(&[Column::new("ID"), Column::new("STATUS")]);
    table.toned_row([("1".into(), Tone::Plain), ("failed".into(), Tone::Bad)]);
    for width in [None, Some(80)] {
        let plain = Layout { width, ..Layout::default() };
        assert!(!table.render(plain).contains('\x1b'), "{width:?}");
        let colored = Layout { style: Style { color: true }, ..plain };
        let text = table.render(colored);
        assert!(text.contains("failed") && text.contains("\x1b["), "{text:?}");
    }
}

#[test]
fn names_are_the_first_column() {
    assert_eq!(example().names(), "task_1\ntask_12\n");
}

#[test]
fn pages_have_one_heading_and_columns_that_never_get_narrower() {
    for layout in [Layout::default(), on(40)] {
        let mut table = Table::new(&COLUMNS[..2]);
        table.row(["task_1", "a-long-name"]);
        assert_eq!(table.page(layout), example_of(&[["task_1", "a-long-name"]]).render(layout));
        assert!(table.is_empty());
        table.row(["task_100", "b"]);
        let second = table.page(layout);
        table.row(["task_3", "c"]);
        let third = table.page(layout);
        assert_eq!([second.find('b'), third.find('c')], [Some("task_100  ".len()); 2], "{second}{third}");
        assert_eq!((second.lines().count(), third.lines().count()), (1, 1));
        assert_eq!(table.page(layout), "", "nothing more, and no heading");
    }
}

fn example_of(rows: &[[&str; 2]]) -> Table {
    let mut table = Table::new(&COLUMNS[..2]);
    rows.iter().for_each(|row| table.row(*row));
    table
}
