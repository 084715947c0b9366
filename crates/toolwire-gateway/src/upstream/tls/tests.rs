use super::*;

#[test]
fn certificates_in_a_pem_file() {
    let one = rcgen::generate_simple_self_signed(Vec::new()).unwrap().cert.pem();
    let two = rcgen::generate_simple_self_signed(Vec::new()).unwrap().cert.pem();
    let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for (pem, want) in [
        (one.clone(), Ok(1)),
        (format!("# ours\n{one}\n{two}"), Ok(2)),
        (format!("{key}{one}"), Ok(1)),
        (String::new(), Err(CaBundleError::Empty)),
        (key, Err(CaBundleError::Empty)),
        (format!("{one}{broken}"), Err(CaBundleError::Malformed(2))),
    ] {
        let read = CaBundle::read(&pem).map(|CaBundle(roots)| roots.len());
        assert_eq!(read, want, "{pem}");
    }
}
