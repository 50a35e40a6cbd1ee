//! What was due beside what came: which items are missing, which nobody asked for, and which differ in what.

use crate::item::ResponseItem;
use crate::json::{Json, Numbers};
use std::sync::Arc;

/// What became of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// It came as it was due.
    Same,
    /// It was due and did not come.
    Missing,
    /// It came and was not due.
    NotDue,
    /// It came, and differs in these fields from what was due.
    Differs(Vec<Difference>),
}

/// A field in which an item differs from what was due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    /// Its name in JSON.
    pub(super) field: String,
    /// The value that was due, as JSON; none where the field was not.
    pub(super) due: Option<String>,
    /// The value that came.
    pub(super) came: Option<String>,
}

/// An item of the comparison.
#[derive(Debug)]
pub(super) struct Compared<'a> {
    pub(super) mark: Mark,
    /// The item that came; where it is missing, the one that was due.
    pub(super) item: &'a ResponseItem,
    /// Its place among those that came, from 0.
    pub(super) place: Option<usize>,
}

type List = [Arc<ResponseItem>];

/// Compares two lists of items, in the order in which they came.
pub(super) fn compare<'a>(due: &'a List, came: &'a List) -> Vec<Compared<'a>> {
    let mut rows = Vec::with_capacity(due.len().max(came.len()));
    let (mut due_from, mut came_from) = (0, 0);
    for (due_at, came_at) in common(due, came).into_iter().chain([(due.len(), came.len())]) {
        between(
            due.get(due_from..due_at).unwrap_or_default(),
            came.get(came_from..came_at).unwrap_or_default(),
            came_from,
            &mut rows,
        );
        if let Some(item) = came.get(came_at) {
            rows.push(Compared { mark: Mark::Same, item, place: Some(came_at) });
        }
        (due_from, came_from) = (due_at + 1, came_at + 1);
    }
    rows
}

/// Beyond so many pairs of items only the common beginning and end are found.
const MOST_PAIRS: usize = 1_000_000;

/// The places of a longest list of items that both have in order.
fn common(due: &List, came: &List) -> Vec<(usize, usize)> {
    let shorter = due.len().min(came.len());
    let head = due.iter().zip(came).take_while(|(a, b)| a == b).count();
    let tail =
        due.iter().rev().zip(came.iter().rev()).take(shorter - head).take_while(|(a, b)| a == b).count();
    let middle = |list: usize| head..list - tail;
    let (rows, columns) = (middle(due.len()), middle(came.len()));
    let mut places: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    if rows.len().saturating_mul(columns.len()) <= MOST_PAIRS {
        let inner = longest(due.get(rows).unwrap_or_default(), came.get(columns).unwrap_or_default());
        places.extend(inner.into_iter().map(|(a, b)| (a + head, b + head)));
    }
    places.extend((0..tail).rev().map(|back| (due.len() - 1 - back, came.len() - 1 - back)));
    places
}

/// The textbook's longest common subsequence.
fn longest(due: &List, came: &List) -> Vec<(usize, usize)> {
    let width = came.len() + 1;
    let mut lengths = vec![0_u32; width * (due.len() + 1)];
    let at = |row: usize, column: usize| row * width + column;
    let length = |lengths: &[u32], row, column| lengths.get(at(row, column)).copied().unwrap_or_default();
    for (row, a) in due.iter().enumerate().rev() {
        for (column, b) in came.iter().enumerate().rev() {
            let best = if a == b {
                length(&lengths, row + 1, column + 1) + 1
            } else {
                length(&lengths, row + 1, column).max(length(&lengths, row, column + 1))
            };
            if let Some(cell) = lengths.get_mut(at(row, column)) {
                *cell = best;
            }
        }
    }
    let (mut row, mut column, mut places) = (0, 0, Vec::new());
    while let (Some(a), Some(b)) = (due.get(row), came.get(column)) {
        if a == b {
            places.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if length(&lengths, row + 1, column) >= length(&lengths, row, column + 1) {
            row += 1;
        } else {
            column += 1;
        }
    }
    places
}

/// A stretch in which nothing is the same: items of one kind and call id are one that differs.
fn between<'a>(due: &'a List, came: &'a List, came_from: usize, rows: &mut Vec<Compared<'a>>) {
    let alike = |a: &ResponseItem, b: &ResponseItem| a.kind() == b.kind() && a.call_id() == b.call_id();
    let mut due = due.iter();
    for (at, item) in came.iter().enumerate() {
        let place = Some(came_from + at);
        let skipped = due.clone().position(|wanted| alike(wanted, item));
        let mark = match skipped {
            None => Mark::NotDue,
            Some(skipped) => {
                rows.extend(due.by_ref().take(skipped).map(missing));
                due.next().map_or(Mark::NotDue, |wanted| Mark::Differs(differences(wanted, item)))
            }
        };
        rows.push(Compared { mark, item, place });
    }
    rows.extend(due.map(missing));
}

fn missing(item: &Arc<ResponseItem>) -> Compared<'_> {
    Compared { mark: Mark::Missing, item, place: None }
}

/// The fields in which two items of one kind differ, in the order of the first, then of the second.
fn differences(due: &ResponseItem, came: &ResponseItem) -> Vec<Difference> {
    // Both were written by us: they are JSON.
    let [due, came] = [due, came].map(|item| Json::parse(&item.to_wire()).unwrap_or_default());
    let fields = |json: &Json| -> Vec<String> {
        json.as_object().into_iter().flat_map(|object| object.iter()).map(|(key, _)| key.to_owned()).collect()
    };
    let mut names = fields(&due);
    names.extend(fields(&came).into_iter().filter(|name| due.get(name).is_none()));
    let differs = |name: &String| due.get(name) != came.get(name);
    let text = |json: &Json, name: &str| {
        json.get(name).map(|value| {
            let mut text = Vec::new();
            value.write(&mut text, Numbers::AsWritten);
            String::from_utf8(text).unwrap_or_default()
        })
    };
    let difference =
        |name: String| Difference { due: text(&due, &name), came: text(&came, &name), field: name };
    names.into_iter().filter(differs).map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(texts: &[&str]) -> Vec<Arc<ResponseItem>> {
        let item = |text: &&str| {
            let (call_id, output) = text.split_once('=').unwrap_or((text, ""));
            let json =
                format!(r#"{{"type":"function_call_output","call_id":"{call_id}","output":"{output}"}}"#);
            Arc::new(ResponseItem::load(Json::parse(&json).expect("JSON")).expect("an item"))
        };
        texts.iter().map(item).collect()
    }

    fn marks(due: &[&str], came: &[&str]) -> String {
        let (due, came) = (items(due), items(came));
        let mark = |row: &Compared<'_>| match &row.mark {
            Mark::Same => '=',
            Mark::Missing => '-',
            Mark::NotDue => '+',
            Mark::Differs(_) => '!',
        };
        let rows = compare(&due, &came);
        let places: Vec<usize> = rows.iter().filter_map(|row| row.place).collect();
        assert_eq!(places, (0..came.len()).collect::<Vec<_>>(), "every item that came has its place");
        rows.iter().map(mark).collect()
    }

    #[test]
    fn items_that_are_missing_or_not_due_or_differ_are_told_apart() {
        assert_eq!(marks(&[], &[]), "");
        assert_eq!(marks(&["a", "b"], &["a", "b"]), "==");
        assert_eq!(marks(&["a", "b", "c"], &["a", "c"]), "=-=");
        assert_eq!(marks(&["a", "c"], &["a", "b", "c"]), "=+=");
        assert_eq!(marks(&["a", "b=1", "c"], &["a", "b=2", "c"]), "=!=");
        assert_eq!(marks(&["x", "b=1", "c"], &["b=2", "y", "c"]), "-!+=");
        assert_eq!(marks(&["a", "b"], &["b", "a"]), "-=+");
        assert_eq!(marks(&["a", "a"], &["a", "a", "a"]), "==+");
    }

    #[test]
    fn a_difference_names_the_field_and_both_values() {
        let (due, came) = (items(&["a=aborted"]), items(&["a=cancelled"]));
        let rows = compare(&due, &came);
        let difference = Difference {
            field: "output".to_owned(),
            due: Some(r#""aborted""#.to_owned()),
            came: Some(r#""cancelled""#.to_owned()),
        };
        assert_eq!(rows[0].mark, Mark::Differs(vec![difference]));
    }

    #[test]
    fn lists_too_long_to_compare_in_full_still_share_their_ends() {
        let middle = |from: usize| (from..from + 1500).map(|n| n.to_string());
        let list = |from| [String::from("a")].into_iter().chain(middle(from)).chain([String::from("z")]);
        let [due, came] = [0, 5000].map(|from| list(from).collect::<Vec<String>>());
        let strs = |list: &[String]| items(&list.iter().map(String::as_str).collect::<Vec<_>>());
        let (due, came) = (strs(&due), strs(&came));
        let rows = compare(&due, &came);
        assert_eq!(rows.iter().filter(|row| row.mark == Mark::Same).count(), 2);
        assert_eq!(rows.len(), 2 + 2 * 1500);
    }
}
