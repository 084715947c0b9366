//! The many spellings of a model's name.

/// How a name may be read, from the most literal to the plainest: without what is
/// around it, then without its date and other suffixes, one at a time.
pub(super) fn readings(name: &str) -> impl Iterator<Item = &str> {
    let (name, on_bedrock) = bare(name);
    std::iter::successors(Some(name), move |&name| without_suffix(name, on_bedrock))
}

/// How many bytes of `pattern` are literally in `name`, if the pattern matches.
/// A pattern without `*` counts one more, so that it wins.
pub(super) fn specificity(pattern: &str, name: &str) -> Option<usize> {
    // Most patterns are of other families, and this is asked for each request.
    let (first, begins) = (pattern.bytes().next()?, name.bytes().next()?);
    if first != b'*' && fold(first) != fold(begins) {
        return None;
    }
    let Some((start, end)) = pattern.split_once('*') else {
        return same(pattern, name).then_some(pattern.len() + 1);
    };
    let (pattern, name) = ((start.as_bytes(), end.as_bytes()), name.as_bytes());
    let literal = pattern.0.len() + pattern.1.len();
    let (begins, rest) = name.split_at_checked(pattern.0.len())?;
    let (_, ends) = rest.split_at_checked(name.len().checked_sub(literal)?)?;
    let fits = same_bytes(begins, pattern.0) && same_bytes(ends, pattern.1);
    fits.then_some(literal)
}

/// Whether two names are one. Vendors and resellers write `4.5`, `4-5` and `4_5`.
pub(super) fn same(a: &str, b: &str) -> bool {
    same_bytes(a.as_bytes(), b.as_bytes())
}

fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| fold(*a) == fold(*b))
}

fn fold(byte: u8) -> u8 {
    match byte {
        b'.' | b'_' | b' ' => b'-',
        byte => byte.to_ascii_lowercase(),
    }
}

/// A name without its vendor, region and tag, and whether it is one of Amazon
/// Bedrock's, whose names carry a version of their own.
fn bare(name: &str) -> (&str, bool) {
    let name = name.strip_prefix("ft:").unwrap_or(name);
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.split(['@', ':', '[']).next().unwrap_or(name);
    let in_region = without_label(name, REGIONS).unwrap_or(name);
    match without_label(in_region, VENDORS) {
        Some(name) => (name, true),
        None => (name, false),
    }
}

/// A name without its first label, which ends in a dot, if it is one of `labels`.
fn without_label<'a>(name: &'a str, labels: &[&str]) -> Option<&'a str> {
    let (label, rest) = name.split_once('.')?;
    labels.iter().any(|known| label.eq_ignore_ascii_case(known)).then_some(rest)
}

fn without_suffix(name: &str, on_bedrock: bool) -> Option<&str> {
    let version = || if on_bedrock { without_version(name) } else { None };
    without_ending(name, "-latest").or_else(|| without_date(name)).or_else(version)
}

fn without_ending<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let (start, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
    end.eq_ignore_ascii_case(ending).then_some(start)
}

/// Without `-20251101` or `-2025-11-01`.
fn without_date(name: &str) -> Option<&str> {
    let (start, date) = name.rsplit_once('-')?;
    if is_number(date, 8) {
        return Some(start);
    }
    let (start, month) = start.rsplit_once('-').filter(|_| is_number(date, 2))?;
    let (start, year) = start.rsplit_once('-').filter(|_| is_number(month, 2))?;
    is_number(year, 4).then_some(start)
}

/// Without `-v1`.
fn without_version(name: &str) -> Option<&str> {
    let (start, version) = name.rsplit_once('-')?;
    version.strip_prefix('v').filter(|digit| is_number(digit, 1)).map(|_| start)
}

fn is_number(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Where Amazon Bedrock runs a model.
const REGIONS: &[&str] = &["us", "eu", "apac", "global", "jp", "au", "ca", "sa", "us-gov"];

/// What Amazon Bedrock calls the vendors.
const VENDORS: &[&str] = &[
    "anthropic", "deepseek", "google", "meta", "mistral", "moonshot", "moonshotai", "openai",
    "qwen", "xai", "zai",
];
