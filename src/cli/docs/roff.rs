//! Text as roff(7), and the cleaning of the output of clap_mangen.

/// Plain text in a line of its own.
pub(super) fn text(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

/// A line of cross-references, e.g. `luzia(1), luzia-run(1)`.
pub(super) fn references(pages: &[(&str, u8)]) -> String {
    let last = pages.len().saturating_sub(1);
    let line = |(at, (name, section)): (usize, &(&str, u8))| {
        format!(".BR {} ({section}){}\n", text(name), if at == last { "" } else { "," })
    };
    pages.iter().enumerate().map(line).collect()
}

/// Removes what man(7) ignores with a warning: line breaks beside a paragraph or at the end of a section, and repeated
/// definitions of the apostrophe.
pub(super) fn tidied(page: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut has_apostrophe = false;
    for line in page.lines().map(str::trim_end) {
        let is_apostrophe = line.starts_with(".ie \\n(.g .ds Aq") || line.starts_with(".el .ds Aq");
        if is_apostrophe && has_apostrophe {
            continue;
        }
        has_apostrophe |= line.starts_with(".el .ds Aq");
        // A blank line is a paragraph; a break before or after it is one too many.
        let line = if line.is_empty() { ".sp" } else { line };
        match (lines.last().copied(), line) {
            (Some(".sp"), ".br" | ".sp") => continue,
            (Some(".br"), ".sp" | ".br") => drop(lines.pop()),
            (Some(".br" | ".sp"), next)
                if [".SH", ".SS", ".TP", ".RE", ".PP"].iter().any(|it| next.starts_with(it)) =>
            {
                lines.pop();
            }
            _ => {}
        }
        lines.push(line);
    }
    while matches!(lines.last(), Some(&".br" | &".sp")) {
        lines.pop();
    }
    lines.join("\n") + "\n"
}
