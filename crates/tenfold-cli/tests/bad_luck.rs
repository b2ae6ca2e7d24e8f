//! Bad luck: full disks, closed pipes, signals, files that change while they are read. Nothing is half-written, and what went wrong is
//! told with what to do.
#![cfg(unix)]

mod support;

use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};
use support::{Place, noise, npy};

/// A model of every application, and the commands that print something about one.
fn models(place: &Place) -> Vec<String> {
    place.write("notes.txt", "planet star orbit rocket moon\ngoal team match player ball\n".repeat(60));
    place.ok("topics fit notes.txt -k 2 -o t.tenfold");
    place.ok("generate communities --nodes 120 --degree 12 -k 3 -o g.txt");
    place.ok("communities fit g.txt -k 3 -o c.tenfold");
    place.ok("generate motifs --windows 300 --samples 24 -L 2 --length 5 -o X.npy");
    place.ok("motifs fit X.npy -L 2 --length 5 -o m.tenfold");
    place.ok("sentences fit notes.txt --min-count 1 --features mean -o s.tenfold");
    place.ok("generate trees --variables 6 --samples 600 -o T.csv");
    place.ok("trees fit T.csv --bootstrap 0 -o r.tenfold");
    place.ok("generate cells --types 2 --genes 20 --cells 1500 --no-images -o t");
    place.ok("cells fit t/truth.csv -k 2 -o l.tenfold");
    place.ok("generate ica --samples 900 --columns 3 -o S.npy");
    place.ok("ica fit S.npy -k 3 -o i.tenfold");
    let show = "topics show t.tenfold,communities show c.tenfold,motifs show m.tenfold,sentences show s.tenfold,\
                trees show r.tenfold,cells show l.tenfold,ica show i.tenfold,trees export r.tenfold --format newick,\
                topics evaluate t.tenfold notes.txt,completions bash,--help,topics fit --help,\
                devices,topics fit notes.txt -k 2 -o again.tenfold,report t.tenfold -o page.html";
    show.split(',').map(|command| command.trim().to_owned()).collect()
}

#[test]
fn a_reader_that_goes_away_is_no_error_anywhere() {
    let place = Place::new();
    for arguments in models(&place) {
        let tried = place.run(&arguments);
        for json in ["", " --json"] {
            let arguments = format!("{arguments}{json}");
            let mut child =
                place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            drop(child.stdout.take());
            let mut told = String::new();
            child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
            let code = child.wait().unwrap().code();
            assert!(!told.contains("panicked") && !told.contains("Broken pipe"), "{arguments}: {told}");
            assert_eq!(code, Some(if tried.code == 0 { 0 } else { tried.code }), "{arguments}: {told}");
        }
        // Nobody reads what goes to standard error either: notes are for people, and the work is done all the same.
        let mut child = place
            .command(&format!("{arguments} -v"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stderr.take());
        assert_eq!(child.wait().unwrap().code(), Some(tried.code), "{arguments} -v, standard error closed");
        // A full disk behind standard output is an error, and is told.
        let full = File::options().write(true).open("/dev/full");
        if let (Ok(full), true) =
            (full, tried.code == 0 && !tried.out.is_empty() && !arguments.contains("--help"))
        {
            let child = place.command(&arguments).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
            let output = child.wait_with_output().unwrap();
            let told = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{arguments}: {told}");
            assert!(told.contains("standard output cannot be written") && told.contains("room"), "{told}");
        }
    }
}

/// Runs the command where no file may grow beyond so many blocks of 512 bytes, as on a full disk.
fn squeezed(place: &Place, blocks: usize, arguments: &str) -> (i32, String) {
    let program = env!("CARGO_BIN_EXE_tenfold");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {program} {arguments}");
    let output = Command::new("sh").args(["-c", &script]).current_dir(place.path("")).output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_disk_without_room_leaves_the_old_file() {
    let place = Place::new();
    let _ = models(&place);
    for (arguments, output) in [
        ("topics fit notes.txt -k 2 -o old", "old"),
        ("communities fit g.txt -k 3 -o old", "old"),
        ("motifs fit X.npy -L 2 --length 5 -o old", "old"),
        ("sentences fit notes.txt --min-count 1 --features mean -o old", "old"),
        ("trees fit T.csv --bootstrap 0 -o old", "old"),
        ("cells fit t/truth.csv -k 2 -o old", "old"),
        ("ica fit S.npy -k 3 -o old", "old"),
        ("ica infer i.tenfold S.npy -o old.csv", "old.csv"),
        ("topics infer t.tenfold notes.txt -o old.csv", "old.csv"),
        ("report t.tenfold -o old.html", "old.html"),
        ("generate ica --samples 900 --columns 3 -o old.csv", "old.csv"),
    ] {
        place.write(output, "what was there");
        let files = place.files();
        let (code, told) = squeezed(&place, 1, arguments);
        assert_eq!(code, 1, "{arguments}: {told}");
        assert!(told.contains(&format!("{output} cannot be written")), "{arguments}: {told}");
        assert!(told.contains("has room") && !told.contains(".tenfold-part-"), "{arguments}: {told}");
        assert_eq!(place.text(output), "what was there", "{arguments}");
        assert_eq!(place.files(), files, "{arguments}");
    }
    // Where the model has room and its checkpoint has not, the fit goes on without.
    place.ok("generate communities --nodes 9000 --degree 24 -k 8 -o large.txt");
    let (code, told) =
        squeezed(&place, 3000, "communities fit large.txt -k 8 --checkpoint kept -o large.tenfold");
    assert!(code == 0 || told.contains("large.tenfold cannot be written"), "{code}: {told}");
    let (code, told) =
        squeezed(&place, 0, "communities fit large.txt -k 8 --checkpoint kept -o large.tenfold");
    assert!(code == 1 && told.contains("cannot be written"), "{code}: {told}");
}

#[test]
fn a_place_that_takes_no_file_is_told_before_the_work() {
    let place = Place::new();
    place.write("notes.txt", "planet star orbit\ngoal team match\n".repeat(60));
    std::fs::create_dir(place.path("folder")).unwrap();
    let fit = |output: &str| format!("topics fit notes.txt -k 2 -o {output}");
    place.fails(&fit("folder"), 2, &["folder is a folder", "give the path of a file"]);
    place.fails(&fit("nowhere/m.tenfold"), 2, &["there is no folder nowhere", "make it first"]);
    place.fails(&fit("/dev/full"), 2, &["/dev/full is a device", "give the path of a file"]);
    // Nobody may make files there, not even root.
    if std::path::Path::new("/proc/self").is_dir() {
        place.fails(
            &fit("/proc/m.tenfold"),
            2,
            &["/proc/m.tenfold cannot be written", "choose another folder"],
        );
    }
    let mut closed = std::fs::metadata(place.path("folder")).unwrap().permissions();
    closed.set_readonly(true);
    std::fs::set_permissions(place.path("folder"), closed).unwrap();
    if File::create(place.path("folder/x")).is_ok() {
        println!("skipped: whoever runs this may write into a folder that is read-only");
    } else {
        place.fails(
            &fit("folder/m.tenfold"),
            2,
            &["folder/m.tenfold cannot be written", "choose another folder"],
        );
    }
}

/// A fit of noise that never ends by itself, over a file of 23 MB that stays on disk, whitened or not.
const ENDLESS: &str = "ica fit X.npy -k 24 --on-disk --memory 30MB --solver power --tolerance 0 --max-iterations 100000000 \
                       --restarts 1000000 -o m.tenfold";

fn endless(place: &Place) -> Child {
    place.write("X.npy", npy(&[120_000, 24], &noise(2_880_000)));
    let mut command = place.command(ENDLESS);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn ended(child: &mut Child) -> (i32, String) {
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    (child.wait().unwrap().code().unwrap_or(-1), told)
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    let place = Place::new();
    let mut child = endless(&place);
    std::thread::sleep(Duration::from_millis(700));
    assert!(child.try_wait().unwrap().is_none(), "the fit goes on");
    File::options().write(true).open(place.path("X.npy")).unwrap().set_len(1000).unwrap();
    let (code, told) = ended(&mut child);
    assert_eq!(code, 3, "{told}");
    assert!(told.contains("X.npy") && told.contains("ends too early"), "{told}");
    assert_eq!(place.files(), ["X.npy"]);
}

/// Whether this process ignores that its terminal was closed, which those that it starts inherit.
fn outlives_terminals() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).is_some_and(|bits| bits & 1 == 1)
}

#[test]
fn a_closed_terminal_ends_a_run_unless_it_was_to_outlive_it() {
    let place = Place::new();
    for signal in ["-HUP", "-TERM"] {
        if signal == "-HUP" && outlives_terminals() {
            println!(
                "skipped: the tests themselves were started as by nohup, and so are the runs they start"
            );
            continue;
        }
        let mut child = endless(&place);
        std::thread::sleep(Duration::from_millis(500));
        send(signal, &child);
        let (code, told) = ended(&mut child);
        // Where the system does not tell what is ignored, a closed terminal does what it does to any program.
        if cfg!(target_os = "linux") || signal == "-TERM" {
            assert_eq!(code, 130, "{signal}: {told}");
            assert!(told.contains("stopped; nothing was written"), "{signal}: {told}");
        }
        assert_eq!(place.files(), ["X.npy"], "{signal}");
    }
    let script = format!("trap '' HUP; exec {} {ENDLESS}", env!("CARGO_BIN_EXE_tenfold"));
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(place.path("")).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    send("-HUP", &child);
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "started as by nohup, it goes on");
    send("-TERM", &child);
    assert_eq!(ended(&mut child).0, 130);
}

#[test]
fn pipes_with_names_are_read_and_the_second_ctrl_c_ends_at_once() {
    let place = Place::new();
    let made = Command::new("mkfifo").arg(place.path("pipe.txt")).status();
    if !made.is_ok_and(|made| made.success()) {
        println!("skipped: there is no mkfifo");
        return;
    }
    let text = "planet star orbit rocket\ngoal team match player\n".repeat(60);
    let path = place.path("pipe.txt");
    let writer = std::thread::spawn(move || std::fs::write(path, text));
    place.ok("topics fit pipe.txt -k 2 -o m.tenfold");
    writer.join().unwrap().unwrap();
    // Nobody writes: the run waits inside the system, where it cannot see that it should end.
    let mut child = {
        let mut command = place.command("topics fit pipe.txt -k 2 -o n.tenfold");
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    std::thread::sleep(Duration::from_millis(500));
    send("-INT", &child);
    std::thread::sleep(Duration::from_millis(600));
    assert!(child.try_wait().unwrap().is_none(), "the first only asks");
    send("-INT", &child);
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() && begin.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(20));
    }
    // Before its three seconds are over, after which it would have told what to do.
    let (code, told) = ended(&mut child);
    assert_eq!((code, told.contains("Ctrl-C again")), (130, false), "{told}");
    assert_eq!(place.files(), ["m.tenfold", "pipe.txt"]);
    // A format that must be read at any place says so instead of waiting.
    let made = Command::new("mkfifo").arg(place.path("pipe.npy")).status().unwrap();
    assert!(made.success());
    place.fails("ica fit pipe.npy -k 2 -o n.tenfold", 3, &["pipe.npy", "not a regular file"]);
}

#[test]
fn what_killed_runs_left_goes_with_the_next_run() {
    let place = Place::new();
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    for name in [".tenfold-part-Ab3dE9", ".tenfold-part-claimd", ".tenfold-mine"] {
        place.write(name, "x");
        File::options().write(true).open(place.path(name)).unwrap().set_modified(long_ago).unwrap();
    }
    let claimed = File::open(place.path(".tenfold-part-claimd")).unwrap();
    claimed.try_lock().unwrap();
    place.ok("generate ica --samples 50 --columns 2 -o X.csv");
    let left = place.files();
    assert!(!left.contains(&".tenfold-part-Ab3dE9".to_owned()), "{left:?}");
    // One that a live run holds stays, and so does what only begins like one.
    for name in [".tenfold-part-claimd", ".tenfold-mine"] {
        assert!(left.contains(&name.to_owned()), "{name} of {left:?}");
    }
}

#[test]
fn documents_on_disk_have_no_name_that_could_stay_behind() {
    let place = Place::new();
    place.ok("generate topics --documents 4000 --words 300 -k 8 --length 60 -o d --no-mixtures");
    std::fs::create_dir(place.path("tmp")).unwrap();
    let endless = "--solver power --tolerance 0 --max-iterations 100000000 --restarts 1000000";
    let arguments = format!("topics fit d/docword.txt -k 8 --on-disk {endless} -o m.tenfold");
    let mut command = place.command(&arguments);
    command.env("TMPDIR", place.path("tmp")).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(900));
    assert!(child.try_wait().unwrap().is_none(), "the fit goes on");
    child.kill().unwrap();
    let told = ended(&mut child).1;
    assert!(told.contains("stay on disk"), "{told}");
    assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 0);
}
