//! Whatever a file holds, the command ends with exit 0, 1 or 2 and a message, in 4 GB of address space.
//!
//! The helper that runs the command checks the exit status and that no terminal escape comes out.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use base64::Engine as _;
use callpair::check::{Settings, check};
use callpair::history::ToolOutputLimit;
use callpair::item::Modalities;
use callpair::json::Json;
use callpair::report::check::{Format, Summary, reporter};
use callpair::rollout::Caps;
use callpair::source;
use common::{Outcome, callpair, rollouts};
use ruzstd::encoding::{CompressionLevel, compress};
use std::fs::{self, File};
use std::io::{self, Cursor, Read, Write};
use tempfile::TempDir;

const META: &str = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"11111111-1111-7111-8111-111111111111","timestamp":"t","cwd":"/w","originator":"test","cli_version":"0.144.6"}}"#;

/// The length of a line that is long for any reader, in bytes.
const LONG: usize = 60_000_000;

fn line(item: &str) -> String {
    format!(r#"{{"timestamp":"t","type":"response_item","payload":{item}}}"#) + "\n"
}

fn rollout(lines: &str) -> String {
    format!("{META}\n{lines}")
}

/// A file of its own in a folder of its own.
struct Hostile(TempDir);

impl Hostile {
    fn new(content: impl AsRef<[u8]>) -> Hostile {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("file"), content).expect("a file");
        Hostile(folder)
    }

    fn run(&self, args: &[&str]) -> Outcome {
        callpair(self.0.path(), args)
    }

    fn check(&self) -> Outcome {
        self.run(&["check", "file"])
    }

    fn project(&self) -> Outcome {
        self.run(&["project", "file", "--format", "json"])
    }

    /// The exit status of both commands, each with a message.
    fn codes(&self) -> (Option<i32>, Option<i32>) {
        let (check, project) = (self.check(), self.project());
        for outcome in [&check, &project] {
            assert!(!outcome.stdout.is_empty() || !outcome.stderr.is_empty());
        }
        (check.code, project.code)
    }
}

#[test]
fn an_empty_file_cannot_be_told() {
    for content in ["", "\n", " \r\n\t\n", "\u{feff}"] {
        assert_eq!(Hostile::new(content).codes(), (Some(2), Some(2)), "{content:?}");
    }
}

#[test]
fn bytes_that_are_no_text_are_a_finding_of_a_rollout_and_the_end_of_an_array() {
    let mut bytes = rollout("").into_bytes();
    bytes.extend_from_slice(b"\xff\xfe\x00\n");
    let file = Hostile::new(&bytes);
    assert_eq!(file.codes(), (Some(1), Some(2)));
    assert!(file.check().stdout.contains("line 2: not UTF-8 at byte 0"));
    assert!(file.project().stderr.contains("line 2"));
    assert_eq!(Hostile::new(b"\xff\xd8\xff\xe0\x00\x10JFIF").codes(), (Some(2), Some(2)));
    let array = Hostile::new(b"[\n{\"type\":\"message\",\"role\":\"\xff\",\"content\":[]}]");
    assert_eq!(array.codes(), (Some(2), Some(2)));
    assert!(array.check().stderr.contains("line 2: not UTF-8 at byte 28"), "{}", array.check().stderr);
}

#[test]
fn two_hundred_thousand_levels_cost_no_stack() {
    const LEVELS: usize = 200_000;
    let lists = "[".repeat(LEVELS) + &"]".repeat(LEVELS);
    let objects = |key: &str| format!("{{\"{key}\":[").repeat(LEVELS) + "0" + &"]}".repeat(LEVELS);
    for content in [lists.clone(), "[".repeat(LEVELS), "{\"a\":".repeat(LEVELS)] {
        assert_eq!(Hostile::new(content).codes(), (Some(2), Some(2)));
    }
    for key in ["content", "messages", "payload", "a"] {
        assert_eq!(Hostile::new(objects(key)).codes(), (Some(2), Some(2)), "{key}");
    }
    let inside = line(&format!(r#"{{"type":"tool_search_call","execution":"client","arguments":{lists}}}"#));
    let file = Hostile::new(rollout(&inside));
    assert_eq!(file.codes(), (Some(0), Some(0)));
    assert!(file.check().stdout.contains("nested too deep"));
    assert_eq!(Hostile::new(format!("{{\"input\":{lists}}}")).codes(), (Some(0), Some(0)));
}

#[test]
fn a_line_of_60_mb_that_is_one_string_is_read() {
    let call =
        format!(r#"{{"type":"function_call","name":"f","arguments":"{}","call_id":"a"}}"#, "x".repeat(LONG));
    assert_eq!(Hostile::new(rollout(&line(&call))).codes(), (Some(1), Some(0)));
    assert_eq!(Hostile::new(format!("[{call}]")).codes(), (Some(1), Some(0)));
}

#[test]
fn a_line_of_60_mb_of_zeros_is_read() {
    let zeros = "0,".repeat(LONG / 2);
    let call = format!(r#"{{"type":"tool_search_call","execution":"client","arguments":[{zeros}0]}}"#);
    assert_eq!(Hostile::new(rollout(&line(&call))).check().code, Some(0));
    assert_eq!(Hostile::new(format!("[{zeros}0]")).check().code, Some(2));
}

#[test]
fn a_line_of_60_mb_that_says_nothing_cannot_be_told() {
    for piece in ["x", " ", "\"", "{", "[\"", "\\"] {
        let content = piece.repeat(LONG / piece.len());
        assert_eq!(Hostile::new(content).check().code, Some(2), "{piece:?}");
    }
}

#[test]
fn lines_that_take_too_much_memory_together_are_refused_by_name() {
    let zeros = "0,".repeat(5_000_000);
    let call = format!(r#"{{"type":"tool_search_call","execution":"client","arguments":[{zeros}0]}}"#);
    let file = Hostile::new(rollout(&line(&call).repeat(16)));
    let outcome = file.check();
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("the cap `loaded_bytes`"), "{}", outcome.stderr);
}

#[test]
fn ids_of_5_mb_are_shortened_for_people_and_whole_for_programs() {
    let (id, call_id) = ("i".repeat(5_000_000), "c".repeat(5_000_000));
    let call =
        format!(r#"{{"type":"function_call","id":"{id}","name":"f","arguments":"","call_id":"{call_id}"}}"#);
    let file = Hostile::new(rollout(&line(&call)));
    assert!(file.check().stdout.len() < 2000);
    let json = file.run(&["check", "file", "--format", "json"]);
    assert_eq!(json.stdout.matches(&call_id).count(), 2, "the call id and its repair");
    assert_eq!(file.project().code, Some(0));
}

#[test]
fn a_hundred_thousand_unanswered_calls_are_all_found() {
    let call = |n: usize| {
        line(&format!(
            r#"{{"type":"function_call","id":"fc_{n}","name":"f","arguments":"","call_id":"c{n}"}}"#
        ))
    };
    let file = Hostile::new(rollout(&(0..100_000).map(call).collect::<String>()));
    assert_eq!(file.codes(), (Some(1), Some(0)));
    assert!(
        file.check()
            .stdout
            .ends_with("FAIL: 100,000 errors, 0 warnings, 0 notes in 1 file with 100,000 items\n")
    );
}

/// A text over and over again, without the memory for it.
struct Again<'a> {
    text: &'a [u8],
    at: usize,
}

impl Read for Again<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let rest = &self.text[self.at..];
        let length = rest.len().min(target.len());
        target[..length].copy_from_slice(&rest[..length]);
        self.at = (self.at + length) % self.text.len();
        Ok(length)
    }
}

fn compressed(content: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    compress(content, &mut bytes, CompressionLevel::Fastest);
    bytes
}

#[test]
fn a_zstd_bomb_is_refused_by_name() {
    let zeros = compressed(io::repeat(0).take(700 << 20));
    assert!(zeros.len() < 1 << 20, "a bomb is small");
    let file = Hostile::new(&zeros);
    assert_eq!(file.codes(), (Some(2), Some(2)));
    assert!(file.check().stderr.contains("the cap `line_bytes`"));

    let item = line(r#"{"type":"function_call","name":"f","arguments":"","call_id":"a"}"#).repeat(1000);
    let meta = rollout("");
    let items = meta.as_bytes().chain(Again { text: item.as_bytes(), at: 0 }.take(700 << 20));
    let outcome = Hostile::new(compressed(items)).check();
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("the cap `"), "{}", outcome.stderr);
}

#[test]
fn a_torn_zstd_file_is_refused() {
    let whole = fs::read(rollouts().join("v0.144.6-compressed-killed.jsonl.zst")).expect("a session");
    for length in [4, 5, 100, whole.len() / 2, whole.len() - 1] {
        let file = Hostile::new(&whole[..length]);
        assert_eq!(file.codes(), (Some(2), Some(2)), "{length} bytes");
    }
}

#[test]
fn the_magic_keys_of_serde_json_are_no_magic_here() {
    for key in ["$serde_json::private::Number", "$serde_json::private::RawValue"] {
        for value in [r#""5""#, r#""""#, "{}", r#""[1""#] {
            let magic = format!(r#"{{"{key}":{value}}}"#);
            let call = format!(
                r#"{{"type":"tool_search_call","execution":"client","arguments":{magic},"{key}":{value}}}"#
            );
            let (check, project) = Hostile::new(rollout(&line(&call))).codes();
            assert!(check < Some(2) && project == Some(0), "{magic}");
            let (check, project) = Hostile::new(format!("[{call},{magic}]")).codes();
            assert!(check < Some(2) && project == Some(0), "{magic}");
            assert_eq!(Hostile::new(magic).check().code, Some(2));
        }
    }
}

/// Bits, lowest first, as deflate packs them.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    /// Appends the `count` lowest bits of `code`, the highest of them first.
    fn push(&mut self, code: u32, count: u32) {
        for bit in (0..count).rev() {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let set = u8::try_from((code >> bit) & 1).expect("a bit") << (self.used % 8);
            *self.bytes.last_mut().expect("a byte") |= set;
            self.used += 1;
        }
    }
}

/// A chunk of a PNG: length, name, content, checksum.
fn chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let checked = [name.as_slice(), content].concat();
    let crc = checked.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & 0_u32.wrapping_sub(crc & 1)))
    });
    let length = u32::try_from(content.len()).expect("a small chunk");
    [&length.to_be_bytes()[..], &checked, &(!crc).to_be_bytes()].concat()
}

/// A whole, black picture that takes `side` times `side` bytes to decode.
fn black_png(side: u32) -> Vec<u8> {
    let total = side * (side + 1);
    let mut bits = Bits::default();
    bits.push(0b110, 3); // the last block, fixed codes
    bits.push(0b0011_0000, 8); // a zero
    for _ in 0..(total - 1) / 258 {
        bits.push(0b1100_0101, 8); // 258 more like
        bits.push(0, 5); // the byte before
    }
    for _ in 0..(total - 1) % 258 {
        bits.push(0b0011_0000, 8);
    }
    bits.push(0, 7); // the end
    let adler = (total % 65_521) << 16 | 1;
    let data = [&[0x78, 0x01][..], &bits.bytes, &adler.to_be_bytes()].concat();
    let head = [&side.to_be_bytes()[..], &side.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    [&b"\x89PNG\r\n\x1a\n"[..], &chunk(b"IHDR", &head), &chunk(b"IDAT", &data), &chunk(b"IEND", &[])].concat()
}

fn picture(png: &[u8]) -> String {
    let body = base64::engine::general_purpose::STANDARD.encode(png);
    line(&format!(
        r#"{{"type":"message","role":"user","content":[{{"type":"input_image","image_url":"data:image/png;base64,{body}"}}]}}"#
    ))
}

#[test]
fn a_picture_that_decodes_to_a_gigabyte_is_told_by_its_head() {
    let bomb = picture(&black_png(32_768));
    assert!(bomb.len() < 10 << 20, "a bomb is small");
    let file = Hostile::new(rollout(&bomb.repeat(3)));
    assert_eq!(file.codes(), (Some(0), Some(0)));
    assert!(file.check().stdout.contains("32768 x 32768 takes over 64 MiB to decode"));
    let small = Hostile::new(rollout(&picture(&black_png(100)))).check();
    assert!(
        !small.stdout.contains("  note"),
        "a small one of the same make is a good picture: {}",
        small.stdout
    );
}

#[test]
fn terminal_escapes_in_names_ids_and_roles_stay_in_the_file() {
    let escapes = r"\u001b[31m\u009b32m\u0007\u202e";
    let items = [
        format!(
            r#"{{"type":"function_call","id":"{escapes}","name":"{escapes}","arguments":"{escapes}","call_id":"{escapes}"}}"#
        ),
        format!(r#"{{"type":"custom_tool_call_output","call_id":"{escapes}2","output":"{escapes}"}}"#),
        format!(
            r#"{{"type":"message","role":"{escapes}","content":[{{"type":"input_text","text":"{escapes}"}}]}}"#
        ),
        format!(r#"{{"type":"{escapes}"}}"#),
        format!(r#"{{"type":"message","role":"user","content":[],"phase":"{escapes}"}}"#),
        format!(r#"{{"type":"message","role":"user","content":[{{"type":"{escapes}"}}]}}"#),
    ];
    let lines: String = items.iter().map(|item| line(item)).collect();
    let foreign = line(&items[0]).replace("response_item", escapes);
    let version = META.replace("0.144.6", escapes);
    let array = format!("[{}]", items.join(","));
    for content in [format!("{version}\n{lines}{foreign}"), array.clone()] {
        let file = Hostile::new(content);
        for format in ["human", "json", "sarif", "junit"] {
            for show in [&[][..], &["--show-content"]] {
                let args = [&["check", "file", "--format", format], show].concat();
                assert_harmless(&file.run(&args).stdout);
            }
        }
        for args in [&["project", "file"][..], &["project", "file", "--show-content"]] {
            assert_harmless(&file.run(args).stdout);
        }
    }
}

/// No control character but line ends, and in what people read no invisible ones.
fn assert_harmless(text: &str) {
    let bad = text.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(bad, None, "{}", text.escape_debug());
}

#[cfg(unix)]
#[test]
fn terminal_escapes_in_the_name_of_a_file_are_not_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = "\u{1b}]0;title\u{7}.jsonl";
    fs::write(folder.path().join(name), "[]").expect("a file");
    for args in [["check", "."], ["check", name], ["project", name], ["check", "\u{1b}[31m"]] {
        let outcome = callpair(folder.path(), &args);
        assert_harmless(&outcome.stdout);
        assert_harmless(&outcome.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_device_without_end_and_a_folder_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in ["/dev/zero", "/dev/null", "."] {
        let outcome = callpair(folder.path(), &["project", path]);
        assert_eq!(outcome.code, Some(2), "{path}");
        assert!(outcome.stderr.starts_with("error: "), "{path}: {}", outcome.stderr);
    }
}

#[test]
fn an_array_of_a_million_broken_items_is_counted_and_bounded() {
    let broken = r#"{"type":"function_call"},"#.repeat(1_000_000);
    let outcome = Hostile::new(format!("[{broken}7]")).check();
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.contains("999001 more items do not load"));
    assert!(outcome.stdout.len() < 1_000_000);
}

/// A generator of numbers that gives the same ones each time (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below as u64).expect("below a usize")
    }
}

/// Tears, flips, doubles, drops and moves bytes.
fn mutate(bytes: &mut Vec<u8>, numbers: &mut Numbers) {
    for _ in 0..=numbers.next(4) {
        if bytes.is_empty() {
            return;
        }
        let at = numbers.next(bytes.len());
        match numbers.next(6) {
            0 => bytes.truncate(at),
            1 => bytes[at] ^= 1 << numbers.next(8),
            2 => bytes[at] = u8::try_from(numbers.next(256)).expect("a byte"),
            3 => drop(bytes.drain(at..(at + numbers.next(200)).min(bytes.len()))),
            4 => {
                let piece = bytes[at..(at + numbers.next(200)).min(bytes.len())].to_vec();
                let to = numbers.next(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => bytes.insert(at, b"\n{}[]\",\\\x00\xff"[numbers.next(10)]),
        }
    }
}

/// Reads, checks and reports in memory; whether that much was possible.
fn survives(bytes: &[u8]) -> bool {
    let Ok(source) = source::read(&mut Cursor::new(bytes), None, Caps::default()) else { return false };
    let settings = Settings { modalities: Modalities::Text, limit: ToolOutputLimit::Bytes(50) };
    let checked = check(source, settings);
    let mut summary = Summary::default();
    summary.add(&checked);
    assert_eq!(summary.findings.total(), checked.findings().count());
    for format in [Format::Human, Format::Json, Format::Sarif, Format::Junit] {
        let mut out = Vec::new();
        {
            let mut report = reporter(format, &mut out, true);
            report.file("file", &checked).expect("a vector");
            report.end(&summary).expect("a vector");
        }
        let text = String::from_utf8(out).expect("a report is text");
        if matches!(format, Format::Json | Format::Sarif) {
            Json::parse(&text).expect("a report is JSON");
        }
    }
    true
}

#[test]
fn torn_and_flipped_bytes_are_survived() {
    let names = ["injected-orphans.jsonl", "web-search-and-tool-search.jsonl", "image-viewed.input.json"];
    let sessions: Vec<Vec<u8>> =
        names.iter().map(|name| fs::read(rollouts().join(name)).expect("a session")).collect();
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let mut told = 0;
    for _ in 0..600 {
        let mut bytes = sessions[numbers.next(sessions.len())].clone();
        mutate(&mut bytes, &mut numbers);
        told += usize::from(survives(&bytes));
    }
    assert!((300..600).contains(&told), "{told} of 600: the mutations are neither idle nor hopeless");
}

#[test]
fn the_command_survives_torn_and_flipped_bytes() {
    let session = fs::read(rollouts().join("killed-then-resumed.jsonl")).expect("a session");
    let mut numbers = Numbers(7);
    let file = Hostile::new("");
    for _ in 0..40 {
        let mut bytes = session.clone();
        mutate(&mut bytes, &mut numbers);
        File::create(file.0.path().join("file")).and_then(|mut f| f.write_all(&bytes)).expect("a file");
        file.codes();
    }
}
