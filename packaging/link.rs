//! How the binary is linked on Linux with glibc, so that a start costs less than /bin/true's: half of what a short command
//! costs is the dynamic loader's work. Where the archive of the C library is installed (on Debian it comes with the
//! headers, on Fedora as glibc-static), nothing is left to load; `LUZIA_LINK=dynamic` keeps the shared library. Builds
//! for other systems, for another machine than the one that compiles, or with `+crt-static` are left as they are.
//!
//! A static program must not look accounts up through the C library, which would load modules of the name service switch
//! that have to be of its own version: `src/os/real/passwd.rs` does without.

#![allow(clippy::disallowed_methods, reason = "the bans are of the program's rooms; this runs while it is built")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The libraries of glibc that rustc names. Since 2.34 all but libm are parts of libc.
const OF_GLIBC: [&str; 6] = ["c", "m", "dl", "pthread", "rt", "util"];

fn main() {
    println!("cargo::rerun-if-changed=packaging/link.rs");
    println!("cargo::rerun-if-env-changed=LUZIA_LINK");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let may_be_static = match variable("LUZIA_LINK").as_str() {
        "" => true,
        "dynamic" => false,
        other => return println!("cargo::error=LUZIA_LINK is {other:?}; it may be \"dynamic\", or not set"),
    };
    let is_static = variable("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    let is_glibc = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    if !is_glibc || is_static {
        return;
    }
    let out = PathBuf::from(variable("OUT_DIR"));
    let is_native = variable("HOST") == variable("TARGET");
    if is_native && may_be_static && link_statically(&out.join("static")).is_some() {
        return;
    }
    // A short command calls a tenth of the functions it imports; the others need no look-up (ld.so(8), LD_BIND_NOW).
    println!("cargo::rustc-link-arg-bins=-Wl,-z,lazy");
    if is_native {
        // Without the archives nothing changes: the shared unwinder is one more library to load.
        let _ = link_unwinder(&out.join("dynamic"));
    }
}

/// Takes everything out of archives. The program is still loaded at a random address.
fn link_statically(dir: &Path) -> Option<()> {
    library("rcrt1.o")?;
    let [libc, unwinder, base] = ["libc.a", "libgcc_eh.a", "libgcc.a"].map(library);
    let (libc, unwinder, base) = (libc?, unwinder?, base?);
    for name in OF_GLIBC {
        let archive = library(&format!("lib{name}.a"))?;
        // They need each other.
        put(dir, name, &[&archive, &libc, &unwinder, &base])?;
    }
    link_unwinder(dir)?;
    println!("cargo::rustc-link-arg-bins=-static-pie");
    Some(())
}

/// Takes the unwinder out of libgcc_eh.a instead of libgcc_s.so.1.
fn link_unwinder(dir: &Path) -> Option<()> {
    put(dir, "gcc_s", &[&library("libgcc_eh.a")?, &library("libgcc.a")?])?;
    println!("cargo::rustc-link-arg-bins=-L{}", dir.display());
    Some(())
}

/// rustc names shared libraries on the linker's command line. This folder is looked through first, and a file with the
/// name of such a library says what is taken in its stead (ld(1), "implicit linker scripts").
fn put(dir: &Path, name: &str, archives: &[&str]) -> Option<()> {
    let quoted: Vec<String> = archives.iter().map(|archive| format!("\"{archive}\"")).collect();
    std::fs::create_dir_all(dir).ok()?;
    std::fs::write(dir.join(format!("lib{name}.so")), format!("GROUP ( {} )\n", quoted.join(" "))).ok()
}

/// The full path of one of the C compiler's own libraries.
fn library(name: &str) -> Option<String> {
    let output = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    // An unknown name comes back as it is.
    (path.starts_with('/') && Path::new(&path).is_file()).then_some(path)
}
