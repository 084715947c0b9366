use super::*;

#[test]
fn what_a_file_of_authorities_may_hold() {
    let one = rcgen::generate_simple_self_signed(Vec::new()).unwrap().cert.pem();
    let two = rcgen::generate_simple_self_signed(Vec::new()).unwrap().cert.pem();
    let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for (pem, want) in [
        (one.clone(), Ok(1)),
        (format!("# ours\n{one}\n{two}"), Ok(2)),
        (format!("{key}{one}"), Ok(1)),
        (String::new(), Err(AuthoritiesError::Empty)),
        (key, Err(AuthoritiesError::Empty)),
        (format!("{one}{broken}"), Err(AuthoritiesError::Malformed(2))),
    ] {
        let read = Authorities::read(&pem).map(|Authorities(roots)| roots.len());
        assert_eq!(read, want, "{pem}");
    }
}
