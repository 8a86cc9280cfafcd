//! The environment of a command in a lane with a CPU budget: the job server of GNU make 4.4 and cargo, and numbers for tools
//! without job server support.

/// The variables in which tools without a job server look for a number of jobs.
pub const NUMBERS: [&str; 4] =
    ["CARGO_BUILD_JOBS", "CMAKE_BUILD_PARALLEL_LEVEL", "GOMAXPROCS", "PYTEST_XDIST_AUTO_NUM_WORKERS"];
/// The variable in which make looks for its options and its job server.
pub const MAKEFLAGS: &str = "MAKEFLAGS";
/// The variable in which cargo looks first for its job server.
pub const CARGO_MAKEFLAGS: &str = "CARGO_MAKEFLAGS";

/// Place of the job server of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Server<'a> {
    /// The path of its FIFO.
    pub fifo: &'a str,
    /// Whether the `make` of the command supports FIFOs, as from version 4.4 on; an older one would end with an error.
    pub make_knows_fifos: bool,
}

/// The variables of a command that has `share` processors now, of a budget of `budget`. `had` returns its former value of a
/// variable. A smaller number of its own stays.
pub fn variables(
    share: u32,
    budget: u32,
    server: Option<Server>,
    had: &dyn Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let smaller = |name: &&str| {
        had(name).and_then(|text| text.trim().parse().ok()).is_some_and(|own: u32| own > 0 && own <= share)
    };
    let numbers = NUMBERS.iter().filter(|name| !smaller(name)).map(|name| ((*name).to_owned(), share.to_string()));
    let mut all: Vec<(String, String)> = numbers.collect();
    let make = had(MAKEFLAGS).unwrap_or_default();
    match server {
        Some(Server { fifo, make_knows_fifos }) => {
            let auth = format!("--jobserver-auth=fifo:{fifo}");
            // cargo parses the last word of the variable as a path, so nothing may follow it.
            all.push((CARGO_MAKEFLAGS.to_owned(), format!("-j{budget} {auth}")));
            let own = if make_knows_fifos { format!("-j{budget} {auth}") } else { format!("-j{share}") };
            all.push((MAKEFLAGS.to_owned(), with_jobs(&make, &own)));
        }
        None => all.push((MAKEFLAGS.to_owned(), with_jobs(&make, &format!("-j{share}")))),
    }
    all
}

/// The options of make with other options for its jobs. The options of another job server are removed, because its descriptors
/// are not inherited.
fn with_jobs(flags: &str, jobs: &str) -> String {
    let is_edge = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let is_end = |at: usize| is_edge(flags[..at].chars().next_back()) && is_edge(flags[at + 2..].chars().next());
    // After the end of the options, the variable has assignments of variables.
    let end = flags.match_indices("--").map(|(at, _)| at).find(|at| is_end(*at));
    let (options, assignments) = match end.map(|at| (&flags[..at], flags[at + 2..].trim())) {
        Some((options, "")) => (options, String::new()),
        Some((options, assignments)) => (options, format!(" -- {assignments}")),
        None => (flags, String::new()),
    };
    let is_of_jobs = |word: &str| {
        word.starts_with("--jobserver")
            || word.strip_prefix("-j").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
    };
    let kept: Vec<&str> = options.split_whitespace().filter(|word| !is_of_jobs(word)).collect();
    // The first word may be letters of options without a dash. Without such letters, make expects a space before the other options.
    let lead = if options.starts_with(' ') || kept.is_empty() { " " } else { "" };
    let words: Vec<&str> = kept.into_iter().chain([jobs]).collect();
    format!("{lead}{}{assignments}", words.join(" "))
}

/// Whether the version of make that prints this text supports FIFOs: GNU make from 4.4 on.
pub fn knows_fifos(said: &str) -> bool {
    let version = said.lines().next().and_then(|line| line.strip_prefix("GNU Make "));
    let mut numbers = version.unwrap_or_default().split(['.', ' ', '-']).map_while(|part| part.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(4), Some(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(share: u32, server: Option<Server>, had: &[(&str, &str)]) -> Vec<(String, String)> {
        let had = |name: &str| had.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
        variables(share, 4, server, &had)
    }

    fn value<'a>(env: &'a [(String, String)], name: &str) -> Option<&'a str> {
        env.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    #[test]
    fn a_command_finds_its_job_server_and_its_share() {
        let server = Server { fifo: "/s/f", make_knows_fifos: true };
        let env = given(2, Some(server), &[("CARGO_BUILD_JOBS", "1"), ("GOMAXPROCS", "8")]);
        assert_eq!(value(&env, MAKEFLAGS), Some(" -j4 --jobserver-auth=fifo:/s/f"));
        assert_eq!(value(&env, CARGO_MAKEFLAGS), Some("-j4 --jobserver-auth=fifo:/s/f"));
        assert_eq!((value(&env, "CARGO_BUILD_JOBS"), value(&env, "GOMAXPROCS")), (None, Some("2")));
        assert_eq!(value(&env, "PYTEST_XDIST_AUTO_NUM_WORKERS"), Some("2"));
    }

    #[test]
    fn an_old_make_gets_a_number_and_never_a_fifo() {
        let env = given(2, Some(Server { fifo: "/s/f", make_knows_fifos: false }), &[]);
        assert_eq!(value(&env, MAKEFLAGS), Some(" -j2"));
        assert!(value(&env, CARGO_MAKEFLAGS).is_some_and(|flags| flags.ends_with("fifo:/s/f")));
        assert_eq!(value(&given(3, None, &[]), CARGO_MAKEFLAGS), None);
    }

    #[test]
    fn other_options_of_make_stay_and_those_of_another_job_server_go() {
        for (had, wanted) in [
            ("", " -j3"),
            ("k", "k -j3"),
            ("ks --", "ks -j3"),
            ("-- A=1", " -j3 -- A=1"),
            (" -j8 --jobserver-auth=3,4", " -j3"),
            ("ks -j --jobserver-fds=3,4 --no-print-directory -- A=-j1", "ks --no-print-directory -j3 -- A=-j1"),
        ] {
            assert_eq!(with_jobs(had, "-j3"), wanted, "{had}");
        }
    }

    #[test]
    fn make_knows_fifos_from_4_4_on() {
        for (said, knows) in [
            ("GNU Make 4.4.1\nBuilt for x", true),
            ("GNU Make 4.4\n", true),
            ("GNU Make 5.0", true),
            ("GNU Make 4.3\n", false),
            ("GNU Make 3.81", false),
            ("bmake", false),
            ("", false),
        ] {
            assert_eq!(knows_fifos(said), knows, "{said}");
        }
    }
}
