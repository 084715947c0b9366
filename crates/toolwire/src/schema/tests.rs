use arbitrary::Unstructured;

use super::*;
use crate::ledger::Ledger;
use crate::wire::{Pos, Raw, Reader, pointer};

#[track_caller]
fn check(schema: &str, change: Option<RootChange>, expected: &str) {
    let raw = Raw::parse(schema).unwrap();
    let (rewritten, found) = root(Some(&raw));
    assert_eq!((rewritten.text(), found), (expected, change), "{schema}");
    assert_eq!(rewritten.pos(), raw.pos());
    let again = root(Some(&rewritten));
    assert_eq!((again.0.text(), again.1), (expected, None), "twice: {schema}");
}

#[test]
fn roots_that_are_fine() {
    for schema in [
        EMPTY,
        r#"{ "properties" : {"a":{"anyOf":[]}}, "type" : "object", "x":1.0 }"#,
        r#"{"$defs":{"a":{"oneOf":[]}},"type":"object","properties":{}}"#,
    ] {
        check(schema, None, schema);
    }
}

#[test]
fn roots_that_say_nothing() {
    for schema in ["null", "true", "false", "{}", "{ }", "[]", "\"object\"", "3"] {
        check(schema, Some(RootChange::Empty), EMPTY);
    }
    let (made, change) = root(None);
    assert_eq!((made.text(), change), (EMPTY, Some(RootChange::Empty)));
}

#[test]
fn roots_without_a_type() {
    use RootChange::Typed;
    check(
        r#"{ "properties":{"b":{},"a":{"maximum":1e2}}}"#,
        Some(Typed),
        r#"{"type":"object", "properties":{"b":{},"a":{"maximum":1e2}}}"#,
    );
    check(
        r#"{"description":"no parameters"}"#,
        Some(Typed),
        r#"{"type":"object","description":"no parameters","properties":{}}"#,
    );
    check(r#"{"type":"object"}"#, Some(Typed), EMPTY);
    check(r#"{"type":null,"properties":null}"#, Some(Typed), EMPTY);
    check(
        r#"{"type":"object","additionalProperties":{"type":"string"} }"#,
        Some(Typed),
        r#"{"type":"object","additionalProperties":{"type":"string"} ,"properties":{}}"#,
    );
    check(
        r#"{"properties":{},"type":["object", "null"]}"#,
        Some(Typed),
        r#"{"properties":{},"type":"object"}"#,
    );
}

#[test]
fn roots_that_refer() {
    use RootChange::{Typed, Union, Wrapped};
    check(
        r##"{"$ref":"#/definitions/A","definitions":{"A":{"type":"object","properties":{"x":{"$ref":"#/definitions/A"}}}},"$schema":"s"}"##,
        Some(Typed),
        r##"{"type":"object","properties":{"x":{"$ref":"#/definitions/A"}},"definitions":{"A":{"type":"object","properties":{"x":{"$ref":"#/definitions/A"}}}},"$schema":"s"}"##,
    );
    check(
        r##"{"description":"own","$ref":"#/$defs/a~1b","$defs":{"a/b":{"description":"its","properties":{}}}}"##,
        Some(Typed),
        r##"{"type":"object","description":"own","properties":{},"$defs":{"a/b":{"description":"its","properties":{}}}}"##,
    );
    check(
        r##"{"$ref":"#/$defs/U","$defs":{"U":{"anyOf":[{"type":"object"},{"type":"null"}]}}}"##,
        Some(Union),
        r##"{"type":"object","properties":{},"$defs":{"U":{"anyOf":[{"type":"object"},{"type":"null"}]}}}"##,
    );
    check(
        r##"{"$ref":"#/$defs/L","$defs":{"L":{"type":"array","items":{"$ref":"#"}}}}"##,
        Some(Wrapped),
        r##"{"type":"object","properties":{"value":{"$ref":"#/$defs/L"}},"required":["value"],"$defs":{"L":{"type":"array","items":{"$ref":"#/properties/value"}}}}"##,
    );
    for lost in ["#/$defs/gone", "https://example.com/a", "#", "#/$defs/me"] {
        let schema = format!(r##"{{"$ref":"{lost}","$defs":{{"me":{{"$ref":"#/$defs/me"}}}}}}"##);
        let raw = Raw::parse(&schema).unwrap();
        assert_eq!(root(Some(&raw)).1, Some(Wrapped), "{lost}");
    }
}

#[test]
fn root_unions_of_objects() {
    use RootChange::Union;
    check(
        r#"{"anyOf":[{"type":"object","properties":{"a":{"const":1.0},"k":{"const":"a"}},"required":["k","a"]},{"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}],"description":"D"}"#,
        Some(Union),
        r#"{"type":"object","properties":{"a":{"const":1.0},"k":{"anyOf":[{"const":"a"},{"const":"b"}]}},"required":["k"],"description":"D\n\nThe arguments take one of 2 forms: with `k`, `a`; or with `k`."}"#,
    );
    check(
        r#"{"type":"object","properties":{"id":{},"name":{}},"required":["x"],"oneOf":[{"required":["id"]},{"required":["name"]}],"additionalProperties":false}"#,
        Some(Union),
        r#"{"type":"object","description":"The arguments take one of 2 forms: with `id`; or with `name`.","properties":{"id":{},"name":{}},"required":["x"],"additionalProperties":false}"#,
    );
    check(
        r##"{"allOf":[{"$ref":"#/$defs/A"},{"type":"object","properties":{"b":{},"a":{"minLength":1}},"required":["b"]}],"$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}"##,
        Some(Union),
        r##"{"type":"object","properties":{"a":{"allOf":[{"type":"string"},{"minLength":1}]},"b":{}},"required":["a","b"],"$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}"##,
    );
    check(
        r#"{"oneOf":[{"type":"object","additionalProperties":false},{"properties":{"a":true},"additionalProperties":false}]}"#,
        Some(Union),
        r#"{"type":"object","description":"The arguments take one of 2 forms: with nothing; or with `a`.","properties":{"a":true},"additionalProperties":false}"#,
    );
}

#[test]
fn roots_that_are_wrapped() {
    use RootChange::Wrapped;
    let wrapped = |schema: &str| {
        format!(r#"{{"type":"object","properties":{{"value":{schema}}},"required":["value"]}}"#)
    };
    for schema in [
        r#"{"type":"array","items":{"type":"string"}}"#,
        r#"{"type":["string","null"]}"#,
        r#"{"enum":["a",1.0]}"#,
        r#"{"type":"object","not":{"required":["a"]}}"#,
        r#"{"anyOf":[{"type":"object"},{"type":"string"}]}"#,
        r#"{"anyOf":[{"description":"x"},{}]}"#,
        r#"{"oneOf":"odd"}"#,
        r#"{"items":{}}"#,
    ] {
        check(schema, Some(Wrapped), &wrapped(schema));
    }
    check(
        r##"{"$schema":"s", "$defs":{"S":{"$ref":"#/items"}}, "type":"array", "items":{"anyOf":[{"$ref":"#/$defs/S"},{"$ref":"#"},{"const":{"$ref":"#"}}]}}"##,
        Some(Wrapped),
        r##"{"type":"object","properties":{"value":{"type":"array", "items":{"anyOf":[{"$ref":"#/$defs/S"},{"$ref":"#/properties/value"},{"const":{"$ref":"#"}}]}}},"required":["value"],"$schema":"s","$defs":{"S":{"$ref":"#/properties/value/items"}}}"##,
    );
}

#[test]
fn unions_that_unfold_for_ever_are_wrapped() {
    let many = (0..40)
        .map(|n| {
            let next = (0..40).map(|m| format!(r##"{{"$ref":"#/$defs/d{m}"}}"##));
            format!(r#""d{n}":{{"anyOf":[{}]}}"#, next.collect::<Vec<_>>().join(","))
        })
        .collect::<Vec<_>>()
        .join(",");
    let deep = format!(r##"{{"anyOf":[{{"$ref":"#/$defs/d0"}}],"$defs":{{{many}}}}}"##);
    // Few branches, but each of them as large as the whole.
    let references = vec![r##"{"$ref":"#/$defs/x"}"##; 200].join(",");
    let properties: Vec<_> = (0..5000).map(|n| format!(r#""p{n}":{{}}"#)).collect();
    let wide = format!(
        r##"{{"anyOf":[{references}],"$defs":{{"x":{{"properties":{{{}}}}}}}}}"##,
        properties.join(",")
    );
    for schema in [deep, wide] {
        let raw = Raw::parse(&schema).unwrap();
        assert_eq!(root(Some(&raw)).1, Some(RootChange::Wrapped));
    }
}

#[track_caller]
fn check_definitions(schema: &str, expected: Option<&str>) {
    let raw = Raw::parse(schema).unwrap();
    let moved = definitions(&raw);
    assert_eq!(moved.as_ref().map(Raw::text), expected, "{schema}");
    if let Some(moved) = moved {
        serde_json::from_str::<serde_json::Value>(moved.text()).unwrap();
        assert_eq!(definitions(&moved), None, "twice: {schema}");
    }
}

#[test]
fn definitions_move_to_where_messages_looks() {
    check_definitions(r##"{"type":"object","properties":{"definitions":{}}}"##, None);
    check_definitions(r##"{"$defs":{"a":{}},"items":{"$ref":"#/$defs/a"}}"##, None);
    check_definitions(r##"{"definitions":{"a":{}}}"##, None);
    check_definitions(
        r##"{"items":{"$ref":"#\/definitions\/a"}, "definitions" : {"a":{"$ref":"#/definitions/b~1c/items"}, "b/c":{"const":{"$ref":"#/definitions/a"}}}}"##,
        Some(
            r##"{"items":{"$ref":"#/$defs/a"}, "$defs" : {"a":{"$ref":"#/$defs/b~1c/items"}, "b/c":{"const":{"$ref":"#/definitions/a"}}}}"##,
        ),
    );
    check_definitions(
        r##"{"$defs":{"x":{"$ref":"#/definitions/y"}},"definitions":{"y":{"$ref":"#/$defs/x"}},"type":"object"}"##,
        Some(r##"{"$defs":{"x":{"$ref":"#/$defs/y"},"y":{"$ref":"#/$defs/x"}},"type":"object"}"##),
    );
    check_definitions(
        r##"{"items":{"$ref":"#/components/schemas/p"},"components":{"schemas":{"p":{"not":{"$ref":"#/components/schemas/p"}}}}}"##,
        Some(r##"{"items":{"$ref":"#/$defs/p"},"$defs":{"p":{"not":{"$ref":"#/$defs/p"}}}}"##),
    );
    check_definitions(
        r##"{"components":{"schemas":{"p":{}},"x":1.0},"items":{"$ref":"#/components/schemas/p"}}"##,
        Some(r##"{"$defs":{"p":{}},"components":{"x":1.0},"items":{"$ref":"#/$defs/p"}}"##),
    );
}

#[test]
fn definitions_of_the_same_name_stay_apart() {
    let schema = r##"{"$defs":{"a":{"const":1}},"definitions":{"a":{"const":2}},"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/definitions/a"}]}"##;
    let moved = definitions(&Raw::parse(schema).unwrap()).unwrap();
    let value: serde_json::Value = serde_json::from_str(moved.text()).unwrap();
    for (index, wanted) in [1, 2].into_iter().enumerate() {
        let target = value["anyOf"][index]["$ref"].as_str().unwrap();
        let found = value.pointer(target.strip_prefix('#').unwrap()).unwrap();
        assert_eq!(found["const"], wanted);
    }
    assert!(value.get("definitions").is_none());
}

#[test]
fn property_names_that_messages_refuses() {
    let long = format!(r#"{{"properties":{{"{}":{{}}}}}}"#, "a".repeat(65));
    for (schema, found) in [
        (r#"{"properties":{"a.b-c_D1":{}}}"#, None),
        (r#"{"properties":{"a":{"items":[{"properties":{"b c":{}}}]}}}"#, Some("b c")),
        (r#"{"properties":{"":{}}}"#, Some("")),
        (r#"{"$defs":{"x y":{"properties":{"$d":{}}}}}"#, Some("$d")),
        (r#"{"patternProperties":{"^a":{}},"default":{"properties":{"a b":1}}}"#, None),
        (r#"{"properties":{"\u00e9":{}}}"#, Some("é")),
        (&long, Some(&*"a".repeat(65))),
    ] {
        let raw = Raw::parse(schema).unwrap();
        let name = property_names(&raw);
        assert_eq!(name.map(|name| name.decode().into_owned()).as_deref(), found, "{schema}");
    }
    let request = r#"{"tools":[{"input_schema":{"properties":{"ok":{},"b c":{}}}}]}"#;
    let at = request.find(r#"{"properties"#).unwrap();
    let schema = Reader::new(&request[at..]).raw().unwrap().at(Pos::new(at));
    let name = property_names(&schema).unwrap();
    assert_eq!(pointer(request, name.pos()), "/tools/0/input_schema/properties/b c");
}

#[test]
fn strict_subsets() {
    let closed = |inner: &str| {
        format!(
            r#"{{"type":"object","properties":{{"a":{inner}}},"required":["a"],"additionalProperties":false}}"#
        )
    };
    let nested =
        |times: usize| (0..times).fold(r#"{"type":"string"}"#.to_owned(), |s, _| closed(&s));
    let optional = |count: usize| {
        let names: Vec<_> = (0..count).map(|n| format!(r#""p{n}":{{"type":"string"}}"#)).collect();
        format!(
            r#"{{"type":"object","properties":{{{}}},"additionalProperties":false}}"#,
            names.join(",")
        )
    };
    let cases: [(String, bool, bool); 32] = [
        (closed(r#"{"type":"string"}"#), true, true),
        (r#"{"type":"object","properties":{},"additionalProperties":false}"#.into(), true, true),
        (EMPTY.into(), false, false),
        (r#"{"type":"object","properties":{},"additionalProperties":true}"#.into(), false, false),
        (closed(r#"{"type":"object"}"#), false, false),
        (closed(r#"{"type":"object","additionalProperties":{"type":"string"}}"#), false, false),
        (closed(r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#), true, true),
        (closed(r#"{"oneOf":[{"type":"string"}]}"#), false, false),
        (closed(r#"{"allOf":[{"type":"string"}]}"#), false, true),
        (closed(r#"{"type":"integer","minimum":0}"#), true, false),
        (closed(r#"{"type":"string","minLength":1}"#), true, false),
        (closed(r#"{"type":"array","items":{"type":"null"},"minItems":1}"#), true, true),
        (closed(r#"{"type":"array","items":{"type":"null"},"minItems":2}"#), true, false),
        (closed(r#"{"type":"array","items":{}}"#), false, true),
        (closed(r#"{"type":"array","items":true}"#), false, true),
        (closed("true"), false, true),
        (closed(r#"{"description":"Anything."}"#), false, true),
        (closed(r#"{"const":1}"#), false, true),
        (closed(r#"{"type":"string","format":"date-time"}"#), true, true),
        (closed(r#"{"type":"string","format":"uri"}"#), false, true),
        (closed(r#"{"anyOf":[{"type":"string"}],"description":"A choice."}"#), true, true),
        (closed(r##"{"$ref":"#/$defs/a"}"##), true, true),
        (closed(r##"{"$ref":"#/$defs/a","description":"Such a thing."}"##), false, true),
        (closed(r#"{"type":"string","default":"x"}"#), false, true),
        (closed(r#"{"enum":["a",{"b":1}]}"#), false, false),
        (closed(r##"{"$ref":"#"}"##), true, false),
        (closed(r#"{"$ref":"https://example.com/x"}"#), false, false),
        (optional(1), false, true),
        (optional(25), false, false),
        (nested(10), true, true),
        (nested(11), false, true),
        (r#"{"type":"array"}"#.into(), false, false),
    ];
    for (schema, openai, anthropic) in cases {
        let raw = Raw::parse(&schema).unwrap();
        assert_eq!(fits_openai_strict(&raw), openai, "OpenAI: {schema}");
        assert_eq!(fits_anthropic_strict(&raw), anthropic, "Anthropic: {schema}");
    }
    let two = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"],"additionalProperties":false,"$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/b"}},"b":{"type":"array","items":{"$ref":"#/$defs/a"}}}}"##;
    let raw = Raw::parse(two).unwrap();
    assert!(fits_openai_strict(&raw) && !fits_anthropic_strict(&raw));
    let line =
        two.replace(r##"{"type":"array","items":{"$ref":"#/$defs/a"}}"##, r#"{"type":"string"}"#);
    assert!(fits_anthropic_strict(&Raw::parse(&line).unwrap()));
}

#[track_caller]
fn check_slim(schema: &str, wanted: Slim, expected: &str, paths: &[&str]) {
    let raw = Raw::parse(schema).unwrap();
    let mut ledger = Ledger::default();
    assert_eq!(slim(&raw, &wanted, &mut ledger).text(), expected);
    let found: Vec<_> = ledger.entries(schema).into_iter().map(|entry| entry.path).collect();
    assert_eq!(found, paths);
}

#[test]
fn slimmer_schemas() {
    let schema = r#"{"title":"T", "properties":{"title":{"title":"x"},"b":{"type":"string", "examples":[1] , "$comment":"c"}},"$schema":"s"}"#;
    check_slim(schema, Slim::default(), schema, &[]);
    check_slim(
        schema,
        Slim { titles: true, examples: true, comments: true, dialect: true, ..Slim::default() },
        r#"{"properties":{"title":{},"b":{"type":"string"}}}"#,
        &[
            "/title",
            "/properties/title/title",
            "/properties/b/examples",
            "/properties/b/$comment",
            "/$schema",
        ],
    );
    let long = Slim { long_descriptions: Some(10), ..Slim::default() };
    check_slim(
        r#"{"description":"one two three","properties":{"description":{"description":"\u00e9\u00e9 eight eight"},"c":{"description":"exactly 10"},"d":{"description":"oneverylongword"}}}"#,
        long,
        r#"{"description":"one two…","properties":{"description":{"description":"éé eight…"},"c":{"description":"exactly 10"},"d":{"description":"oneverylo…"}}}"#,
        &["/description", "/properties/description/description", "/properties/d/description"],
    );
}

#[test]
fn unused_definitions() {
    let wanted = Slim { unused_definitions: true, ..Slim::default() };
    check_slim(
        r##"{"$defs":{"a":{"$ref":"#/$defs/b"}, "u":{"$ref":"#/$defs/v"},"b":{},"v":{"$ref":"#/$defs/u"}},"items":{"$ref":"#/$defs/a/items"},"definitions":{"x":{}}}"##,
        wanted,
        r##"{"$defs":{"a":{"$ref":"#/$defs/b"}, "b":{}},"items":{"$ref":"#/$defs/a/items"},"definitions":{}}"##,
        &["/$defs/u", "/$defs/v", "/definitions/x"],
    );
}

/// Any schema, sensible or not.
fn any_schema(u: &mut Unstructured<'_>, depth: usize) -> arbitrary::Result<String> {
    if depth == 0 || u.ratio(1, 8)? {
        let leaves = [
            "{}",
            "true",
            "false",
            "null",
            r#"{"type":"object"}"#,
            r#"{"type":"null"}"#,
            "[]",
            "3",
        ];
        return Ok((*u.choose(&leaves)?).to_owned());
    }
    let mut members = Vec::new();
    for key in [
        "title",
        "type",
        "properties",
        "required",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "$defs",
        "definitions",
        "components",
        "items",
        "additionalProperties",
        "not",
        "enum",
        "description",
        "examples",
        "$comment",
    ] {
        if !u.ratio(1, 4)? {
            continue;
        }
        let value = match key {
            "type" => {
                (*u.choose(&[r#""object""#, r#""array""#, r#"["object","null"]"#, "1"])?).to_owned()
            }
            "required" => (*u.choose(&["[]", r#"["a"]"#, r#"["b","a"]"#, "true"])?).to_owned(),
            "$ref" => (*u.choose(&[
                r##""#""##,
                r##""#/$defs/a""##,
                r##""#/definitions/a""##,
                r##""#/components/schemas/b""##,
                r##""#/anyOf/0""##,
                r##""#/$defs/b/items""##,
                r#""https://x""#,
                "1",
            ])?)
            .to_owned(),
            "properties" | "$defs" | "definitions" => format!(
                r#"{{"a" :{}, "b":{}}}"#,
                any_schema(u, depth - 1)?,
                any_schema(u, depth - 1)?
            ),
            "components" => format!(r#"{{"schemas":{{"b":{}}}}}"#, any_schema(u, depth - 1)?),
            "anyOf" | "oneOf" | "allOf" => {
                format!("[{} ,{}]", any_schema(u, depth - 1)?, any_schema(u, depth - 1)?)
            }
            "items" | "additionalProperties" | "not" => any_schema(u, depth - 1)?,
            "title" | "description" | "$comment" => r#""some words in here""#.to_owned(),
            _other => r#"[{"$ref":"x"}]"#.to_owned(),
        };
        members.push(format!(r#""{key}": {value}"#));
    }
    Ok(format!("{{{}}}", members.join(", ")))
}

#[test]
fn any_schema_becomes_one_that_every_protocol_accepts() {
    arbtest::arbtest(|u| {
        let text = any_schema(u, 4)?;
        let raw = Raw::parse(&text).unwrap();
        let (fixed, change) = root(Some(&raw));
        let value: serde_json::Value = serde_json::from_str(fixed.text()).unwrap();
        assert_eq!(value["type"], "object", "{text}");
        for key in ["anyOf", "oneOf", "allOf", "enum", "const", "not", "$ref"] {
            assert!(value.get(key).is_none(), "{text} -> {}", fixed.text());
        }
        if change.is_none() {
            assert_eq!(fixed.text(), text);
        }
        assert_eq!(root(Some(&fixed)).1, None);
        if let Some(moved) = definitions(&fixed) {
            serde_json::from_str::<serde_json::Value>(moved.text()).unwrap();
            assert_eq!(definitions(&moved), None, "{text}");
        }
        let everything = Slim {
            unused_definitions: true,
            long_descriptions: Some(8),
            titles: true,
            examples: true,
            comments: true,
            dialect: true,
        };
        let mut ledger = Ledger::default();
        let short = slim(&raw, &everything, &mut ledger);
        serde_json::from_str::<serde_json::Value>(short.text()).unwrap();
        assert_eq!(ledger.is_empty(), short.text() == text, "{text}");
        let mut ledger = Ledger::default();
        assert_eq!(slim(&short, &everything, &mut ledger), short);
        let _strict = (fits_openai_strict(&raw), fits_anthropic_strict(&raw));
        Ok(())
    })
    .budget_ms(400);
}

#[test]
fn formats_that_messages_takes() {
    use FormatChange::{Closed, Loosened, Reworded};
    let cases = [
        (
            r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}"#,
            None,
            r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}"#,
        ),
        (
            r#"{"properties":{"a":{"type":"object"} }, "required":["a"] }"#,
            Some(Closed),
            r#"{"properties":{"a":{"type":"object","additionalProperties":false} }, "required":["a"],"additionalProperties":false }"#,
        ),
        (
            r#"{"type":"object","properties":{"n":{"minimum":1,"type":"integer","maximum":1e3},"l":{"minItems":1,"items":{"oneOf":[{"type":"null"}]}}},"additionalProperties":{"type":"object"}}"#,
            Some(Loosened),
            r#"{"type":"object","properties":{"n":{"type":"integer"},"l":{"minItems":1,"items":{"anyOf":[{"type":"null"}]}}},"additionalProperties":false}"#,
        ),
        (
            r#"{"type":"object","additionalProperties":true,"not":{"type":"object"}}"#,
            Some(Loosened),
            r#"{"type":"object","additionalProperties":false}"#,
        ),
        (
            r#"{"type":"object","minProperties":1}"#,
            Some(Loosened),
            r#"{"type":"object","additionalProperties":false}"#,
        ),
        ("true", None, "true"),
        (
            r##"{"allOf":[{"$ref":"#/$defs/a"}],"description":"One."}"##,
            Some(Reworded),
            r##"{"anyOf":[{"$ref":"#/$defs/a"}],"description":"One."}"##,
        ),
        (
            r##"{"anyOf":[{"type":"null"}],"allOf":[{"$ref":"#/$defs/a"}]}"##,
            None,
            r##"{"anyOf":[{"type":"null"}],"allOf":[{"$ref":"#/$defs/a"}]}"##,
        ),
        (
            r##"{"allOf":[true,{"$ref":"#/$defs/a"}],"description":"Two."}"##,
            None,
            r##"{"allOf":[true,{"$ref":"#/$defs/a"}],"description":"Two."}"##,
        ),
        (
            r#"{"oneOf":[{"type":"string"}],"anyOf":[{"type":"null"}]}"#,
            Some(Loosened),
            r#"{"anyOf":[{"type":"null"}]}"#,
        ),
        (
            r#"{"type":"array","prefixItems":[{"type":"object"}],"items":false}"#,
            Some(Loosened),
            r#"{"type":"array"}"#,
        ),
        (
            r#"{"items":{"type":"object"},"type":"array","prefixItems":[{"type":"string"}]}"#,
            Some(Loosened),
            r#"{"type":"array"}"#,
        ),
    ];
    for (schema, change, expected) in cases {
        let raw = Raw::parse(schema).unwrap();
        let (rewritten, found) = output_format(&raw);
        assert_eq!((rewritten.text(), found), (expected, change), "{schema}");
        let (again, change) = output_format(&rewritten);
        assert_eq!((again.text(), change), (expected, None), "twice: {schema}");
    }
}

#[test]
fn formats_that_messages_refuses() {
    for (schema, fits) in [
        (r#"{"enum":["[a]","{b}",1,null]}"#, true),
        (r#"{"enum":["a",{"b":1}]}"#, false),
        (r#"{"enum":[[1]]}"#, false),
        (r##"{"properties":{"a":{"$ref":"#/properties/b"},"b":{}}}"##, true),
        (r#"{"properties":{"a":{"$ref":"https://example.com/a.json"}}}"#, false),
        (r##"{"properties":{"a":{"$ref":"#"}}}"##, false),
        (r##"{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"}}}}"##, false),
        (r##"{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/b"}},"b":{}}}"##, true),
        (r##"{"allOf":[{"$ref":"#/$defs/a"},{"type":"object"}],"$defs":{"a":{}}}"##, false),
        (r##"{"allOf":[{"items":{"$ref":"#/$defs/a"}}],"$defs":{"a":{}}}"##, true),
        (r##"{"allOf":[{}],"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{}}}"##, true),
    ] {
        assert_eq!(fits_anthropic_format(&Raw::parse(schema).unwrap()), fits, "{schema}");
    }
}

/// A root that says it is an object and lists its properties is not fine if
/// something else stands beside that, however it is spelled.
#[test]
fn no_root_passes_with_a_keyword_that_some_protocol_refuses() {
    for (keyword, value) in [
        ("anyOf", r#"[{"required":["a"]},{"required":["b"]}]"#),
        ("any\\u004ff", r#"[{"required":["a"]},{"required":["b"]}]"#),
        ("oneOf", r#"[{"required":["a"]},{"required":["b"]}]"#),
        ("allOf", r#"[{"required":["a"]}]"#),
        ("enum", r#"[{"a":1}]"#),
        ("const", r#"{"a":1}"#),
        ("not", r#"{"required":["a"]}"#),
        ("$ref", r##""#/$defs/a""##),
    ] {
        let text = format!(
            r#"{{"type":"object","properties":{{"a":{{}},"b":{{}}}},"$defs":{{"a":{{}}}},"{keyword}":{value}}}"#
        );
        let raw = Raw::parse(&text).unwrap();
        assert!(root(Some(&raw)).1.is_some(), "{text}");
    }
    // Deeper, all of them are fine.
    let text = r#"{"type":"object","properties":{"anyOf":{"enum":[1]},"b":{"not":{}}}}"#;
    assert_eq!(root(Some(&Raw::parse(text).unwrap())).1, None);
}
