//! Writing the configuration as TOML, with comments.

use crate::toml_text::toml_string;

use super::draft::{Alias, Draft, HeaderValue, LeftOut, Upstream, Variable};

/// The file.
pub(super) fn write(draft: &Draft) -> String {
    let mut text = String::new();
    for remark in &draft.remarks {
        comment(remark, &mut text);
    }
    text.push_str("#\n# docs/gateway.md explains every setting. Check this file with:\n");
    text.push_str("#   toolwire check --config FILE\n");
    if !draft.variables.is_empty() {
        text.push_str("#\n# Set these variables first:\n");
        for variable in &draft.variables {
            comment(&format!("  {}", variable_line(variable)), &mut text);
        }
    }
    if !draft.left_out.is_empty() {
        text.push_str("#\n# Not taken over:\n");
        for left_out in &draft.left_out {
            comment(&format!("  {}", left_out_line(left_out)), &mut text);
        }
    }
    text.push_str(&format!("\nlisten = {}\n", toml_string(&draft.listen)));
    if !draft.keys.is_empty() {
        let keys: Vec<_> = draft.keys.iter().map(|name| variable(name)).collect();
        text.push_str(&format!("keys = [{}]\n", keys.join(", ")));
    }
    if let Some(seconds) = draft.total_timeout {
        text.push_str(&format!("\n[timeouts]\ntotal = \"{}\"\n", duration(seconds)));
    }
    for one in &draft.upstreams {
        text.push('\n');
        upstream(one, &mut text);
    }
    if !draft.aliases.is_empty() {
        text.push_str("\n# Names that clients use for models.\n[alias]\n");
        for Alias { name, model, remark } in &draft.aliases {
            let remark = if remark.is_empty() { String::new() } else { format!("  # {remark}") };
            text.push_str(&format!("{} = {}{remark}\n", toml_string(name), toml_string(model)));
        }
    }
    text
}

/// One upstream.
pub(super) fn upstream(upstream: &Upstream, text: &mut String) {
    let Upstream {
        name,
        remark,
        preset,
        protocol,
        base_url,
        key,
        models,
        headers,
        profile,
        weight,
        timeout,
    } = upstream;
    if !remark.is_empty() {
        comment(remark, text);
    }
    text.push_str(&format!("[[upstream]]\nname = {}\n", toml_string(name)));
    if preset.is_empty() {
        text.push_str(&format!("protocol = \"{protocol}\"\n"));
    } else {
        text.push_str(&format!("preset = \"{preset}\"\n"));
    }
    if !base_url.is_empty() {
        text.push_str(&format!("base_url = {}\n", toml_string(base_url)));
    }
    if is_insecure(base_url) {
        text.push_str("insecure = true  # the key and the prompts are sent unencrypted\n");
    }
    if let Some(key) = key {
        text.push_str(&format!("key = {}\n", variable(key)));
    }
    let models: Vec<_> = models.iter().map(|model| toml_string(model)).collect();
    let line = format!("models = [{}]\n", models.join(", "));
    if line.len() <= 100 || models.is_empty() {
        text.push_str(&line);
    } else {
        text.push_str(&format!("models = [\n    {},\n]\n", models.join(",\n    ")));
    }
    if !headers.is_empty() {
        let headers = headers.iter().map(|(name, value)| match value {
            HeaderValue::Text(value) => format!("{} = {}", toml_string(name), toml_string(value)),
            HeaderValue::Variable(value) => format!("{} = {}", toml_string(name), variable(value)),
        });
        text.push_str(&format!("headers = {{ {} }}\n", headers.collect::<Vec<_>>().join(", ")));
    }
    if !profile.is_empty() {
        text.push_str(&format!("profile = {{ {profile} }}\n"));
    }
    if let Some(weight) = weight {
        text.push_str(&format!("weight = {weight}\n"));
    }
    if let Some(seconds) = timeout {
        text.push_str(&format!("timeouts = {{ total = \"{}\" }}\n", duration(*seconds)));
    }
}

/// What has to be set, on one line.
pub(super) fn variable_line(Variable { name, content }: &Variable) -> String {
    one_line(&format!("{name}: {content}"))
}

/// What was not taken over, on one line.
pub(super) fn left_out_line(LeftOut { place, owners, reason }: &LeftOut) -> String {
    let of = match owners.as_slice() {
        [] => String::new(),
        [first] => format!(" of {first}"),
        [first, second] => format!(" of {first} and {second}"),
        [first, second, others @ ..] => {
            format!(" of {first}, {second} and {} more", others.len())
        }
    };
    one_line(&format!("{place}{of}: {reason}"))
}

/// Control characters could end a comment or write to a terminal.
fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(plain).take(MAX_LINE).collect()
}

fn comment(line: &str, text: &mut String) {
    text.push_str(&format!("# {}\n", one_line(line)));
}

fn variable(name: &str) -> String {
    format!("{{ env = {} }}", toml_string(name))
}

fn duration(seconds: f64) -> String {
    format!("{}ms", (seconds * 1000.0).clamp(1.0, 86_400_000.0).round())
}

/// Whether an address is plain HTTP on another machine.
fn is_insecure(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let host = rest.split('/').next().unwrap_or_default();
    let host = host
        .strip_suffix(|c: char| c.is_ascii_digit())
        .map_or(host, |_| host.rsplit_once(':').map_or(host, |(host, _)| host));
    let is_loopback = host == "localhost"
        || host.ends_with(".localhost")
        || host.starts_with("127.")
        || host == "[::1]";
    !is_loopback
}

const MAX_LINE: usize = 500;
