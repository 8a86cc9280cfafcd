// Appended to `src/lib.rs` in the copy of the sources that `tests/mutants/run` builds.

/// Whether this process has a planted fault: `PLANTED_FAULT` names it. A name that begins with LUZIA_ would not reach the processes
/// inside a task, whose environment leaves such variables out.
pub fn fault(name: &str) -> bool {
    static NAME: std::sync::OnceLock<Option<std::ffi::OsString>> = std::sync::OnceLock::new();
    NAME.get_or_init(|| std::env::var_os("PLANTED_FAULT")).as_ref().is_some_and(|known| known == name)
}
