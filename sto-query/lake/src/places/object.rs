//! Files in a bucket of an object store.
//!
//! A file is written by a request that fails if the file exists (`If-None-Match: *` or the service's equivalent), so
//! files are never replaced. Requests are retried for some seconds if the service is busy.

use super::address::{Bucket, Service};
use super::error::{Advice, Refusal};
use super::folder::join_name;
use super::http::{Connector, MaxBody, unsent};
use super::{FailureReason, ListedFile, ListedNames, Machine};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, GetOptions, ObjectStore, ObjectStoreExt, PutMode, RetryConfig,
};
use std::error::Error;
use std::iter;
use std::time::Duration;
use sto_model::units::Bytes;
use tokio::runtime::Builder;

/// Time limit for transferring a file.
const TO_ANSWER: Duration = Duration::from_secs(300);

/// Maximum number of retries, and time limit for them.
const RETRIES: (usize, Duration) = (3, Duration::from_secs(30));

/// Maximum number of pages of a listing, which have 1000 files each or more.
const MAX_PAGES: usize = 4096;

/// A client whose listings are fetched page by page.
trait PagedStore: ObjectStore + PaginatedListStore {}

impl<T: ObjectStore + PaginatedListStore> PagedStore for T {}

/// A bucket, or a folder of one.
pub(super) struct Files {
    store: Box<dyn PagedStore>,
    service: Service,
    prefix: String,
}

impl Files {
    pub(super) fn new(bucket: &Bucket, machine: &Machine) -> Result<Files, Refusal> {
        let service = bucket.service;
        let store = store(bucket, machine).map_err(|error| refusal(service, &error))?;
        Ok(Files {
            store,
            service,
            prefix: bucket.prefix.clone(),
        })
    }

    fn path(&self, name: &str) -> Result<Path, Refusal> {
        let path = match (&self.prefix[..], name) {
            ("", name) | (name, "") => name.to_owned(),
            (prefix, name) => join_name(prefix, name),
        };
        Path::parse(path).map_err(|error| Refusal::other(&error.to_string()))
    }

    /// Returns a page of the listing of a folder and its subfolders; the first one without a token.
    fn page(
        &self,
        folder: &str,
        page_token: Option<String>,
    ) -> Result<Option<PaginatedListResult>, Refusal> {
        let folder = self.path(folder)?;
        let prefix = (!folder.as_ref().is_empty()).then(|| format!("{folder}/"));
        let options = PaginatedListOptions {
            page_token,
            ..PaginatedListOptions::default()
        };
        self.wait_for(self.store.list_paginated(prefix.as_deref(), options))
    }

    /// Blocks on a response in a new runtime; returns `None` if there is no such file.
    fn wait_for<T>(
        &self,
        work: impl Future<Output = object_store::Result<T>>,
    ) -> Result<Option<T>, Refusal> {
        let runtime = Builder::new_current_thread().enable_time().build()?;
        match runtime.block_on(work) {
            Ok(result) => Ok(Some(result)),
            Err(error) => match refusal(self.service, &error) {
                Refusal {
                    why: FailureReason::Other,
                    ..
                } if matches!(error, object_store::Error::NotFound { .. }) => Ok(None),
                refusal => Err(refusal),
            },
        }
    }
}

impl super::Files for Files {
    fn list(&self, folder: &str) -> Result<Vec<ListedFile>, Refusal> {
        let mut listed = Vec::new();
        let mut names = ListedNames::default();
        let mut token = None;
        for _ in 0..MAX_PAGES {
            let Some(page) = self.page(folder, token)? else {
                return Ok(listed);
            };
            for file in page.result.objects {
                let Some(name) = file.location.as_ref().strip_prefix(&self.prefix) else {
                    continue;
                };
                let name = name.trim_start_matches('/').to_owned();
                names.count(&name)?;
                let size = Bytes(file.size);
                listed.push(ListedFile { name, size });
            }
            token = page.page_token;
            if token.is_none() {
                return Ok(listed);
            }
        }
        Err(Refusal::other(&format!(
            "its listing has more than {MAX_PAGES} pages"
        )))
    }

    fn is_empty(&self) -> Result<bool, Refusal> {
        let page = self.page("", None)?;
        Ok(page.is_none_or(|page| page.result.objects.is_empty() && page.page_token.is_none()))
    }

    fn has(&self, name: &str) -> Result<bool, Refusal> {
        let path = self.path(name)?;
        Ok(self.wait_for(self.store.head(&path))?.is_some())
    }

    fn read(&self, name: &str, most: Bytes) -> Result<Option<Vec<u8>>, Refusal> {
        let path = self.path(name)?;
        let work = async {
            let mut options = GetOptions::default();
            options.extensions.insert(MaxBody(most.0));
            let found = self.store.get_opts(&path, options).await?;
            if found.meta.size > most.0 {
                Ok(None)
            } else {
                Ok(Some(found.bytes().await?))
            }
        };
        match self.wait_for(work)? {
            None => Ok(None),
            Some(None) => Err(Refusal::new(FailureReason::TooLong, "")),
            Some(Some(bytes)) => Ok(Some(bytes.into())),
        }
    }

    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, Refusal> {
        let path = self.path(name)?;
        let work = async {
            let bytes = bytes.to_vec().into();
            match self
                .store
                .put_opts(&path, bytes, PutMode::Create.into())
                .await
            {
                Ok(_) => Ok(true),
                Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
                Err(error) => Err(error),
            }
        };
        self.wait_for(work)?
            .ok_or_else(|| Refusal::new(FailureReason::NoBucket, ""))
    }
}

/// Creates the client for a bucket, configured by environment variables as in the crate's `from_env`.
fn store(bucket: &Bucket, machine: &Machine) -> object_store::Result<Box<dyn PagedStore>> {
    let retry = RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: RETRIES.0,
        retry_timeout: RETRIES.1,
    };
    let client = ClientOptions::new()
        .with_connect_timeout(machine.timeout)
        .with_read_timeout(machine.timeout)
        .with_timeout(TO_ANSWER);
    /// Environment variables override the limits, and the bucket overrides both.
    macro_rules! built {
        ($builder:ident, $start:literal, $name:ident) => {{
            let mut builder = $builder::new()
                .with_http_connector(Connector)
                .with_retry(retry)
                .with_client_options(client);
            for (key, value) in &machine.variables {
                let key = key.starts_with($start).then(|| key.to_ascii_lowercase());
                if let Some(Ok(key)) = key.map(|key| key.parse()) {
                    builder = builder.with_config(key, value);
                }
            }
            Ok(Box::new(builder.$name(&bucket.name).build()?))
        }};
    }
    match bucket.service {
        Service::S3 => built!(AmazonS3Builder, "AWS_", with_bucket_name),
        Service::Google => built!(GoogleCloudStorageBuilder, "GOOGLE_", with_bucket_name),
        Service::Azure => built!(MicrosoftAzureBuilder, "AZURE_", with_container_name),
    }
}

/// Interprets errors of the services.
fn refusal(service: Service, error: &object_store::Error) -> Refusal {
    let first: &(dyn Error + 'static) = error;
    let chain: Vec<_> = iter::successors(Some(first), |&error| error.source()).collect();
    let causes: Vec<String> = chain.iter().map(ToString::to_string).collect();
    let all = causes.join(" ");
    let advice = match service {
        Service::S3 => Advice::S3,
        Service::Google => Advice::Google,
        Service::Azure => Advice::Azure,
    };
    let known: [(&[&str], FailureReason); 2] = [
        (
            &["NoSuchBucket", "ContainerNotFound", "bucket does not exist"],
            FailureReason::NoBucket,
        ),
        (
            &[
                "InvalidAccessKeyId",
                "SignatureDoesNotMatch",
                "AuthenticationFailed",
                "ExpiredToken",
                "InvalidToken",
                "169.254.169.254",
                "computeMetadata",
                "Account must be specified",
            ],
            FailureReason::Credentials(advice),
        ),
    ];
    let is_said = |texts: &[&str]| texts.iter().any(|text| all.contains(text));
    let known = known.into_iter().find(|(texts, _)| is_said(texts));
    let why = match (error, known) {
        (_, Some((_, why))) => why,
        (object_store::Error::Unauthenticated { .. }, None) => FailureReason::Credentials(advice),
        (object_store::Error::PermissionDenied { .. }, None) => FailureReason::NoPermission,
        _ => chain
            .iter()
            .find_map(|error| error.downcast_ref())
            .map_or(FailureReason::Other, unsent),
    };
    let of_xml = ["Code", "Message"].map(|name| {
        let (_, rest) = all.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0.trim())
    });
    let said = match of_xml {
        [Some(code), Some(message)] => format!("{code}: {message}"),
        _ => causes.last().cloned().unwrap_or_default(),
    };
    Refusal::new(why, &said)
}
