use std::sync::Arc;

use toolwire_store::{Item, NewResponse, Options, Status, Store, Tenant, Write};

use super::References;
use crate::memory::MemoryBudget;
use crate::stored::recall_memory::RecallMemory;

async fn store() -> Store {
    let mut options = Options::memory();
    options.limits.read = 100;
    let store = Store::open(options).await.unwrap();
    let item = Item::new("msg_1", vec![b'x'; 10]);
    let response = NewResponse {
        input: vec![item],
        ..NewResponse::new("resp_1", Status::Completed, r#"{"object":"response"}"#)
    };
    store.write(&Tenant::single(), vec![Write::Response(response)]).await.unwrap();
    store
}

#[tokio::test]
async fn an_item_that_is_named_often_is_in_memory_once() {
    let (store, tenant, bodies) = (store().await, Tenant::single(), Arc::<MemoryBudget>::default());
    let memory = RecallMemory::new(&bodies, usize::MAX);
    let mut references = References::new(&store, &tenant, memory, 50);
    let mut found = Vec::new();
    for _ in 0..5 {
        found.push(references.find("msg_1").await.ok().flatten().unwrap());
        assert!(references.find("msg_2").await.is_ok_and(|found| found.is_none()));
    }
    assert_eq!(bodies.used(), 10);
    // What the model would get is as long as that of five items.
    assert!(references.find("msg_1").await.is_err());
    drop((references, found));
    assert_eq!(bodies.used(), 0);
}

#[tokio::test]
async fn an_item_for_which_there_is_no_room() {
    let (store, tenant, bodies) = (store().await, Tenant::single(), Arc::<MemoryBudget>::default());
    let memory = RecallMemory::new(&bodies, 9);
    let mut references = References::new(&store, &tenant, memory, 0);
    assert!(references.find("msg_1").await.is_err());
    assert_eq!(bodies.used(), 0);
}
