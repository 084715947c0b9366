use crate::wire::hash::{base62, hex8};

/// The first two are the test vectors of FIPS 180-4.
#[test]
fn known_answers() {
    let long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    let cases: [(&[&[u8]], &str, &str); 5] = [
        (&[b"abc"], "ba7816bf", "vab5RpW6i5Hzn7YMlm3bwca0"),
        (&[long.as_bytes()], "248d6a61", "dJaOpoX0NFSi97MOP4PsuPYt"),
        (&[b""], "e3b0c442", "5IxLHpeEWjUSnpuggYAkGEii"),
        (&[b"a", b"bc"], "3fafa1cf", "z0qVtMhxFQsPTfufZfTOG5mF"),
        (&[b"ab", b"c"], "601d5476", "53WkbcikEmdzIuxPAWzSTn2c"),
    ];
    for (parts, hex, text) in cases {
        assert_eq!((hex8(parts).as_str(), base62(parts, 24).as_str()), (hex, text));
        assert_eq!(base62(parts, 9), text[..9]);
    }
}
