//! Metrics over time.
//!
//! Most metrics are integers or decimals of a few digits that stay constant for long or change little, and many
//! are read at the same times. All values round-trip bit for bit.

use super::DecodeError;
use super::bytes::{MAX_VARINT_32, Packer, Unpacker};
use hashbrown::HashMap;
use rayon::prelude::*;
use std::sync::Arc;
use sto_model::bytes::{unzigzag, zigzag};
use sto_model::limits::{MAX_METRIC_VALUES, MAX_METRICS, MAX_USER_STRING};
use sto_model::units::Nanoseconds;
use sto_model::{MetricKind, MetricSeries, RunMetrics};

/// Packs the metrics of a run.
pub(crate) fn pack_metrics(run: &RunMetrics) -> Result<Vec<u8>, DecodeError> {
    let mut lists: Vec<&Arc<[Nanoseconds]>> = Vec::new();
    let mut known: HashMap<&[Nanoseconds], u32> = HashMap::new();
    let [mut names, mut text, mut kinds, mut own_lists] = [(); 4].map(|()| Packer::default());
    for series in &run.series {
        let list = *known.entry(series.times()).or_insert_with(|| {
            lists.push(series.times());
            lists.len() as u32 - 1
        });
        names.number(series.name().len() as u64);
        text.raw(series.name().as_bytes());
        kinds.number(series.kind() as u32);
        own_lists.number(list);
    }
    let mut lengths = Packer::default();
    for list in &lists {
        lengths.number(list.len() as u64);
    }
    let mut pack = Packer::default();
    pack.number(run.first.0);
    pack.number(run.last.0.saturating_sub(run.first.0));
    pack.number(lists.len() as u64);
    pack.column(lengths);
    pack.number(run.series.len() as u64);
    for column in [names, text, kinds, own_lists] {
        pack.column(column);
    }
    let lists = lists.par_iter().map(|list| {
        let times: Vec<u64> = list.iter().map(|time| time.0).collect();
        pack_whole(&times)
    });
    let values = run
        .series
        .par_iter()
        .map(|series| pack_values(series.values()));
    for packed in lists.chain(values).collect::<Vec<_>>() {
        pack.append(packed);
    }
    pack.finish()
}

/// Unpacks the metrics of a run.
pub(crate) fn unpack_metrics(pack: &[u8]) -> Result<RunMetrics, DecodeError> {
    let mut pack = Unpacker::new(pack);
    let head = Head::unpack(&mut pack)?;
    let lists = head.lists.iter().map(|&len| {
        let times = unpack_whole(&mut pack, len)?;
        Ok(times.into_iter().map(Nanoseconds).collect())
    });
    let lists: Vec<Arc<[Nanoseconds]>> = lists.collect::<Result<_, _>>()?;
    let names = || head.series.iter().map(|(name, ..)| name);
    if !names().is_sorted_by(|a, b| a < b) {
        return Err(DecodeError("metrics are out of order"));
    }
    // A series' values are found by skipping those before it.
    let begins = head.series.iter().map(|_| {
        let begin = pack;
        pass_values(&mut pack).map(|()| begin)
    });
    let begins: Vec<Unpacker<'_>> = begins.collect::<Result<_, _>>()?;
    pack.finish()?;
    let series = head.series.into_par_iter().zip(begins);
    let series = series.map(|((name, kind, list), mut values)| {
        let times = Arc::clone(&lists[list]);
        let values = unpack_values(&mut values, times.len())?;
        let series = MetricSeries::new(name, kind, times, values);
        series.map_err(|_| DecodeError("the times or values of a metric break its rules"))
    });
    // If several fail, this reports the first, independent of threads.
    let series: Vec<Result<MetricSeries, DecodeError>> = series.collect();
    Ok(RunMetrics {
        first: head.first,
        last: head.last,
        series: series.into_iter().collect::<Result<_, _>>()?,
    })
}

/// Bytes of memory for the times and values of a run's metrics.
pub(crate) fn claimed_by_metrics(pack: &[u8]) -> Result<u64, DecodeError> {
    let head = Head::unpack(&mut Unpacker::new(pack))?;
    Ok((head.points + head.lists.iter().sum::<usize>()) as u64 * 8)
}

/// The part of the pack before times and values.
struct Head {
    first: Nanoseconds,
    last: Nanoseconds,
    /// Lengths of the lists of times.
    lists: Vec<usize>,
    /// Name, kind and index of the list of times of each series.
    series: Vec<(String, MetricKind, usize)>,
    /// Total number of values.
    points: usize,
}

impl Head {
    fn unpack(pack: &mut Unpacker<'_>) -> Result<Head, DecodeError> {
        const MANY: DecodeError =
            DecodeError("there are more metrics, or values, than a run may have");
        let within = |count: u64, most: usize| {
            let count = usize::try_from(count).ok().filter(|&count| count <= most);
            count.ok_or(MANY)
        };
        let first = pack.number()?;
        let last = first.checked_add(pack.number()?);
        let last = last.ok_or(DecodeError("a time takes more than 64 bits"))?;
        let list_count = within(pack.number()?, MAX_METRICS)?;
        let lengths = pack.column_within(list_count * MAX_VARINT_32)?;
        let mut lengths = Unpacker::new(&lengths);
        let lists = (0..list_count).map(|_| within(lengths.number()?, MAX_METRIC_VALUES));
        let lists: Vec<usize> = lists.collect::<Result<_, _>>()?;
        let count = within(pack.number()?, MAX_METRICS)?;
        let [names, text, kinds, own_lists] = [
            pack.column_within(count * MAX_VARINT_32)?,
            pack.column_within(count * MAX_USER_STRING)?,
            pack.column_within(count)?,
            pack.column_within(count * MAX_VARINT_32)?,
        ];
        let [mut names, mut text, mut kinds, mut own_lists] =
            [&names, &text, &kinds, &own_lists].map(|column| Unpacker::new(column));
        let (mut series, mut points, mut next) = (Vec::with_capacity(count), 0, 0);
        for _ in 0..count {
            let name = text.raw(names.number32()? as usize)?;
            let name = str::from_utf8(name).map_err(|_| DecodeError("a name is not UTF-8"))?;
            let kind = match kinds.number32()? {
                0 => MetricKind::Level,
                1 => MetricKind::Count,
                _ => return Err(DecodeError("the kind of a metric is unknown")),
            };
            let list = own_lists.number32()? as usize;
            let len = lists.get(list).filter(|_| list <= next);
            let len = len.ok_or(DecodeError("a metric has times that do not exist"))?;
            next = next.max(list + 1);
            points = within((points + len) as u64, MAX_METRIC_VALUES)?;
            series.push((name.to_owned(), kind, list));
        }
        if next != lists.len() {
            return Err(DecodeError("no metric has these times"));
        }
        for column in [lengths, names, text, kinds, own_lists] {
            column.finish()?;
        }
        Ok(Head {
            first: Nanoseconds(first),
            last: Nanoseconds(last),
            lists,
            series,
            points,
        })
    }
}

/// The form of values as raw bits.
const BITS: u32 = 0;

/// Maximum number of decimal digits of values packed as integers. Form `1 + n` has `n` digits.
const MAX_DECIMAL_DIGITS: u32 = 9;

/// All integers up to this distance from 0 are exact in an `f64`.
const EXACT: i64 = 1 << 53;

fn pack_values(values: &[f64]) -> Packer {
    let mut pack = Packer::default();
    match (0..=MAX_DECIMAL_DIGITS).find_map(|digits| Some((digits, whole(values, digits)?))) {
        Some((digits, whole)) => {
            pack.number(digits + 1);
            pack.append(pack_whole(&whole));
        }
        None => {
            pack.number(BITS);
            let before = [0]
                .into_iter()
                .chain(values.iter().map(|value| value.to_bits()));
            let changes = before
                .zip(values)
                .map(|(before, value)| before ^ value.to_bits());
            pack.append(pack_changes(changes));
        }
    }
    pack
}

/// The values times 10^digits, plus 2^53, if all of them round-trip.
fn whole(values: &[f64], digits: u32) -> Option<Vec<u64>> {
    let scale = 10f64.powi(digits as i32);
    let whole = values.iter().map(|&value| {
        let scaled = (value * scale).round();
        let whole = (scaled.abs() <= EXACT as f64).then_some(scaled as i64)?;
        let comes_back = (whole as f64 / scale).to_bits() == value.to_bits();
        comes_back.then_some((whole + EXACT) as u64)
    });
    whole.collect()
}

fn unpack_values(pack: &mut Unpacker<'_>, count: usize) -> Result<Vec<f64>, DecodeError> {
    match pack.number32()? {
        BITS => {
            let mut bits = 0;
            let changes = unpack_changes(pack, count)?.into_iter();
            let values = changes.map(|change| {
                bits ^= change;
                f64::from_bits(bits)
            });
            Ok(values.collect())
        }
        form if form <= MAX_DECIMAL_DIGITS + 1 => {
            let scale = 10f64.powi(form as i32 - 1);
            let whole = unpack_whole(pack, count)?.into_iter();
            let values = whole.map(|whole| {
                let value = i64::try_from(whole).map_or(i64::MAX, |whole| whole - EXACT);
                let is_exact = value <= EXACT;
                let value = is_exact.then_some(value as f64 / scale);
                value.ok_or(DecodeError("a value has more than 53 bits"))
            });
            values.collect()
        }
        _ => Err(DecodeError("the form of the values is unknown")),
    }
}

/// Skips the values of a metric.
fn pass_values(pack: &mut Unpacker<'_>) -> Result<(), DecodeError> {
    if pack.number32()? != BITS {
        for _ in 0..4 {
            pack.number()?;
        }
    }
    pack.number()?;
    pack.skip_column()?;
    for _ in 0..pack.number32()?.min(u64::BITS) {
        pack.skip_column()?;
    }
    Ok(())
}

/// Packs integers: the smallest, the greatest common divisor of the differences from it, and then either these
/// multiples or their steps, whichever is shorter. Both are stored as differences from their median.
/// median.
fn pack_whole(numbers: &[u64]) -> Packer {
    let least = numbers.iter().copied().min().unwrap_or(0);
    let above = || numbers.iter().map(|number| number - least);
    let unit = above().fold(0, greatest_common_divisor).max(1);
    let multiples: Vec<u64> = above().map(|above| above / unit).collect();
    let before = [0].iter().chain(&multiples);
    let steps = before
        .zip(&multiples)
        .map(|(before, number)| number.wrapping_sub(*before));
    let steps: Vec<u64> = steps.collect();
    let [multiples, steps] = [(0u32, multiples), (1, steps)].map(|(order, numbers)| {
        let median = median(&numbers);
        let mut pack = Packer::default();
        pack.number(order);
        pack.number(zigzag(median));
        pack.append(pack_changes(
            numbers
                .iter()
                .map(|number| zigzag(number.wrapping_sub(median))),
        ));
        pack
    });
    let mut pack = Packer::default();
    pack.number(least);
    pack.number(unit);
    pack.append(if multiples.len() <= steps.len() {
        multiples
    } else {
        steps
    });
    pack
}

fn unpack_whole(pack: &mut Unpacker<'_>, count: usize) -> Result<Vec<u64>, DecodeError> {
    let (least, unit) = (pack.number()?, pack.number()?);
    let is_steps = match pack.number32()? {
        0 => false,
        1 => true,
        _ => return Err(DecodeError("the form of the numbers is unknown")),
    };
    let median = unzigzag(pack.number()?);
    let mut numbers = unpack_changes(pack, count)?;
    let mut before = 0u64;
    for number in &mut numbers {
        let multiple = median.wrapping_add(unzigzag(*number));
        before = if is_steps {
            before.wrapping_add(multiple)
        } else {
            multiple
        };
        let above = before.checked_mul(unit);
        let value = above.and_then(|above| above.checked_add(least));
        *number = value.ok_or(DecodeError("a number takes more than 64 bits"))?;
    }
    Ok(numbers)
}

/// Packs numbers that are mostly 0: the number of others, the number of zeros before each of them, and a column
/// for each byte position of the others minus 1.
fn pack_changes(changes: impl Iterator<Item = u64>) -> Packer {
    let mut gaps = Packer::default();
    let (mut gap, mut others) = (0u32, Vec::new());
    for change in changes {
        match change.checked_sub(1) {
            None => gap += 1,
            Some(other) => {
                gaps.number(std::mem::take(&mut gap));
                others.push(other);
            }
        }
    }
    let all = others.iter().fold(0, |all, other| all | other);
    let width = all.checked_ilog2().map_or(0, |bit| bit / 8 + 1);
    let mut pack = Packer::default();
    pack.number(others.len() as u64);
    pack.column(gaps);
    pack.number(width);
    for at in 0..width {
        let bytes = others.iter().map(|other| (other >> (8 * at)) as u8);
        pack.column(Packer::from_bytes(bytes.collect()));
    }
    pack
}

fn unpack_changes(pack: &mut Unpacker<'_>, count: usize) -> Result<Vec<u64>, DecodeError> {
    const OTHER: DecodeError = DecodeError("there are not as many numbers as announced");
    let others = pack.number32()? as usize;
    if others > count {
        return Err(OTHER);
    }
    let gaps = pack.column_within(others * MAX_VARINT_32)?;
    let mut gaps = Unpacker::new(&gaps);
    let width = pack.number32()?;
    if width > u64::BITS / 8 {
        return Err(DecodeError("a number takes more than 64 bits"));
    }
    let mut changes = vec![0u64; count];
    let mut places = Vec::with_capacity(others);
    let mut next = 0usize;
    for _ in 0..others {
        let place = next.checked_add(gaps.number32()? as usize);
        let place = place.filter(|&place| place < count).ok_or(OTHER)?;
        changes[place] = 1;
        places.push(place);
        next = place + 1;
    }
    gaps.finish()?;
    for at in 0..width {
        let column = pack.column_within(others)?;
        if column.len() != others {
            return Err(OTHER);
        }
        for (&place, byte) in places.iter().zip(column) {
            let more = changes[place].checked_add(u64::from(byte) << (8 * at));
            changes[place] = more.ok_or(DecodeError("a number takes more than 64 bits"))?;
        }
    }
    Ok(changes)
}

/// The median of numbers read as signed 64-bit integers.
fn median(numbers: &[u64]) -> u64 {
    let mut numbers: Vec<i64> = numbers.iter().map(|&number| number as i64).collect();
    let middle = numbers.len() / 2;
    if numbers.is_empty() {
        0
    } else {
        *numbers.select_nth_unstable(middle).1 as u64
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn series(name: &str, kind: MetricKind, times: &[u64], values: &[f64]) -> MetricSeries {
        let times = times.iter().copied().map(Nanoseconds).collect();
        MetricSeries::new(name, kind, times, values.to_vec()).unwrap()
    }

    fn run(series: Vec<MetricSeries>) -> RunMetrics {
        RunMetrics {
            first: Nanoseconds(100),
            last: Nanoseconds(130),
            series,
        }
    }

    fn example() -> RunMetrics {
        run(vec![
            series(
                "heap",
                MetricKind::Level,
                &[100, 110, 120],
                &[4.5, 4.5, 4.7],
            ),
            series(
                "hits",
                MetricKind::Count,
                &[100, 110, 120],
                &[0.0, 7.0, 7.0],
            ),
        ])
    }

    #[test]
    fn example_matches_the_specification() {
        let pack = pack_metrics(&example()).unwrap();
        let middle = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10];
        let above = |number: u8| [&[number | 0x80], &middle[1..]].concat();
        let bytes = [
            &b"\x64\x1e\x01\x01\0\x03\x02"[..],
            b"\x02\0\x04\x04\x08\0heaphits\x02\0\0\x01\x02\0\0\0",
            b"\x64\x0a\x01\x02\x01\x01\0\0\0",
            b"\x02",
            &above(45),
            b"\x02\0\0\x01\x01\0\x02\x01\x01\0\x01",
            b"\x01",
            &above(0),
            b"\x07\0\x02\x01\x01\0\0\0",
        ];
        assert_eq!(pack, bytes.concat(), "{pack:x?}");
        assert_eq!(unpack_metrics(&pack).unwrap(), example());
        assert_eq!(claimed_by_metrics(&pack), Ok(9 * 8));
    }

    #[test]
    fn shared_times_are_stored_once() {
        let times: Vec<u64> = (0..1000).map(|tick| 17 * tick * tick).collect();
        let values: Vec<f64> = vec![2.5; times.len()];
        let one = |name: &str| series(name, MetricKind::Level, &times, &values);
        let few = pack_metrics(&run(vec![one("a")])).unwrap().len();
        let many: Vec<String> = (0..100).map(|at| format!("m{at:03}")).collect();
        let many = run(many.iter().map(|name| one(name)).collect());
        let pack = pack_metrics(&many).unwrap();
        assert!(pack.len() < few + 100 * 24, "{few} {}", pack.len());
        let back = unpack_metrics(&pack).unwrap();
        assert_eq!(back, many);
        assert!(Arc::ptr_eq(back.series[0].times(), back.series[99].times()));
    }

    #[test]
    fn nearly_constant_metrics_are_small() {
        let ticks: Vec<u64> = (0..60_000).map(|tick| 10_000_000 * tick).collect();
        let constant = vec![1e300 / 3.0; ticks.len()];
        let counter: Vec<f64> = ticks
            .iter()
            .map(|tick| (tick / 1_000_000_000) as f64 * 1e3)
            .collect();
        let load: Vec<f64> = ticks
            .iter()
            .map(|tick| (tick / 5_000_000_000) as f64 / 100.0)
            .collect();
        for (values, most) in [(constant, 40), (counter, 80), (load, 60)] {
            let run = run(vec![series("m", MetricKind::Level, &ticks, &values)]);
            let pack = pack_metrics(&run).unwrap();
            assert!(pack.len() < 60 + most, "{}", pack.len());
            assert_eq!(unpack_metrics(&pack).unwrap(), run);
        }
    }

    #[test]
    fn rejects_invalid_packs() {
        let pack = pack_metrics(&example()).unwrap();
        let refused = |changes: &[(usize, u8)], why: &'static str| {
            let mut pack = pack.clone();
            changes.iter().for_each(|&(at, byte)| pack[at] = byte);
            assert_eq!(unpack_metrics(&pack), Err(DecodeError(why)), "{changes:?}");
        };
        // By the offsets of the bytes in the example.
        refused(&[(2, 2)], "it ends early");
        refused(&[(5, 2)], "there are not as many numbers as announced");
        refused(&[(13, b'i')], "metrics are out of order");
        refused(&[(13, 0xff)], "a name is not UTF-8");
        refused(&[(23, 2)], "the kind of a metric is unknown");
        refused(&[(27, 1)], "a metric has times that do not exist");
        refused(&[(31, 2)], "the form of the numbers is unknown");
        refused(
            &[(30, 0)],
            "the times or values of a metric break its rules",
        );
        refused(&[(38, 11)], "the form of the values is unknown");
        let longer = [&pack[..], b"\0"].concat();
        assert_eq!(
            unpack_metrics(&longer),
            Err(DecodeError("bytes are left over"))
        );
        for end in 0..pack.len() {
            assert!(unpack_metrics(&pack[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn rejects_packs_that_exceed_limits() {
        let most = MAX_METRIC_VALUES as u64;
        for (lists, lengths, metrics) in [
            (1, vec![most + 1], 1),
            (1, vec![most], 2),
            (MAX_METRICS as u64 + 1, vec![1], 1),
            (1, vec![1], MAX_METRICS as u64 + 1),
        ] {
            let mut pack = Packer::default();
            for number in [0, 0, lists] {
                pack.number(number);
            }
            let mut column = Packer::default();
            lengths.iter().for_each(|&length| column.number(length));
            pack.column(column);
            pack.number(metrics);
            let many = metrics.min(2) as u8;
            for bytes in [
                vec![1; many.into()],
                (0..many).collect(),
                vec![0; many.into()],
                vec![0; many.into()],
            ] {
                pack.column(Packer::from_bytes(bytes));
            }
            let pack = pack.finish().unwrap();
            let many = DecodeError("there are more metrics, or values, than a run may have");
            assert_eq!(claimed_by_metrics(&pack), Err(many));
            assert_eq!(unpack_metrics(&pack), Err(many));
        }
    }

    fn values() -> impl Strategy<Value = Vec<f64>> {
        let finite = any::<f64>().prop_filter("finite", |value| value.is_finite());
        let decimal =
            (any::<i32>(), 0..12).prop_map(|(whole, digits)| f64::from(whole) / 10f64.powi(digits));
        let whole = any::<i64>().prop_map(|whole| whole as f64);
        let edge = prop_oneof![
            Just(0.0),
            Just(-0.0),
            Just(f64::MAX),
            Just(f64::MIN),
            Just(5e-324),
            Just(EXACT as f64)
        ];
        prop_oneof![
            prop::collection::vec(finite, 0..40),
            prop::collection::vec(decimal, 0..40),
            prop::collection::vec(0u8..4, 0..300)
                .prop_map(|small| small.into_iter().map(f64::from).collect()),
            prop::collection::vec(prop_oneof![whole, edge], 0..40),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn values_round_trip_bit_for_bit(all in prop::collection::vec(values(), 0..4), first: u64) {
            let series = all.iter().zip(["a", "b", "c", "d"]).map(|(values, name)| {
                let times = (0..values.len() as u64).map(|tick| tick * tick + (first & 0xffff));
                series(name, MetricKind::Level, &times.collect::<Vec<_>>(), values)
            });
            let run = run(series.collect());
            let back = unpack_metrics(&pack_metrics(&run).unwrap()).unwrap();
            for (values, back) in all.iter().zip(&back.series) {
                let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                prop_assert_eq!(bits(values), bits(back.values()));
            }
            prop_assert_eq!(run, back);
        }

        #[test]
        fn times_round_trip(times in prop::collection::btree_set(any::<u64>(), 0..50)) {
            let times: Vec<u64> = times.into_iter().collect();
            let run = run(vec![series("a", MetricKind::Level, &times, &vec![1.0; times.len()])]);
            prop_assert_eq!(unpack_metrics(&pack_metrics(&run).unwrap()), Ok(run));
        }

        #[test]
        fn changed_bytes_never_panic(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut pack = pack_metrics(&example()).unwrap();
            for (at, byte) in changes {
                let at = at.index(pack.len());
                pack[at] = byte;
            }
            if let Ok(run) = unpack_metrics(&pack) {
                prop_assert!(run.series.is_sorted_by(|a, b| a.name() < b.name()));
            }
        }
    }
}
