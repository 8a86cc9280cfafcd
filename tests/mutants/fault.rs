// Appended to `src/lib.rs` in the copy of the sources that `tests/mutants/run` builds.

/// Whether this process has a planted fault: `LUZIA_FAULT` names it.
pub fn fault(name: &str) -> bool {
    static NAME: std::sync::OnceLock<Option<std::ffi::OsString>> = std::sync::OnceLock::new();
    NAME.get_or_init(|| std::env::var_os("LUZIA_FAULT")).as_ref().is_some_and(|known| known == name)
}
