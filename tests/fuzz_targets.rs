//! What the fuzz targets run is run here too: on fixed inputs, on seeded random bytes, on drawn cases, on the committed seeds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use callpair::case::{Case, SavedCase, Step};
use callpair::fault::Slip;
use callpair::fuzzing::{
    CANARY, InputError, MOST_STEPS, Target, broken, canary, decode, encode, fault, mutated, spliced,
};
use callpair::generate::{Draw, Options, Seeded, case};
use callpair::subject::{Capabilities, Profile, Reference, Subject};
use std::path::Path;

const SEED: u64 = 11;
const OF_CASES: [Target; 3] = [Target::Normalizer, Target::Script, Target::Canary];
const THAT_HOLD: [Target; 4] = [Target::Normalizer, Target::Script, Target::Rollout, Target::Json];

/// Random bytes: choices, for a target that takes cases.
fn random_bytes(number: u64) -> Vec<u8> {
    let mut draw = Seeded::of_case(SEED, number);
    let length = draw.below(600);
    let mut bytes: Vec<u8> = (0..length).map(|_| draw.below(256) as u8).collect();
    if let Some(first) = bytes.first_mut() {
        *first &= 0x7f;
    }
    bytes
}

fn options(target: Target) -> Options {
    Options::for_subject(match target {
        Target::Normalizer => Capabilities { profile: Profile::Codex, ..Capabilities::stateless("n") },
        _ => Reference::new().capabilities(),
    })
}

fn drawn(target: Target, number: u64) -> Case {
    case(&mut Seeded::of_case(SEED, number), &options(target))
}

#[test]
fn random_bytes_break_nothing() {
    for number in 0..1_000 {
        let bytes = random_bytes(number);
        for target in THAT_HOLD {
            assert_eq!(target.run(&bytes), Ok(()), "{target}, {number}");
        }
    }
}

#[test]
fn bytes_that_look_like_what_a_target_reads_break_nothing() {
    let inputs: [&[u8]; 12] = [
        b"",
        b"\n\n",
        b"\xff",
        b"\xff{}",
        b"\xff\xfe",
        b"\xff{\"schema\":\"callpair.case/1\",\"steps\":[]}",
        b"{\"timestamp\":\"t\",\"type\":\"compacted\",\"payload\":{\"message\":\"x\"}}\n{\"times",
        b"[{\"type\":\"function_call\",\"name\":\"ls\",\"arguments\":\"{}\",\"call_id\":\"a\"}]",
        b"\x28\xb5\x2f\xfd",
        br#"{"\u0024serde_json::private::Number":"1.0","a":1e999,"a":-0}"#,
        br#"{"$serde_json::private::RawValue":"[1]"}"#,
        br#""\ud83d\ude00\u2028""#,
    ];
    for input in inputs {
        for target in THAT_HOLD {
            assert_eq!(target.run(input), Ok(()), "{target}, {}", String::from_utf8_lossy(input));
        }
    }
}

#[test]
fn the_canary_is_found_within_a_hundred_random_inputs() {
    let found = (0..100).filter_map(|number| canary(&random_bytes(number)).err()).collect::<Vec<_>>();
    assert!(found.len() >= 10, "{} of 100", found.len());
    assert!(found.iter().any(|how| how.starts_with("pairing/function-call: ")), "{found:#?}");
}

#[test]
fn a_planted_fault_is_told_by_the_laws_alone_and_the_honest_input_passes() {
    let input = encode(Target::Script, &drawn(Target::Script, 0)).unwrap();
    assert_eq!(Target::Script.run(&input), Ok(()));
    let found = (0..100).find_map(|number| fault(Slip::CustomOutputForShell, &random_bytes(number)).err());
    let found = found.expect("within 100 inputs");
    assert!(!found.contains("agreement/"), "{found}");
}

#[test]
fn every_drawn_case_is_encoded_and_decoded_to_itself() {
    for target in OF_CASES {
        for number in 0..500 {
            let case = drawn(target, number);
            let input = encode(target, &case).unwrap();
            assert_eq!(decode(target, &input).unwrap(), case, "{target}, {number}");
        }
    }
}

#[test]
fn choices_draw_what_the_generator_draws() {
    for number in 0..200 {
        let bytes = random_bytes(number);
        let mut choices = arbitrary::Unstructured::new(&bytes);
        assert_eq!(decode(Target::Script, &bytes).unwrap(), case(&mut choices, &options(Target::Script)));
    }
}

#[test]
fn the_normalizer_leaves_out_steps_that_need_a_record() {
    let mut case = drawn(Target::Normalizer, 3);
    let plain = case.clone();
    case.steps.splice(0..0, [Step::Resume, Step::Rollback(2), Step::Fork]);
    let input = encode(Target::Normalizer, &case).unwrap();
    assert_eq!(decode(Target::Normalizer, &input).unwrap(), plain);
    assert_eq!(broken(Target::Normalizer, &plain), Ok(Vec::new()));
}

#[test]
fn what_is_no_input_is_said_and_not_taken_for_something_else() {
    let short = drawn(Target::Script, 0);
    assert!(matches!(encode(Target::Json, &short), Err(InputError::NoCases(Target::Json))));
    assert!(matches!(decode(Target::Rollout, b""), Err(InputError::NoCases(Target::Rollout))));
    assert!(matches!(decode(Target::Script, b"\xff{}"), Err(InputError::Saved(_))));
    assert!(matches!(decode(Target::Script, b"\xff \xff"), Err(InputError::NotUtf8(1))));
    let long = Case { steps: vec![Step::Resume; MOST_STEPS + 1] };
    assert!(matches!(encode(Target::Script, &long), Err(InputError::TooLong { .. })));
}

#[test]
fn what_the_mutator_makes_is_an_input_within_its_bounds_that_breaks_nothing() {
    const MOST: usize = 4096;
    let mut input = random_bytes(0);
    let (mut saved, mut changed) = (0, 0);
    for seed in 0..1_500 {
        let Some(next) = mutated(Target::Script, &input, seed, MOST) else { continue };
        assert!(next.len() <= MOST);
        decode(Target::Script, &next).unwrap();
        assert_eq!(Target::Script.run(&next), Ok(()), "seed {seed}");
        saved += u32::from(next.first() == Some(&0xff));
        changed += u32::from(next != input);
        input = next;
    }
    assert!(saved > 300 && changed > 600, "{saved} saved, {changed} changed");
}

#[test]
fn the_mutator_is_the_same_for_a_seed_and_leaves_some_to_the_engine() {
    let input = encode(Target::Normalizer, &drawn(Target::Normalizer, 1)).unwrap();
    let make = |seed| mutated(Target::Normalizer, &input, seed, 4096);
    assert!((0..100).all(|seed| make(seed) == make(seed)));
    let left = (0..800).filter(|&seed| make(seed).is_none()).count();
    assert!((40..300).contains(&left), "{left} of 800");
    assert_eq!(mutated(Target::Json, b"{}", 0, 100), None);
}

#[test]
fn two_histories_are_spliced_to_one() {
    let front = encode(Target::Script, &drawn(Target::Script, 1)).unwrap();
    let back = random_bytes(5);
    let mut from_both = 0;
    for seed in 0..100 {
        let Some(joined) = spliced(Target::Script, &front, &back, seed, 65_536) else { continue };
        let joined = decode(Target::Script, &joined).unwrap();
        let of = |input: &[u8]| decode(Target::Script, input).unwrap();
        let (front, back) = (of(&front), of(&back));
        let known = |step: &Step| front.steps.contains(step) || back.steps.contains(step);
        assert!(joined.steps.iter().all(known));
        from_both += u32::from(joined != front && joined != back);
    }
    assert!(from_both > 20, "{from_both}");
    let bytes = spliced(Target::Script, b"abc", b"def", 3, 4).expect("choices are spliced as bytes");
    assert!(bytes.len() <= 4);
}

#[test]
fn the_committed_seeds_are_inputs_of_their_targets_and_break_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus-seed");
    for target in THAT_HOLD {
        let mut seeds = 0;
        for file in std::fs::read_dir(folder.join(target.as_str())).unwrap() {
            let input = std::fs::read(file.unwrap().path()).unwrap();
            assert_eq!(target.run(&input), Ok(()));
            if target.takes_cases() {
                decode(target, &input).unwrap();
            }
            seeds += 1;
        }
        assert!(seeds >= 3, "{target}: {seeds}");
    }
}

#[test]
fn the_canary_case_is_the_smallest_open_call() {
    let text = r#"{"schema":"callpair.case/1","steps":[{"record":[{"type":"function_call","name":"","arguments":"","call_id":"a"}]},{"project":["text"]}]}"#;
    let case = SavedCase::parse(text).unwrap().case;
    assert_eq!(CANARY.id(), "forget/function-call");
    let found = broken(Target::Canary, &case).unwrap();
    assert!(found.iter().any(|broken| broken.invariant == "pairing/function-call"), "{found:?}");
    assert_eq!(broken(Target::Script, &case), Ok(Vec::new()));
}
