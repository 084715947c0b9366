//! Members are cut out of a document, and the rest of it is untouched.

use super::super::cuts::{Cuts, without};
use super::super::{Raw, Reader};

/// Cuts every element that is `0`, also out of lists inside the list, and
/// inner lists of which nothing is left.
fn cut_zeros(source: &str) -> String {
    let mut cuts = Cuts::default();
    let mut outer = cuts.container();
    for element in Raw::parse(source).unwrap().elements().unwrap() {
        let mut kept = element.text() != "0";
        if element.text().starts_with('[') {
            let mut inner = outer.container();
            for element in element.elements().unwrap() {
                match element.text() {
                    "0" => inner.cut(element.range().unwrap()),
                    _kept => inner.keep(element.range().unwrap()),
                }
            }
            kept = inner.finish();
        }
        let range = element.range().unwrap();
        if kept { outer.keep(range) } else { outer.cut(range) }
    }
    outer.finish();
    without(source, &cuts.into_ranges())
}

#[test]
fn a_member_takes_one_comma_with_it() {
    for (source, rest) in [
        ("[]", "[]"),
        ("[1, 2]", "[1, 2]"),
        ("[0]", "[]"),
        ("[ 0 ,  0 ]", "[  ]"),
        ("[0, 1]", "[1]"),
        ("[0, 0 ,1, 2]", "[1, 2]"),
        ("[1, 0]", "[1]"),
        ("[1 , 0, 0 ]", "[1 ]"),
        ("[1, 0, 2]", "[1, 2]"),
        ("[0, 1, 0, 0, 2, 0]", "[1, 2]"),
        ("[1, [0, 2], 3]", "[1, [2], 3]"),
        ("[[2, 0], 0, [0, 2]]", "[[2], [2]]"),
        ("[1, [0, 0], 3]", "[1, 3]"),
        ("[[0], [0, 0], 3]", "[3]"),
        ("[[0], [0, 0]]", "[]"),
    ] {
        let left = cut_zeros(source);
        assert_eq!(left, rest, "{source}");
        Reader::new(&left).skip().unwrap();
    }
}
