use std::sync::{Arc, Mutex};

use super::*;

#[test]
fn a_panic_tells_its_place_and_not_its_message() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&heard);
    panic::set_hook(Box::new(move |info| hear.lock().unwrap().push(message(info))));
    for name in ["canary", "an other canary"] {
        let prompt = name.to_owned();
        panic::catch_unwind(move || panic!("cannot read {prompt}")).unwrap_err();
    }
    drop(panic::take_hook());
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 2);
    for told in heard.iter() {
        assert!(!told.contains("canary") && !told.contains("cannot read"), "{told}");
        assert!(told.contains("panic_hook/tests.rs:"), "{told}");
        assert!(told.contains(env!("CARGO_PKG_VERSION")) && told.contains("report"), "{told}");
    }
}
