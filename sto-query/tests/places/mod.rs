//! Places: folders and object stores whose files are written once.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;
use sto_core::units::Bytes;
use sto_query::places::{FailureReason, Machine, Place, PlaceError};
use sto_test_support::servers::{Moto, free_port};

const MOST: Bytes = Bytes(1 << 20);

fn place(text: impl AsRef<OsStr>) -> Place {
    Place::parse(text.as_ref(), &Machine::default()).unwrap()
}

fn names(place: &Place, folder: &str) -> Vec<String> {
    let listed = place.list(folder).unwrap().into_iter();
    listed.map(|file| file.name).collect()
}

/// Returns the reason and the message of an error.
#[track_caller]
fn refused<T>(result: Result<T, PlaceError>) -> (FailureReason, String) {
    let Err(error) = result else {
        panic!("nothing was refused")
    };
    let sentence = error.to_string();
    match error {
        PlaceError::Refused { why, .. } => (why, sentence),
        other => panic!("{other}"),
    }
}

/// Checks the behaviour of an empty place of any kind.
fn assert_files_are_written_once(place: &Place) {
    assert_eq!(names(place, ""), [""; 0]);
    assert_eq!(place.read("a/b/one", MOST).unwrap(), None);
    assert!(!place.has("a/b/one").unwrap());

    assert!(place.create("a/b/one", b"first").unwrap());
    assert!(!place.create("a/b/one", b"second").unwrap());
    assert!(place.has("a/b/one").unwrap());
    assert_eq!(place.read("a/b/one", MOST).unwrap().unwrap(), b"first");

    // A name with special characters of shells, patterns and URLs.
    let odd = "a/x=a%2Fb c/*[$(touch y)]'\"\\#~é}.gz";
    assert!(place.create(odd, b"odd").unwrap());
    assert!(place.create("a/two", b"").unwrap());
    assert!(place.create("top", &[7; 70_000]).unwrap());
    assert_eq!(place.read(odd, MOST).unwrap().unwrap(), b"odd");
    assert_eq!(names(place, ""), ["a/b/one", "a/two", odd, "top"]);
    assert_eq!(names(place, "a/b"), ["a/b/one"]);
    assert_eq!(names(place, "none"), [""; 0]);
    let sizes: Vec<u64> = place
        .list("")
        .unwrap()
        .iter()
        .map(|file| file.size.0)
        .collect();
    assert_eq!(sizes, [5, 0, 3, 70_000]);

    // Files above the limit are not read.
    assert_eq!(
        place.read("top", Bytes(70_000)).unwrap().unwrap(),
        [7; 70_000]
    );
    assert_eq!(
        refused(place.read("top", Bytes(69_999))).0,
        FailureReason::TooLong
    );

    for name in [
        "", "/a", "a//b", "a/", "../a", "a/..", "a/./b", "a\nb", "a\0b",
    ] {
        assert!(
            refused(place.create(name, b""))
                .1
                .contains("invalid file name")
        );
        assert!(
            refused(place.read(name, MOST))
                .1
                .contains("invalid file name")
        );
    }
    // Only one of several concurrent writers succeeds.
    let written: usize = thread::scope(|scope| {
        let writers: Vec<_> = (0..8u8)
            .map(|writer| scope.spawn(move || place.create("race", &[writer; 100]).unwrap()))
            .collect();
        let won = writers
            .into_iter()
            .map(|writer| usize::from(writer.join().unwrap()));
        won.sum()
    });
    assert_eq!(written, 1);
    let content = place.read("race", MOST).unwrap().unwrap();
    assert_eq!(content, [content[0]; 100]);
}

#[test]
fn files_of_a_folder_are_written_once() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("not yet there");
    assert_files_are_written_once(&place(&folder));
    let left = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let mut left: Vec<_> = left.collect();
    left.sort();
    assert_eq!(left, ["a", "race", "top"], "nothing that is not complete");
    // Incomplete files are not listed.
    fs::write(folder.join("a/.sto-0123456789abcdef"), "half").unwrap();
    assert!(
        !names(&place(&folder), "a")
            .iter()
            .any(|name| name.contains("sto-"))
    );
}

#[test]
fn link_to_a_file_is_there_but_is_not_a_written_file() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    place.create("target", b"content").unwrap();
    for (link, target) in [("link", "target"), ("dangling", "nowhere")] {
        std::os::unix::fs::symlink(target, folder.path().join(link)).unwrap();
        let written = place.create(link, b"other");
        assert_eq!(refused(written).0, FailureReason::NotAFile, "{link}");
    }
    assert!(place.has("link").unwrap());
    assert_eq!(place.read("link", MOST).unwrap().unwrap(), b"content");
    assert!(!place.has("dangling").unwrap());
}

#[test]
fn read_only_folder_is_an_error() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("file"), "").unwrap();
    let (_, sentence) = refused(place(temp.path().join("file")).create("a", b""));
    assert!(
        sentence.contains("cannot write a: it failed (Not a directory"),
        "{sentence}"
    );
    let (why, sentence) = refused(place("/proc/here").create("a", b""));
    assert!(
        sentence.starts_with("/proc/here: cannot write a: "),
        "{sentence}"
    );
    assert_eq!(why, FailureReason::Other);
}

#[test]
fn rejects_invalid_places() {
    for text in ["ftp://host/a", "ssh://-x/a", "s3://", ""] {
        let error = Place::parse(OsStr::new(text), &Machine::default()).unwrap_err();
        let is_of_text = matches!(
            error,
            PlaceError::NoPlace { .. } | PlaceError::OtherScheme { .. }
        );
        assert!(is_of_text, "{error}");
    }
}

#[test]
fn container_without_account_is_an_error_with_remedy() {
    let error = Place::parse(OsStr::new("az://container/a"), &Machine::default());
    let sentence = error.unwrap_err().to_string();
    assert!(
        sentence.contains("set AZURE_STORAGE_ACCOUNT_NAME"),
        "{sentence}"
    );
}

/// A machine with credentials for the server's bucket.
pub(crate) fn machine(moto: &Moto) -> Machine {
    let variables = moto.variables().into_iter();
    let variables = variables.map(|(name, value)| (name.to_owned(), value));
    Machine {
        variables: variables.collect(),
        ..Machine::default()
    }
}

fn place_on(moto: &Moto, text: &str) -> Place {
    Place::parse(OsStr::new(text), &machine(moto)).unwrap()
}

fn with_variables(text: &str, variables: BTreeMap<String, String>) -> Place {
    let machine = Machine {
        variables,
        ..Machine::default()
    };
    Place::parse(OsStr::new(text), &machine).unwrap()
}

#[test]
fn files_of_a_bucket_are_written_once() {
    let Some(moto) = Moto::start() else { return };
    assert_files_are_written_once(&place_on(&moto, "s3://bucket"));
    assert_files_are_written_once(&place_on(&moto, "s3://bucket/some/folder"));
    // A prefix of a folder's name does not match.
    assert_eq!(names(&place_on(&moto, "s3://bucket/so"), ""), [""; 0]);
    let listed = names(&place_on(&moto, "s3://bucket/some"), "");
    assert!(listed.contains(&"folder/a/b/one".to_owned()), "{listed:?}");
}

#[test]
fn missing_bucket_is_an_error() {
    let Some(moto) = Moto::start() else { return };
    let place = place_on(&moto, "s3://gone/a");
    for refused in [
        refused(place.list("")),
        refused(place.read("b", MOST)),
        refused(place.create("b", b"")),
    ] {
        assert_eq!(refused.0, FailureReason::NoBucket, "{}", refused.1);
    }
    let (_, sentence) = refused(place.create("b", b""));
    assert_eq!(
        sentence,
        "s3://gone/a: cannot write b: there is no such bucket; create it, or name another one (NoSuchBucket: The specified bucket does not exist)"
    );
}

/// Environment variables for an object store at a URL.
fn credentials(url: &str) -> BTreeMap<String, String> {
    let variables = [
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ENDPOINT_URL", url),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    variables.into()
}

#[test]
fn unreachable_object_store_is_an_error() {
    // Nobody listens on this port.
    let port = free_port();
    let url = format!("http://127.0.0.1:{port}");
    let place = with_variables("s3://bucket/a", credentials(&url));
    let (why, sentence) = refused(place.list(""));
    assert_eq!(why, FailureReason::NoAnswer, "{sentence}");
    let place = with_variables("s3://bucket/a", credentials("http://nobody.invalid"));
    let (why, sentence) = refused(place.list(""));
    assert_eq!(why, FailureReason::NoHost, "{sentence}");
}

/// Reads the head of a request.
fn read_request(stream: &mut TcpStream) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        request.extend(byte);
    }
    Ok(())
}

/// Starts an object store that sends these responses, one per request.
fn answering(answers: &'static [&'static str]) -> Place {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            read_request(&mut stream).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let variables = credentials(&format!("http://127.0.0.1:{port}"));
    with_variables("s3://bucket", variables)
}

/// Starts an object store that answers every request in the same way.
fn misbehaving(answer: impl Fn(&mut TcpStream) -> io::Result<()> + Send + 'static) -> Place {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            // The client may close the connection first.
            while read_request(&mut stream)
                .and_then(|()| answer(&mut stream))
                .is_ok()
            {}
        }
    });
    let machine = Machine {
        variables: credentials(&format!("http://127.0.0.1:{port}")),
        timeout: Duration::from_millis(100),
        ..Machine::default()
    };
    Place::parse(OsStr::new("s3://bucket"), &machine).unwrap()
}

/// Waits until the client closes the connection.
fn stay_silent(stream: &mut TcpStream) -> io::Result<()> {
    stream.read_to_end(&mut Vec::new()).map(drop)
}

/// Writes a text again and again, until the client closes the connection.
fn write_endlessly(stream: &mut TcpStream, text: &str) -> io::Result<()> {
    let text = text.repeat((1 << 16) / text.len());
    loop {
        stream.write_all(text.as_bytes())?;
    }
}

#[test]
fn silent_object_store_is_given_up() {
    let silent = misbehaving(stay_silent);
    let (why, sentence) = refused(silent.create("name", &[7; 1 << 20]));
    assert_eq!(why, FailureReason::NoAnswer, "{sentence}");
    let stalled = misbehaving(|stream| {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 40\r\nETag: \"1\"\r\n\
                    Last-Modified: Mon, 02 Nov 2026 10:00:00 GMT\r\n\r\nhalf";
        stream.write_all(head.as_bytes())?;
        stay_silent(stream)
    });
    for place in [silent, stalled] {
        for (why, sentence) in [refused(place.list("")), refused(place.read("name", MOST))] {
            assert_eq!(why, FailureReason::NoAnswer, "{sentence}");
        }
    }
}

#[test]
fn object_store_without_end_is_an_error() {
    const OK: &str = "HTTP/1.1 200 OK\r\n";
    let pages = misbehaving(|stream| {
        let page = "<ListBucketResult><IsTruncated>true</IsTruncated>\
                    <NextContinuationToken>next</NextContinuationToken></ListBucketResult>";
        let answer = format!("{OK}Content-Length: {}\r\n\r\n{page}", page.len());
        stream.write_all(answer.as_bytes())
    });
    let (_, sentence) = refused(pages.list(""));
    assert!(
        sentence.contains("its listing has more than 4096 pages"),
        "{sentence}"
    );

    let page = misbehaving(|stream| {
        write!(stream, "{OK}\r\n<ListBucketResult>")?;
        write_endlessly(stream, "<Contents><Key>name</Key></Contents>")
    });
    let (_, sentence) = refused(page.list(""));
    assert!(sentence.contains("limit: 16777216"), "{sentence}");

    let message = misbehaving(|stream| {
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n<Error>")?;
        write_endlessly(stream, "<Message>no</Message>")
    });
    let (_, sentence) = refused(message.read("name", MOST));
    assert!(sentence.contains("limit: 65536"), "{sentence}");

    let file = misbehaving(|stream| {
        write!(
            stream,
            "{OK}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\
             Last-Modified: Mon, 02 Nov 2026 10:00:00 GMT\r\n\r\n"
        )?;
        write_endlessly(stream, "4\r\nfile\r\n")
    });
    let (_, sentence) = refused(file.read("name", MOST));
    assert!(sentence.contains("limit: 1048576"), "{sentence}");
}

#[test]
fn long_message_of_an_object_store_is_truncated() {
    let place = misbehaving(|stream| {
        let message = "no ".repeat(10_000);
        let length = message.len();
        write!(
            stream,
            "HTTP/1.1 400 Bad Request\r\nContent-Length: {length}\r\n\r\n{message}"
        )
    });
    let (_, sentence) = refused(place.read("name", MOST));
    assert!(sentence.len() < 1200, "{}", sentence.len());
}

#[test]
fn retries_busy_object_store() {
    let place = answering(&[
        "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nLast-Modified: Mon, 02 Nov 2026 10:00:00 GMT\r\n\
         ETag: \"1\"\r\nConnection: close\r\n\r\nfile",
    ]);
    assert_eq!(place.read("name", MOST).unwrap().unwrap(), b"file");
}

#[test]
fn bucket_of_another_region_is_an_error() {
    let place = answering(&[
        "HTTP/1.1 301 Moved Permanently\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    ]);
    let (_, sentence) = refused(place.read("name", MOST));
    assert!(
        sentence.contains("incorrectly configured region"),
        "{sentence}"
    );
}

#[test]
fn http_without_encryption_must_be_allowed() {
    let variables = [
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let (_, sentence) = refused(with_variables("s3://bucket", variables.into()).list(""));
    assert!(sentence.contains("https"), "{sentence}");
}

#[test]
fn a_folder_with_too_many_files_is_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("a")).unwrap();
    for link in 0..=1 << 17 {
        std::os::unix::fs::symlink("x", folder.path().join(format!("a/{link}"))).unwrap();
    }
    let (why, sentence) = refused(place(folder.path()).list("a"));
    assert_eq!(why, FailureReason::TooMany, "{sentence}");
    assert!(sentence.contains("more than 131,072 files"), "{sentence}");
}
