//! A new configuration while requests are in progress.

use std::sync::{Arc, Mutex};

use toolwire::Protocol;
use toolwire_gateway::config::{Pattern, Secret};
use toolwire_gateway::{Setup, StartError, serve};

use crate::upstream::{Server, Step, chunk, stream_end, stream_head, whole};
use crate::{at, client, config, fixtures, ms, start};

#[tokio::test]
async fn requests_keep_theirs() {
    let events = fixtures::events(Protocol::Chat);
    let mut steps = vec![stream_head("")];
    steps.extend(events.iter().take(3).map(chunk));
    steps.push(Step::Wait(ms(200)));
    steps.extend(events.iter().skip(3).map(chunk));
    steps.push(stream_end());
    let old = Server::new(Protocol::Chat, steps).await;
    let new =
        Server::new(Protocol::Messages, whole(200, "", fixtures::answer(Protocol::Messages))).await;
    let gateway = start(config(vec![at(&old)])).await;
    let question = fixtures::question(Protocol::Chat, true);
    let mut open = client::open(gateway.address(), "/v1/chat/completions", &[], &question).await;
    client::until(&mut open, "Let me look.").await;
    gateway.handle().reload(config(vec![at(&new)])).unwrap();
    let question = fixtures::question(Protocol::Chat, false);
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
    assert_eq!(got.status, 200);
    assert_eq!((old.seen().len(), new.seen().len()), (1, 1));
    client::until(&mut open, "[DONE]").await;
}

#[tokio::test]
async fn an_unusable_configuration_changes_nothing() {
    let server =
        Server::new(Protocol::Chat, whole(200, "", fixtures::answer(Protocol::Chat))).await;
    let gateway = start(config(vec![at(&server)])).await;
    let mut moved = config(Vec::new());
    moved.listen = "127.0.0.1:1".parse().unwrap();
    assert!(matches!(gateway.handle().reload(moved), Err(StartError::Moved)));
    let mut broken = at(&server);
    broken.origin = toolwire_gateway::config::Origin::Http {
        base: "ftp://example".to_owned(),
        path: String::new(),
    };
    let error = gateway.handle().reload(config(vec![broken])).unwrap_err();
    assert!(error.to_string().contains("upstream chat"), "{error}");
    let question = fixtures::question(Protocol::Chat, false);
    let got = client::post(gateway.address(), "/v1/chat/completions", &[], &question).await;
    assert_eq!(got.status, 200);
}

#[tokio::test]
async fn by_the_admin_call() {
    let server = Server::new(Protocol::Chat, Vec::new()).await;
    let mut named = at(&server);
    named.models = vec![Pattern("fresh".to_owned())];
    let next = Arc::new(Mutex::new(Err("line 3: no such key".to_owned())));
    let source = Arc::clone(&next);
    let setup = Setup {
        source: Some(Arc::new(move || source.lock().unwrap().clone())),
        log: Box::new(crate::watched_log::WatchedLog),
    };
    let gateway = serve(config(Vec::new()), setup).await.unwrap();
    let to = gateway.address();
    let got = client::post(to, "/admin/reload", &[], "").await;
    assert_eq!(got.status, 422, "{got:?}");
    assert!(got.body.contains("line 3"));
    *next.lock().unwrap() = Ok(config(vec![named]));
    assert_eq!(client::post(to, "/admin/reload", &[], "").await.status, 200);
    assert!(client::get(to, "/v1/models", &[]).await.body.contains("fresh"));
    let mut locked = config(Vec::new());
    locked.keys = vec![Secret::new("key".to_owned())];
    *next.lock().unwrap() = Ok(locked);
    assert_eq!(client::post(to, "/admin/reload", &[], "").await.status, 200);
    assert_eq!(client::get(to, "/v1/models", &[]).await.status, 401, "keys count at once");
}

/// Proves that the key of a client is not enough for a reload, whether or not the
/// operator has a key, and that the operator's is good for nothing else.
#[tokio::test]
async fn only_by_the_operator() {
    for admin_key in [None, Some("admin-key")] {
        let mut locked = config(Vec::new());
        locked.keys = vec![Secret::new("client-key".to_owned())];
        locked.admin_key = admin_key.map(|key| Secret::new(key.to_owned()));
        let (reloads, again) = (Arc::new(Mutex::new(0)), locked.clone());
        let counted = Arc::clone(&reloads);
        let source = move || {
            *counted.lock().unwrap() += 1;
            Ok(again.clone())
        };
        let log = Box::new(crate::watched_log::WatchedLog);
        let gateway = serve(locked, Setup { source: Some(Arc::new(source)), log }).await.unwrap();
        let to = gateway.address();
        for key in [
            "x-api-key: client-key",
            "authorization: Bearer client-key",
            "x-api-key: wrong",
            "x-api-key: ",
            "accept: */*",
        ] {
            let got = client::post(to, "/admin/reload", &[key], "").await;
            let want = if admin_key.is_some() { 401 } else { 403 };
            assert_eq!(got.status, want, "{key} {got:?}");
        }
        assert_eq!(*reloads.lock().unwrap(), 0);
        let got = client::post(to, "/admin/reload", &["x-api-key: admin-key"], "").await;
        assert_eq!(got.status, if admin_key.is_some() { 200 } else { 403 }, "{got:?}");
        let got = client::get(to, "/v1/models", &["x-api-key: admin-key"]).await;
        assert_eq!(got.status, 401, "{got:?}");
    }
}

#[tokio::test]
async fn a_panic_fails_one_request_only() {
    let setup = Setup {
        source: Some(Arc::new(|| panic!("boom"))),
        log: Box::new(crate::watched_log::WatchedLog),
    };
    let gateway = serve(config(Vec::new()), setup).await.unwrap();
    let to = gateway.address();
    for _ in 0..3 {
        let got = client::post(to, "/admin/reload", &[], "").await;
        assert_eq!(got.status, 500, "{got:?}");
        assert!(!got.body.contains("boom"));
    }
    assert_eq!(client::get(to, "/livez", &[]).await.status, 200);
    let page = client::get(to, "/metrics", &[]).await.body;
    assert!(page.contains("toolwire_panics_total 3"), "{page}");
}
