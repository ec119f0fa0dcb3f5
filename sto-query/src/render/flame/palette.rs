//! Colours: of kinds of frames, and of change.

use inferno::flamegraph::color::Color;
use sto_core::model::FrameKind;

/// Which colours a drawing has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// Those of most flame graphs: warm ones for code, red for more and blue for less.
    #[default]
    Standard,
    /// Those that readers with any kind of colour vision can tell apart, as proposed by Okabe and Ito
    /// (Color Universal Design, 2008): orange for more and blue for less.
    Colorblind,
}

/// The colour of what is no frame.
pub(super) const NEUTRAL: Color = Color {
    r: 225,
    g: 225,
    b: 225,
};

/// A range of colours, for one kind of frame.
pub(super) struct Shade {
    pub(super) name: &'static str,
    dark: [u8; 3],
    light: [u8; 3],
}

impl Shade {
    /// A colour of the range, from dark at 0 to light at 255.
    pub(super) fn at(&self, tint: u8) -> Color {
        let [r, g, b] = mix(self.dark, self.light, u32::from(tint), 255);
        Color { r, g, b }
    }
}

impl Palette {
    /// The names of the colours of more and of less.
    pub(super) fn of_change(self) -> [&'static str; 2] {
        match self {
            Palette::Standard => ["Red", "Blue"],
            Palette::Colorblind => ["Orange", "Blue"],
        }
    }

    pub(super) fn shade(self, kind: FrameKind) -> Shade {
        let (name, dark, light) = match self {
            Palette::Standard => match kind {
                FrameKind::User => ("red to yellow", [215, 90, 40], [250, 210, 70]),
                FrameKind::Kernel => ("blue", [95, 145, 205], [140, 185, 245]),
                FrameKind::Inlined => ("teal", [80, 180, 170], [130, 225, 215]),
                FrameKind::Jit | FrameKind::JitBaseline => {
                    ("green", [95, 180, 80], [150, 225, 120])
                }
                FrameKind::Interpreted | FrameKind::Waker => {
                    ("purple", [170, 120, 205], [215, 165, 245])
                }
                FrameKind::Unresolved => ("grey", [165, 165, 165], [205, 205, 205]),
            },
            Palette::Colorblind => match kind {
                FrameKind::User => ("orange", [222, 150, 0], [245, 180, 60]),
                FrameKind::Kernel => ("sky blue", [75, 165, 220], [120, 200, 245]),
                FrameKind::Inlined => ("yellow", [235, 220, 60], [250, 240, 130]),
                FrameKind::Jit | FrameKind::JitBaseline => ("green", [0, 150, 110], [40, 180, 140]),
                FrameKind::Interpreted | FrameKind::Waker => {
                    ("pink", [200, 115, 160], [225, 155, 195])
                }
                FrameKind::Unresolved => ("grey", [165, 165, 165], [205, 205, 205]),
            },
        };
        Shade { name, dark, light }
    }

    /// The picture of a difference with this palette's colours.
    ///
    /// inferno has one scale for differences: two channels go from 250 for no change to 100 for a full
    /// one, and the third, red or blue, stays.
    pub(super) fn recolor(self, svg: String) -> String {
        const FILL: &str = "fill=\"rgb(";
        if self == Palette::Standard {
            return svg;
        }
        let mut parts = svg.split(FILL);
        let mut recolored = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (color, rest) = part.split_once(')').unwrap_or_default();
            let mut channels = color
                .split(',')
                .map(|channel| channel.parse::<u8>().unwrap_or(0));
            let [r, g, b] = [(); 3].map(|()| channels.next().unwrap_or(0));
            let full = if r > b { [213, 94, 0] } else { [0, 114, 178] };
            let [r, g, b] = match r == b {
                true => [r, g, b],
                false => mix(full, [250; 3], u32::from(g.saturating_sub(100)), 150),
            };
            recolored += &format!("{FILL}{r},{g},{b}){rest}");
        }
        recolored
    }
}

/// A colour between two, at `part` of `whole` of the way.
fn mix(from: [u8; 3], to: [u8; 3], part: u32, whole: u32) -> [u8; 3] {
    [0, 1, 2].map(|channel| {
        let (from, to) = (u32::from(from[channel]), u32::from(to[channel]));
        ((from * (whole - part) + to * part) / whole) as u8
    })
}
