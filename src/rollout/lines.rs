//! The physical lines of a rollout file, one at a time, from any reader: plain text, or Zstandard when the
//! first four bytes are its magic number (the name of the file plays no part).
//!
//! This is not a reader of records: it knows neither UTF-8 nor JSON, skips nothing, trims nothing, and cuts
//! at the byte LF only. A CR, a byte order mark, a U+2028 or a blank line comes out as it lies in the file.
//!
//! Memory is bounded whatever the input: about twice [`Caps::line_bytes`] for the line, and for compressed
//! input about twice [`Caps::zstd_window_bytes`] for what the decoder must look back on, and below 1 MiB.
//! Time is bounded by [`Caps::total_bytes`] and, for a small file that expands without end, [`Caps::expanded_bytes`].

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read, Take};

use ruzstd::decoding::errors::{FrameDecoderError, FrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use thiserror::Error;

const MAGIC_BYTES: usize = 4;
const ZSTD_MAGIC: [u8; MAGIC_BYTES] = [0x28, 0xB5, 0x2F, 0xFD];
const DECODED_CHUNK_BYTES: usize = 64 * 1024;

/// An empty raw block marked as the last one, and four bytes where a checksum may be expected.
///
/// The decoder keeps back one window of bytes until its frame ends. Of a frame that is cut, these are often
/// all there are; this block ends the frame, so that they come out.
const END_OF_CUT_FRAME: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Upper bounds of what is read, so that hostile input ends in an error and not in a machine without memory. A line of
/// small JSON values takes up to twelve times its length once it is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// The longest line in bytes, its LF not counted, a CR counted. Default: 96 MiB. A compaction line carries a whole
    /// history with its pictures, so tens of megabytes are to be expected.
    pub line_bytes: usize,
    /// All lines of a plain file together, in bytes, line ends counted. Default: 4 GiB.
    pub total_bytes: u64,
    /// All lines of a compressed file together, in bytes after decompression. Default: 512 MiB. A few kilobytes can
    /// expand without end.
    pub expanded_bytes: u64,
    /// The number of lines. Default: 4 million.
    pub lines: usize,
    /// What the lines may take in memory once they are loaded, in bytes by a rough reckoning that is rather too high.
    /// Default: 2 GiB. Small JSON values take many times their length.
    pub loaded_bytes: u64,
    /// The window in bytes which a Zstandard frame may ask for. Default: 128 MiB, what the reference decoder accepts
    /// unless it is told otherwise, hence what every usual compressor stays below.
    pub zstd_window_bytes: u64,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            line_bytes: 96 << 20,
            total_bytes: 4 << 30,
            expanded_bytes: 512 << 20,
            lines: 4_000_000,
            loaded_bytes: 2 << 30,
            zstd_window_bytes: 128 << 20,
        }
    }
}

/// One line as it lies in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhysicalLine<'a> {
    /// Its place in the file, counted from 1; blank lines count.
    pub number: usize,
    /// Its bytes without the LF; a CR before the LF stays.
    pub bytes: &'a [u8],
    /// False for a last line that has no LF. It may be whole or torn: that its bytes must tell.
    pub ended: bool,
}

/// Why no further line can be read. Line numbers count from 1, sizes are in bytes.
///
/// The messages carry their cause in their text, so none is given as `source`.
#[derive(Debug, Error)]
pub enum LinesError {
    /// The reader failed.
    #[error("cannot be read: {0}; check the file and the disk it lies on")]
    Io(io::Error),
    /// The compressed data are cut, damaged, or need what is not at hand (a dictionary).
    #[error("compressed, and not whole: {0}; check it with `zstd -t`, or take another copy")]
    Zstd(String),
    /// A line is longer than [`Caps::line_bytes`].
    #[error(
        "line {line} is longer than {cap} bytes, the cap `line_bytes`; take a copy of the file without it"
    )]
    LineTooLong {
        /// The line that was given up.
        line: usize,
        /// The cap it broke.
        cap: usize,
    },
    /// The lines together are longer than [`Caps::total_bytes`] or [`Caps::expanded_bytes`].
    #[error("the file is longer than {cap} bytes, the cap `{name}`; take a part of it")]
    TooLong {
        /// Which of the two caps was broken.
        name: &'static str,
        /// The cap that was broken.
        cap: u64,
    },
    /// There are more lines than [`Caps::lines`].
    #[error("the file has more than {cap} lines, the cap `lines`; take a part of it")]
    TooManyLines {
        /// The cap that was broken.
        cap: usize,
    },
    /// What was read so far takes more memory than [`Caps::loaded_bytes`].
    #[error(
        "line {line} and those before it take more than {cap} bytes of memory, the cap `loaded_bytes`; take a part of the file"
    )]
    TooHeavy {
        /// The line at which it was given up.
        line: usize,
        /// The cap that was broken.
        cap: u64,
    },
    /// A Zstandard frame asks for more than [`Caps::zstd_window_bytes`]; nothing of that size was allocated.
    #[error(
        "the file is compressed with a window of {window} bytes, more than {cap}, the cap \
         `zstd_window_bytes`; compress it again without `--ultra` and `--long`"
    )]
    WindowTooLarge {
        /// What the frame asks for.
        window: u64,
        /// The cap it broke.
        cap: u64,
    },
}

/// Reads the lines of one rollout file in order, into one buffer that is used again for each.
pub struct Lines<R> {
    input: Input<R>,
    caps: Caps,
    line: Vec<u8>,
    number: usize,
    total: u64,
    loaded: u64,
    over: bool,
}

impl<R: Read> Lines<R> {
    /// Looks at the first four bytes to tell plain from compressed. The reader need not be buffered.
    ///
    /// # Errors
    /// [`LinesError::Io`] if these bytes cannot be read. An empty input is no error: it has no lines.
    pub fn new(reader: R, caps: Caps) -> Result<Self, LinesError> {
        let mut reader = BufReader::new(reader);
        let mut start = [0; MAGIC_BYTES];
        let length = read_up_to(&mut reader, &mut start).map_err(LinesError::Io)?;
        let source = Cursor::new(start).take(count(length)).chain(reader);
        let compressed = length == MAGIC_BYTES && start == ZSTD_MAGIC;
        let input = if compressed {
            Input::Compressed(Box::new(Frames::new(source, caps.zstd_window_bytes)))
        } else {
            Input::Plain(source)
        };
        Ok(Self { input, caps, line: Vec::new(), number: 0, total: 0, loaded: 0, over: false })
    }

    /// The next line, or `None` at the end of the file.
    ///
    /// # Errors
    /// Any [`LinesError`]. Whole lines before the trouble have been given by then, a piece of a line has not.
    /// (Of damaged compressed data the last ones may stem from the damaged block.) After an error: `None`.
    pub fn next_line(&mut self) -> Result<Option<PhysicalLine<'_>>, LinesError> {
        if self.over {
            return Ok(None);
        }
        match self.fill_line() {
            Ok(true) => {}
            Ok(false) => {
                self.over = true;
                return Ok(None);
            }
            Err(error) => {
                self.over = true;
                self.line = Vec::new();
                return Err(error);
            }
        }
        let whole = self.line.as_slice();
        Ok(Some(match whole.strip_suffix(b"\n") {
            Some(bytes) => PhysicalLine { number: self.number, bytes, ended: true },
            None => PhysicalLine { number: self.number, bytes: whole, ended: false },
        }))
    }

    /// Counts the line that was read last as one that is kept in memory once it is loaded.
    ///
    /// # Errors
    /// [`LinesError::TooHeavy`] where all such lines together take more than [`Caps::loaded_bytes`].
    pub fn keep(&mut self) -> Result<(), LinesError> {
        self.loaded = self.loaded.saturating_add(loaded_bytes(&self.line));
        if self.loaded > self.caps.loaded_bytes {
            self.over = true;
            return Err(LinesError::TooHeavy { line: self.number, cap: self.caps.loaded_bytes });
        }
        Ok(())
    }

    /// Whether the input is Zstandard.
    pub fn compressed(&self) -> bool {
        matches!(self.input, Input::Compressed(_))
    }

    /// The cap on all lines together, with its name.
    fn total_cap(&self) -> (&'static str, u64) {
        if self.compressed() {
            ("expanded_bytes", self.caps.expanded_bytes)
        } else {
            ("total_bytes", self.caps.total_bytes)
        }
    }

    /// Puts the next line with its LF into the buffer; false at the end of the file.
    fn fill_line(&mut self) -> Result<bool, LinesError> {
        self.line.clear();
        // One byte more than each cap allows: room for the LF, and the proof that a cap is broken.
        let line_limit = count(self.caps.line_bytes).saturating_add(1);
        let (total_name, total_cap) = self.total_cap();
        let total_limit = total_cap.saturating_sub(self.total).saturating_add(1);
        let mut input = (&mut self.input).take(line_limit.min(total_limit));
        let length = input.read_until(b'\n', &mut self.line).map_err(unwrapped)?;
        if length == 0 {
            return Ok(false);
        }
        self.total = self.total.saturating_add(count(length));
        self.number = self.number.saturating_add(1);
        if self.total > total_cap {
            return Err(LinesError::TooLong { name: total_name, cap: total_cap });
        }
        if self.number > self.caps.lines {
            return Err(LinesError::TooManyLines { cap: self.caps.lines });
        }
        if length > self.caps.line_bytes && self.line.last() != Some(&b'\n') {
            return Err(LinesError::LineTooLong { line: self.number, cap: self.caps.line_bytes });
        }
        Ok(true)
    }
}

/// What a line and what is made of it take beside its text, in bytes: an item, its place, its repair.
const LOADED_LINE_BYTES: u64 = 512;

/// What a value, a key or a string takes beside its text, in bytes.
const LOADED_VALUE_BYTES: u64 = 32;

/// About what a line takes in memory once it is loaded: its text, and a share for each mark that parts two values.
fn loaded_bytes(line: &[u8]) -> u64 {
    let marks = line.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{' | b':')).count();
    count(line.len()) + LOADED_LINE_BYTES + LOADED_VALUE_BYTES * count(marks)
}

/// The bytes of the file, the first four of which were looked at and are put back before the rest.
type Source<R> = Chain<Take<Cursor<[u8; MAGIC_BYTES]>>, BufReader<R>>;

/// The decompressed bytes. Errors are `io::Error`s; those of decompression hold a [`LinesError`].
enum Input<R> {
    Plain(Source<R>),
    Compressed(Box<Frames<R>>),
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(source) => source.read(target),
            Self::Compressed(frames) => frames.read(target),
        }
    }
}

impl<R: Read> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::Plain(source) => source.fill_buf(),
            Self::Compressed(frames) => frames.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        match self {
            Self::Plain(source) => source.consume(amount),
            Self::Compressed(frames) => frames.consume(amount),
        }
    }
}

/// The content of Zstandard frames that stand in a row. Frames of the skippable kind have none.
struct Frames<R> {
    source: Watched<Source<R>>,
    decoder: FrameDecoder,
    window_cap: u64,
    in_frame: bool,
    /// How much of the present frame has come out.
    frame_bytes: u64,
    /// What ended the decoding, kept back until all that was decoded before has been given.
    failure: Option<LinesError>,
    decoded: Cursor<Vec<u8>>,
}

impl<R: Read> Frames<R> {
    fn new(source: Source<R>, window_cap: u64) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(window_cap);
        let source = Watched { inner: source, failure: None };
        Self {
            source,
            decoder,
            window_cap,
            in_frame: false,
            frame_bytes: 0,
            failure: None,
            decoded: Cursor::default(),
        }
    }

    /// Puts at least one decoded byte into the chunk, or leaves it empty at the end of the last frame.
    fn refill(&mut self) -> Result<(), LinesError> {
        loop {
            if self.take_from_decoder()? > 0 {
                return Ok(());
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            if self.in_frame && !self.decoder.is_finished() {
                self.decode_block();
            } else if self.in_frame {
                self.in_frame = false;
                self.check_frame()?;
            } else if !self.begin_frame()? {
                return Ok(());
            }
        }
    }

    /// Moves what the decoder lets go of into the chunk, and gives the number of bytes.
    fn take_from_decoder(&mut self) -> Result<usize, LinesError> {
        let mut chunk = std::mem::take(&mut self.decoded).into_inner();
        chunk.resize(DECODED_CHUNK_BYTES, 0);
        let length = self.decoder.read(&mut chunk).map_err(LinesError::Io)?;
        chunk.truncate(length);
        self.frame_bytes = self.frame_bytes.saturating_add(count(length));
        self.decoded = Cursor::new(chunk);
        Ok(length)
    }

    /// Decodes one block. If it fails, makes the decoder let go of all that came before it.
    fn decode_block(&mut self) {
        let one = BlockDecodingStrategy::UptoBlocks(1);
        let Err(error) = self.decoder.decode_blocks(&mut self.source, one) else { return };
        self.failure = Some(self.explain(error));
        // A failure here would only mean that less can be rescued; the first failure is the one to tell.
        let _ = self.decoder.decode_blocks(END_OF_CUT_FRAME.as_slice(), BlockDecodingStrategy::UptoBlocks(1));
    }

    /// Compares a whole frame with its stated checksum and length, as the reference decoder does and the one
    /// at hand does not. Either may be left out; a length of 0 is how this decoder says that it was.
    fn check_frame(&self) -> Result<(), LinesError> {
        let stated_length = self.decoder.content_size();
        if stated_length != 0 && stated_length != self.frame_bytes {
            return Err(LinesError::Zstd("a frame has another length than it states".to_owned()));
        }
        match self.decoder.get_checksum_from_data() {
            Some(stated) if self.decoder.get_calculated_checksum() != Some(stated) => {
                Err(LinesError::Zstd("the checksum does not fit the content".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Reads the head of a frame, or all of a skippable one; false if nothing follows.
    fn begin_frame(&mut self) -> Result<bool, LinesError> {
        let mut magic = [0; MAGIC_BYTES];
        let length = read_up_to(&mut self.source, &mut magic).map_err(LinesError::Io)?;
        if length == 0 {
            return Ok(false);
        }
        if length < MAGIC_BYTES {
            return Err(cut());
        }
        if is_skippable(magic) {
            self.skip_frame()?;
            return Ok(true);
        }
        if magic != ZSTD_MAGIC {
            return Err(LinesError::Zstd("other data follow after the compressed data".to_owned()));
        }
        let begun = self.decoder.reset(magic.as_slice().chain(&mut self.source));
        begun.map_err(|error| self.explain(error))?;
        self.in_frame = true;
        self.frame_bytes = 0;
        Ok(true)
    }

    fn skip_frame(&mut self) -> Result<(), LinesError> {
        let mut length = [0; 4];
        if read_up_to(&mut self.source, &mut length).map_err(LinesError::Io)? < length.len() {
            return Err(cut());
        }
        let length = u64::from(u32::from_le_bytes(length));
        let skipped = io::copy(&mut (&mut self.source).take(length), &mut io::sink());
        if skipped.map_err(LinesError::Io)? < length { Err(cut()) } else { Ok(()) }
    }

    /// Tells a failing disk, a cut file, a window over the cap and damaged data apart.
    fn explain(&mut self, error: FrameDecoderError) -> LinesError {
        if let Some(failure) = self.source.failure.take() {
            return LinesError::Io(failure);
        }
        let cap = self.window_cap;
        match error {
            FrameDecoderError::WindowSizeTooBig { requested: window, .. }
            | FrameDecoderError::FrameHeaderError(FrameHeaderError::WindowTooBig { got: window }) => {
                LinesError::WindowTooLarge { window, cap }
            }
            other if was_cut(&other) => cut(),
            other => LinesError::Zstd(other.to_string()),
        }
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let mut decoded = self.fill_buf()?;
        let length = decoded.read(target)?;
        self.consume(length);
        Ok(length)
    }
}

impl<R: Read> BufRead for Frames<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.decoded.fill_buf()?.is_empty() {
            self.refill().map_err(io::Error::other)?;
        }
        self.decoded.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.decoded.consume(amount);
    }
}

/// A reader that keeps the error it met: the decoder buries it, and a failing disk is not a damaged file.
struct Watched<S> {
    inner: S,
    failure: Option<io::Error>,
}

impl<S: Read> Read for Watched<S> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        self.inner.read(target).map_err(|error| {
            let kind = error.kind();
            // An interrupted read is tried again by the caller, so it is no failure.
            if kind != io::ErrorKind::Interrupted {
                self.failure = Some(error);
            }
            io::Error::from(kind)
        })
    }
}

/// Fills the target as far as the reader has bytes, and gives their number.
fn read_up_to(reader: &mut impl Read, target: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = target.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Frames for other programs' notes, to be passed over: 50 2A 4D 18 to 5F 2A 4D 18.
fn is_skippable(magic: [u8; MAGIC_BYTES]) -> bool {
    matches!(magic, [0x50..=0x5F, 0x2A, 0x4D, 0x18])
}

fn cut() -> LinesError {
    LinesError::Zstd("it ends in the middle of a frame".to_owned())
}

/// Whether the decoder failed because its input ended.
fn was_cut(error: &FrameDecoderError) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref().map(io::Error::kind) == Some(io::ErrorKind::UnexpectedEof) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Takes our own error out of the `io::Error` in which it travelled through `BufRead`.
fn unwrapped(error: io::Error) -> LinesError {
    error.downcast().unwrap_or_else(LinesError::Io)
}

/// Lengths are compared as `u64`, which holds every `usize` of today's machines.
fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    type Seen = Vec<(usize, Vec<u8>, bool)>;

    fn read_all<R: Read>(lines: &mut Lines<R>) -> (Seen, Option<LinesError>) {
        let mut seen = Vec::new();
        loop {
            match lines.next_line() {
                Ok(Some(line)) => seen.push((line.number, line.bytes.to_vec(), line.ended)),
                Ok(None) => return (seen, None),
                Err(error) => return (seen, Some(error)),
            }
        }
    }

    fn read_within(input: &[u8], caps: Caps) -> (Seen, Option<LinesError>) {
        read_all(&mut Lines::new(input, caps).unwrap())
    }

    fn lines_of(input: &[u8]) -> Seen {
        let (seen, error) = read_within(input, Caps::default());
        assert!(error.is_none(), "{error:?}");
        seen
    }

    fn line(number: usize, text: &str, ended: bool) -> (usize, Vec<u8>, bool) {
        (number, text.as_bytes().to_vec(), ended)
    }

    fn packed(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    /// A frame with a window of 128 KiB, of blocks that each say "this byte, 128 Ki times" in four bytes.
    fn bomb(byte: u8, blocks: u32) -> Vec<u8> {
        let mut frame = ZSTD_MAGIC.to_vec();
        frame.extend([0, 7 << 3]);
        for block in 1..=blocks {
            let head = ((128 * 1024) << 3) | (1 << 1) | u32::from(block == blocks);
            frame.extend(&head.to_le_bytes()[..3]);
            frame.push(byte);
        }
        frame
    }

    fn many_lines() -> Vec<u8> {
        (0..40_000)
            .map(|n| format!("{{\"n\":{n},\"x\":{}}}\n", n * 7919 % 10_007))
            .collect::<String>()
            .into_bytes()
    }

    /// A reader that gives one byte at a time, is interrupted before each, and fails at the end.
    struct Stutter<'a> {
        rest: &'a [u8],
        interrupted: bool,
        last: Option<io::ErrorKind>,
    }

    impl Read for Stutter<'_> {
        fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
            self.interrupted = !self.interrupted;
            if self.interrupted {
                return Err(io::ErrorKind::Interrupted.into());
            }
            match self.last {
                Some(kind) if self.rest.is_empty() => Err(kind.into()),
                _ => (&mut self.rest).take(1).read(target),
            }
        }
    }

    #[test]
    fn an_empty_input_has_no_lines() {
        assert_eq!(lines_of(b""), []);
        assert_eq!(lines_of(&packed(b"")), []);
    }

    #[test]
    fn each_lf_ends_a_line_also_an_empty_one() {
        assert_eq!(lines_of(b"\n"), [line(1, "", true)]);
        assert_eq!(lines_of(b"\n\na\n"), [line(1, "", true), line(2, "", true), line(3, "a", true)]);
    }

    #[test]
    fn a_cr_stays_and_does_not_end_a_line() {
        assert_eq!(lines_of(b"a\r\nb\rc\r\n"), [line(1, "a\r", true), line(2, "b\rc\r", true)]);
    }

    #[test]
    fn a_last_line_without_lf_is_given_and_marked() {
        assert_eq!(lines_of(b"a\nb"), [line(1, "a", true), line(2, "b", false)]);
        assert_eq!(lines_of(b"b"), [line(1, "b", false)]);
        assert_eq!(lines_of(&packed(b"a\nb")), [line(1, "a", true), line(2, "b", false)]);
    }

    #[test]
    fn other_line_separators_and_bytes_that_are_not_utf8_do_not_cut() {
        let text = "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f\u{feff}";
        assert_eq!(lines_of(format!("{text}\n").as_bytes()), [line(1, text, true)]);
        assert_eq!(lines_of(b"\xff\x00\xfe\n"), [(1, b"\xff\x00\xfe".to_vec(), true)]);
    }

    #[test]
    fn compressed_and_plain_input_give_the_same_lines() {
        let plain = many_lines();
        let compressed = packed(&plain);
        assert!(Lines::new(compressed.as_slice(), Caps::default()).unwrap().compressed());
        assert!(!Lines::new(plain.as_slice(), Caps::default()).unwrap().compressed());
        assert_eq!(lines_of(&compressed), lines_of(&plain));
    }

    #[test]
    fn a_magic_number_that_is_cut_is_plain_text() {
        assert_eq!(lines_of(&ZSTD_MAGIC[..3]), [(1, ZSTD_MAGIC[..3].to_vec(), false)]);
    }

    #[test]
    fn frames_in_a_row_are_one_text_and_skippable_ones_are_passed_over() {
        let skippable = [0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, b'x', b'\n', b'y'];
        let input =
            [&packed(b"a\nb"), &skippable[..], &packed(b"c\n"), &packed(b""), &skippable[..]].concat();
        assert_eq!(lines_of(&input), [line(1, "a", true), line(2, "bc", true)]);
    }

    #[test]
    fn other_data_after_the_frames_are_an_error_after_the_lines() {
        for tail in [&b"plain\n"[..], &b"{"[..], &[0x50, 0x2A, 0x4D, 0x18, 9, 0, 0, 0, 1][..]] {
            let (seen, error) = read_within(&[&packed(b"a\n"), tail].concat(), Caps::default());
            assert_eq!(seen, [line(1, "a", true)]);
            assert!(matches!(error, Some(LinesError::Zstd(_))), "{error:?}");
        }
    }

    #[test]
    fn a_cut_compressed_file_gives_its_whole_blocks_and_then_an_error() {
        let plain = many_lines();
        let compressed = packed(&plain);
        let all = lines_of(&plain);
        for cut in [5, 9, 100, compressed.len() / 2, compressed.len() - 5, compressed.len() - 1] {
            let (seen, error) = read_within(&compressed[..cut], Caps::default());
            assert_eq!(seen, all[..seen.len()]);
            assert!(matches!(error, Some(LinesError::Zstd(_))), "{cut}: {error:?}");
            if cut * 2 >= compressed.len() {
                assert!(seen.len() > all.len() / 4, "{cut}: only {}", seen.len());
            }
        }
    }

    #[test]
    fn a_frame_cut_far_within_its_window_gives_what_was_decoded() {
        let block = |text: &[u8; 2]| [&[2 << 3, 0, 0], &text[..]].concat();
        let window_of_a_mebibyte = [0, 10 << 3];
        for flags in [0, 1 << 2] {
            let mut input = [&ZSTD_MAGIC[..], &window_of_a_mebibyte, &block(b"a\n"), &block(b"b\n")].concat();
            input[4] = flags;
            for tail in [&b""[..], &[2 << 3], &[2 << 3, 0, 0], &[2 << 3, 0, 0, b'c'], &[3 << 1, 0, 0]] {
                let (seen, error) = read_within(&[&input, tail].concat(), Caps::default());
                assert_eq!(seen, [line(1, "a", true), line(2, "b", true)]);
                assert!(matches!(error, Some(LinesError::Zstd(_))), "{error:?}");
            }
        }
    }

    #[test]
    fn a_wrong_checksum_is_an_error() {
        let mut compressed = packed(b"a\nb\n");
        *compressed.last_mut().unwrap() ^= 1;
        let (seen, error) = read_within(&compressed, Caps::default());
        assert_eq!(seen, [line(1, "a", true), line(2, "b", true)]);
        assert!(error.unwrap().to_string().contains("checksum"));
    }

    #[test]
    fn a_frame_of_another_length_than_it_states_is_an_error() {
        let one_segment_of =
            |stated: u8| [&ZSTD_MAGIC[..], &[1 << 5, stated, 2 << 3 | 1, 0, 0, b'a', b'\n']].concat();
        assert_eq!(lines_of(&one_segment_of(2)), [line(1, "a", true)]);
        let (seen, error) = read_within(&one_segment_of(3), Caps::default());
        assert_eq!(seen, [line(1, "a", true)]);
        assert!(error.unwrap().to_string().contains("length"));
    }

    #[test]
    fn a_line_of_exactly_the_cap_is_read_and_one_byte_more_is_not() {
        let caps = Caps { line_bytes: 3, ..Caps::default() };
        assert_eq!(read_within(b"abc\nabc", caps).0, [line(1, "abc", true), line(2, "abc", false)]);
        for input in [&b"a\nabcd\ne\n"[..], b"a\nabcd", &packed(b"a\nabcd\n")] {
            let (seen, error) = read_within(input, caps);
            assert_eq!(seen, [line(1, "a", true)]);
            assert!(matches!(error, Some(LinesError::LineTooLong { line: 2, cap: 3 })), "{error:?}");
        }
    }

    #[test]
    fn the_total_cap_counts_line_ends_and_holds_exactly() {
        let caps = Caps { total_bytes: 4, ..Caps::default() };
        assert_eq!(read_within(b"a\nb\n", caps).0, [line(1, "a", true), line(2, "b", true)]);
        let (seen, error) = read_within(b"a\nb\nc", caps);
        assert_eq!(seen.len(), 2);
        assert!(matches!(error, Some(LinesError::TooLong { cap: 4, .. })), "{error:?}");
    }

    #[test]
    fn after_an_error_there_are_no_more_lines() {
        let caps = Caps { line_bytes: 1, ..Caps::default() };
        let mut lines = Lines::new(&b"abc\nd\n"[..], caps).unwrap();
        assert!(lines.next_line().is_err());
        assert_eq!(lines.next_line().unwrap(), None);
    }

    #[test]
    fn a_bomb_of_zeros_stops_at_the_line_cap_without_growing() {
        let caps = Caps { line_bytes: 1 << 20, ..Caps::default() };
        let mut lines = Lines::new(io::Cursor::new(bomb(0, 4000)), caps).unwrap();
        let error = lines.fill_line().unwrap_err();
        assert!(matches!(error, LinesError::LineTooLong { line: 1, cap: 0x10_0000 }), "{error:?}");
        assert_eq!(lines.total, (1 << 20) + 1);
        assert!(lines.line.capacity() <= 2 << 20, "{}", lines.line.capacity());
        let Input::Compressed(frames) = &lines.input else { panic!("it is compressed") };
        assert!(frames.decoder.blocks_decoded() <= 10, "of 4000: {}", frames.decoder.blocks_decoded());
    }

    #[test]
    fn a_bomb_of_line_ends_stops_at_the_total_cap() {
        let caps = Caps { expanded_bytes: 300_000, ..Caps::default() };
        let mut lines = Lines::new(io::Cursor::new(bomb(b'\n', 4000)), caps).unwrap();
        let mut read = 0;
        let error = loop {
            match lines.next_line() {
                Ok(Some(_)) => read += 1,
                Ok(None) => panic!("the bomb was read to its end"),
                Err(error) => break error,
            }
        };
        assert_eq!(read, 300_000);
        assert!(matches!(error, LinesError::TooLong { cap: 300_000, name: "expanded_bytes" }), "{error:?}");
        assert!(lines.line.capacity() < 1024);
    }

    #[test]
    fn a_window_over_the_cap_is_refused_by_name_before_it_is_allocated() {
        let one_segment_of_an_exbibyte =
            [&ZSTD_MAGIC[..], &[0b1110_0000], &(1_u64 << 60).to_le_bytes()[..], &[1, 0, 0]].concat();
        let windows_by_exponent =
            [18, 31].map(|exponent: u8| [&ZSTD_MAGIC[..], &[0, exponent << 3, 1, 0, 0]].concat());
        for input in windows_by_exponent.into_iter().chain([one_segment_of_an_exbibyte]) {
            let (seen, error) = read_within(&input, Caps::default());
            assert_eq!(seen, []);
            let error = error.unwrap();
            assert!(matches!(error, LinesError::WindowTooLarge { cap: 0x800_0000, .. }), "{error:?}");
            assert!(error.to_string().contains("134217728"));
        }
    }

    #[test]
    fn short_and_interrupted_reads_change_nothing() {
        let plain = b"ab\n\ncd".as_slice();
        for input in [plain, &packed(plain)] {
            let reader = Stutter { rest: input, interrupted: false, last: None };
            let (seen, error) = read_all(&mut Lines::new(reader, Caps::default()).unwrap());
            assert!(error.is_none(), "{error:?}");
            assert_eq!(seen, lines_of(plain));
        }
    }

    #[test]
    fn what_is_cut_and_what_is_damaged_are_told_apart() {
        let skippable = [0x50, 0x2A, 0x4D, 0x18, 9, 0, 0, 0, 1];
        for tail in [&ZSTD_MAGIC[..2], &skippable[..6], &skippable[..]] {
            let (seen, error) = read_within(&[&packed(b"a\n"), tail].concat(), Caps::default());
            assert_eq!(seen, [line(1, "a", true)]);
            assert!(error.unwrap().to_string().contains("ends in the middle of a frame"), "{tail:?}");
        }
        // A block of the type that is reserved.
        let damaged = [&ZSTD_MAGIC[..], &[0, 10 << 3], &[3 << 1, 0, 0]].concat();
        let error = read_within(&damaged, Caps::default()).1.unwrap();
        assert!(matches!(error, LinesError::Zstd(_)), "{error:?}");
        assert!(!error.to_string().contains("ends in the middle"), "{error}");
    }

    #[test]
    fn as_many_lines_as_the_cap_are_read_and_one_more_is_not() {
        let caps = Caps { lines: 2, ..Caps::default() };
        let (seen, error) = read_within(b"a\nb", caps);
        assert_eq!(seen, [line(1, "a", true), line(2, "b", false)]);
        assert!(error.is_none(), "{error:?}");
        let (seen, error) = read_within(b"a\nb\n\n", caps);
        assert_eq!(seen.len(), 2);
        assert!(matches!(error, Some(LinesError::TooManyLines { cap: 2 })), "{error:?}");
    }

    #[test]
    fn kept_lines_are_weighed_by_their_text_and_their_values() {
        let text = b"{\"a\":[1,2]}\n";
        let weight = text.len() as u64 + LOADED_LINE_BYTES + 4 * LOADED_VALUE_BYTES;
        let input = [&text[..], text, text].concat();
        let mut lines =
            Lines::new(input.as_slice(), Caps { loaded_bytes: 2 * weight, ..Caps::default() }).unwrap();
        for _ in 0..2 {
            assert!(lines.next_line().unwrap().is_some());
            lines.keep().expect("two lines are just as heavy as the cap");
        }
        assert!(lines.next_line().unwrap().is_some());
        let error = lines.keep().unwrap_err();
        assert!(matches!(error, LinesError::TooHeavy { line: 3, .. }), "{error:?}");
        assert_eq!(lines.next_line().unwrap(), None, "nothing comes after an error");
    }

    #[test]
    fn a_reader_that_fails_at_once_is_an_error_at_once() {
        let last = Some(io::ErrorKind::PermissionDenied);
        let error = Lines::new(Stutter { rest: b"ab", interrupted: false, last }, Caps::default()).err();
        assert!(matches!(error, Some(LinesError::Io(_))), "{error:?}");
    }

    #[test]
    fn a_failing_reader_is_told_apart_from_a_damaged_file() {
        let compressed = packed(b"a\nb\n");
        for input in [&b"a\nbcd"[..], &compressed[..compressed.len() - 6]] {
            let last = Some(io::ErrorKind::PermissionDenied);
            let reader = Stutter { rest: input, interrupted: false, last };
            let (_, error) = read_all(&mut Lines::new(reader, Caps::default()).unwrap());
            let Some(LinesError::Io(cause)) = error else { panic!("{error:?}") };
            assert_eq!(cause.kind(), io::ErrorKind::PermissionDenied);
        }
    }
}
