//! How many small projections a second go through a pipe: to this program itself as the subject, which serves the reference,
//! and to one in Python, which serves with the helper and repairs nothing.
//!
//! `cargo bench --bench stdio`
//!
//! By the clock on the wall, since two programs work at a time: what else runs on the machine shows.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

#[cfg(unix)]
use callpair::case::{Outcome, Step};
#[cfg(unix)]
use callpair::generate::{self, Seeded};
#[cfg(unix)]
use callpair::subject::stdio::{self, Stdio};
#[cfg(unix)]
use callpair::subject::{Reference, Subject, serve};
#[cfg(unix)]
use std::time::{Duration, Instant};

/// The argument by which this program is the subject.
#[cfg(unix)]
const SERVE: &str = "--serve-the-reference";

#[cfg(unix)]
const MEASURED: Duration = Duration::from_secs(3);

#[cfg(unix)]
const PYTHON: &str = r#"
import sys
sys.path.insert(0, "clients/python")
import callpair_subject
callpair_subject.serve(lambda history, modalities: history, name="python", modalities=["text"])
"#;

#[cfg(unix)]
fn main() {
    if std::env::args().any(|argument| argument == SERVE) {
        serve(&mut Reference::new(), std::io::stdin().lock(), std::io::stdout().lock()).unwrap();
        return;
    }
    let itself = std::env::current_exe().unwrap().display().to_string();
    rate("compiled", vec![itself, SERVE.to_owned()]);
    rate("Python", ["python3", "-c", PYTHON].map(str::to_owned).to_vec());
}

#[cfg(unix)]
fn rate(name: &str, argv: Vec<String>) {
    let Ok(mut subject) = Stdio::start_argv(argv, stdio::Options::default()) else {
        println!("{name:<10} skipped: it cannot be started here");
        return;
    };
    let capabilities = subject.capabilities();
    let options = generate::Options::for_subject(capabilities.clone());
    let scripts: Vec<Vec<Step>> = (0..500)
        .map(|number| {
            generate::case(&mut Seeded::of_case(1, number), &options).script(&capabilities.modalities)
        })
        .collect();
    let projections_of =
        |script: &[Step]| script.iter().filter(|step| matches!(step, Step::Project(_))).count();
    let (mut projections, mut cases) = (0, 0);
    let start = Instant::now();
    for script in scripts.iter().cycle() {
        let failed = subject.run(script).into_iter().find(|outcome| matches!(outcome, Outcome::Failed(_)));
        assert_eq!(failed, None);
        projections += projections_of(script);
        cases += 1;
        if start.elapsed() >= MEASURED {
            break;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{name:<10} {:>8.0} projections/s {:>8.0} cases/s",
        projections as f64 / seconds,
        f64::from(cases) / seconds
    );
}

#[cfg(not(unix))]
fn main() {
    println!("subjects over stdin and stdout are driven on Unix only");
}
