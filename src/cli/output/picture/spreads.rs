//! The waits for lanes and the holds of these as a picture.

use super::{Bar, DAY, Kind, LEFT, ROW, SECOND, Sheet, TOP};
use crate::app::query::events::{LaneLine, Spread};
use crate::model::time::format_duration;

const PLOT: i64 = 740;
/// The marks of the axis, in milliseconds.
const MARKS: [i64; 11] =
    [1, 10, 100, SECOND, 10 * SECOND, 60 * SECOND, 600 * SECOND, 3600 * SECOND, 36_000 * SECOND, 4 * DAY, 40 * DAY];

/// A picture with two rows for each lane: what its waits, and what its holds, did not exceed in half and in 95 of a hundred
/// cases. The axis is logarithmic.
pub fn svg(lines: &[LaneLine]) -> String {
    let both = |line: &LaneLine| (Spread::of(&line.stats.waits), Spread::of(&line.stats.holds));
    let lanes = lines.iter().map(|line| (line.name.as_str(), both(line)));
    let lanes: Vec<_> = lanes.filter(|(_, (waits, holds))| waits.count + holds.count > 0).collect();
    let most = lanes.iter().map(|(_, (waits, holds))| waits.p95_ms.max(holds.p95_ms)).max().unwrap_or(0);
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let last = MARKS.into_iter().find(|mark| *mark >= most.max(10)).unwrap_or(most);
    let x = |ms: i64| LEFT + ((ms.max(1) as f64).ln() / (last as f64).ln() * PLOT as f64) as i64;
    let (mut sheet, mut y) = (Sheet::default(), TOP);
    for (name, (waits, holds)) in lanes {
        let rows = [
            (waits, "  waits", Kind::Waits, "half of the waits", Kind::Rests, "95 % of the waits"),
            (holds, "  holds", Kind::Ran, "half of the holds", Kind::Runs, "95 % of the holds"),
        ];
        sheet.name(y, name, true);
        y += ROW;
        for (spread, caption, half, half_word, most, most_word) in rows {
            if spread.count == 0 {
                continue;
            }
            sheet.name(y, caption, false);
            let [p50, p95] = [spread.p50_ms, spread.p95_ms].map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
            let words = [spread.p50_ms, spread.p95_ms].map(format_duration);
            let parts = [(0, p50, half, half_word, &words[0]), (p50, p95, most, most_word, &words[1])];
            for (from, to, kind, word, length) in parts.into_iter().filter(|(from, to, ..)| from < to || *from == 0) {
                let told = format!("{word} of {name}: at most {length}");
                let (x, span) = ((x(from), x(to)), (from, to));
                sheet.bar(&Bar { kind, x, y, label: length, told: &told, span }, Some(word));
            }
            let [p50, p95] = words;
            sheet.text(LEFT + PLOT + 12, y + 15, &format!("p50 {p50}, p95 {p95}"));
            y += ROW;
        }
        y += 4;
    }
    let marks = MARKS.into_iter().filter(|mark| *mark <= last);
    let ticks: Vec<(i64, String)> = marks.map(|ms| (x(ms), format_duration(ms.unsigned_abs()))).collect();
    let title = "luzia stats: waits for lanes, and holds";
    super::file(&sheet.picture((title, title), y + 8, &ticks, ""))
}
