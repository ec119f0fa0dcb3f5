//! Reading of points from a CSV table with columns `x`, `y` and optionally `group`.

use super::ModelError;
use csv::{ByteRecord, ReaderBuilder};
use std::collections::BTreeMap;

/// Reads the points of each group, sorted by group name. Without a group column, all points are in one unnamed group.
/// A table of two columns without names is read as `x` and `y`.
///
/// # Errors
///
/// Returns an error if the table has a different form.
pub(super) fn read(text: &str) -> Result<BTreeMap<String, Vec<(f64, f64)>>, ModelError> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let mut columns: Option<Columns> = None;
    let mut points: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    let mut record = ByteRecord::new();
    while reader
        .read_byte_record(&mut record)
        .map_err(|error| ModelError::Malformed(error.to_string()))?
    {
        let columns = match &columns {
            Some(columns) => columns,
            None => {
                let found = Columns::from_header(&record)?;
                let is_header = found.is_named;
                columns = Some(found);
                if is_header {
                    continue;
                }
                columns.as_ref().ok_or(ModelError::NoPoints)?
            }
        };
        let line = record.position().map_or(0, csv::Position::line);
        let field = |column: usize| {
            let field = record.get(column).unwrap_or_default();
            String::from_utf8_lossy(field).trim().to_owned()
        };
        let number = |column: &'static str, at: usize| {
            let found = field(at);
            let number = found
                .parse::<f64>()
                .ok()
                .filter(|number| number.is_finite());
            number.ok_or(ModelError::NoNumber {
                line,
                column,
                found,
            })
        };
        let point = (number("x", columns.x)?, number("y", columns.y)?);
        let group = columns.group.map_or_else(String::new, field);
        points.entry(group).or_default().push(point);
    }
    if points.is_empty() {
        Err(ModelError::NoPoints)
    } else {
        Ok(points)
    }
}

/// Indices of the columns.
struct Columns {
    x: usize,
    y: usize,
    group: Option<usize>,
    /// Whether the first line contains column names rather than a point.
    is_named: bool,
}

impl Columns {
    fn from_header(first: &ByteRecord) -> Result<Columns, ModelError> {
        let field = |field: &[u8]| String::from_utf8_lossy(field).trim().to_lowercase();
        let names: Vec<String> = first.iter().map(field).collect();
        if names.len() >= 2 && names[..2].iter().all(|name| name.parse::<f64>().is_ok()) {
            return Ok(Columns {
                x: 0,
                y: 1,
                group: (names.len() > 2).then_some(2),
                is_named: false,
            });
        }
        let named = |name: &str| names.iter().position(|known| known == name);
        let column = |name: &str| named(name).ok_or_else(|| ModelError::NoColumn(name.to_owned()));
        Ok(Columns {
            x: column("x")?,
            y: column("y")?,
            group: named("group"),
            is_named: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_points_with_any_column_order_or_no_names() {
        let text = "group,Y,x\na,2,1\nb,4,2\na,6,3\n";
        let read = read(text).unwrap();
        assert_eq!(read["a"], [(1.0, 2.0), (3.0, 6.0)]);
        assert_eq!(read["b"], [(2.0, 4.0)]);
        let plain = super::read("1,2\n 3 , 4.5\n").unwrap();
        assert_eq!(plain[""], [(1.0, 2.0), (3.0, 4.5)]);
    }

    #[test]
    fn reports_line_of_malformed_point() {
        let error = |text| read(text).unwrap_err().to_string();
        assert_eq!(
            error("x,y\n1,2\n2,fast\n"),
            "line 3: expected a number in `y`, found `fast`"
        );
        assert!(error("x,y\n1,NaN\n").starts_with("line 2: "));
        assert!(error("n,cost\n1,2\n").starts_with("no column is called `x`"));
        assert_eq!(error("x,y\n"), "there are no points");
        assert_eq!(error(""), "there are no points");
    }
}
