use std::io;
use std::path::Path;

use toolwire_gateway::config::preset::Vendor;
use toolwire_gateway::config::{Config, Environment, UpstreamConfig, environment, file};

use super::template;

/// Variables, and servers on this machine that answer.
struct Machine {
    variables: Vec<(&'static str, &'static str)>,
    answers: Vec<(&'static str, &'static str)>,
}

impl Environment for Machine {
    fn variable(&self, name: &str) -> Option<String> {
        let found = self.variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    }

    fn read_file(&self, _: &Path) -> io::Result<String> {
        Err(io::Error::other("there are no files"))
    }

    fn ask_local(&self, places: &[(String, &str)]) -> Vec<Option<String>> {
        let answer = |(place, _): &(String, &str)| {
            let found = self.answers.iter().find(|(known, _)| place == known);
            found.map(|(_, text)| (*text).to_owned())
        };
        places.iter().map(answer).collect()
    }
}

/// What an upstream is, without what the operator may never see.
fn shown(upstream: &UpstreamConfig) -> String {
    let mut upstream = format!("{upstream:?}");
    upstream.retain(|c| c != '\n');
    upstream
}

fn both(machine: &Machine) -> (Config, Config) {
    let (text, _) = template(machine, &mut Vec::new());
    let written = file::parse("toolwire.toml", &text, machine).unwrap_or_else(|e| panic!("{e}"));
    (written, environment::find(None, machine).config)
}

fn check(variables: &[(&'static str, &'static str)], answers: &[(&'static str, &'static str)]) {
    let machine = Machine { variables: variables.to_vec(), answers: answers.to_vec() };
    let (written, without) = both(&machine);
    let upstreams = |config: &Config| config.upstreams.iter().map(shown).collect::<Vec<_>>();
    assert_eq!(upstreams(&written), upstreams(&without));
    assert_eq!(
        format!("{:?}", written.timeouts_and_limits()),
        format!("{:?}", without.timeouts_and_limits())
    );
}

/// The rest of a configuration that decides how requests are served.
trait Rest {
    fn timeouts_and_limits(&self) -> impl std::fmt::Debug;
}

impl Rest for Config {
    fn timeouts_and_limits(&self) -> impl std::fmt::Debug {
        (&self.limits, &self.retry, self.model_refresh, self.on_loss, self.listen, &self.protocols)
    }
}

const KEY: &str = "0123456789abcdef-key";

/// What is written is what would be used without a file, whatever is in the
/// environment.
#[test]
fn what_is_written_is_what_is_used_without_a_file() {
    check(&[], &[]);
    for vendor in Vendor::all() {
        for variable in vendor.key_variables {
            check(&[(variable, KEY)], &[]);
            check(&[(variable, KEY), (vendor.url_variable, "https://proxy.example/api/v1")], &[]);
            check(&[(variable, KEY), (vendor.url_variable, "http://127.0.0.1:8787/v1")], &[]);
        }
    }
    check(
        &[("AZURE_OPENAI_API_KEY", KEY), ("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/")],
        &[],
    );
    check(
        &[("ANTHROPIC_API_KEY", KEY), ("GROQ_API_KEY", KEY)],
        &[("127.0.0.1:11434", "Ollama is running")],
    );
    check(&[("OLLAMA_HOST", "0.0.0.0:9999")], &[("127.0.0.1:9999", "Ollama is running")]);
    let all: Vec<_> = Vendor::all()
        .iter()
        .flat_map(|vendor| vendor.key_variables.iter().map(|variable| (*variable, KEY)))
        .collect();
    check(
        &all,
        &[("127.0.0.1:8000", "{\"owned_by\":\"vllm\"}"), ("127.0.0.1:8080", "something else")],
    );
}

/// What stands there as a comment is right too.
#[test]
fn comments_can_be_switched_on() {
    let mut variables: Vec<_> = Vendor::all()
        .iter()
        .flat_map(|vendor| vendor.key_variables.iter().map(|variable| (*variable, KEY)))
        .collect();
    let nothing = Machine { variables: Vec::new(), answers: Vec::new() };
    let (text, _) = template(&nothing, &mut Vec::new());
    variables.extend([("TOOLWIRE_KEY", KEY), ("TOOLWIRE_ADMIN_KEY", "fedcba9876543210")]);
    let everything = Machine { variables, answers: Vec::new() };
    let mut on = String::new();
    for line in text.lines() {
        let setting = line.strip_prefix("# ").filter(|rest| {
            rest.starts_with('[') || rest.starts_with('"') || rest.split(' ').nth(1) == Some("=")
        });
        on.push_str(setting.unwrap_or(line));
        on.push('\n');
    }
    let config = file::parse("toolwire.toml", &on, &everything).unwrap_or_else(|e| panic!("{e}"));
    let apis: usize = Vendor::all().iter().map(|vendor| vendor.apis.len()).sum();
    assert_eq!((config.upstreams.len(), config.aliases.len(), config.keys.len()), (apis + 2, 1, 1));
}
