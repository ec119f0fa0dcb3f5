//! Options whose values are the variants of a library type.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::de::value::{Error, StringDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

/// A parser that accepts the given words and deserializes them with serde.
pub(crate) fn choice<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    words: impl Into<PossibleValuesParser>,
) -> impl TypedValueParser<Value = T> {
    words.into().try_map(|word: String| {
        let word: StringDeserializer<Error> = word.into_deserializer();
        T::deserialize(word)
    })
}

/// A possible value and its help text.
pub(crate) fn word(word: &'static str, help: &'static str) -> PossibleValue {
    PossibleValue::new(word).help(help)
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    #[test]
    fn every_possible_value_parses() {
        let mut words = 0;
        for command in Cli::command().get_subcommands() {
            let options = command.get_arguments().filter(|arg| !arg.is_positional());
            for (option, word) in options.flat_map(|arg| {
                let option = format!("--{}", arg.get_long().unwrap_or_default());
                let words = arg.get_possible_values().into_iter();
                words.map(move |word| (option.clone(), word.get_name().to_owned()))
            }) {
                let line = ["sto", command.get_name(), &option, &word];
                let parsed = Cli::command().try_get_matches_from(line);
                let kind = parsed.err().map(|error| error.kind());
                assert_ne!(kind, Some(ErrorKind::ValueValidation), "{line:?}");
                assert_ne!(kind, Some(ErrorKind::InvalidValue), "{line:?}");
                words += 1;
            }
        }
        assert!(words > 50, "{words}");
    }
}
