//! A projector that is a plain function, served over stdin and stdout. Put your own function in the place of `project`.
//!
//! `callpair verify --subject-cmd target/release/examples/stateless_subject`

use callpair::history::{AnomalyPolicy, ContextManager};
use callpair::item::{Modalities, ResponseItem};
use callpair::subject::{Capabilities, Stateless, serve};
use std::io;
use std::sync::Arc;

fn main() -> io::Result<()> {
    let mut subject = Stateless::new(Capabilities::stateless("example"), |history, modalities| {
        project(history, modalities)
    });
    serve(&mut subject, io::stdin().lock(), io::stdout().lock())
}

fn project(history: &[Arc<ResponseItem>], modalities: Modalities) -> Vec<Arc<ResponseItem>> {
    let mut manager = ContextManager::new().with_anomaly_policy(AnomalyPolicy::Collect);
    manager.replace(history.iter().cloned().collect());
    manager.for_prompt(modalities)
}
