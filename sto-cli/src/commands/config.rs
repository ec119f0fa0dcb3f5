//! `sto config`: the configuration file.

use crate::runtime::config::Config;
use crate::runtime::output::write_stdout;
use crate::runtime::{CliError, Outcome, ui};
use clap::Args;
use sto_query::text::printable;

const NOTES: &str = "\
The file is $STO_CONFIG (no file if that is empty), otherwise $XDG_CONFIG_HOME/sto/config.toml, otherwise \
~/.config/sto/config.toml. An example:

  # an option of all commands
  color = \"never\"
  # the store, if none is found nearer
  store = \"~/profiles\"
  # options of `sto top`
  [top]
  limit = 10
  # sto worst
  [alias]
  worst = \"top --by total @newest\"
  # how text looks
  [colors]
  heading = \"bold\"
  dim = \"dim\"
  regression = \"bold red\"
  improvement = \"bold blue\"

An option on the command line overrides the file. A colour is black, red, green, yellow, blue, \
magenta, cyan or white, each optionally prefixed by `bright-`, or a number up to 255; `bold`, `dim` or \
`underline` may precede it or be used by itself, and `none` is plain text.";

/// Show which configuration file is read, and the colours
///
/// The file sets defaults of options, aliases of commands, and colours.
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(crate) struct ConfigArgs {}

pub(crate) fn run() -> Result<Outcome, CliError> {
    let file = match Config::file() {
        None => "no configuration file".to_owned(),
        Some((path, _)) => {
            let note = if path.exists() {
                ""
            } else {
                " (does not exist)"
            };
            format!("{}{note}", printable(&path.display().to_string()))
        }
    };
    let mut text = file + "\n";
    if let Some(mut colors) = ui::style().colors {
        let roles = colors.roles().map(|(name, look)| look.paint(name));
        text += &(roles.join(", ") + "\n");
    }
    write_stdout(text.as_bytes())?;
    Ok(Outcome::Clean)
}
