//! What clients look at.

use serde_json::json;
use toolwire::Protocol;
use toolwire_store::Options;

use super::{gateway, respond};
use crate::upstream::{Server, whole};
use crate::{client, fixtures};

/// Items are shown whole, so the words of OpenAI change nothing, and others are a mistake.
#[tokio::test]
async fn words_of_what_to_include() {
    let protocol = Protocol::Chat;
    let server = Server::new(protocol, whole(200, "", fixtures::answer(protocol))).await;
    let gateway = gateway(&server, Options::memory()).await;
    let to = gateway.address();
    let made = respond(to, &json!({"model": "m", "input": "Hi"})).await.json();
    let response = format!("/v1/responses/{}", made["id"].as_str().unwrap());
    let body = json!({"items": [{"id": "msg_1", "role": "user", "content": "Hi"}]}).to_string();
    let made = client::post(to, "/v1/conversations", &[], &body).await.json();
    let items = format!("/v1/conversations/{}/items", made["id"].as_str().unwrap());
    let known = "include[]=message.output_text.logprobs&include%5B%5D=reasoning.encrypted_content\
                 &include=file_search_call.results&include[2]=web_search_call.action.sources";
    for path in [
        response.clone(),
        format!("{response}/input_items"),
        items.clone(),
        items.clone() + "/msg_1",
    ] {
        let plain = client::get(to, &path, &[]).await;
        assert_eq!(plain.status, 200, "{plain:?}");
        let got = client::get(to, &format!("{path}?{known}"), &[]).await;
        assert_eq!((got.status, got.json()), (200, plain.json()));
        for name in ["include", "include[]", "include%5B0%5D"] {
            let wrong = format!("{path}?{name}=reasoning.content&{known}");
            let got = client::get(to, &wrong, &[]).await;
            assert_eq!(got.status, 400, "{wrong}: {got:?}");
            assert_eq!(got.json()["error"]["param"], "include", "{wrong}: {got:?}");
        }
        let other = client::get(to, &format!("{path}?include_obfuscation=false"), &[]).await;
        assert_eq!(other.status, 200, "{other:?}");
    }
    let got = client::post(to, &format!("{items}?include[]=all"), &[], &body).await;
    assert_eq!((got.status, &got.json()["error"]["param"]), (400, &json!("include")));
}
