//! The axis of a plot, and its coordinates.

/// Steps of an axis, at the most.
const STEPS: f64 = 5.0;

/// An axis from nothing, so that distances are proportions.
pub(in crate::render) struct Axis {
    step: f64,
    end: f64,
}

impl Axis {
    /// An axis to at least this value, whose steps are 1, 2 or 5 times a power of ten.
    pub(in crate::render) fn over(largest: f64) -> Axis {
        let rough = largest.max(1e-6) / STEPS;
        let power = 10f64.powf(rough.log10().floor());
        let nice = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let step = nice
            .into_iter()
            .find(|&step| step >= rough)
            .unwrap_or(rough);
        Axis {
            step,
            end: step * (largest / step).ceil().max(1.0),
        }
    }

    /// Percent of the axis' length.
    pub(in crate::render) fn place(&self, value: f64) -> f64 {
        100.0 * value / self.end
    }

    /// The values at its steps, from nothing to its end.
    pub(in crate::render) fn ticks(&self) -> impl ExactSizeIterator<Item = f64> {
        let steps = (self.end / self.step).round() as u32;
        let step = self.step;
        (0..steps + 1).map(move |number| f64::from(number) * step)
    }
}

/// A coordinate: a hundredth of a pixel is enough.
pub(in crate::render) fn coordinate(coordinate: f64) -> String {
    let text = format!("{coordinate:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
