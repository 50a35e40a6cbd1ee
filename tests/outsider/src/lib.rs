//! A runtime that is no part of callpair, as small as one can be: messages and function calls, a log that it resumes from.
//!
//! It shares nothing with callpair but the types of items. `tests/suite.rs` shows how such a project tests itself.

use callpair::case::{Failure, Items, Projected};
use callpair::item::{ItemKind, Modalities, ResponseItem};
use callpair::json::Json;
use callpair::subject::{Capabilities, Subject};
use std::collections::HashSet;
use std::sync::Arc;

/// What a release of the runtime does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// Nothing.
    Sound,
    /// It sends calls without outputs.
    SendsOpenCalls,
}

/// The runtime: a live history, and the log that a crash leaves.
#[derive(Debug)]
pub struct Runtime {
    release: Release,
    live: Items,
    log: Items,
}

impl Runtime {
    /// A runtime without a history.
    pub fn new(release: Release) -> Runtime {
        Runtime { release, live: Items::new(), log: Items::new() }
    }

    /// The input of the next request.
    fn request(&self) -> Items {
        let call_ids = |kind| -> HashSet<&str> {
            let of_kind = self.live.iter().filter(|item| item.kind() == kind);
            of_kind.filter_map(|item| item.call_id()).map(|id| id.as_str()).collect()
        };
        let (calls, outputs) = (call_ids(ItemKind::FunctionCall), call_ids(ItemKind::FunctionCallOutput));
        let mut request = Items::new();
        for item in &self.live {
            let call_id = item.call_id().map_or("", |id| id.as_str());
            match item.kind() {
                ItemKind::FunctionCallOutput if !calls.contains(call_id) => {}
                ItemKind::FunctionCall if !outputs.contains(call_id) => {
                    request.push(item.clone());
                    if self.release == Release::Sound {
                        request.push(Arc::new(interrupted(call_id)));
                    }
                }
                _ => request.push(item.clone()),
            }
        }
        request
    }
}

/// The output of a call that was interrupted.
fn interrupted(call_id: &str) -> ResponseItem {
    let mut item = callpair::json::Object::new();
    item.set("type", Json::String("function_call_output".to_owned()));
    item.set("call_id", Json::String(call_id.to_owned()));
    item.set("output", Json::String("interrupted".to_owned()));
    ResponseItem::load(Json::Object(item)).expect("an output has these fields")
}

impl Subject for Runtime {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            stateful: true,
            resume: true,
            modalities: vec![Modalities::TextAndImage],
            kinds: Some(vec![ItemKind::Message, ItemKind::FunctionCall, ItemKind::FunctionCallOutput]),
            ..Capabilities::stateless("outsider")
        }
    }

    fn reset(&mut self) -> Result<(), Failure> {
        self.live.clear();
        self.log.clear();
        Ok(())
    }

    fn record(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.live.extend_from_slice(items);
        self.log.extend_from_slice(items);
        Ok(())
    }

    fn replace(&mut self, items: &[Arc<ResponseItem>]) -> Result<(), Failure> {
        self.live = items.to_vec();
        self.log = items.to_vec();
        Ok(())
    }

    fn project(&mut self, _modalities: Modalities) -> Result<Projected, Failure> {
        Ok(Projected::of_items(self.request()))
    }

    fn snapshot(&mut self) -> Result<Items, Failure> {
        Ok(self.live.clone())
    }

    fn resume(&mut self) -> Result<(), Failure> {
        self.live = self.log.clone();
        Ok(())
    }
}
