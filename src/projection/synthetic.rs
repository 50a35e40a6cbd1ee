//! The outputs that a projection makes up, and their ids.

use crate::item::{
    CallId, CustomToolCallOutput, FunctionCallOutput, ItemId, ResponseItem, ToolOutput, ToolSearchOutput,
};
use crate::pairing::OutputKind;
use sha1::{Digest, Sha1};
use uuid::{Builder, Uuid};

/// The namespace of the program's synthetic ids.
const NAMESPACE: Uuid = Uuid::from_u128(0x90d38d3e_6a5b_4d52_bfe2_2f1e634bfac4);

/// What the output of a call says that never came to its end.
pub(crate) const ABORTED: &str = "aborted";

/// The id of a synthetic output: the prefix of its kind and a version 5 UUID of the call's own item id. None where the
/// call has no item id, or an empty one.
///
/// It depends on nothing else, neither the call id nor the place, so that repeated projections give the same bytes and
/// a prompt cache holds.
///
/// ```
/// # use callpair::{item::ItemId, pairing::OutputKind, projection::synthetic_id};
/// let id = synthetic_id(OutputKind::CustomTool, Some(&ItemId::from("ctc_1"))).unwrap();
/// assert_eq!(id.as_str(), "ctco_ffd2c872-81a7-5a00-b6f6-884096d1f522");
/// assert_eq!(synthetic_id(OutputKind::CustomTool, Some(&ItemId::from(""))), None);
/// ```
pub fn synthetic_id(kind: OutputKind, call_item_id: Option<&ItemId>) -> Option<ItemId> {
    let call_item_id = call_item_id?.as_str();
    if call_item_id.is_empty() {
        return None;
    }
    let prefix = kind.id_prefix();
    let name =
        Sha1::new_with_prefix(NAMESPACE).chain_update(prefix).chain_update(":").chain_update(call_item_id);
    let hash = name.finalize();
    let uuid = Builder::from_sha1_bytes(std::array::from_fn(|at| hash[at])).into_uuid().hyphenated();
    Some(ItemId::from([prefix, "_", uuid.encode_lower(&mut Uuid::encode_buffer())].concat()))
}

/// The output that stands in for one that never came.
pub fn synthetic_output(kind: OutputKind, call_id: &CallId, call_item_id: Option<&ItemId>) -> ResponseItem {
    let id = synthetic_id(kind, call_item_id);
    let call_id = call_id.clone();
    let aborted = || ToolOutput::Text(ABORTED.to_owned());
    match kind {
        OutputKind::Function => {
            ResponseItem::FunctionCallOutput(FunctionCallOutput { id, call_id, output: aborted() })
        }
        OutputKind::CustomTool => ResponseItem::CustomToolCallOutput(CustomToolCallOutput {
            id,
            call_id,
            name: None,
            output: aborted(),
        }),
        OutputKind::ToolSearch => ResponseItem::ToolSearchOutput(ToolSearchOutput {
            id,
            call_id: Some(call_id),
            status: "completed".to_owned(),
            execution: "client".to_owned(),
            tools: Vec::new(),
        }),
    }
}
