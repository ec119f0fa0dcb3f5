//! What verifying a store found.

use serde::Serialize;
use sto_core::store::{Concerns, Damage, Verification};

/// What verifying a store found; schema `sto.verify/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// `sto.verify/1`.
    pub schema: &'static str,
    /// The store's folder.
    pub store: String,
    /// Whether nothing is wrong.
    pub sound: bool,
    /// How much was checked.
    pub checked: CheckedReport,
    /// Number of profiles that no damage concerns.
    pub sound_profiles: u64,
    /// Everything that is wrong, in the order of tables and keys.
    pub damages: Vec<DamageReport>,
}

/// How much of each thing was found and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedReport {
    /// Number of executables.
    pub executables: u64,
    /// Number of builds.
    pub builds: u64,
    /// Number of profiles.
    pub profiles: u64,
    /// Number of frames.
    pub frames: u64,
    /// Number of nodes, of all executables.
    pub nodes: u64,
    /// Number of records.
    pub records: u64,
    /// Number of packed columns.
    pub columns: u64,
    /// Size of the file.
    pub bytes: u64,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamageReport {
    /// A table and a record or column in it, or the redb file.
    pub place: String,
    /// What is wrong there.
    pub what: String,
    /// Whose data it is: `everything`, `executable`, `build`, `profiles`, `nothing`.
    pub concerns: &'static str,
    /// The executable, where one or its build is concerned.
    pub executable: Option<String>,
    /// The build's version, where one is concerned.
    pub version: Option<String>,
    /// The ids of the profiles, where some are concerned.
    pub profiles: Vec<String>,
}

/// Reports what verifying the store in this folder found.
pub fn verify(store: String, verification: &Verification) -> VerifyReport {
    let checked = verification.checked;
    VerifyReport {
        schema: "sto.verify/1",
        store,
        sound: verification.damages.is_empty(),
        checked: CheckedReport {
            executables: checked.executables,
            builds: checked.builds,
            profiles: checked.profiles,
            frames: checked.frames,
            nodes: checked.nodes,
            records: checked.records,
            columns: checked.columns,
            bytes: checked.bytes.0,
        },
        sound_profiles: verification.sound_profiles,
        damages: verification.damages.iter().map(damage_report).collect(),
    }
}

fn damage_report(damage: &Damage) -> DamageReport {
    let mut report = DamageReport {
        place: damage.place.clone(),
        what: damage.what.clone(),
        concerns: "nothing",
        executable: None,
        version: None,
        profiles: Vec::new(),
    };
    match &damage.concerns {
        Concerns::Everything => report.concerns = "everything",
        Concerns::Executable(name) => {
            report.concerns = "executable";
            report.executable = Some(name.clone());
        }
        Concerns::Build {
            executable,
            version,
        } => {
            report.concerns = "build";
            report.executable = Some(executable.clone());
            report.version = Some(version.clone());
        }
        Concerns::Profiles(ids) => {
            report.concerns = "profiles";
            report.profiles = ids.iter().map(|id| id.to_string()).collect();
        }
        Concerns::Nothing => {}
    }
    report
}
