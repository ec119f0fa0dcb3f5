//! Where and how a recording was made: the header's feature sections.

use crate::limits::{MAX_NAME, cut};
use crate::model::Origin;
use linux_perf_data::{Feature, PerfFile};

pub(super) fn read(file: &PerfFile) -> Origin {
    let text = |value: Result<Option<&str>, linux_perf_data::Error>| {
        let value: Option<&str> = value.unwrap_or(None);
        value.filter(|text| !text.is_empty()).map(|text| {
            let mut text = text.to_owned();
            cut(&mut text, MAX_NAME);
            text
        })
    };
    Origin {
        recorded: None,
        duration: None,
        host: text(file.hostname()),
        kernel: text(file.os_release()),
        arch: text(file.arch()),
        cpu: text(file.cpu_desc()),
        command: command(file),
    }
}

/// The command line, if its section holds as many strings as it says.
fn command(file: &PerfFile) -> Option<String> {
    let section = file.feature_section_data(Feature::CMDLINE)?;
    let count = u32::from_le_bytes(section.first_chunk::<4>().copied()?);
    // Each string takes at least the four bytes of its length.
    if count as usize > section.len() / 4 {
        return None;
    }
    let mut command = file.cmdline().ok()??.join(" ");
    cut(&mut command, MAX_NAME);
    Some(command)
}
