//! The roles of a history's items, kept so that a plan costs one pass over small numbers.

use super::{CallKind, Edit, OutputKind, Reason, RepairPlan};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Place;
use std::hash::{BuildHasher, Hash};

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
    hasher: foldhash::fast::RandomState,
    /// By number: the call ids.
    ids: Vec<Hashed<I>>,
    /// The numbers, found by the hashes of their call ids.
    numbers: HashTable<u32>,
    /// By number: what has been seen under this call id.
    seen: Vec<Seen>,
    entries: Vec<Entry>,
}

/// A call id whose hash was reckoned beforehand; see [`Ledger::extend`].
#[derive(Debug, Clone)]
struct Hashed<I> {
    hash: u64,
    call_id: I,
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
        Ledger {
            hasher: foldhash::fast::RandomState::default(),
            ids: Vec::new(),
            numbers: HashTable::new(),
            seen: Vec::new(),
            entries: Vec::new(),
        }
    }
}

impl<I: Hash + Eq> Ledger<I> {
    /// An empty ledger with room for `items` roles.
    pub fn with_capacity(items: usize) -> Ledger<I> {
        // Most calls share their id with an output, and messages have none.
        let ids = items / 2;
        Ledger {
            hasher: foldhash::fast::RandomState::default(),
            ids: Vec::with_capacity(ids),
            numbers: HashTable::with_capacity(ids),
            seen: Vec::with_capacity(ids),
            entries: Vec::with_capacity(items),
        }
    }

    /// Appends the role of the next item.
    pub fn push(&mut self, role: Role<I>) {
        let role = self.hashed(role);
        self.enter(role);
    }

    fn hashed(&self, role: Role<I>) -> Role<Hashed<I>> {
        let hashed = |call_id| Hashed { hash: self.hasher.hash_one(&call_id), call_id };
        match role {
            Role::Call { kind, call_id } => Role::Call { kind, call_id: hashed(call_id) },
            Role::Output { kind, call_id, exempt } => Role::Output { kind, call_id: hashed(call_id), exempt },
            Role::Bystander => Role::Bystander,
        }
    }

    fn enter(&mut self, role: Role<Hashed<I>>) {
        let entry = match role {
            Role::Call { kind, call_id } => {
                let wants = Seen { wanted: bit(kind.output()), ..Seen::default() };
                Entry { number: self.mark(call_id, wants), role: EntryRole::Call(kind) }
            }
            Role::Output { kind, call_id, exempt } => {
                let is = Seen { outputs: bit(kind), ..Seen::default() };
                Entry { number: self.mark(call_id, is), role: EntryRole::Output { kind, exempt } }
            }
            Role::Bystander => Entry { number: 0, role: EntryRole::Bystander },
        };
        self.entries.push(entry);
    }

    /// Notes what stands under a call id, and gives the id's number.
    fn mark(&mut self, id: Hashed<I>, new: Seen) -> u32 {
        let known = |number: u32| self.ids.get(number as usize);
        let is_it = |&number: &u32| {
            known(number).is_some_and(|known| known.hash == id.hash && known.call_id == id.call_id)
        };
        let hash_of = |&number: &u32| known(number).map_or(0, |known| known.hash);
        match self.numbers.entry(id.hash, is_it, hash_of) {
            Place::Occupied(place) => {
                let number = *place.get();
                if let Some(seen) = self.seen.get_mut(number as usize) {
                    seen.outputs |= new.outputs;
                    seen.wanted |= new.wanted;
                }
                number
            }
            Place::Vacant(place) => {
                // A history of four thousand million call ids does not fit a machine.
                let number = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
                place.insert(number);
                self.ids.push(id);
                self.seen.push(new);
                number
            }
        }
    }
}

/// Roles that are hashed together.
const BLOCK: usize = 64;

/// Appends the roles of the next items, by the block: first all hashes of a block, then its look-ups. Items and call ids lie
/// scattered in memory, and a loop that does nothing but hash has the next ones fetched while it works. A history that is
/// in no cache is read about one and a half times as fast as by [`push`](Ledger::push).
impl<I: Hash + Eq> Extend<Role<I>> for Ledger<I> {
    fn extend<R: IntoIterator<Item = Role<I>>>(&mut self, roles: R) {
        let mut roles = roles.into_iter();
        let mut block = Vec::with_capacity(BLOCK);
        loop {
            block.extend(roles.by_ref().take(BLOCK).map(|role| self.hashed(role)));
            if block.is_empty() {
                return;
            }
            block.drain(..).for_each(|role| self.enter(role));
        }
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
        ledger.extend(roles);
        ledger
    }
}
