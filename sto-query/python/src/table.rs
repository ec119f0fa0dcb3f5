//! Tables that other libraries read through Arrow's C interface.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, LargeBinaryArray, LargeStringArray,
    NullArray, RecordBatch, RecordBatchIterator,
};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::types::{PyAnyMethods, PyBytes, PyCapsule, PyDict, PyDictMethods};
use pyo3::{
    Borrowed, Bound, FromPyObject, IntoPyObject, IntoPyObjectExt, PyAny, PyErr, PyResult, Python,
    pyclass, pymethods,
};
use std::ffi::CStr;
use std::io;
use std::sync::Arc;
use sto_query::tables::{SqlCell, SqlFormat, SqlRows, SqlWriter};
use sto_query::text::Style;

/// The name of a capsule with a stream, as the Arrow PyCapsule interface has it.
const STREAM: &CStr = c"arrow_array_stream";
/// Number of rows of a table as text.
const SHOWN: usize = 30;

/// A cell.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Null,
    Boolean(bool),
    Integer(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl<'py> FromPyObject<'_, 'py> for Cell {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Cell> {
        if value.is_none() {
            Ok(Cell::Null)
        } else if let Ok(value) = value.extract() {
            Ok(Cell::Boolean(value))
        } else if let Ok(number) = value.extract() {
            Ok(Cell::Integer(number))
        } else if let Ok(number) = value.extract() {
            Ok(Cell::Real(number))
        } else {
            Ok(Cell::Text(value.extract()?))
        }
    }
}

impl<'py> IntoPyObject<'py> for &Cell {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Cell::Null => Ok(py.None().into_bound(py)),
            Cell::Boolean(value) => value.into_bound_py_any(py),
            Cell::Integer(number) => number.into_bound_py_any(py),
            Cell::Real(number) => number.into_bound_py_any(py),
            Cell::Text(text) => text.into_bound_py_any(py),
            Cell::Bytes(bytes) => PyBytes::new(py, bytes).into_bound_py_any(py),
        }
    }
}

impl Cell {
    fn as_sql(&self) -> SqlCell<'_> {
        match self {
            Cell::Null => SqlCell::Null,
            Cell::Boolean(value) => SqlCell::Integer((*value).into()),
            Cell::Integer(number) => SqlCell::Integer(*number),
            Cell::Real(number) => SqlCell::Real(*number),
            Cell::Text(text) => SqlCell::Text(text),
            Cell::Bytes(bytes) => SqlCell::Blob(bytes),
        }
    }

    /// The text in a column with text, as in CSV.
    fn to_text(&self) -> Option<String> {
        match self {
            Cell::Null => None,
            Cell::Boolean(value) => Some(value.to_string()),
            Cell::Integer(number) => Some(number.to_string()),
            Cell::Real(number) => Some(number.to_string()),
            Cell::Text(text) => Some(text.clone()),
            Cell::Bytes(bytes) => Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }
}

/// The type of a column. Of two types, the later one can represent values of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Type {
    #[default]
    Null,
    Boolean,
    Integer,
    Real,
    Bytes,
    Text,
}

impl From<&Cell> for Type {
    fn from(cell: &Cell) -> Type {
        match cell {
            Cell::Null => Type::Null,
            Cell::Boolean(_) => Type::Boolean,
            Cell::Integer(_) => Type::Integer,
            Cell::Real(_) => Type::Real,
            Cell::Text(_) => Type::Text,
            Cell::Bytes(_) => Type::Bytes,
        }
    }
}

impl Type {
    fn parse(name: &str) -> PyResult<Type> {
        match name {
            "bool" => Ok(Type::Boolean),
            "int" => Ok(Type::Integer),
            "float" => Ok(Type::Real),
            "str" => Ok(Type::Text),
            _ => Err(PyValueError::new_err(format!(
                "`{name}` is not a type of a column"
            ))),
        }
    }

    /// The narrowest type for values of two types.
    fn with(self, other: Type) -> Type {
        let is_mixed = |kind| (self == kind || other == kind) && self.min(other) != Type::Null;
        if self != other && (is_mixed(Type::Boolean) || is_mixed(Type::Bytes)) {
            return Type::Text;
        }
        self.max(other)
    }
}

struct Column {
    name: String,
    kind: Type,
    cells: Vec<Cell>,
}

impl Column {
    fn new(name: String, kind: Type, cells: Vec<Cell>) -> Column {
        let kind = cells.iter().fold(kind, |kind, cell| kind.with(cell.into()));
        Column { name, kind, cells }
    }

    fn to_array(&self) -> ArrayRef {
        let cells = self.cells.iter();
        match self.kind {
            Type::Null => Arc::new(NullArray::new(self.cells.len())),
            Type::Boolean => Arc::new(BooleanArray::from_iter(cells.map(|cell| match cell {
                Cell::Boolean(value) => Some(*value),
                _ => None,
            }))),
            Type::Integer => Arc::new(Int64Array::from_iter(cells.map(|cell| match cell {
                Cell::Integer(number) => Some(*number),
                _ => None,
            }))),
            Type::Real => Arc::new(Float64Array::from_iter(cells.map(|cell| match cell {
                Cell::Integer(number) => Some(*number as f64),
                Cell::Real(number) => Some(*number),
                _ => None,
            }))),
            Type::Bytes => Arc::new(LargeBinaryArray::from_iter(cells.map(|cell| match cell {
                Cell::Bytes(bytes) => Some(bytes),
                _ => None,
            }))),
            Type::Text => Arc::new(LargeStringArray::from_iter(cells.map(Cell::to_text))),
        }
    }
}

/// A table: the result of a query in SQL, or the list of an answer.
///
/// Libraries with Arrow's PyCapsule interface read it without copying: `polars.DataFrame(table)`,
/// `pyarrow.table(table)`, and DuckDB in queries that name the variable. Programs without such a library take
/// its `rows()`.
#[pyclass(frozen, module = "sto")]
#[derive(Default)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: usize,
    has_statement: bool,
}

#[pymethods]
impl Table {
    /// Makes a table of columns: the name, the type and the cells of each.
    #[staticmethod]
    fn from_columns(columns: Vec<(String, String, Vec<Cell>)>) -> PyResult<Table> {
        let rows = columns.first().map_or(0, |(_, _, cells)| cells.len());
        let columns = columns
            .into_iter()
            .map(|(name, kind, cells)| Ok(Column::new(name, Type::parse(&kind)?, cells)));
        Ok(Table {
            columns: columns.collect::<PyResult<_>>()?,
            rows,
            has_statement: true,
        })
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| &*column.name).collect()
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.rows
    }

    /// The rows as dictionaries.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let row = |row: usize| {
            let cells = PyDict::new(py);
            for column in &self.columns {
                cells.set_item(&column.name, &column.cells[row])?;
            }
            Ok(cells)
        };
        (0..self.rows).map(row).collect()
    }

    /// The first rows as text.
    fn __repr__(&self) -> PyResult<String> {
        let mut writer = SqlWriter::new(SqlFormat::Table, Style::default(), Vec::new());
        let names: Vec<&str> = self.column_names();
        writer.columns(&names)?;
        for row in 0..self.rows.min(SHOWN) {
            let cells = self.columns.iter().map(|column| column.cells[row].as_sql());
            writer.row(&cells.collect::<Vec<_>>())?;
        }
        writer.end()?;
        let mut text = String::from_utf8_lossy(&writer.into_inner()).into_owned();
        if self.rows > SHOWN {
            text += &format!("... and {} more rows\n", self.rows - SHOWN);
        }
        Ok(text)
    }

    /// The table as a stream of Arrow. The requested schema is ignored, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batch = py.detach(|| self.to_batch());
        let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let schema = batch.schema();
        let batches = RecordBatchIterator::new([Ok(batch)], schema);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
    }
}

impl Table {
    fn to_batch(&self) -> Result<RecordBatch, ArrowError> {
        let arrays: Vec<ArrayRef> = self.columns.iter().map(Column::to_array).collect();
        let named = self.columns.iter().zip(&arrays);
        let fields =
            named.map(|(column, array)| Field::new(&column.name, array.data_type().clone(), true));
        let schema = Schema::new(fields.collect::<Vec<_>>());
        RecordBatch::try_new(Arc::new(schema), arrays)
    }
}

/// The rows of the only statement of a query become the table.
impl SqlRows for Table {
    fn columns(&mut self, names: &[&str]) -> io::Result<()> {
        if self.has_statement {
            return Err(io::Error::other(
                "a query has one statement here, not several",
            ));
        }
        self.has_statement = true;
        let columns = names
            .iter()
            .map(|name| Column::new((*name).to_owned(), Type::Null, Vec::new()));
        self.columns = columns.collect();
        Ok(())
    }

    fn row(&mut self, cells: &[SqlCell<'_>]) -> io::Result<()> {
        self.rows += 1;
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            let cell = match *cell {
                SqlCell::Null => Cell::Null,
                SqlCell::Integer(number) => Cell::Integer(number),
                SqlCell::Real(number) => Cell::Real(number),
                SqlCell::Text(text) => Cell::Text(text.to_owned()),
                SqlCell::Blob(bytes) => Cell::Bytes(bytes.to_owned()),
            };
            column.kind = column.kind.with((&cell).into());
            column.cells.push(cell);
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}
