//! Decompression of bodies within limits.

use crate::problem::Problem;
use axum::http::{HeaderMap, StatusCode, header};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use std::io::{self, BufReader, Read};
use sto_core::units::Bytes;

/// A way in which a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Gzip,
    Deflate,
    Zstd,
}

impl Encoding {
    /// The encoding in the headers; `None` if the body is not compressed.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Option<Encoding>, Problem> {
        let Some(named) = headers.get(header::CONTENT_ENCODING) else {
            return Ok(None);
        };
        let named = named.to_str().unwrap_or_default();
        Encoding::named(named)
    }

    /// The encoding with this name, as HTTP and gRPC write it; `None` for `identity`.
    pub(crate) fn named(name: &str) -> Result<Option<Encoding>, Problem> {
        match name.to_ascii_lowercase().as_str() {
            "identity" | "" => Ok(None),
            "gzip" | "x-gzip" => Ok(Some(Encoding::Gzip)),
            "deflate" => Ok(Some(Encoding::Deflate)),
            "zstd" => Ok(Some(Encoding::Zstd)),
            _ => Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the body's encoding is unknown; expected gzip, deflate, zstd or identity",
            )),
        }
    }
}

/// Decompresses bytes, up to a limit of the result.
pub(crate) fn decode(encoding: Encoding, bytes: &[u8], limit: Bytes) -> Result<Vec<u8>, Problem> {
    let read = |reader: &mut dyn Read| -> io::Result<Vec<u8>> {
        let mut decoded = Vec::new();
        reader.take(limit.0 + 1).read_to_end(&mut decoded)?;
        Ok(decoded)
    };
    let decoded = match encoding {
        Encoding::Gzip => read(&mut MultiGzDecoder::new(bytes)),
        Encoding::Deflate => read(&mut ZlibDecoder::new(bytes)),
        Encoding::Zstd => zstd_decoder(bytes).and_then(|mut decoder| read(&mut decoder)),
    };
    let decoded = decoded.map_err(|error| {
        Problem::bad_request(format!("the body cannot be decompressed: {error}"))
    })?;
    if decoded.len() as u64 > limit.0 {
        return Err(Problem::too_large("the body expands to more than", limit));
    }
    Ok(decoded)
}

/// A decoder whose window is at most 8 MiB, as RFC 9659 demands.
fn zstd_decoder(bytes: &[u8]) -> io::Result<zstd::Decoder<'static, BufReader<&[u8]>>> {
    let mut decoder = zstd::Decoder::new(bytes)?;
    decoder.window_log_max(23)?;
    Ok(decoder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    const LIMIT: Bytes = Bytes(1 << 20);

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_bomb_is_refused_at_the_limit() {
        let zeros = vec![0; (LIMIT.0 + 1) as usize];
        let bombs = [
            (Encoding::Gzip, gzip(&zeros)),
            (Encoding::Zstd, zstd::encode_all(&zeros[..], 3).unwrap()),
        ];
        for (encoding, bomb) in bombs {
            let problem = decode(encoding, &bomb, LIMIT).unwrap_err();
            assert_eq!(problem.status, 413, "{encoding:?}");
        }
        assert_eq!(
            decode(Encoding::Gzip, &gzip(&zeros[1..]), LIMIT).unwrap(),
            &zeros[1..]
        );
    }

    #[test]
    fn damaged_compression_is_the_senders_fault() {
        for encoding in [Encoding::Gzip, Encoding::Deflate, Encoding::Zstd] {
            assert_eq!(
                decode(encoding, b"no such thing", LIMIT)
                    .unwrap_err()
                    .status,
                400
            );
        }
    }
}
