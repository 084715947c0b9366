//! Chat calls whose pieces come in any order and with other indexes than their beginnings.

use serde_json::{Value, json};
use toolwire::Protocol;
use toolwire::calls::{self, Error, StreamedAnswer};

/// Each call of an answer: its name, and its arguments in pieces.
type Parts = &'static [(&'static str, &'static [&'static str])];

const TWO: Parts = &[("read", &["{\"a\":", "1}"]), ("write", &["{\"b\":", "2}"])];
const THREE: Parts =
    &[("read", &["{\"a\":1}"]), ("write", &["{\"b\": 2}"]), ("list", &["{\"c\":\"{\"}"])];

/// How a vendor writes the calls.
#[derive(Clone, Copy, Debug)]
struct Vendor {
    ids: Ids,
    /// How far the index of a piece is from that of its beginning.
    shift: i64,
    /// Whether every beginning has the same index.
    has_one_index: bool,
    /// Whether the beginning has the first piece too.
    begins_with_piece: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ids {
    None,
    OfBeginnings,
    OfPieces,
}

/// Whoever reads the calls finds those that were made, or that the answer cannot be read, and
/// what is put together has the same calls.
#[test]
fn misnumbered_calls_arrive_whole_or_not_at_all() {
    let mut read = 0;
    let mut failed = 0;
    let mut wrong = Vec::new();
    for (parts, vendor) in
        [TWO, THREE].into_iter().flat_map(|parts| vendors().map(move |v| (parts, v)))
    {
        for order in orders(parts) {
            // In the order in which a model writes them.
            let is_ordinary = order.is_sorted();
            if vendor.has_one_index && !is_ordinary {
                // Nothing tells the pieces apart.
                continue;
            }
            let told = format!("{order:?} {vendor:?}");
            match answer(&stream(parts, &order, vendor)) {
                Ok((calls, put_together)) => {
                    read += 1;
                    let expected = expected(parts, vendor);
                    if calls != expected || put_together != expected {
                        wrong.push(format!("{told}\n  {calls:?}\n  {put_together:?}"));
                    }
                }
                Err(error) if is_ordinary || vendor.shift == 0 => {
                    wrong.push(format!("{told}: {error}"))
                }
                Err(_) => failed += 1,
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(read > 500 && failed > 50, "{read} read, {failed} failed");
}

fn vendors() -> impl Iterator<Item = Vendor> {
    let kinds = [Ids::None, Ids::OfBeginnings, Ids::OfPieces].into_iter();
    kinds.flat_map(|ids| {
        (-3..=3).flat_map(move |shift| {
            [(false, false), (false, true), (true, false), (true, true)].map(
                |(has_one_index, begins_with_piece)| Vendor {
                    ids,
                    shift,
                    has_one_index,
                    begins_with_piece,
                },
            )
        })
    })
}

/// Every order in which the calls begin one behind the other and each gets its pieces in turn:
/// the number of the call for each of its beginning and its pieces.
fn orders(parts: Parts) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    let steps: usize = parts.iter().map(|(_, pieces)| 1 + pieces.len()).sum();
    for _ in 0..steps {
        orders = orders.iter().flat_map(|order| longer(parts, order)).collect();
    }
    orders
}

fn longer(parts: Parts, order: &[usize]) -> Vec<Vec<usize>> {
    let came = |call: usize| order.iter().filter(|step| **step == call).count();
    let may_come =
        |call: &usize| came(*call) <= parts[*call].1.len() && (*call == 0 || came(call - 1) > 0);
    (0..parts.len()).filter(may_come).map(|call| [order, &[call]].concat()).collect()
}

fn stream(parts: Parts, order: &[usize], vendor: Vendor) -> String {
    let mut stream = String::new();
    let mut push = |choice: Value| {
        let chunk = json!({"id": "c", "created": 1, "model": "m", "choices": [choice]});
        stream.push_str(&format!("data: {chunk}\n\n"));
    };
    for (step, &call) in order.iter().enumerate() {
        let came = order[..step].iter().filter(|before| **before == call).count();
        let (name, pieces) = parts[call];
        let index = 3 + if vendor.has_one_index { 0 } else { call as i64 };
        let mut piece = match (came, vendor.begins_with_piece) {
            (0, true) => {
                json!({"index": index, "function": {"name": name, "arguments": pieces[0]}})
            }
            (0, false) => json!({"index": index, "function": {"name": name, "arguments": ""}}),
            (1, true) => continue,
            (_, _) => {
                json!({"index": index + vendor.shift, "function": {"arguments": pieces[came - 1]}})
            }
        };
        let has_id = match vendor.ids {
            Ids::None => false,
            Ids::OfBeginnings => came == 0,
            Ids::OfPieces => true,
        };
        if has_id {
            piece["id"] = json!(format!("call_{call}"));
        }
        push(json!({"index": 0, "delta": {"tool_calls": [piece]}}));
    }
    push(json!({"index": 0, "delta": {}, "finish_reason": "tool_calls"}));
    stream + "data: [DONE]\n\n"
}

/// A call: its name, its arguments and, if the vendor gave one, its id.
type Made = (String, String, Option<String>);

/// The calls that are read from a stream, and those of the answer that is put together.
fn answer(stream: &str) -> Result<(Vec<Made>, Vec<Made>), Error> {
    let mut answer = StreamedAnswer::new(Protocol::Chat);
    let mut read = answer.push(stream.as_bytes())?.calls;
    let (last, response) = answer.finish()?;
    read.extend(last.calls);
    Ok((made(read), made(calls::parse(Protocol::Chat, &response)?)))
}

fn made(calls: Vec<calls::ToolCall>) -> Vec<Made> {
    let given = |id: &String| id.len() == "call_0".len();
    let made = |call: calls::ToolCall| {
        let arguments = call.arguments().unwrap_or_default().to_owned();
        (call.name, arguments, Some(call.id).filter(given))
    };
    let mut made: Vec<Made> = calls.into_iter().map(made).collect();
    // Calls are whole in another order than they began.
    made.sort();
    made
}

fn expected(parts: Parts, vendor: Vendor) -> Vec<Made> {
    let made = |(number, (name, pieces)): (usize, &(&str, &[&str]))| {
        let id = (vendor.ids != Ids::None).then(|| format!("call_{number}"));
        ((*name).to_owned(), pieces.concat(), id)
    };
    let mut made: Vec<Made> = parts.iter().enumerate().map(made).collect();
    made.sort();
    made
}
