//! Adapter from [`Table`] to SQLite's virtual tables (<https://sqlite.org/vtab.html>).

use super::constraints::{Constraints, Operator};
use super::stored::Stored;
use super::table::{Cell, Column, Cursor, Order, Role, Table, list_arguments};
use rusqlite::ffi::{sqlite3_vtab, sqlite3_vtab_cursor};
use rusqlite::vtab::{
    Context, Filters, IndexInfo, Module, VTab, VTabConfig, VTabConnection, VTabCursor,
};
use rusqlite::{Connection, Error};
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::fmt::Write;
use std::marker::PhantomData;
use std::sync::Arc;

/// Registers a table with a connection.
pub(super) fn register<T: Table>(
    connection: &Connection,
    stored: &Arc<Stored>,
) -> rusqlite::Result<()> {
    connection.create_module(
        T::NAME,
        const { &Module::<Registered<T>>::eponymous_only_module() },
        Some(stored.clone()),
    )
}

/// An SQLite virtual table.
#[repr(C)]
struct Registered<T> {
    // SQLite requires this to be the first field.
    base: sqlite3_vtab,
    stored: Arc<Stored>,
    table: PhantomData<T>,
}

// SAFETY: the type is `repr(C)`, and its first field is the structure that SQLite expects.
unsafe impl<'vtab, T: Table> VTab<'vtab> for Registered<T> {
    type Aux = Arc<Stored>;
    type Cursor = Opened<T>;

    fn connect(
        db: &mut VTabConnection,
        aux: Option<&Self::Aux>,
        _: &[u8],
        _: &[u8],
        _: &[u8],
        _: &[&[u8]],
    ) -> rusqlite::Result<(Cow<'static, CStr>, Self)> {
        db.config(VTabConfig::Innocuous)?;
        let stored =
            aux.ok_or_else(|| Error::ModuleError("registered without a store".to_owned()))?;
        let table = Registered {
            base: sqlite3_vtab::default(),
            stored: stored.clone(),
            table: PhantomData,
        };
        let declaration = CString::new(declaration::<T>())?;
        Ok((Cow::Owned(declaration), table))
    }

    fn best_index(&self, info: &mut IndexInfo) -> rusqlite::Result<bool> {
        let mut plan = String::new();
        let all = T::ROWS.estimate(&self.stored);
        let mut rows = all;
        let mut arguments = 0;
        let mut is_given = vec![false; T::COLUMNS.len()];
        for (constraint, mut usage) in info.constraints_and_usages() {
            let column = usize::try_from(constraint.column()).ok();
            let column = column.and_then(|ix| Some((ix, T::COLUMNS.get(ix)?)));
            let (Some((ix, column)), Some(is)) =
                (column, Operator::from_operator(constraint.operator()))
            else {
                continue;
            };
            match (&column.role, is) {
                (Role::Sought(_) | Role::Argument | Role::Option, Operator::Equal)
                | (Role::Ordered, _) => {}
                _ => continue,
            }
            if !constraint.is_usable() {
                // The arguments of a table-valued function must be known.
                if column.is_hidden() {
                    return Ok(false);
                }
                continue;
            }
            if is == Operator::Equal && std::mem::replace(&mut is_given[ix], true) {
                continue;
            }
            match column.role {
                Role::Sought(found) => rows = rows.min(found.estimate(all, &self.stored)),
                Role::Ordered => rows /= 4.0,
                _ => usage.set_omit(true),
            }
            arguments += 1;
            usage.set_argv_index(arguments);
            plan.push(char::from(b'a' + ix as u8));
            plan.push(is.sign());
        }
        let mut columns = T::COLUMNS.iter().zip(&is_given);
        if let Some((missing, _)) =
            columns.find(|(column, given)| matches!(column.role, Role::Argument) && !**given)
        {
            let name = T::NAME;
            let missing = missing.name;
            return Err(Error::ModuleError(format!(
                "{name} needs the argument `{missing}`: {name}({})",
                list_arguments::<T>()
            )));
        }
        if let Some(Order { by, of }) = T::ORDER {
            let mut found = is_given.iter().enumerate().filter(|(_, given)| **given);
            // Each build has its own order, so SQLite has to sort the rows of several builds.
            let is_of_one = is_given[of] && found.all(|(ix, _)| ix == of);
            info.set_order_by_consumed(is_of_one && is_asked(info, by));
        }
        info.set_idx_num((info.col_used() & i32::MAX as u64) as c_int);
        info.set_idx_str(&plan);
        info.set_estimated_rows(rows as i64);
        info.set_estimated_cost(T::START + rows);
        Ok(true)
    }

    fn open(&'vtab mut self) -> rusqlite::Result<Opened<T>> {
        Ok(Opened {
            base: sqlite3_vtab_cursor::default(),
            stored: self.stored.clone(),
            rows: None,
            row: 0,
        })
    }
}

/// Returns `true` if rows are wanted sorted or grouped by this column only.
fn is_asked(info: &IndexInfo, column: usize) -> bool {
    let mut orders = info.order_bys();
    let first = orders.next();
    orders.next().is_none()
        && first.is_some_and(|order| order.column() as usize == column && !order.is_order_by_desc())
}

/// Returns the `CREATE TABLE` statement that declares the columns to SQLite.
fn declaration<T: Table>() -> String {
    let mut text = "CREATE TABLE x(".to_owned();
    for (ix, column) in T::COLUMNS.iter().enumerate() {
        let separator = if ix == 0 { "" } else { ", " };
        let hidden = if column.is_hidden() { " HIDDEN" } else { "" };
        let Column { name, sql_type, .. } = column;
        let _ = write!(text, "{separator}\"{name}\" {sql_type}{hidden}");
    }
    text + ")"
}

/// An SQLite virtual table cursor.
#[repr(C)]
struct Opened<T: Table> {
    // SQLite requires this to be the first field.
    base: sqlite3_vtab_cursor,
    stored: Arc<Stored>,
    rows: Option<T::Cursor>,
    row: i64,
}

// SAFETY: the type is `repr(C)`, and its first field is the structure that SQLite expects.
unsafe impl<T: Table> VTabCursor for Opened<T> {
    fn filter(
        &mut self,
        columns_used: c_int,
        plan: Option<&str>,
        values: &Filters<'_>,
    ) -> rusqlite::Result<()> {
        self.row = 0;
        let asked = Constraints::from_plan(plan.unwrap_or(""), columns_used as u32, values.iter());
        self.rows = match asked {
            Some(asked) => Some(self.stored.keep_failure(T::rows(&self.stored, &asked))?),
            None => None,
        };
        Ok(())
    }

    fn next(&mut self) -> rusqlite::Result<()> {
        self.row += 1;
        match &mut self.rows {
            Some(rows) => match rows.advance() {
                Ok(()) => Ok(()),
                failed => self.stored.keep_failure(failed),
            },
            None => Ok(()),
        }
    }

    fn eof(&self) -> bool {
        self.rows.as_ref().is_none_or(T::Cursor::is_done)
    }

    fn column(&self, context: &mut Context, column: c_int) -> rusqlite::Result<()> {
        match &self.rows {
            Some(rows) => rows.cell(column as usize, Cell(context)),
            None => Ok(()),
        }
    }

    fn rowid(&self) -> rusqlite::Result<i64> {
        Ok(self.row)
    }
}
