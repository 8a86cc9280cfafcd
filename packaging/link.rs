//! How the binary is linked on Linux. For musl it is static as rustc links it. For glibc, where the archive of the C library is
//! installed (on Debian it comes with the headers, on Fedora as glibc-static), the binary has nothing to load: a dynamic
//! `enqueue` takes 16 to 28 % longer in the same loop (docs/decisions/070-static-link.md).
//! A release build puts the functions of short commands side by side (`packaging/hot.ld`), packs relocations, and gives each
//! segment the same place in the file as in memory: the kernel maps 2 MiB by one page fault where its cache has them in one piece.
//! It keeps one of equal functions, and no tables of the unwinder (docs/decisions/453-a-program-without-unwind-tables.md).
//! `LUZIA_LINK=dynamic` keeps the shared library. Builds for other systems or another machine than the one that compiles, and
//! builds for glibc with `+crt-static`, are left as they are. The tests read what was chosen in `LUZIA_LINKED`:
//! "dynamic", "static" for a random address, or "fixed" for a static program at a fixed one.
//!
//! A static program must not look accounts up through the C library, which would load modules of the name service switch
//! that have to be of its own version: `src/os/real/process/passwd.rs` does without.

#![allow(clippy::disallowed_methods, reason = "the bans are of the program's rooms; this runs while it is built")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The libraries of glibc that rustc names. Since 2.34 all but libm are parts of libc.
const OF_GLIBC: [&str; 6] = ["c", "m", "dl", "pthread", "rt", "util"];
/// What is linked and run before the choice is made: it allocates, starts a thread and takes a backtrace.
const TRIAL: &str = "fn main() { let name = std::env::args().next().unwrap(); \
                     let _ = std::backtrace::Backtrace::force_capture(); \
                     std::process::exit(i32::from(std::thread::spawn(move || name.len()).join().unwrap() == 0)) }";

fn main() {
    println!("cargo::rerun-if-changed=packaging/link.rs");
    println!("cargo::rerun-if-env-changed=LUZIA_LINK");
    let may_be_static = match variable("LUZIA_LINK").as_str() {
        "" => true,
        "dynamic" => false,
        other => return println!("cargo::error=LUZIA_LINK is {other:?}; it may be \"dynamic\", or not set"),
    };
    // A distribution that links musl dynamically names itself as the vendor of its target.
    let is_static_musl = variable("CARGO_CFG_TARGET_ENV") == "musl" && variable("CARGO_CFG_TARGET_VENDOR") == "unknown";
    let is_asked_for =
        is_static_musl || variable("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    let has_fixed_address = variable("CARGO_ENCODED_RUSTFLAGS").contains("relocation-model=static");
    let (linked, arguments) = if is_asked_for {
        (if has_fixed_address { "fixed" } else { "static" }, Vec::new())
    } else if let Some(arguments) = may_be_static.then(statically).flatten() {
        ("fixed", arguments)
    } else {
        ("dynamic", dynamically())
    };
    println!("cargo::rustc-env=LUZIA_LINKED={linked}");
    for argument in closely(arguments) {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn is_for_glibc() -> bool {
    variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu"
}

fn is_native() -> bool {
    variable("HOST") == variable("TARGET")
}

/// Whether this machine runs the program: the C library may be another one.
fn runs_here() -> bool {
    variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("HOST").contains("-linux-")
        && variable("HOST").split('-').next() == Some(&variable("CARGO_CFG_TARGET_ARCH"))
}

/// The arguments by which everything is taken out of archives, if a program that is so linked runs. Its own code has a fixed
/// address, so a start relocates nothing (docs/decisions/465-a-program-at-a-fixed-address.md).
fn statically() -> Option<Vec<String>> {
    if !is_for_glibc() || !is_native() {
        return None;
    }
    let dir = PathBuf::from(variable("OUT_DIR")).join("static");
    let [start, libc, unwinder, base] = ["crt1.o", "libc.a", "libgcc_eh.a", "libgcc.a"].map(library);
    let (start, libc, unwinder, base) = (start?, libc?, unwinder?, base?);
    let archives: Option<Vec<String>> = OF_GLIBC.iter().map(|name| library(&format!("lib{name}.a"))).collect();
    let archives = archives?;
    put(&dir, "gcc_s", &[&unwinder, &base])?;
    for (name, archive) in OF_GLIBC.iter().zip(&archives) {
        // They need each other.
        put(&dir, name, &[archive, &libc, &unwinder, &base])?;
    }
    let arguments = vec![format!("-L{}", dir.display()), "-static".to_owned(), "-no-pie".to_owned()];
    runs(&dir, &arguments)?;
    // What the library mends comes in with the next build.
    for file in archives.iter().chain([&start, &unwinder, &base]) {
        println!("cargo::rerun-if-changed={file}");
    }
    Some(arguments)
}

/// The arguments that make a start touch fewer pages, and the program smaller, each where this linker takes it: one that does
/// not leaves the program as it is.
fn closely(mut arguments: Vec<String>) -> Vec<String> {
    println!("cargo::rerun-if-changed=packaging/hot.ld");
    println!("cargo::rerun-if-changed=packaging/tables.ld");
    if !runs_here() || variable("PROFILE") != "release" {
        return arguments;
    }
    let packaging = Path::new(&variable("CARGO_MANIFEST_DIR")).join("packaging");
    let script = |name: &str| format!("-Wl,-T,{}", packaging.join(name).display());
    let hot = script("hot.ld");
    for argument in [hot.as_str(), "-Wl,-z,pack-relative-relocs", "-Wl,-z,separate-code", "-Wl,--icf=all"] {
        add_if_it_runs(&mut arguments, &[argument]);
    }
    // The unwinder of GCC ends a program that takes a backtrace without tables, so there the program takes none: a function
    // of the C library that does nothing is called in its place.
    let tables = script("tables.ld");
    let _ = add_if_it_runs(&mut arguments, &[&tables])
        || add_if_it_runs(
            &mut arguments,
            &[&tables, "-Wl,--wrap=_Unwind_Backtrace", "-Wl,--defsym=__wrap__Unwind_Backtrace=_dl_debug_state"],
        );
    arguments
}

/// Adds further arguments if a program that is so linked runs.
fn add_if_it_runs(arguments: &mut Vec<String>, further: &[&str]) -> bool {
    let before = arguments.len();
    arguments.extend(further.iter().map(|argument| (*argument).to_owned()));
    let runs = runs(&PathBuf::from(variable("OUT_DIR")), arguments).is_some();
    if !runs {
        arguments.truncate(before);
    }
    runs
}

/// The arguments that make a dynamic start cheaper.
fn dynamically() -> Vec<String> {
    if !is_for_glibc() {
        return Vec::new();
    }
    // A short command calls a tenth of the functions it imports; the others need no look-up (ld.so(8), LD_BIND_NOW).
    let mut arguments = vec!["-Wl,-z,lazy".to_owned()];
    // The shared unwinder would be one more library to load.
    let dir = PathBuf::from(variable("OUT_DIR")).join("dynamic");
    if let (true, Some(unwinder), Some(base)) = (is_native(), library("libgcc_eh.a"), library("libgcc.a"))
        && put(&dir, "gcc_s", &[&unwinder, &base]).is_some()
    {
        arguments.push(format!("-L{}", dir.display()));
    }
    arguments
}

/// rustc names shared libraries on the linker's command line. This folder is looked through first, and a file with the
/// name of such a library says what is taken in its stead (ld(1), "implicit linker scripts").
fn put(dir: &Path, name: &str, archives: &[&str]) -> Option<()> {
    let quoted: Vec<String> = archives.iter().map(|archive| format!("\"{archive}\"")).collect();
    std::fs::create_dir_all(dir).ok()?;
    std::fs::write(dir.join(format!("lib{name}.so")), format!("GROUP ( {} )\n", quoted.join(" "))).ok()
}

/// Links a small program in the way of the real one, with whatever else cargo was told, and runs it: not every linker and
/// not every flag goes with archives.
fn runs(dir: &Path, arguments: &[String]) -> Option<()> {
    let (source, program) = (dir.join("trial.rs"), dir.join("trial"));
    std::fs::write(&source, TRIAL).ok()?;
    let mut rustc = Command::new(std::env::var_os("RUSTC")?);
    rustc
        .args(["--edition=2024", "--crate-type=bin", "--target", &variable("TARGET"), "-o"])
        .arg(&program)
        .arg(&source);
    rustc.args(variable("CARGO_ENCODED_RUSTFLAGS").split('\x1f').filter(|flag| !flag.is_empty()));
    rustc.args(["-C".to_owned(), format!("linker={}", linker())]);
    rustc.args(arguments.iter().flat_map(|argument| ["-C".to_owned(), format!("link-arg={argument}")]));
    let succeeds = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    (succeeds(&mut rustc) && succeeds(&mut Command::new(program))).then_some(())
}

/// What links: the one that cargo was told, or rustc's default.
fn linker() -> String {
    std::env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned())
}

/// The full path of one of the C compiler's own libraries.
fn library(name: &str) -> Option<String> {
    let output = Command::new(linker()).arg(format!("-print-file-name={name}")).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    // An unknown name comes back as it is.
    (path.starts_with('/') && Path::new(&path).is_file()).then_some(path)
}
