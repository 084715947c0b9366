//! Encrypted connections to a real server, with certificates of the test's own.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use toolwire_store::{NewResponse, Options, Status, Store, Tenant, Write, random_id};

use crate::engines::{Folder, run};
use crate::postgres_server::{PostgresServer, is_left_out};

/// An authority, and the file that clients trust it by.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: PathBuf,
}

impl Authority {
    fn new(folder: &Path, name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let file = folder.join(format!("{name}.pem"));
        std::fs::write(&file, params.self_signed(&key).unwrap().pem()).unwrap();
        Self { issuer: Issuer::new(params, key), file }
    }
}

/// Gives a server a certificate for a name, and turns encryption on.
async fn encrypt(server: &PostgresServer, authority: &Authority, name: &str) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority.issuer).unwrap().pem();
    for (file, text) in [("server.crt", certificate), ("server.key", key.serialize_pem())] {
        let text = BASE64_STANDARD.encode(text);
        // The server has to own its key, so it writes it itself.
        let program = format!("umask 077; base64 -d > {file}");
        server.execute("postgres", &format!("COPY (SELECT '{text}') TO PROGRAM '{program}'")).await;
    }
    server.execute("postgres", "ALTER SYSTEM SET ssl = on").await;
    server.execute("postgres", "SELECT pg_reload_conf()").await;
}

async fn open(port: u16, host: &str, parameters: &str) -> Result<Store, String> {
    let url = format!("postgresql://toolwire@{host}:{port}/postgres?{parameters}");
    let store = Store::open(Options::postgres(url)).await.map_err(|error| error.to_string())?;
    let response = NewResponse::new(random_id("resp_").unwrap(), Status::Completed, "{}");
    let written = store.write(&Tenant::single(), vec![Write::Response(response)]).await;
    written.map(|()| store).map_err(|error| error.to_string())
}

#[test]
fn connections_are_encrypted_and_servers_are_checked() {
    if is_left_out() {
        return;
    }
    run(async {
        let folder = Folder::new("tls");
        let ours = Authority::new(folder.path(), "ours");
        let theirs = Authority::new(folder.path(), "theirs");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = PostgresServer::start_on("127.0.0.1", port);
        let trusts = |mode: &str, authority: &Authority| {
            format!("sslmode={mode}&sslrootcert={}", authority.file.display())
        };

        // A server that does not encrypt is not spoken to in the clear.
        let refused = open(port, "localhost", &trusts("require", &ours)).await.unwrap_err();
        assert!(refused.contains("server does not support TLS"), "{refused}");

        encrypt(&server, &ours, "localhost").await;
        for mode in ["require", "verify-ca", "verify-full"] {
            open(port, "localhost", &trusts(mode, &ours)).await.unwrap();
        }
        let encrypted = "DO $$ BEGIN ASSERT (SELECT count(*) > 0 FROM pg_stat_ssl s JOIN \
                         pg_stat_activity a USING (pid) WHERE a.application_name = 'toolwire' AND s.ssl \
                         AND s.version = 'TLSv1.3'), 'nobody is encrypted'; END $$";
        let store = open(port, "localhost", &trusts("verify-full", &ours)).await.unwrap();
        server.execute("postgres", encrypted).await;
        drop(store);

        let refused = open(port, "localhost", &trusts("verify-full", &theirs)).await.unwrap_err();
        assert!(refused.contains("UnknownIssuer"), "{refused}");
        let refused = open(port, "127.0.0.1", &trusts("verify-full", &ours)).await.unwrap_err();
        assert!(refused.contains("not valid for name"), "{refused}");
        let refused = open(port, "localhost", "sslmode=verify-full").await.unwrap_err();
        assert!(refused.contains("UnknownIssuer"), "{refused}");
        let missing = format!("sslmode=require&sslrootcert={}/none", folder.path().display());
        let refused = open(port, "localhost", &missing).await.unwrap_err();
        assert!(refused.contains("`sslrootcert`"), "{refused}");
        open(port, "localhost", "sslmode=disable").await.unwrap();
    });
}
