//! The demo model behind a gateway of its own, in every protocol.

use std::io;
use std::path::Path;

use toolwire_gateway::config::environment::{self, Environment};
use toolwire_gateway::{Gateway, Setup, serve};
use toolwire_runner::{Client, Protocol, Request, ToolSet};

use crate::{read, runner};

/// A gateway with the demo model alone.
pub(crate) async fn gateway() -> (Gateway, String) {
    struct Nothing;
    impl Environment for Nothing {
        fn variable(&self, _name: &str) -> Option<String> {
            None
        }

        fn read_file(&self, _path: &Path) -> io::Result<String> {
            Err(io::ErrorKind::NotFound.into())
        }
    }
    let config = environment::find(Some("127.0.0.1:0".parse().unwrap()), &Nothing).config;
    let setup = Setup { source: None, log: Box::new(io::sink()) };
    let gateway = serve(config, setup).await.unwrap();
    let address = format!("http://{}", gateway.address());
    (gateway, address)
}

#[tokio::test]
async fn a_loop_with_the_demo_model() {
    let (_gateway, address) = gateway().await;
    for protocol in Protocol::ALL {
        for stream in [false, true] {
            let client = Client::new(protocol, &address).unwrap();
            let question = Request::new("demo", "What is the weather in Paris and Rome?")
                .instructions("You are a weather station.");
            let outcome = runner().streaming(stream).run(&client, question).await.unwrap();
            let expected = ["sunny in Paris", "sunny in Rome"].map(|text| (text.to_owned(), false));
            assert_eq!(read(&outcome), expected, "{protocol}");
            assert!(outcome.text().contains("sunny in Rome"), "{}", outcome.text());
        }
    }
}

/// A body with settings and tools of its own keeps them.
#[tokio::test]
async fn a_request_of_the_callers_own() {
    let (_gateway, address) = gateway().await;
    let client = Client::new(Protocol::Responses, &address).unwrap();
    let body = br#"{ "model": "demo", "input": "Weather in Oslo?", "metadata": {"n": "1.0"} }"#;
    let outcome = runner().run(&client, Request::json(*body)).await.unwrap();
    let sent = std::str::from_utf8(outcome.request()).unwrap();
    assert!(sent.starts_with(r#"{ "model": "demo", "input": [{"#), "{sent}");
    assert!(sent.contains(r#""metadata": {"n": "1.0"}"#), "{sent}");
    assert_eq!(read(&outcome)[0].0, "sunny in Oslo");
}

#[tokio::test]
async fn a_model_that_nobody_serves() {
    let (_gateway, address) = gateway().await;
    let client = Client::new(Protocol::Chat, &address).unwrap();
    let runner = toolwire_runner::Runner::new(ToolSet::new());
    let error = runner.run(&client, Request::new("gpt-0", "Hi")).await.unwrap_err();
    let toolwire_runner::Error::Api { status: 404, error } = error else { panic!("{error}") };
    assert_eq!(error.code.as_deref(), Some("model_not_found"));
}
