//! The roles of a history's items, kept so that a plan costs one pass over small numbers.

use super::{CallKind, Edit, OutputKind, Reason, RepairPlan};
use std::collections::HashMap;
use std::hash::Hash;

/// What an item is to pairing. `I` is the call id: borrowed for one plan, shared where the roles are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role<I> {
    /// A call that needs an output. (A call without a call id is a [`Bystander`](Role::Bystander).)
    Call {
        /// Its kind.
        kind: CallKind,
        /// What an output must name.
        call_id: I,
    },
    /// An output that names a call.
    Output {
        /// Its kind.
        kind: OutputKind,
        /// The call that it names.
        call_id: I,
        /// Whether it may stay where no call has its id. It answers a call all the same.
        exempt: bool,
    },
    /// Takes no part.
    Bystander,
}

/// The roles of a history, oldest first, with call ids numbered.
///
/// A ledger can be built for one plan, with borrowed ids, or be kept beside the items and appended to as they come; then
/// a plan hashes nothing.
///
/// ```
/// # use callpair::pairing::{CallKind, Ledger, OutputKind, Reason, Role};
/// let mut ledger = Ledger::default();
/// ledger.push(Role::Call { kind: CallKind::Function, call_id: "a" });
/// ledger.push(Role::Output { kind: OutputKind::CustomTool, call_id: "a", exempt: false });
/// let reasons: Vec<Reason> = ledger.plan().edits().iter().map(|edit| edit.reason).collect();
/// assert_eq!(reasons, [
///     Reason::CallWithoutOutput(CallKind::Function),
///     Reason::OutputWithoutCall(OutputKind::CustomTool), // of the wrong kind
/// ]);
/// ```
#[derive(Debug, Clone)]
pub struct Ledger<I> {
    numbers: HashMap<I, u32, foldhash::fast::RandomState>,
    /// By number: what has been seen under this call id.
    seen: Vec<Seen>,
    entries: Vec<Entry>,
}

/// A role whose call id is a number.
#[derive(Debug, Clone, Copy)]
struct Entry {
    number: u32,
    role: EntryRole,
}

#[derive(Debug, Clone, Copy)]
enum EntryRole {
    Call(CallKind),
    Output { kind: OutputKind, exempt: bool },
    Bystander,
}

/// Which kinds of output stand under a call id, and for which kinds of output a call stands there.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    outputs: u8,
    wanted: u8,
}

const fn bit(kind: OutputKind) -> u8 {
    1 << kind as u8
}

impl<I> Default for Ledger<I> {
    fn default() -> Self {
        Ledger { numbers: HashMap::default(), seen: Vec::new(), entries: Vec::new() }
    }
}

impl<I: Hash + Eq> Ledger<I> {
    /// An empty ledger with room for `items` roles.
    pub fn with_capacity(items: usize) -> Ledger<I> {
        // Most calls share their id with an output, and messages have none.
        let ids = items / 2;
        Ledger {
            numbers: HashMap::with_capacity_and_hasher(ids, foldhash::fast::RandomState::default()),
            seen: Vec::with_capacity(ids),
            entries: Vec::with_capacity(items),
        }
    }

    /// Appends the role of the next item.
    pub fn push(&mut self, role: Role<I>) {
        let entry = match role {
            Role::Call { kind, call_id } => {
                let (number, seen) = self.number(call_id);
                seen.wanted |= bit(kind.output());
                Entry { number, role: EntryRole::Call(kind) }
            }
            Role::Output { kind, call_id, exempt } => {
                let (number, seen) = self.number(call_id);
                seen.outputs |= bit(kind);
                Entry { number, role: EntryRole::Output { kind, exempt } }
            }
            Role::Bystander => Entry { number: 0, role: EntryRole::Bystander },
        };
        self.entries.push(entry);
    }

    fn number(&mut self, call_id: I) -> (u32, &mut Seen) {
        // A history of four thousand million call ids does not fit a machine.
        let next = u32::try_from(self.seen.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(call_id).or_insert(next);
        if number == next {
            self.seen.push(Seen::default());
        }
        let last = self.seen.len().saturating_sub(1);
        let place = (number as usize).min(last);
        (number, &mut self.seen[place])
    }
}

impl<I> Ledger<I> {
    /// The number of roles.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no role.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What must be done to the items. Pairing is by set: what counts is whether an output of the right kind with this
    /// call id stands anywhere; order and number do not matter.
    pub fn plan(&self) -> RepairPlan {
        let edits = self.entries.iter().enumerate().filter_map(|(index, entry)| {
            let seen = || self.seen.get(entry.number as usize).copied().unwrap_or_default();
            let reason = match entry.role {
                EntryRole::Bystander => return None,
                EntryRole::Call(kind) if seen().outputs & bit(kind.output()) == 0 => {
                    Reason::CallWithoutOutput(kind)
                }
                EntryRole::Output { kind, exempt: false } if seen().wanted & bit(kind) == 0 => {
                    Reason::OutputWithoutCall(kind)
                }
                EntryRole::Call(_) | EntryRole::Output { .. } => return None,
            };
            Some(Edit { index, reason })
        });
        RepairPlan::from_sorted(edits.collect())
    }
}

impl<I: Hash + Eq> FromIterator<Role<I>> for Ledger<I> {
    fn from_iter<R: IntoIterator<Item = Role<I>>>(roles: R) -> Ledger<I> {
        let roles = roles.into_iter();
        let mut ledger = Ledger::with_capacity(roles.size_hint().0);
        roles.for_each(|role| ledger.push(role));
        ledger
    }
}
