//! The context of a task in its record: the sandbox and the limits of its submitter.

use crate::model::{Limits, NamedSandbox, Sandbox};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The sandbox of the submitter.
#[derive(Serialize, Deserialize)]
pub(crate) struct SandboxFile {
    boot_id: String,
    namespaces: BTreeMap<String, u64>,
    root: [u64; 2],
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root_mount: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    init_start: Option<u64>,
    no_new_privs: bool,
    seccomp: u32,
    cap_bounding: u64,
    cap_effective: u64,
    hard_limits: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory_max: Option<u64>,
}

/// Limits of the submitter. A limit that is absent does not apply.
#[derive(Serialize, Deserialize)]
pub(crate) struct LimitsFile {
    #[serde(default)]
    soft: BTreeMap<String, u64>,
    #[serde(default)]
    hard: BTreeMap<String, u64>,
    #[serde(default)]
    nice: i32,
    #[serde(default)]
    affinity: String,
    #[serde(default)]
    oom_score_adj: i32,
}

pub(crate) fn encode_sandbox(sandbox: &Sandbox) -> SandboxFile {
    let Sandbox { boot_id, namespaces, root, no_new_privs, seccomp, cap_bounding, cap_effective, .. } = sandbox.clone();
    let Sandbox { hard_limits, groups, memory_max, root_mount, init_start, .. } = sandbox.clone();
    SandboxFile {
        boot_id,
        namespaces,
        root,
        root_mount,
        init_start,
        no_new_privs,
        seccomp,
        cap_bounding,
        cap_effective,
        hard_limits,
        groups,
        memory_max,
    }
}

pub(crate) fn decode_sandbox(file: SandboxFile) -> Arc<NamedSandbox> {
    let SandboxFile { boot_id, namespaces, root, no_new_privs, seccomp, cap_bounding, cap_effective, .. } = file;
    let SandboxFile { hard_limits, groups, memory_max, root_mount, init_start, .. } = file;
    Arc::new(NamedSandbox::from(Sandbox {
        boot_id,
        namespaces,
        root,
        root_mount,
        init_start,
        no_new_privs,
        seccomp,
        cap_bounding,
        cap_effective,
        hard_limits,
        groups,
        memory_max,
    }))
}

pub(crate) fn encode_limits(limits: &Limits) -> LimitsFile {
    let Limits { soft, hard, nice, affinity, oom_score_adj } = limits.clone();
    LimitsFile { soft, hard, nice, affinity, oom_score_adj }
}

pub(crate) fn decode_limits(file: LimitsFile) -> Limits {
    let LimitsFile { soft, hard, nice, affinity, oom_score_adj } = file;
    Limits { soft, hard, nice, affinity, oom_score_adj }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_true(value: &bool) -> bool {
    *value
}

pub(crate) fn yes() -> bool {
    true
}
