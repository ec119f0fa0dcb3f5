//! Constraints of a query on a table.

use rusqlite::types::ValueRef;
use rusqlite::vtab::IndexConstraintOp;
use std::borrow::Cow;

/// Constraints of a query on a table.
pub(super) struct Constraints<'a> {
    conditions: Vec<(usize, Operator, ValueRef<'a>)>,
    columns_used: u32,
}

/// Range of a number.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    least: f64,
    most: f64,
}

impl Bounds {
    /// Returns `true` if the range may include a number; SQLite checks again with exact integers.
    pub(super) fn may_contain(self, number: u64) -> bool {
        (self.least..=self.most).contains(&(number as f64))
    }
}

/// Comparison of a column with a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    AtLeast,
    AtMost,
}

impl Operator {
    /// Converts SQLite's operator; `None` if it cannot be used to find rows.
    pub(super) fn from_operator(operator: IndexConstraintOp) -> Option<Operator> {
        Some(match operator {
            IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ => Operator::Equal,
            IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_GT
            | IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_GE => Operator::AtLeast,
            IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LT
            | IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LE => Operator::AtMost,
            _ => return None,
        })
    }

    /// Returns the operator's character in a plan.
    pub(super) fn sign(self) -> char {
        match self {
            Operator::Equal => '=',
            Operator::AtLeast => '>',
            Operator::AtMost => '<',
        }
    }
}

impl<'a> Constraints<'a> {
    /// Decodes a plan: a column and operator per value. Returns `None` if a value is null, because no comparison with
    /// null is true.
    pub(super) fn from_plan(
        plan: &str,
        columns_used: u32,
        values: impl Iterator<Item = ValueRef<'a>>,
    ) -> Option<Self> {
        let mut conditions = Vec::with_capacity(4);
        let mut plan = plan.as_bytes();
        for value in values {
            let (&[column, sign], rest) = plan.split_first_chunk()?;
            plan = rest;
            let is = match sign {
                b'>' => Operator::AtLeast,
                b'<' => Operator::AtMost,
                _ => Operator::Equal,
            };
            if value == ValueRef::Null {
                return None;
            }
            conditions.push((usize::from(column - b'a'), is, value));
        }
        Some(Constraints {
            conditions,
            columns_used,
        })
    }

    fn value(&self, column: usize, is: Operator) -> Option<ValueRef<'a>> {
        let mut conditions = self.conditions.iter();
        let found = conditions.find(|(of, how, _)| (*of, *how) == (column, is));
        found.map(|&(_, _, value)| value)
    }

    /// Returns the text that a column must equal.
    pub(super) fn text(&self, column: usize) -> Option<Cow<'a, str>> {
        self.value(column, Operator::Equal)
            .map(|value| match value {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
                ValueRef::Integer(number) => number.to_string().into(),
                ValueRef::Real(number) => number.to_string().into(),
                ValueRef::Null => Cow::Borrowed(""),
            })
    }

    /// Returns the integer that a column must equal.
    pub(super) fn integer(&self, column: usize) -> Option<i64> {
        match self.value(column, Operator::Equal)? {
            ValueRef::Integer(number) => Some(number),
            _ => None,
        }
    }

    /// Returns `true` unless a column must equal a different text.
    pub(super) fn may_equal(&self, column: usize, text: &str) -> bool {
        self.text(column).is_none_or(|asked| asked == text)
    }

    /// Returns the range of a column.
    pub(super) fn bounds(&self, column: usize) -> Bounds {
        let mut bounds = Bounds {
            least: f64::NEG_INFINITY,
            most: f64::INFINITY,
        };
        for &(of, is, value) in &self.conditions {
            let bound = match value {
                ValueRef::Integer(bound) => bound as f64,
                ValueRef::Real(bound) => bound,
                _ => continue,
            };
            if of == column && is != Operator::AtMost {
                bounds.least = bounds.least.max(bound);
            }
            if of == column && is != Operator::AtLeast {
                bounds.most = bounds.most.min(bound);
            }
        }
        bounds
    }

    /// Returns `true` if the query reads a column.
    pub(super) fn uses(&self, column: usize) -> bool {
        self.columns_used >> column & 1 == 1
    }
}
