use std::time::Duration;

use toolwire_store::{EngineOptions, PostgresOptions};

use super::{duration, place};

/// How long content is kept is a promise, so nothing is rounded.
#[test]
fn no_time_is_rounded() {
    for (seconds, said) in [
        (30 * 24 * 60 * 60, "30 days"),
        (24 * 60 * 60, "1 day"),
        (25 * 60 * 60, "25 hours"),
        (36 * 60 * 60, "36 hours"),
        (12 * 60 * 60, "12 hours"),
        (90 * 60, "90 minutes"),
        (60, "1 minute"),
        (61, "61 seconds"),
    ] {
        assert_eq!(duration(Duration::from_secs(seconds)), said);
    }
    assert_eq!(duration(Duration::from_millis(1500)), "1500 milliseconds");
}

#[test]
fn a_database_is_named_and_its_password_is_not() {
    for (url, said) in [
        ("postgres://me:hunter2@db.example.com/toolwire", "database toolwire at db.example.com"),
        ("postgres://me:hunter2@[::1]:6432/t?sslmode=require", "database t at ::1, port 6432"),
        ("postgres://me:hunter2@a:1,b:2/t", "database t at a, port 1, and b, port 2"),
        ("host=/run/postgresql user=me password=hunter2", "database me at /run/postgresql"),
    ] {
        let engine = EngineOptions::Postgres(PostgresOptions::new(url));
        assert_eq!(place(&engine), format!("Postgres, {said}"));
    }
    let engine = EngineOptions::Postgres(PostgresOptions::new("not a url hunter2"));
    assert_eq!(place(&engine), "Postgres");
}
