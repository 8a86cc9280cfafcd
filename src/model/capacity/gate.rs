//! Gates: a condition of the host under which no place in a lane is granted (`--hold-while`).
//!
//! `psi.memory>20 | load>1.5..1.0 & mem<10%`: `&` binds tighter than `|`, and the conditions that `&` joins must all hold. The
//! bound after `..` is the one at which a shut gate opens again.

use crate::model::record::{as_text, words};
use std::fmt;

/// The longest expression, in bytes.
pub const LONGEST: usize = 400;
/// Number of units in one: bounds and readings are counted in thousandths.
const SCALE: u32 = 1000;

/// A quantity that is measured on a host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Gauge {
    /// The share of time in which some task waited for a processor, in percent (`avg10` of `some`, PSI).
    PressureCpu,
    /// The share of time in which some task waited for memory, in percent.
    PressureMemory,
    /// The share of time in which some task waited for input and output, in percent.
    PressureIo,
    /// The load average of one minute for each processor.
    Load,
    /// The memory that is available, in percent.
    Memory,
}

words!(Gauge {
    PressureCpu = "psi.cpu",
    PressureMemory = "psi.memory",
    PressureIo = "psi.io",
    Load = "load",
    Memory = "mem",
});

impl Gauge {
    /// The largest bound, in thousandths, and whether it is a percentage.
    fn scale(self) -> (u32, bool) {
        match self {
            Self::Load => (1000 * SCALE, false),
            _ => (100 * SCALE, true),
        }
    }
}

/// Readings of the gauges of a host, in thousandths; `None` if a gauge cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Readings {
    /// [`Gauge::PressureCpu`].
    pub pressure_cpu: Option<u32>,
    /// [`Gauge::PressureMemory`].
    pub pressure_memory: Option<u32>,
    /// [`Gauge::PressureIo`].
    pub pressure_io: Option<u32>,
    /// [`Gauge::Load`].
    pub load: Option<u32>,
    /// [`Gauge::Memory`].
    pub memory: Option<u32>,
}

impl Readings {
    /// The reading of one gauge.
    pub fn of(&self, gauge: Gauge) -> Option<u32> {
        match gauge {
            Gauge::PressureCpu => self.pressure_cpu,
            Gauge::PressureMemory => self.pressure_memory,
            Gauge::PressureIo => self.pressure_io,
            Gauge::Load => self.load,
            Gauge::Memory => self.memory,
        }
    }
}

/// One comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The gauge that is compared.
    pub gauge: Gauge,
    /// Whether the reading must be above the bound; otherwise it must be below it.
    pub is_above: bool,
    /// The bound that shuts an open gate, in thousandths.
    pub shuts: u32,
    /// The bound at which a shut gate opens again, in thousandths; equal to `shuts` where only one was given.
    pub opens: u32,
}

/// An expression: a list of alternatives. The conditions of one alternative must hold together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gate(Vec<Vec<Condition>>);

impl Gate {
    /// Parses an expression; an error names the part that is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} bytes"));
        }
        let all = |part: &str| part.split('&').map(condition).collect::<Result<Vec<_>, _>>();
        text.split('|').map(all).collect::<Result<Vec<_>, _>>().map(Self)
    }

    /// The alternatives. The conditions of one alternative must hold together.
    pub fn alternatives(&self) -> &[Vec<Condition>] {
        &self.0
    }

    /// The gauges of the expression, each once.
    pub fn gauges(&self) -> Vec<Gauge> {
        let mut gauges: Vec<Gauge> = self.0.iter().flatten().map(|condition| condition.gauge).collect();
        gauges.sort_unstable();
        gauges.dedup();
        gauges
    }
}

fn condition(text: &str) -> Result<Condition, String> {
    let text = text.trim();
    let wrong = || format!("{:?} is not a condition", text.chars().take(80).collect::<String>());
    let at = text.find(['>', '<']).ok_or_else(wrong)?;
    let (name, rest) = text.split_at(at);
    let is_above = rest.starts_with('>');
    let name = name.trim();
    let gauge = Gauge::parse(name).ok_or_else(|| {
        let names = Gauge::ALL.map(Gauge::word).join(", ");
        format!("{:?} is not one of {names}", name.chars().take(80).collect::<String>())
    })?;
    let bounds = rest.get(1..).unwrap_or_default();
    let (shuts, opens) = bounds.split_once("..").map_or((bounds, None), |(shuts, opens)| (shuts, Some(opens)));
    let shuts = bound(gauge, shuts).ok_or_else(wrong)?;
    let opens = opens.map_or(Some(shuts), |opens| bound(gauge, opens)).ok_or_else(wrong)?;
    let is_reversed = if is_above { opens > shuts } else { opens < shuts };
    if is_reversed {
        let side = if is_above { "above" } else { "below" };
        return Err(format!("in {text:?} the gate would open {side} the bound at which it shuts"));
    }
    Ok(Condition { gauge, is_above, shuts, opens })
}

/// A bound in thousandths: a number with at most three decimals. A percentage may have a per cent sign.
fn bound(gauge: Gauge, text: &str) -> Option<u32> {
    let (most, is_percentage) = gauge.scale();
    let text = text.trim();
    let number = if is_percentage { text.strip_suffix('%').unwrap_or(text).trim_end() } else { text };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(decimals) || decimals.len() > 3 {
        return None;
    }
    let thousandths: u32 = format!("{decimals:0<3}").parse().ok()?;
    let all = whole.parse::<u32>().ok()?.checked_mul(SCALE)?.checked_add(thousandths)?;
    (all <= most).then_some(all)
}

/// A reading or a bound in words, e.g. `12.5%` or `1.5`.
pub fn shown(gauge: Gauge, thousandths: u32) -> String {
    let (whole, rest) = (thousandths / SCALE, thousandths % SCALE);
    let decimals = format!("{rest:03}");
    let decimals = decimals.trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    let unit = if gauge.scale().1 { "%" } else { "" };
    format!("{whole}{point}{decimals}{unit}")
}

impl fmt::Display for Condition {
    /// Writes the form that [`Gate::parse`] parses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { gauge, is_above, shuts, opens } = *self;
        let sign = if is_above { '>' } else { '<' };
        write!(f, "{}{sign}{}", gauge.word(), shown(gauge, shuts))?;
        if opens == shuts { Ok(()) } else { write!(f, "..{}", shown(gauge, opens)) }
    }
}

as_text!(Gate, |text| Self::parse(text));

impl fmt::Display for Gate {
    /// Writes the form that [`Gate::parse`] parses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |part: &Vec<Condition>| part.iter().map(ToString::to_string).collect::<Vec<_>>().join(" & ");
        f.write_str(&self.0.iter().map(all).collect::<Vec<_>>().join(" | "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_reads_back_from_its_one_spelling() {
        for (text, spelled) in [
            ("psi.memory>20 | load>1.5 | mem<10%", "psi.memory>20% | load>1.5 | mem<10%"),
            (" load > 1.5 .. 1.0&psi.io>5", "load>1.5..1 & psi.io>5%"),
            ("mem<10..20%", "mem<10%..20%"),
            ("psi.cpu>0.125", "psi.cpu>0.125%"),
            ("load>1000", "load>1000"),
        ] {
            let gate = Gate::parse(text).expect("an expression");
            assert_eq!(gate.to_string(), spelled);
            assert_eq!(Gate::parse(spelled), Ok(gate));
        }
    }

    #[test]
    fn what_does_not_parse_says_which_part() {
        for (wrong, part) in [
            ("", "\"\""),
            ("load", "\"load\""),
            ("load>1 |", "\"\""),
            ("load>1 || mem<5", "\"\""),
            ("lode>1", "lode"),
            ("load>", "load>"),
            ("load>=1", "load>=1"),
            ("load>-1", "load>-1"),
            ("load>1.5%", "load>1.5%"),
            ("mem<101%", "mem<101%"),
            ("load>1.0..1.5", "above"),
            ("mem<20%..10%", "below"),
            ("load>1.2345", "load>1.2345"),
            ("load>1e3", "load>1e3"),
            ("(load>1)", "(load"),
            ("load>1..", "load>1.."),
            ("load>99999999999", "load>9"),
        ] {
            let error = Gate::parse(wrong).expect_err(wrong);
            assert!(error.contains(part), "{wrong}: {error}");
        }
        assert!(Gate::parse(&"load>1|".repeat(100)).is_err());
    }
}
