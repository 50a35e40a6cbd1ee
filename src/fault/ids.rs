//! Ids of what is made up: a prefix by kind, and a hash of the call's item id.

use super::made_up::Hole;
use super::{Hand, Slip};
use crate::item::ItemId;
use crate::pairing::OutputKind;
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

/// The namespace of the program's ids, spelled out here a second time.
const NAMESPACE: &str = "90d38d3e-6a5b-4d52-bfe2-2f1e634bfac4";

/// Stands in for a clock: another number at each draw of this process, yet the same ones in each run.
static DRAWN: AtomicU64 = AtomicU64::new(0);

impl Hand {
    /// The id of a made-up output; none where the call's item id is missing or empty.
    pub(super) fn made_up_id(&self, hole: &Hole<'_>, kind: OutputKind) -> Option<ItemId> {
        if self.slips(Slip::IdMissing) {
            return None;
        }
        let seed = self.seed(hole)?;
        if self.slips(Slip::IdOfTheCall) {
            return Some(ItemId::from(seed));
        }
        let prefix = self.prefix(kind);
        let name = if self.slips(Slip::IdNameWithoutPrefix) { seed } else { format!("{prefix}:{seed}") };
        if self.slips(Slip::IdSha256) {
            let hash = Sha256::digest(name.as_bytes());
            let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            return Some(ItemId::from(format!("{prefix}_{digits}")));
        }
        let uuid = Uuid::new_v5(&self.namespace(), name.as_bytes());
        let uuid = match self.slip {
            Some(Slip::IdVersion4) => {
                uuid::Builder::from_random_bytes(*uuid.as_bytes()).into_uuid().to_string()
            }
            Some(Slip::IdWithoutDashes) => uuid.simple().to_string(),
            _ => uuid.to_string(),
        };
        let joint = if self.slips(Slip::IdColon) { ':' } else { '_' };
        let id = ItemId::from(format!("{prefix}{joint}{uuid}"));
        let again = hole.earlier.iter().any(|(_, output)| output.id() == Some(&id));
        if again && self.slips(Slip::IdDisambiguated) {
            return Some(ItemId::from(format!("{}-{}", id.as_str(), hole.earlier.len())));
        }
        Some(id)
    }

    /// What the id is a hash of: the call's item id.
    fn seed(&self, hole: &Hole<'_>) -> Option<String> {
        let item_id = hole.call.id().map(ItemId::as_str);
        let real = item_id.filter(|id| !id.is_empty());
        Some(match self.slip {
            Some(Slip::IdForEmptyItemId) => item_id?.to_owned(),
            Some(Slip::IdWithoutItemId) => real.unwrap_or(hole.call_id).to_owned(),
            Some(Slip::IdFromCallId) => real.map(|_| hole.call_id)?.to_owned(),
            Some(Slip::IdTrimsItemId) => real?.trim().to_owned(),
            Some(Slip::IdRandom) => format!("{}/{}", real?, DRAWN.fetch_add(1, Ordering::Relaxed)),
            Some(Slip::IdCounter) => real.map(|_| hole.earlier.len())?.to_string(),
            Some(Slip::IdPosition) => real.map(|_| hole.at)?.to_string(),
            Some(Slip::IdByProjection) => format!("{}/{}", real?, self.projections),
            Some(Slip::IdOnRetry) if self.retries > 0 => format!("{}/{}", real?, self.retries),
            Some(Slip::IdByResume) if self.resumes > 0 => format!("{}/{}", real?, self.resumes),
            _ => real?.to_owned(),
        })
    }

    fn prefix(&self, kind: OutputKind) -> &'static str {
        match (kind, self.slip) {
            (OutputKind::Function, Some(Slip::IdWrongFunctionPrefix)) => "fc",
            (OutputKind::CustomTool, Some(Slip::IdWrongCustomPrefix)) => "fco",
            (OutputKind::ToolSearch, Some(Slip::IdWrongSearchPrefix)) => "tsco",
            (OutputKind::Function, _) => "fco",
            (OutputKind::CustomTool, _) => "ctco",
            (OutputKind::ToolSearch, _) => "tso",
        }
    }

    fn namespace(&self) -> Uuid {
        if self.slips(Slip::IdWrongNamespace) {
            Uuid::NAMESPACE_OID
        } else {
            NAMESPACE.parse().unwrap_or_default()
        }
    }
}
