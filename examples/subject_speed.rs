//! How many small projections a second a subject does over stdin and stdout: `subject_speed "COMMAND" [SECONDS]`.
//!
//! A case is what `callpair verify` draws by default for the subject: a few items, and scripts of about ten steps.

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use callpair::case::Step;
    use callpair::generate::{Options, Seeded, case};
    use callpair::subject::Subject;
    use callpair::subject::stdio::{self, Stdio};
    use std::time::{Duration, Instant};

    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().ok_or("usage: subject_speed \"COMMAND\" [SECONDS]")?;
    let seconds: u64 = arguments.next().map_or(Ok(3), |text| text.parse())?;

    let mut subject = Stdio::start(&command, stdio::Options::default())?;
    let capabilities = subject.capabilities();
    let options = Options::for_subject(capabilities.clone());
    let scripts: Vec<Vec<Step>> = (0..500)
        .map(|number| case(&mut Seeded::of_case(1, number), &options).script(&capabilities.modalities))
        .collect();
    let items: usize = scripts.iter().flatten().map(|step| step.items().len()).sum();
    println!("{} {}: {} items a case", capabilities.name, capabilities.version, items / scripts.len());

    let (start, mut projections, mut runs) = (Instant::now(), 0, 0);
    while start.elapsed() < Duration::from_secs(seconds) {
        for script in &scripts {
            let trace = subject.trace(script.clone());
            if let Some(failure) = trace.failure() {
                return Err(failure.to_string().into());
            }
            projections += script.iter().filter(|step| matches!(step, Step::Project(_))).count();
            runs += 1;
        }
    }
    let elapsed = start.elapsed().as_secs_f64();
    println!(
        "{:.0} projections and {:.0} cases a second",
        projections as f64 / elapsed,
        f64::from(runs) / elapsed
    );
    Ok(subject.shut_down()?)
}

#[cfg(not(unix))]
fn main() {
    eprintln!("subjects over stdin and stdout are driven on Unix only");
}
