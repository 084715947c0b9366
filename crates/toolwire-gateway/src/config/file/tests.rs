use std::io;
use std::path::Path;
use std::time::Duration;

use toolwire::{LossPolicy, Profile, Protocol};
use toolwire_tokens::BudgetPolicy;

use super::parse;
use crate::config::{
    Alias, Config, Credential, Environment, Limits, LogFormat, Origin, Pattern, RetryPolicy,
    Timeouts,
};

/// An environment of five variables and two files.
struct TestEnvironment;

impl Environment for TestEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        let known = [
            ("OPENAI_API_KEY", "sk-one"),
            ("GATEWAY_KEY", "0123456789abcdef"),
            ("ADMIN_KEY", "fedcba9876543210"),
            ("SHORT", "hunter2"),
            ("TWO_LINES", "a\nb"),
        ];
        known.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    fn read_file(&self, path: &Path) -> io::Result<String> {
        if path == Path::new("secrets/anthropic") {
            return Ok("sk-ant-two\n".to_owned());
        }
        if path == Path::new("ca.pem") {
            return Ok(rcgen::generate_simple_self_signed(Vec::new()).unwrap().cert.pem());
        }
        Err(io::Error::new(io::ErrorKind::NotFound, "no such file"))
    }
}

fn good(text: &str) -> Config {
    match parse("toolwire.toml", text, &TestEnvironment) {
        Ok(config) => config,
        Err(problems) => panic!("{problems}"),
    }
}

/// Checks the problems of a file as they are shown.
fn check(text: &str, expected: &str) {
    let problems = parse("toolwire.toml", text, &TestEnvironment).expect_err(text);
    assert_eq!(problems.to_string().trim(), expected.trim(), "\n{problems}");
}

/// Checks the only problem of `UPSTREAM` with one line changed.
fn check_line(line: &str, message: &str, label: &str, help: &str) {
    let name = line.split([' ', '=']).next().unwrap();
    let kept: Vec<_> =
        UPSTREAM.lines().filter(|kept| !kept.starts_with(&format!("{name} "))).collect();
    let text = format!("{}\n{line}\n", kept.join("\n"));
    let problems = parse("toolwire.toml", &text, &TestEnvironment).expect_err(line);
    let [problem] = problems.list() else { panic!("{problems}") };
    let said = [&problem.message, &problem.label, &problem.help].map(String::as_str);
    assert_eq!(said, [message, label, help], "{line}");
    let pointed = &text[problem.span.clone()];
    assert!(line.contains(pointed) && !pointed.is_empty(), "{line} points at {pointed:?}");
}

const UPSTREAM: &str = r#"[[upstream]]
name = "one"
protocol = "chat"
base_url = "https://api.example.com"
models = ["*"]
"#;

#[test]
fn everything_can_be_set() {
    let config = good(EVERYTHING);
    assert_eq!(config.listen, "0.0.0.0:9000".parse().unwrap());
    assert_eq!(config.on_loss, LossPolicy::Refuse);
    assert_eq!(config.log, LogFormat::Json);
    assert_eq!(config.origins, ["https://app.example.com", "http://localhost:3000"]);
    assert!(!config.prefer_same_protocol);
    let keys: Vec<_> = config.keys.iter().map(|key| key.reveal()).collect();
    assert_eq!(keys, ["0123456789abcdef"]);
    assert_eq!(config.admin_key.as_ref().map(|key| key.reveal()), Some("fedcba9876543210"));
    let aliases = [("gpt-*", "anthropic/claude-sonnet-5"), ("fast", "gpt-5-mini")];
    let aliases = aliases
        .map(|(name, model)| Alias { name: Pattern(name.to_owned()), model: model.to_owned() });
    assert_eq!(config.aliases, aliases);
    let limits = Limits {
        body: 8 << 20,
        upload: 1 << 30,
        head: 16_000,
        head_time: Duration::from_secs(5),
        tools: 64,
        schemas: 1 << 20,
        event: 1 << 20,
        response: 2 << 20,
        bodies_total: 64 << 20,
        streams_total: 32 << 20,
        stall: Duration::from_secs(30),
        idle: Duration::from_secs(90),
        connections: 100,
        connections_per_address: Some(10),
        linger: Some(Duration::from_secs(7)),
        grace: Duration::from_secs(60),
        heartbeat: Duration::from_millis(500),
        early_head: Duration::from_secs(20),
        loss_header: 512,
    };
    assert_eq!(config.limits, limits);
    let retry = RetryPolicy {
        statuses: vec![404..=404, 429..=429, 500..=503, 505..=999],
        budget_percent: 50,
        budget_reserve: 3,
        max_pause: Duration::from_secs(30),
        eject_after: 2,
        first_ejection: Duration::from_secs(1),
        max_ejection: Duration::from_secs(120),
        probe_timeout: Duration::from_secs(10),
    };
    assert_eq!(config.retry, retry);

    let [anthropic, openai, demo] = &config.upstreams[..] else { panic!("three upstreams") };
    assert_eq!((anthropic.name.as_str(), anthropic.protocol), ("anthropic", Protocol::Messages));
    let http =
        |base: &str, path: &str| Origin::Http { base: base.to_owned(), path: path.to_owned() };
    assert_eq!(anthropic.origin, http("https://api.anthropic.com", "/v1"));
    assert!(matches!(&anthropic.credential, Credential::Key(key) if key.reveal() == "sk-ant-two"));
    assert_eq!(anthropic.models, [Pattern("claude-*".to_owned())]);
    let headers: Vec<_> =
        anthropic.headers.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
    assert_eq!(headers, [("x-team", "red"), ("x-token", "sk-one")]);
    assert_eq!(anthropic.on_loss, Some(LossPolicy::Ignore));
    assert_eq!(anthropic.output_budget, Some(BudgetPolicy::Context));
    assert_eq!(anthropic.weight, 3);
    assert_eq!(anthropic.passthrough, Some(true));
    let common = Timeouts { connect: Duration::from_secs(2), ..Timeouts::default() };
    assert_eq!(anthropic.timeouts, Timeouts { total: Duration::from_secs(7200), ..common.clone() });
    let mut profile = Profile::of(Protocol::Messages);
    profile.sampling = true;
    profile.mid_system = true;
    profile.default_max_tokens = 64_000;
    assert_eq!(anthropic.profile, profile);

    assert!(anthropic.ca.is_some() && openai.ca.is_none());

    assert!(matches!(openai.credential, Credential::Client));
    assert_eq!(openai.origin, http("http://127.0.0.1:8000", "/openai/v1"));
    assert_eq!((openai.weight, &openai.timeouts), (1, &common));
    let mut profile = Profile::of(Protocol::Chat);
    profile.reasoning_field = Some("reasoning");
    profile.names.max = 48;
    profile.ids.max = 9;
    profile.error_prefix = "";
    assert_eq!(openai.profile, profile);

    assert_eq!((&demo.origin, demo.protocol), (&Origin::Demo, Protocol::Chat));
    assert!(demo.serves("demo") && demo.serves("demo-2") && !demo.serves("demon"));
}

const EVERYTHING: &str = r#"
listen = "0.0.0.0:9000"
keys = [{ env = "GATEWAY_KEY" }]
admin_key = { env = "ADMIN_KEY" }
on_loss = "refuse"
log = "json"
origins = ["https://App.example.com", "http://localhost:3000"]
prefer_same_protocol = false

[timeouts]
connect = "2s"

[limits]
body = "8MiB"
upload = "1GiB"
head = "16kB"
head_time = "5s"
tools = 64
schemas = "1MiB"
event = "1MiB"
response = "2MiB"
bodies_total = "64MiB"
streams_total = "32MiB"
stall = "30s"
idle = "90s"
linger = "7s"
connections = 100
connections_per_address = 10
grace = "1m"
heartbeat = "500ms"
early_head = "20s"
loss_header = "512B"

[retry]
statuses = [404, 429, "5xx"]
budget_percent = 50
budget_reserve = 3
max_pause = "30s"
eject_after = 2
first_ejection = "1s"
max_ejection = "2m"
probe_timeout = "10s"

[alias]
"gpt-*" = "anthropic/claude-sonnet-5"
fast = "gpt-5-mini"

[[upstream]]
name = "anthropic"
protocol = "messages"
base_url = "https://api.anthropic.com"
ca = "ca.pem"
key = { file = "secrets/anthropic" }
models = ["claude-*"]
headers = { X-Team = "red", x-token = { env = "OPENAI_API_KEY" } }
profile = { sampling = true, mid_system = true, default_max_tokens = 64_000 }
on_loss = "ignore"
output_budget = "context"
weight = 3
passthrough = true
timeouts = { total = "2h" }

[[upstream]]
name = "local"
protocol = "chat"
base_url = "http://127.0.0.1:8000/openai/"
credential = "client"
models = ["gpt-5-mini", "llama*"]

[upstream.profile]
reasoning_field = "reasoning"
name_max = 48
id_max = 9
error_prefix = ""

[[upstream]]
name = "demo"
demo = true
"#;

#[test]
fn everything_else_has_a_default() {
    let config = good(UPSTREAM);
    assert_eq!(config.listen, "127.0.0.1:8787".parse().unwrap());
    assert_eq!(
        (config.keys.len(), config.on_loss, config.log),
        (0, LossPolicy::Report, LogFormat::Text)
    );
    assert!(config.prefer_same_protocol);
    assert_eq!((config.limits, config.aliases), (Limits::default(), Vec::new()));
    assert_eq!(config.retry, RetryPolicy::default());
    let upstream = &config.upstreams[0];
    assert!(matches!(upstream.credential, Credential::None));
    assert_eq!(upstream.profile, Profile::of(Protocol::Chat));
    assert_eq!((upstream.weight, upstream.on_loss), (1, None));
    assert_eq!(upstream.output_budget, None);
    assert_eq!(upstream.timeouts, Timeouts::default());
}

#[test]
fn certificate_authorities() {
    let message = "cannot use the file of `ca`";
    let help = "relative paths start at the folder of this file";
    check_line("ca = \"nowhere.pem\"", message, "no such file", help);
    let label = "no certificate found; expected PEM, \"-----BEGIN CERTIFICATE-----\"";
    check_line("ca = \"secrets/anthropic\"", message, label, help);
    check_line("ca = 1", "invalid value for `ca`", "expected a string in quotes, found `1`", "");
    let plain = UPSTREAM.replace("https://api.example.com", "http://127.0.0.1:1");
    check(
        &format!("{plain}ca = \"ca.pem\"\n"),
        r#"
error: `ca` is for https only
 --> toolwire.toml:6:6
  |
6 | ca = "ca.pem"
  |      ^^^^^^^^ not used
  |
  = help: remove `ca`, or write the address with https

toolwire.toml has 1 problem."#,
    );
}

#[test]
fn secrets_are_not_printed() {
    let shown = format!("{:?}", good(EVERYTHING));
    for secret in ["sk-one", "sk-ant-two", "0123456789abcdef", "fedcba9876543210"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn several_problems_are_shown_with_their_places() {
    check(
        r#"listne = "127.0.0.1:8787"

[[upstream]]
name = "anthropic"
protocol = "mesages"
base_url = "api.anthropic.com"
key = { env = "ANTHROPIC_API_KEY" }
models = ["claude-*"]

[limits]
body = 32
"#,
        r#"
error: unknown setting `listne`
 --> toolwire.toml:1:1
  |
1 | listne = "127.0.0.1:8787"
  | ^^^^^^ not a setting of the configuration
  |
  = help: did you mean `listen`?

error: invalid value for `protocol`
 --> toolwire.toml:5:12
  |
5 | protocol = "mesages"
  |            ^^^^^^^^^ expected "chat", "responses" or "messages"
  |
  = help: did you mean "messages"?

error: invalid value for `base_url`
 --> toolwire.toml:6:12
  |
6 | base_url = "api.anthropic.com"
  |            ^^^^^^^^^^^^^^^^^^^ no scheme
  |
  = help: write "https://api.anthropic.com"

error: the environment variable ANTHROPIC_API_KEY is not set
 --> toolwire.toml:7:15
  |
7 | key = { env = "ANTHROPIC_API_KEY" }
  |               ^^^^^^^^^^^^^^^^^^^ not set, or empty
  |
  = help: set it before starting toolwire: export ANTHROPIC_API_KEY=…

error: invalid value for `body`
  --> toolwire.toml:11:8
   |
11 | body = 32
   |        ^^ expected a size above zero, such as "512B", "64KiB" or "32MiB", found `32`
   |
   = help: add a unit: B, KiB, MiB or GiB

toolwire.toml has 5 problems."#,
    );
}

#[test]
fn a_syntax_error() {
    check(
        "listen = 127.0.0.1:8787\n[[upstream]\n",
        r#"
error: invalid TOML
 --> toolwire.toml:1:15
  |
1 | listen = 127.0.0.1:8787
  |               ^^^^^^^^^ invalid float, expected nothing
  |
  = help: put strings in quotes

error: invalid TOML
 --> toolwire.toml:2:12
  |
2 | [[upstream]
  |            ^ unclosed array table, expected `]`

toolwire.toml has 2 problems."#,
    );
}

#[test]
fn missing_settings_are_reported_at_the_header() {
    check(
        "[[upstream]]\nname = \"one\"\nmodels = []\n",
        r#"
error: this upstream has no `protocol`
 --> toolwire.toml:1:1
  |
1 | [[upstream]]
  | ^^^^^^^^^^^^ `protocol` is missing
  |
  = help: add protocol = "chat", "responses" or "messages"

error: this upstream has no `base_url`
 --> toolwire.toml:1:1
  |
1 | [[upstream]]
  | ^^^^^^^^^^^^ `base_url` is missing
  |
  = help: add base_url = "https://…"

error: this upstream serves no model
 --> toolwire.toml:3:10
  |
3 | models = []
  |          ^^ empty
  |
  = help: write ["*"] for any model, or remove the upstream

toolwire.toml has 3 problems."#,
    );
}

#[test]
fn no_upstream_at_all() {
    check(
        "listen = \"127.0.0.1:1\"\n",
        r#"
error: no upstream is configured
 --> toolwire.toml:1:1
  |
1 | listen = "127.0.0.1:1"
  | ^ no [[upstream]] in this file
  |
  = help: add one; `toolwire init` writes a file with examples

toolwire.toml has 1 problem."#,
    );
    check(
        "",
        r#"
error: no upstream is configured
 --> toolwire.toml:1:1
  |
1 |
  | ^ no [[upstream]] in this file
  |
  = help: add one; `toolwire init` writes a file with examples

toolwire.toml has 1 problem."#,
    );
}

#[test]
fn an_open_address_needs_a_key() {
    let text = format!("listen = \"0.0.0.0:8787\"\n{UPSTREAM}");
    let problems = parse("toolwire.toml", &text, &TestEnvironment).unwrap_err();
    let [problem] = problems.list() else { panic!("{problems}") };
    assert_eq!(problem.message, "anyone who can reach this address could use your keys");
    for fine in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1"] {
        good(&format!("listen = \"{fine}\"\n{UPSTREAM}"));
    }
    good(&format!("listen = \"[::]:1\"\nkeys = [{{ env = \"GATEWAY_KEY\" }}]\n{UPSTREAM}"));
}

#[test]
fn keys_stay_out_of_the_file() {
    let help =
        "use { env = \"NAME\" } or { file = \"path\" }; if the file was shared, replace the key";
    let message = "`key` must not be in the file itself";
    check_line("key = \"sk-live\"", message, "a key in plain text", help);
    check_line(
        "key = { env = \"TWO_LINES\" }",
        "`key` cannot be sent as a header",
        "contains a line break or a non-ASCII character",
        "the value must be the key alone, without quotes or a second line",
    );
    check_line(
        "key = { file = \"nowhere\" }",
        "cannot read the file of `key`",
        "no such file",
        "relative paths start at the folder of this file",
    );
    let wanted = "expected either { env = \"NAME\" } or { file = \"path\" }, found a table";
    check_line("key = {}", "invalid value for `key`", wanted, "");
    let text = format!("keys = [{{ env = \"SHORT\" }}]\n{UPSTREAM}");
    let problems = parse("toolwire.toml", &text, &TestEnvironment).unwrap_err();
    assert_eq!(problems.list()[0].message, "this key is too short");
    assert!(!problems.to_string().contains("hunter2"), "{problems}");
}

#[test]
fn urls_that_are_not_accepted() {
    for (url, label, help) in [
        ("ftp://x", "neither http nor https", "use an https URL"),
        (
            "http://api.example.com",
            "the key would be sent unencrypted",
            "write \"https://api.example.com\", or add `insecure = true` if the network is private",
        ),
        (
            "https://me:pw@api.example.com",
            "contains a user name or password",
            "set the key as `key = { env = \"…\" }`",
        ),
        (
            "https://api.example.com/v1?version=2",
            "contains a query or a fragment",
            "remove everything from `?` or `#` on; a version or the like belongs in `headers`",
        ),
        (
            "https://api.example.com/v1/chat/completions",
            "an endpoint, not a base URL",
            "write \"https://api.example.com/v1\"",
        ),
        ("https://", "invalid host name", "for example \"https://api.example.com\""),
        (
            "https://a:99999",
            "missing host or invalid port",
            "for example \"http://127.0.0.1:8000\"",
        ),
        ("https://a b", "invalid host name", "for example \"https://api.example.com\""),
    ] {
        check_line(&format!("base_url = \"{url}\""), "invalid value for `base_url`", label, help);
    }
}

#[test]
fn urls_with_and_without_a_version() {
    for (url, base, path) in [
        ("https://api.anthropic.com", "https://api.anthropic.com", "/v1"),
        ("https://api.anthropic.com/", "https://api.anthropic.com", "/v1"),
        ("https://API.anthropic.com/v1", "https://api.anthropic.com", "/v1"),
        ("https://api.groq.com/openai/v1/", "https://api.groq.com", "/openai/v1"),
        ("https://api.deepseek.com/anthropic", "https://api.deepseek.com", "/anthropic/v1"),
        ("https://g.example/v1beta/openai", "https://g.example", "/v1beta/openai"),
        ("http://localhost:11434", "http://localhost:11434", "/v1"),
        ("http://[::1]:8000", "http://[::1]:8000", "/v1"),
    ] {
        let config = good(&UPSTREAM.replace("https://api.example.com", url));
        let expected = Origin::Http { base: base.to_owned(), path: path.to_owned() };
        assert_eq!(config.upstreams[0].origin, expected);
    }
    let plain = UPSTREAM.replace("https://", "http://") + "insecure = true\n";
    assert_eq!(good(&plain).upstreams.len(), 1);
}

#[test]
fn invalid_values() {
    let number = "expected a whole number of at least 0, found `-1`";
    check_line("weight = -1", "invalid value for `weight`", number, "");
    let list = "expected a list in square brackets";
    check_line("models = \"gpt-5\"", "invalid value for `models`", list, "");
    check_line("models = [\"a b\"]", "invalid model name", "contains a space or a line break", "");
    let policies = "expected \"report\", \"refuse\" or \"ignore\"";
    check_line("on_loss = \"warn\"", "invalid value for `on_loss`", policies, "");
    let budgets = "expected \"tools\", \"conversation\" or \"context\"";
    check_line("output_budget = 4000", "invalid value for `output_budget`", budgets, "");
    let time = "expected a duration above zero, such as \"300ms\", \"10s\", \"5m\" or \"1h\"";
    for wrong in ["0s", "10", "-1s", "1d", "s", "99999999999999999999s"] {
        let line = format!("timeouts = {{ idle = \"{wrong}\" }}");
        check_line(&line, "invalid value for `idle`", time, "");
    }
    check_line(
        "timeouts = { idle = 10 }",
        "invalid value for `idle`",
        &format!("{time}, found `10`"),
        "add a unit: s, ms, m or h",
    );
    let help = "did you mean `developer_role`?";
    check_line(
        "profile = { devloper_role = true }",
        "unknown setting `devloper_role`",
        "not a setting of a profile",
        help,
    );
    check_line(
        "headers = { Host = \"x\" }",
        "the gateway sets the header `host` itself",
        "reserved",
        "remove it; a key belongs in `key`",
    );
    let header = ("invalid header name", "header names consist of letters, digits and dashes");
    check_line("headers = { \"a b\" = \"x\" }", header.0, "not allowed", header.1);
    check_line(
        "name = \"a/b\"",
        "invalid upstream name",
        "expected up to 64 letters, digits, `-`, `_` or `.`",
        "the name is used in `name/model`, in the log and in metrics",
    );
}

#[test]
fn duplicate_names_and_unserved_aliases() {
    let text = format!("{UPSTREAM}{UPSTREAM}");
    let problems = parse("toolwire.toml", &text, &TestEnvironment).unwrap_err();
    assert_eq!(problems.list()[0].message, "two upstreams have the name `one`");
    assert!(problems.list()[0].span.start > UPSTREAM.len());

    let only = UPSTREAM.replace("[\"*\"]", "[\"gpt-*\"]");
    good(&format!("{only}[alias]\nfast = \"gpt-5\"\nother = \"one/anything\"\n"));
    let problems =
        parse("t", &format!("{only}[alias]\nfast = \"claude-5\"\n"), &TestEnvironment).unwrap_err();
    assert_eq!(problems.list()[0].message, "no upstream serves `claude-5`");
    assert_eq!(problems.list()[0].help, "the upstreams are one; check their `models`");
    let problems =
        parse("t", &format!("{only}[alias]\nfast = \"gpt-*\"\n"), &TestEnvironment).unwrap_err();
    assert_eq!(problems.list()[0].message, "an alias must name one model");
    let problems =
        parse("t", &UPSTREAM.replace("[[upstream]]", "[upstream]"), &TestEnvironment).unwrap_err();
    assert_eq!(problems.list()[0].help, "use two brackets: [[upstream]]");
}

#[test]
fn a_retry_policy_that_cannot_work() {
    let retry = r#"[retry]
statuses = [200, "6xx", 429]
budget_reserve = 0
first_ejection = "1h"
attempts = 3
"#;
    check(
        &format!("{retry}{UPSTREAM}"),
        r#"
error: invalid value for `statuses`
 --> toolwire.toml:2:13
  |
2 | statuses = [200, "6xx", 429]
  |             ^^^ expected a status from 400 to 599, "4xx" or "5xx", found `200`

error: invalid value for `statuses`
 --> toolwire.toml:2:18
  |
2 | statuses = [200, "6xx", 429]
  |                  ^^^^^ expected a status from 400 to 599, "4xx" or "5xx"

error: invalid value for `budget_reserve`
 --> toolwire.toml:3:18
  |
3 | budget_reserve = 0
  |                  ^ expected a whole number of at least 1, found `0`

error: `first_ejection` is longer than `max_ejection`
 --> toolwire.toml:4:18
  |
4 | first_ejection = "1h"
  |                  ^^^^ too long
  |
  = help: make `first_ejection` shorter, or `max_ejection` longer

error: unknown setting `attempts`
 --> toolwire.toml:5:1
  |
5 | attempts = 3
  | ^^^^^^^^ not a setting of `retry`
  |
  = help: the settings are statuses, budget_percent, budget_reserve, eject_after, max_pause, first_ejection, max_ejection, probe_timeout

toolwire.toml has 5 problems."#,
    );
}

/// Proves that a key which was pasted into a file is shown in no message about
/// the file: in place of any value, of any key, of any section, in a comment,
/// with or without quotes, in a file that is valid TOML or is not.
#[test]
fn a_pasted_key_is_never_shown() {
    const KEY: &str = "sk-proj-4f9aPASTED81x";
    let forms = [
        "\"KEY\"",
        "'KEY'",
        "KEY",
        "\"KEY",
        "'KEY",
        "\"\"\"\nKEY\n\"\"\"",
        "[\"KEY\"]",
        "[\"x\", \"KEY\"",
        "{ env = \"KEY\" }",
        "{ file = \"KEY\" }",
        "{ evn = \"KEY\" }",
        "{ KEY = 1 }",
        "{ env = KEY",
        "\"https://user:KEY@host\"",
        "\"user:KEY@host\"",
        "\"https://host/KEY/v1\"",
        "\"https://host/?k=KEY\"",
        "\"Bearer KEY\"",
        "1 # KEY",
        "\"chat\" KEY",
        "\"a\\\"KEY\"",
    ];
    let mut shown = 0;
    for (index, line) in EVERYTHING.lines().enumerate() {
        let mut changed: Vec<String> =
            vec![format!("KEY = {line}"), format!("{line} KEY"), format!("[KEY.{line}")];
        if let Some((name, _)) = line.split_once(" = ") {
            changed.extend(forms.iter().map(|form| format!("{name} = {form}")));
            let mistaken = forms.iter().take(8);
            changed.extend(mistaken.map(|form| format!("{name} = {form} mistake = \"x\"")));
        }
        for change in changed {
            let mut lines: Vec<&str> = EVERYTHING.lines().collect();
            let change = change.replace("KEY", KEY);
            lines[index] = &change;
            let text = format!("{}\nunknown = 1\n", lines.join("\n"));
            let Err(problems) = parse("toolwire.toml", &text, &TestEnvironment) else { continue };
            shown += 1;
            let text = format!("{problems:?}{problems}");
            assert!(!text.contains("PASTED"), "{change}\n{text}");
        }
    }
    assert!(shown > 1000, "{shown}");
}

/// Proves that whatever is in place of a key is hidden, even if it does not look
/// like one.
#[test]
fn a_password_in_place_of_a_key_is_never_shown() {
    for line in [
        "keys = [\"Correct Horse 7\"]",
        "keys = \"Correct Horse 7\"",
        "keys = [{ env = \"Correct Horse 7\" }]",
        "admin_key = \"Correct Horse 7\"",
        "admin_key = { evn = \"Correct Horse 7\" }",
        "admin_key = { env = \"Correct Horse 7\", file = \"x\" }",
        "api_key = 'Correct Horse 7'",
        "token = \"Correct Horse 7",
        "headers = { x-team = \"Correct Horse 7\" }",
    ] {
        let problems =
            parse("toolwire.toml", &format!("{line}\n{UPSTREAM}\nx = 1\n"), &TestEnvironment);
        let shown = problems.expect_err(line).to_string();
        assert!(!shown.contains("Horse"), "{shown}");
    }
}

/// What people write who know another program's configuration.
#[test]
fn names_of_other_programs_get_a_hint() {
    let expected = "expected \"chat\", \"responses\" or \"messages\"";
    for (name, help) in [
        ("anthropic", "Anthropic's protocol is \"messages\"; `name` is the place for the vendor"),
        (
            "openai",
            "OpenAI has two protocols: \"responses\", and \"chat\", which most other servers speak too",
        ),
        ("openai-compatible", "it is called \"chat\" here"),
    ] {
        let line = format!("protocol = \"{name}\"");
        check_line(&line, "invalid value for `protocol`", expected, help);
    }
    let unknown = "not a setting of an upstream";
    for (line, setting, help) in [
        (
            "api_key = { env = \"OPENAI_API_KEY\" }",
            "api_key",
            "write key = { env = \"NAME\" }, with the name of the variable that holds it",
        ),
        ("api_base = \"https://x\"", "api_base", "write base_url = \"https://…\""),
        ("model = \"m\"", "model", "write models = [\"…\"], a list"),
    ] {
        check_line(line, &format!("unknown setting `{setting}`"), unknown, help);
    }
}

#[test]
fn variables_are_named_and_not_written() {
    for text in ["${OPENAI_API_KEY}", "$OPENAI_API_KEY", "os.environ/OPENAI_API_KEY"] {
        check_line(
            &format!("key = \"{text}\""),
            "`key` is not read from the environment like this",
            "not replaced by its value",
            "write { env = \"OPENAI_API_KEY\" }",
        );
    }
    check_line(
        "base_url = \"https://${HOST}/v1\"",
        "`base_url` holds a variable",
        "not replaced by its value",
        "write the value itself; only keys and headers can name a variable, as { env = \"NAME\" }",
    );
}

#[test]
fn a_file_in_another_format() {
    for (text, format) in [
        ("# mine\nmodel_list:\n  - model_name: gpt\n", "YAML"),
        ("listen: 127.0.0.1:8787\n", "YAML"),
        ("{\n  \"listen\": \"x\"\n}\n", "JSON"),
    ] {
        let problems = parse("toolwire.toml", text, &TestEnvironment).unwrap_err();
        let [problem] = problems.list() else { panic!("{problems}") };
        let help = format!(
            "this looks like {format}; the configuration is TOML, and `toolwire init` writes an example"
        );
        assert_eq!(problem.help, help);
    }
}

#[test]
fn origins_are_those_of_browsers() {
    for origin in
        ["*", "app.example.com", "https://app.example.com/", "https://*.example.com", "ftp://a"]
    {
        let text = format!("origins = [\"{origin}\"]\n{UPSTREAM}");
        let problems = parse("toolwire.toml", &text, &TestEnvironment).unwrap_err();
        assert_eq!(problems.list()[0].message, "invalid value for `origins`", "{origin}");
    }
}

#[test]
fn origins_need_keys() {
    for keys in ["", "keys = []\n"] {
        let text = format!("origins = [\"https://app.example\"]\n{keys}{UPSTREAM}");
        let problems = parse("toolwire.toml", &text, &TestEnvironment).unwrap_err();
        let messages: Vec<_> = problems.list().iter().map(|one| one.message.as_str()).collect();
        assert_eq!(messages, ["web pages could use the gateway without a key"], "{keys}");
    }
}

#[test]
fn a_whole_answer_may_take_as_long_as_any_response() {
    for (settings, seconds) in [
        ("headers = \"5s\"", 600),
        ("headers = \"20m\"", 1200),
        ("headers = \"20m\", whole = \"1m\"", 60),
        ("whole = \"15m\"", 900),
    ] {
        let text = format!("{UPSTREAM}timeouts = {{ {settings} }}\n");
        let config = parse("toolwire.toml", &text, &TestEnvironment).unwrap();
        let timeouts = &config.upstreams[0].timeouts;
        assert_eq!(timeouts.whole, Duration::from_secs(seconds), "{settings}");
    }
    // What the file says counts for an upstream that says something else.
    let text = format!("{UPSTREAM}timeouts = {{ idle = \"30s\" }}\n[timeouts]\nwhole = \"60s\"\n");
    let config = parse("toolwire.toml", &text, &TestEnvironment).unwrap();
    assert_eq!(config.upstreams[0].timeouts.whole, Duration::from_secs(60));
}
