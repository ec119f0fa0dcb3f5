//! Requests from the server to the client or the user.

use super::{Question, Server};
use crate::lsp::worker::Job;
use crate::runtime::error::sentence;
use gen_lsp_types::json_rpc::Id;
use gen_lsp_types::{
    ConfigurationItem, ConfigurationParams, ConfigurationRequest, MessageActionItem, MessageType,
    ShowMessageRequest, ShowMessageRequestParams,
};
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use sto_query::text::printable;

/// Maximum number of choices in a question.
const MAX_CHOICES: usize = 12;

/// The choice for the default build.
const NEWEST: &str = "the newest of the branch";

impl Server {
    pub(super) fn ask_for_settings(&mut self) {
        let params = ConfigurationParams {
            items: vec![ConfigurationItem {
                scope_uri: None,
                section: Some("sto".to_owned()),
            }],
        };
        let id = self.outgoing.request::<ConfigurationRequest>(params);
        self.asked.insert(id, Question::Settings);
    }

    pub(super) fn ask_for_build(&mut self, mut builds: Vec<String>) {
        builds.truncate(MAX_CHOICES);
        builds.insert(0, NEWEST.to_owned());
        self.ask("Costs of which build?", builds, Question::Build);
    }

    /// Asks which candidate is right, for each file of the profiles that several files match if one of them is open.
    pub(super) fn ask_for_files(&mut self) {
        let Some(costs) = &self.costs else {
            return;
        };
        let doubtful = costs.placed.ambiguous_files().iter();
        let is_open = |files: &[PathBuf]| files.iter().any(|file| self.documents.has(file));
        let found: Vec<_> = doubtful
            .filter(|(_, files)| is_open(files))
            .map(|(file, files)| (costs.index.file(*file).path.to_owned(), files.clone()))
            .collect();
        for (profile_path, mut files) in found {
            if self.choices.should_ask(&profile_path) {
                files.truncate(MAX_CHOICES);
                let names = files.iter().map(|file| self.choices.name(file)).collect();
                let message = format!(
                    "Which file is `{}` of the profiles?",
                    printable(&profile_path)
                );
                self.ask(
                    &message,
                    names,
                    Question::File {
                        profile_path,
                        files,
                    },
                );
            }
        }
    }

    fn ask(&mut self, message: &str, choices: Vec<String>, question: Question) {
        let actions = choices.into_iter().map(|title| MessageActionItem {
            title,
            properties: HashMap::new(),
        });
        let params = ShowMessageRequestParams {
            kind: MessageType::Info,
            message: format!("sto: {message}"),
            actions: Some(actions.collect()),
        };
        let id = self.outgoing.request::<ShowMessageRequest>(params);
        self.asked.insert(id, question);
    }

    /// Handles the answer to a question.
    pub(in crate::lsp) fn handle_response(&mut self, id: &Id, answer: &Value) {
        let title = answer["title"].as_str();
        match (self.asked.remove(id), title) {
            (Some(Question::Settings), _) => self.apply_settings(&answer[0]),
            (Some(Question::Build), Some(build)) => self.select(build.to_owned()),
            (
                Some(Question::File {
                    profile_path,
                    files,
                }),
                Some(title),
            ) => {
                let named = files.iter().find(|file| self.choices.name(file) == title);
                let Some(file) = named else {
                    return;
                };
                if let Err(error) = self.choices.choose(&profile_path, file) {
                    self.outgoing
                        .show_message(MessageType::Warning, &sentence(&error));
                }
                self.send_job(Job::Place(self.choices.chosen.clone()));
            }
            _ => {}
        }
    }

    pub(super) fn select(&mut self, build: String) {
        self.settings.build = (build != NEWEST).then_some(build);
        self.show_wanted();
    }
}
