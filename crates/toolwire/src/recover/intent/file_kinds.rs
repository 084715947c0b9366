//! What a file is by its name.

use super::stem::stem;

/// The words for what a file with such a name holds. None if it can be anything.
pub(super) fn kind_of(path: &str) -> Option<&'static [&'static str]> {
    let (_, extension) = path.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    let (words, _) =
        KINDS.iter().find(|(_, extensions)| extensions.contains(&extension.as_str()))?;
    Some(words)
}

/// Whether stems are about files of one kind, and whether they are about files of
/// another.
pub(super) fn compare(stems: &[String], kind: &[&str]) -> (bool, bool) {
    let about = |words: &[&str]| words.iter().any(|word| stems.contains(&stem(word)));
    let other = KINDS
        .iter()
        .any(|(words, _)| *words != kind && !words.contains(&"archive") && about(words));
    (about(kind), other)
}

/// Table of kinds: what they are called, and how their files end.
const KINDS: &[(&[&str], &[&str])] = &[
    (
        &["image", "picture", "photo", "screenshot", "ocr"],
        &["jpg", "jpeg", "png", "gif", "webp", "bmp", "svg", "tif", "tiff", "heic"],
    ),
    (&["pdf"], &["pdf"]),
    (&["video", "movie", "clip"], &["mp4", "mov", "mkv", "webm", "avi", "m4v"]),
    (&["audio", "sound", "speech", "recording"], &["mp3", "wav", "flac", "ogg", "m4a", "aac"]),
    (&["spreadsheet", "excel", "workbook", "csv"], &["csv", "tsv", "xls", "xlsx", "ods"]),
    (&["archive", "zip", "tarball"], &["zip", "tar", "gz", "tgz", "7z", "rar", "bz2", "xz"]),
];
