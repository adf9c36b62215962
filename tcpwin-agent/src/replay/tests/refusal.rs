//! What cannot be written: it is said once, counted, and the table goes on.

use super::host::folder;
use super::*;
use crate::recording::SegmentError;

#[test]
fn somebody_elses_file_is_left_as_it_is() {
    let (folder, file) = folder();
    fs::write(&file, "a letter").unwrap();
    let refused = Segments::new(&file, ROOMY).unwrap_err();
    assert!(matches!(refused, SegmentError::Stranger(_)), "{refused}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "a letter");
    // A device would be renamed.
    let device = Segments::new(Path::new("/dev/null"), ROOMY).unwrap_err();
    assert!(matches!(device, SegmentError::Stranger(_)), "{device}");
    let nowhere = Segments::new(&folder.path().join("nowhere/a"), ROOMY).unwrap_err();
    assert!(matches!(nowhere, SegmentError::Io { .. }), "{nowhere}");
}

#[test]
fn a_bound_that_is_too_low_ends_the_recording_and_nothing_else() {
    let (folder, file) = folder();
    let limits = Limits {
        size: 6_000,
        age: None,
    };
    let mut host = Host::new(Segments::new(&file, limits).unwrap(), Choice::default());
    host.run(100);
    let [(cause, lost), _] = host.recorder.as_ref().unwrap().losses();
    assert_eq!((cause, lost), ("recording_failed", 1));
    assert_eq!(host.failures.len(), 1);
    assert!(
        host.failures[0].contains("nothing is recorded from now on"),
        "{:?}",
        host.failures
    );
    assert_eq!(host.shown.len(), 100);
    host.end();
    let sizes = fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len());
    assert!(sizes.sum::<u64>() <= limits.size);
}

#[test]
fn an_earlier_recording_is_kept_beside_and_is_not_part_of_the_new_one() {
    let (_folder, file) = folder();
    recorded(&file, ROOMY, 5);
    // And one of which nothing was written before its recorder was killed.
    let before = crate::recording::segments_of(&file).len();
    let host = recorded(&file, ROOMY, 7);
    assert_eq!(crate::recording::segments_of(&file).len(), before + 1);
    fs::write(file.with_extension("tcpwin.1"), "").unwrap();
    let mut replay = Replay::open(&file).unwrap();
    let mut ticks = 0;
    while replay.step(&mut Vec::new()).is_some() {
        ticks += 1;
    }
    assert_eq!(ticks, host.shown.len());
    assert_eq!(replay.faults(), &[] as &[String]);
}
