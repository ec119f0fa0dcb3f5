//! Colours of kinds of frames and of changes.

use serde::{Deserialize, Serialize};
use sto_core::model::FrameKind;

/// The colours of a drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Palette {
    /// The colours of most flame graphs: warm for code, red for increases and blue for decreases.
    #[default]
    Standard,
    /// Colours that readers with any kind of colour vision can distinguish, proposed by Okabe and
    /// Ito (Color Universal Design, 2008): orange for increases and blue for decreases.
    Colorblind,
}

/// A range of colours for one kind of frame.
pub(super) struct Shade {
    pub(super) name: &'static str,
    dark: [u8; 3],
    light: [u8; 3],
}

impl Shade {
    /// Returns a colour of the range, from dark at 0 to light at 255.
    pub(super) fn at(&self, tint: u8) -> [u8; 3] {
        let tint = u32::from(tint);
        [0, 1, 2].map(|channel| {
            let (dark, light) = (
                u32::from(self.dark[channel]),
                u32::from(self.light[channel]),
            );
            ((dark * (255 - tint) + light * tint) / 255) as u8
        })
    }
}

impl Palette {
    /// Returns the names of the colours of increases and decreases.
    pub(super) fn change_color_names(self) -> [&'static str; 2] {
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
}
