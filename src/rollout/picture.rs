//! What the recorded program does with the URL of a picture when it loads a session: refuse it, send it, or
//! send it under a corrected media type.
//!
//! This is not a picture library and knows no items: it is one function from a URL and its level of detail to
//! a [`Verdict`], and a [`PictureCache`] in front of it. Pictures are decoded only to learn whether they decode.
//! They are never made smaller or written anew; where the program would do that, the verdict says so.
//!
//! A picture needs at most about 64 MiB of memory to decode (some decoders take as much again for their own
//! work), and beside that the bytes of its URL once more.

use std::collections::HashMap;
use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{ImageDecoder as _, ImageError, ImageFormat, ImageReader, Limits};
use sha2::{Digest as _, Sha256};

/// A picture of 389 KB was seen that decodes to 393 MB. This holds any that a model takes without making it
/// smaller: 10,000 patches of 32 x 32 pixels, 4 bytes each, are 39 MiB.
const DECODED_BYTES_CAP: u64 = 64 << 20;

/// A remembered verdict takes less than 100 bytes, so that a full cache stays below 10 MB.
const REMEMBERED_CAP: usize = 65_536;

/// Pictures are counted in squares of so many pixels a side.
const PATCH_SIDE: u32 = 32;

/// Why a picture can never be sent, whatever the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// A `data:` URL whose detail is `low`, also when it does not decode.
    LowDetail,
    /// An `http:` or `https:` address, whatever the detail.
    Remote,
    /// A `data:` URL that is not base64, or whose bytes are no PNG, JPEG, GIF or WebP that decodes.
    Undecodable,
}

impl Refusal {
    /// The text that the program sends at the place of the picture, byte for byte.
    pub fn text(self) -> &'static str {
        match self {
            Self::LowDetail => {
                "image content omitted because detail 'low' is not supported; use 'high', 'original', or 'auto'"
            }
            Self::Remote => "image content omitted because remote image URLs are not supported",
            Self::Undecodable => "image content omitted because it could not be processed",
        }
    }
}

/// What the recorded program would do to a picture and this crate leaves out. Sizes are in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reencoding {
    /// A GIF is sent as a PNG.
    Gif,
    /// A picture over the size limits is made smaller.
    Larger {
        /// Width as it is now.
        width: u32,
        /// Height as it is now.
        height: u32,
    },
    /// The picture needs more than 64 MiB to decode. It was not decoded, so it may also be damaged.
    TooLargeToDecode {
        /// Width by its head.
        width: u32,
        /// Height by its head.
        height: u32,
    },
}

/// What becomes of a picture's URL for a model that takes pictures.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It is sent as it is.
    Unchanged,
    /// It is sent as this URL: the same base64 behind the head that fits its content.
    HeadRewritten(String),
    /// It is not sent; [`Refusal::text`] stands in its place.
    Refused(Refusal),
    /// The program would send another picture. Here it passes as it is, and is to be reported.
    WouldBeReencoded(Reencoding),
}

/// Tells what becomes of the picture at `url`. `low_detail` and `original_detail` say whether its `detail` is
/// `low` or `original`; with both, `low` decides. Total: every text has a verdict.
pub fn examine(url: &str, low_detail: bool, original_detail: bool) -> Verdict {
    match address(url, low_detail) {
        Address::Settled(finding) => finding.verdict(url),
        Address::Data(data) => data_finding(data, original_detail).verdict(url),
    }
}

/// Remembers verdicts, so that a picture that stands in a history many times is decoded once.
///
/// Holds 32 bytes of hash and a few bytes of verdict for each `data:` URL, never the URL; at most 65,536 of
/// them (further ones are examined each time).
#[derive(Debug, Clone, Default)]
pub struct PictureCache {
    findings: HashMap<[u8; 32], Finding>,
}

impl PictureCache {
    /// A cache that remembers nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives what the function [`examine`] gives for the same arguments.
    pub fn examine(&mut self, url: &str, low_detail: bool, original_detail: bool) -> Verdict {
        let data = match address(url, low_detail) {
            Address::Settled(finding) => return finding.verdict(url),
            Address::Data(data) => data,
        };
        let key = content_hash(url, original_detail);
        if let Some(finding) = self.findings.get(&key) {
            return finding.verdict(url);
        }
        let finding = data_finding(data, original_detail);
        if self.findings.len() < REMEMBERED_CAP {
            self.findings.insert(key, finding);
        }
        finding.verdict(url)
    }
}

/// Low detail is not part of the key: it is settled before the cache is asked.
fn content_hash(url: &str, original_detail: bool) -> [u8; 32] {
    Sha256::new().chain_update([u8::from(original_detail)]).chain_update(url).finalize().into()
}

/// A verdict without the URL, hence small enough to be remembered by the thousand.
#[derive(Debug, Clone, Copy)]
enum Finding {
    Opaque,
    Sendable(Sendable),
    Refused(Refusal),
    WouldBeReencoded(Reencoding),
}

impl Finding {
    fn verdict(self, url: &str) -> Verdict {
        match self {
            Self::Opaque => Verdict::Unchanged,
            Self::Sendable(format) => with_right_head(url, format),
            Self::Refused(refusal) => Verdict::Refused(refusal),
            Self::WouldBeReencoded(reencoding) => Verdict::WouldBeReencoded(reencoding),
        }
    }
}

/// The formats that are sent as they are.
#[derive(Debug, Clone, Copy)]
enum Sendable {
    Png,
    Jpeg,
    WebP,
}

impl Sendable {
    fn head(self) -> &'static str {
        match self {
            Self::Png => "data:image/png;base64",
            Self::Jpeg => "data:image/jpeg;base64",
            Self::WebP => "data:image/webp;base64",
        }
    }
}

fn with_right_head(url: &str, format: Sendable) -> Verdict {
    match url.split_once(',') {
        Some((head, body)) if head != format.head() => {
            Verdict::HeadRewritten(format!("{},{body}", format.head()))
        }
        _ => Verdict::Unchanged,
    }
}

/// A URL by its scheme: decided without a look at its content, or data (what stands after `data:`).
enum Address<'a> {
    Settled(Finding),
    Data(&'a str),
}

fn address(url: &str, low_detail: bool) -> Address<'_> {
    if after_scheme(url, "http:").or_else(|| after_scheme(url, "https:")).is_some() {
        return Address::Settled(Finding::Refused(Refusal::Remote));
    }
    match after_scheme(url, "data:") {
        None => Address::Settled(Finding::Opaque),
        Some(_) if low_detail => Address::Settled(Finding::Refused(Refusal::LowDetail)),
        Some(data) => Address::Data(data),
    }
}

/// What follows the scheme, which counts in any case of letters, but only at the very start.
fn after_scheme<'a>(url: &'a str, scheme: &str) -> Option<&'a str> {
    let (start, rest) = url.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then_some(rest)
}

fn data_finding(data: &str, original_detail: bool) -> Finding {
    let undecodable = Finding::Refused(Refusal::Undecodable);
    let Some(bytes) = base64_content(data) else { return undecodable };
    let Ok(format) = image::guess_format(&bytes) else { return undecodable };
    let sendable = match format {
        ImageFormat::Png => Some(Sendable::Png),
        ImageFormat::Jpeg => Some(Sendable::Jpeg),
        ImageFormat::WebP => Some(Sendable::WebP),
        ImageFormat::Gif => None,
        // `image` knows the marks of some twenty formats; the program sends none of the others.
        _ => return undecodable,
    };
    match (decode(&bytes, format), sendable) {
        (Decoded::Not, _) => undecodable,
        (Decoded::TooLarge { width, height }, _) => {
            Finding::WouldBeReencoded(Reencoding::TooLargeToDecode { width, height })
        }
        (Decoded::Whole { .. }, None) => Finding::WouldBeReencoded(Reencoding::Gif),
        (Decoded::Whole { width, height }, Some(_)) if is_made_smaller(width, height, original_detail) => {
            Finding::WouldBeReencoded(Reencoding::Larger { width, height })
        }
        (Decoded::Whole { .. }, Some(format)) => Finding::Sendable(format),
    }
}

/// The bytes of a data URL, of which `data` is all but the scheme.
///
/// `base64` must be the last parameter, as RFC 2397 has it. Its letters count in any case, like those of the
/// scheme and as URL standards read it. The base64 itself is taken as it stands, without trimming, strictly.
fn base64_content(data: &str) -> Option<Vec<u8>> {
    let (head, body) = data.split_once(',')?;
    let (_, last_parameter) = head.rsplit_once(';')?;
    if !last_parameter.eq_ignore_ascii_case("base64") {
        return None;
    }
    STANDARD.decode(body).ok()
}

/// Whether a picture decodes, and its size in pixels.
enum Decoded {
    Whole { width: u32, height: u32 },
    TooLarge { width: u32, height: u32 },
    Not,
}

fn decode(bytes: &[u8], format: ImageFormat) -> Decoded {
    let (width, height) = match reader(bytes, format).into_decoder() {
        Ok(decoder) if decoder.total_bytes() > DECODED_BYTES_CAP => {
            let (width, height) = decoder.dimensions();
            return Decoded::TooLarge { width, height };
        }
        Ok(decoder) => decoder.dimensions(),
        Err(ImageError::Limits(_)) => return beyond_limits(bytes),
        Err(_) => return Decoded::Not,
    };
    match reader(bytes, format).decode() {
        Ok(_) => Decoded::Whole { width, height },
        Err(ImageError::Limits(_)) => Decoded::TooLarge { width, height },
        Err(_) => Decoded::Not,
    }
}

fn reader(bytes: &[u8], format: ImageFormat) -> ImageReader<Cursor<&[u8]>> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODED_BYTES_CAP);
    reader.limits(limits);
    reader
}

/// The PNG decoder refuses a picture of which one row alone is over the limit before it can tell the size,
/// but the size stands at a fixed place. The other decoders are made without limits, and do not come here.
fn beyond_limits(png: &[u8]) -> Decoded {
    let number_at = |start: usize| {
        let bytes = png.get(start..)?.first_chunk()?;
        Some(u32::from_be_bytes(*bytes))
    };
    match (number_at(16), number_at(20)) {
        (Some(width), Some(height)) => Decoded::TooLarge { width, height },
        _ => Decoded::Not,
    }
}

/// The limits of a side, 2048 and with detail `original` 6000, were seen. Those of patches are inferred: a
/// picture of 3000 x 3000 became 1600 x 1600, which is 50 x 50 patches; 10,000 for `original` follows no
/// observation.
fn is_made_smaller(width: u32, height: u32, original_detail: bool) -> bool {
    let (side_cap, patch_cap) = if original_detail { (6000, 10_000) } else { (2048, 2500) };
    let patches = u64::from(width.div_ceil(PATCH_SIDE)) * u64::from(height.div_ceil(PATCH_SIDE));
    width.max(height) > side_cap || patches > patch_cap
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{DynamicImage, GrayImage, RgbImage};

    const UNDECODABLE: Verdict = Verdict::Refused(Refusal::Undecodable);

    fn written(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let picture: DynamicImage = match format {
            ImageFormat::Png => GrayImage::new(width, height).into(),
            _ => RgbImage::new(width, height).into(),
        };
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    fn url(head: &str, bytes: &[u8]) -> String {
        format!("{head},{}", STANDARD.encode(bytes))
    }

    fn png_url(bytes: &[u8]) -> String {
        url("data:image/png;base64", bytes)
    }

    fn plain(url: &str) -> Verdict {
        examine(url, false, false)
    }

    fn larger(width: u32, height: u32) -> Verdict {
        Verdict::WouldBeReencoded(Reencoding::Larger { width, height })
    }

    fn too_large(width: u32, height: u32) -> Verdict {
        Verdict::WouldBeReencoded(Reencoding::TooLargeToDecode { width, height })
    }

    /// A PNG of one pixel whose head claims another size, with the checksum that fits.
    fn png_claiming(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = written(1, 1, ImageFormat::Png);
        bytes[16..20].copy_from_slice(&width.to_be_bytes());
        bytes[20..24].copy_from_slice(&height.to_be_bytes());
        let sum = bytes[12..29].iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xEDB8_8320 * (sum & 1)))
        });
        bytes[29..33].copy_from_slice(&(!sum).to_be_bytes());
        bytes
    }

    #[test]
    fn a_picture_under_its_own_media_type_passes_unchanged() {
        for (format, head) in [
            (ImageFormat::Png, "data:image/png;base64"),
            (ImageFormat::Jpeg, "data:image/jpeg;base64"),
            (ImageFormat::WebP, "data:image/webp;base64"),
        ] {
            assert_eq!(plain(&url(head, &written(3, 2, format))), Verdict::Unchanged, "{head}");
        }
    }

    #[test]
    fn a_head_that_does_not_fit_is_rewritten_and_the_body_kept() {
        for (format, head) in [
            (ImageFormat::Png, "data:image/png;base64"),
            (ImageFormat::Jpeg, "data:image/jpeg;base64"),
            (ImageFormat::WebP, "data:image/webp;base64"),
        ] {
            let bytes = written(3, 2, format);
            for wrong in [
                "data:image/gif;base64",
                "data:application/octet-stream;base64",
                "data:;base64",
                "DATA:image/png;base64",
                "data:image/png;name=a;base64",
                "data:image/png;Base64",
                "data:IMAGE/PNG;base64",
            ] {
                assert_eq!(plain(&url(wrong, &bytes)), Verdict::HeadRewritten(url(head, &bytes)), "{wrong}");
            }
        }
    }

    #[test]
    fn low_detail_refuses_every_data_url_before_it_is_looked_at() {
        let bytes = written(1, 1, ImageFormat::Png);
        for url in
            [png_url(&bytes), url("dAtA:image/png;base64", &bytes), "data:".into(), "data:x,***".into()]
        {
            assert_eq!(examine(&url, true, false), Verdict::Refused(Refusal::LowDetail), "{url}");
            assert_eq!(examine(&url, true, true), Verdict::Refused(Refusal::LowDetail), "{url}");
        }
    }

    #[test]
    fn a_remote_address_is_refused_whatever_the_detail() {
        for url in ["http://a.invalid/x.png", "https://a.invalid/x.png", "HTTPS://a", "hTTp:", "http:x"] {
            for (low, original) in [(false, false), (true, false), (false, true)] {
                assert_eq!(examine(url, low, original), Verdict::Refused(Refusal::Remote), "{url}");
            }
        }
    }

    #[test]
    fn other_schemes_pass_unchanged_also_with_low_detail() {
        for url in [
            "file:///a.png",
            "ftp://a",
            "sediment://f",
            "x",
            "",
            " data:image/png,x",
            " http://a",
            "\u{e9}data:",
            "data",
        ] {
            assert_eq!(examine(url, false, false), Verdict::Unchanged, "{url}");
            assert_eq!(examine(url, true, false), Verdict::Unchanged, "{url}");
        }
    }

    #[test]
    fn a_data_url_that_is_not_base64_is_refused() {
        let body = STANDARD.encode(written(1, 1, ImageFormat::Png));
        for url in [
            "data:".to_owned(),
            "data:image/png;base64,***".to_owned(),
            "data:image/png,abc".to_owned(),
            "data:image/png;base64".to_owned(),
            format!("data:image/png,{body}"),
            format!("data:base64,{body}"),
            format!("data:image/png;base64;name=a,{body}"),
            format!("data:image/png;base64, {body}"),
            format!("data:image/png;base64,{body}\n"),
            format!("data:image/png;base64,{}", &body[..body.len() - 1]),
        ] {
            assert_eq!(plain(&url), UNDECODABLE, "{url}");
        }
    }

    #[test]
    fn bytes_that_are_no_whole_picture_are_refused() {
        let png = written(40, 40, ImageFormat::Png);
        for bytes in [
            &[0, 0, 0][..],
            &png[..png.len() / 2],
            &png[..8],
            b"<svg xmlns='http://www.w3.org/2000/svg'/>",
            b"BM",
        ] {
            assert_eq!(plain(&png_url(bytes)), UNDECODABLE, "{bytes:?}");
        }
    }

    #[test]
    fn a_gif_would_be_reencoded_if_it_decodes() {
        let gif = written(2, 2, ImageFormat::Gif);
        let verdict = plain(&url("data:image/gif;base64", &gif));
        assert_eq!(verdict, Verdict::WouldBeReencoded(Reencoding::Gif));
        assert_eq!(plain(&url("data:image/gif;base64", &gif[..20])), UNDECODABLE);
    }

    #[test]
    fn a_side_over_the_limit_would_be_made_smaller() {
        let at = |width| png_url(&written(width, 1, ImageFormat::Png));
        assert_eq!(plain(&at(2048)), Verdict::Unchanged);
        assert_eq!(plain(&at(2049)), larger(2049, 1));
        assert_eq!(examine(&at(6000), false, true), Verdict::Unchanged);
        assert_eq!(examine(&at(6001), false, true), larger(6001, 1));
    }

    #[test]
    fn more_patches_than_the_limit_would_be_made_smaller() {
        assert!(!is_made_smaller(1600, 1600, false));
        assert!(is_made_smaller(1600, 1601, false));
        assert!(is_made_smaller(3000, 3000, false));
        assert!(!is_made_smaller(3200, 3200, true));
        assert!(is_made_smaller(3201, 3200, true));
        assert!(is_made_smaller(u32::MAX, u32::MAX, true));
    }

    #[test]
    fn a_larger_picture_under_a_wrong_head_is_reported_not_rewritten() {
        let bytes = written(2049, 1, ImageFormat::Png);
        assert_eq!(plain(&url("data:image/jpeg;base64", &bytes)), larger(2049, 1));
    }

    #[test]
    fn a_picture_that_needs_too_much_memory_is_told_by_its_head() {
        for (width, height) in [(8200, 8200), (1 << 30, 1), (1 << 30, 1 << 30), (1, 1 << 30)] {
            assert_eq!(plain(&png_url(&png_claiming(width, height))), too_large(width, height));
        }
        let mut gif = written(1, 1, ImageFormat::Gif);
        gif[6..10].fill(0xFF);
        assert_eq!(plain(&png_url(&gif)), too_large(65_535, 65_535));
    }

    #[test]
    fn a_small_head_over_missing_pixels_is_refused() {
        assert_eq!(plain(&png_url(&png_claiming(100, 100))), UNDECODABLE);
    }

    #[test]
    fn the_cache_gives_the_same_verdicts_and_decodes_a_picture_once_for_each_detail() {
        let png = written(2049, 1, ImageFormat::Png);
        let urls = [
            png_url(&png),
            url("data:x;base64", &written(1, 1, ImageFormat::Png)),
            "data:".into(),
            "x".into(),
        ];
        let mut cache = PictureCache::new();
        for _ in 0..2 {
            for url in &urls {
                for (low, original) in [(false, false), (true, false), (false, true)] {
                    assert_eq!(cache.examine(url, low, original), examine(url, low, original), "{url}");
                }
            }
        }
        assert_eq!(cache.findings.len(), 6);
    }
}
