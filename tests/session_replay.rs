//! Recorded sessions of release 0.144.6, replayed: the inputs of all requests and the lines of the rollout are equal.

#![cfg(feature = "session")]

mod session_support;

use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/session/scenarios")
}

macro_rules! scenarios {
    ($($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                session_support::scenario::replay(&folder().join(concat!($name, ".json")));
            }
        )*

        /// The names of the scenarios that have a test.
        const NAMED: &[&str] = &[$($name),*];
    };
}

scenarios! {
    the_session_does_as_recorded_in_interrupt_sampling: "interrupt-sampling",
    the_session_does_as_recorded_in_interrupt_tool: "interrupt-tool",
    the_session_does_as_recorded_in_loop5: "loop5",
    the_session_does_as_recorded_in_mcp: "mcp",
    the_session_does_as_recorded_in_model_images: "model-images",
    the_session_does_as_recorded_in_rt_500_twice: "rt-500-twice",
    the_session_does_as_recorded_in_rt_break_after_delta: "rt-break-after-delta",
    the_session_does_as_recorded_in_rt_break_after_fc_slow: "rt-break-after-fc-slow",
    the_session_does_as_recorded_in_rt_break_after_msg: "rt-break-after-msg",
    the_session_does_as_recorded_in_rt_break_always: "rt-break-always",
    the_session_does_as_recorded_in_rt_failed_context: "rt-failed-context",
    the_session_does_as_recorded_in_rt_incomplete: "rt-incomplete",
    the_session_does_as_recorded_in_second_turn: "second-turn",
    the_session_does_as_recorded_in_steer_tool: "steer-tool",
    the_session_does_as_recorded_in_ws_agents_md_present: "ws-agents-md-present",
    the_session_does_as_recorded_in_ws_compact: "ws-compact",
    the_session_does_as_recorded_in_ws_compact_auto: "ws-compact-auto",
    the_session_does_as_recorded_in_ws_cwd: "ws-cwd",
    the_session_does_as_recorded_in_ws_environments: "ws-environments",
    the_session_does_as_recorded_in_ws_exec_resume: "ws-exec-resume",
    the_session_does_as_recorded_in_ws_fork: "ws-fork",
    the_session_does_as_recorded_in_ws_full_all: "ws-full-all",
    the_session_does_as_recorded_in_ws_merge: "ws-merge",
    the_session_does_as_recorded_in_ws_model: "ws-model",
    the_session_does_as_recorded_in_ws_no_baseline: "ws-no-baseline",
    the_session_does_as_recorded_in_ws_plugins: "ws-plugins",
    the_session_does_as_recorded_in_ws_policy: "ws-policy",
    the_session_does_as_recorded_in_ws_resume: "ws-resume",
    the_session_does_as_recorded_in_ws_resume_removed: "ws-resume-removed",
    the_session_does_as_recorded_in_ws_rollback: "ws-rollback",
    the_session_does_as_recorded_in_ws_rollback_patch: "ws-rollback-patch",
    the_session_does_as_recorded_in_ws_workspace: "ws-workspace",
}

#[test]
fn every_recorded_scenario_has_a_test() {
    let files = std::fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
    let mut names: Vec<String> =
        files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    assert_eq!(names, NAMED);
}
