//! What an address says about encryption.

use super::Encryption;

fn check(address: &str, rest: &str, expected: Encryption) {
    let mut left = address.to_owned();
    assert_eq!(Encryption::take_from(&mut left).unwrap(), expected, "{address}");
    assert_eq!(left, rest);
    left.parse::<tokio_postgres::Config>().unwrap();
}

#[test]
fn addresses_say_whether_to_encrypt() {
    let on = |path: &str| Encryption::On(Some(path.to_owned()));
    check("postgres://me@db/x", "postgres://me@db/x", Encryption::Off);
    check("postgres://me@db/x?sslmode=prefer", "postgres://me@db/x?", Encryption::Off);
    check("postgres://me@db/x?sslmode=require", "postgres://me@db/x?", Encryption::On(None));
    check(
        "postgres://me@db/x?sslrootcert=/ca.pem&application_name=a&sslmode=verify-full",
        "postgres://me@db/x?application_name=a&",
        on("/ca.pem"),
    );
    check(
        "postgres://me@db/x?sslmode=verify-ca&sslrootcert=system",
        "postgres://me@db/x?",
        Encryption::On(None),
    );
    check("host=db sslmode=verify-full user=me", "host=db user=me", Encryption::On(None));
    let wrong = Encryption::take_from(&mut "postgres://db/x?sslmode=on".to_owned());
    assert!(wrong.unwrap_err().to_string().contains("`verify-full`"));
}
