//! How the binary is linked on Linux with glibc, so that a start costs little more than /bin/true's: half of what a
//! short command costs is the dynamic loader's work. No other target is touched, nor a build with `+crt-static`.

#![allow(clippy::disallowed_methods, reason = "the bans are of the program's rooms; this runs while it is built")]

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=packaging/link.rs");
    let cfg = |name: &str| std::env::var(format!("CARGO_CFG_{name}")).unwrap_or_default();
    let is_static = cfg("TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    if cfg("TARGET_OS") != "linux" || cfg("TARGET_ENV") != "gnu" || is_static {
        return;
    }
    // A short command calls a tenth of the functions it imports; the others need no look-up (ld.so(8), LD_BIND_NOW).
    println!("cargo::rustc-link-arg-bins=-Wl,-z,lazy");
    if std::env::var("HOST") == std::env::var("TARGET") {
        link_unwinder();
    }
}

/// Takes the unwinder out of libgcc_eh.a instead of libgcc_s.so.1, which would be one more library to load. rustc names
/// the shared one on the linker's command line; this folder is looked through first, and its file of that name says
/// where the static one is (ld(1), "implicit linker scripts"). Without a static one nothing changes.
fn link_unwinder() {
    let Ok(out) = std::env::var("OUT_DIR") else { return };
    let Some((unwinder, base)) = library("libgcc_eh.a").zip(library("libgcc.a")) else { return };
    let script = format!("GROUP ( \"{unwinder}\" \"{base}\" )\n");
    if std::fs::write(Path::new(&out).join("libgcc_s.so"), script).is_ok() {
        println!("cargo::rustc-link-arg-bins=-L{out}");
    }
}

/// The full path of one of the C compiler's own libraries.
fn library(name: &str) -> Option<String> {
    let output = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    // An unknown name comes back as it is.
    (path.starts_with('/') && Path::new(&path).is_file()).then_some(path)
}
