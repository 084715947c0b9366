//! What finding the model in a body costs.

use toolwire_laws::growth::Growth;

use super::model_scan::{ModelScan, Scanned};
use super::table::PassedRoute;
use crate::growth::Row;

pub(crate) const ROWS: &[Row] = &[
    Row {
        names: NAMES,
        shape: "a long list before the model, in tiny pieces",
        measure: || {
            let make = |size| format!(r#"{{"input":[{}],"model":"m"}}"#, r#""a\"b","#.repeat(size));
            Growth::of(5_000, make, |body: &String| scan("application/json", body.as_bytes(), 7))
        },
    },
    Row {
        names: NAMES,
        shape: "many parts before the model, in tiny pieces",
        measure: || {
            let part = "--b\r\ncontent-disposition: form-data; name=\"x\"\r\n\r\n\r\n--\r\n";
            let make = |size| part.repeat(size);
            Growth::of(1_000, make, |body: &String| scan(FORM, body.as_bytes(), 7))
        },
    },
    Row {
        names: NAMES,
        shape: "a file without an end",
        measure: || {
            let make = |size| format!("--b\r\nx: y\r\n\r\n{}", "\r\n--\r\n\r\n".repeat(size));
            Growth::of(5_000, make, |body: &String| scan(FORM, body.as_bytes(), 7))
        },
    },
    Row {
        names: &["relay/passthrough/table.rs::find"],
        shape: "a long path",
        measure: || {
            Growth::of(
                20_000,
                |size| format!("/v1/files/{}", "a/".repeat(size)),
                |path: &String| {
                    std::hint::black_box(PassedRoute::find(path));
                },
            )
        },
    },
];

const NAMES: &[&str] = &[
    "relay/passthrough/model_scan.rs::for_content_type",
    "relay/passthrough/model_scan.rs::read",
    "relay/passthrough/model_scan.rs::name",
    "relay/passthrough/model_scan.rs::written",
];

const FORM: &str = "multipart/form-data; boundary=b";

fn scan(content_type: &str, body: &[u8], piece: usize) {
    let mut scan = ModelScan::for_content_type(content_type);
    let mut end = 0;
    while end < body.len() {
        end = (end + piece).min(body.len());
        match scan.read(&body[..end]) {
            Scanned::More => {}
            Scanned::Absent => return,
            Scanned::Found(place) => {
                let found = scan.name(body, place);
                drop(found.map(|found| scan.written(&found.name)));
                return;
            }
        }
    }
}
