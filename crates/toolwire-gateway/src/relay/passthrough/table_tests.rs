use super::PassedRoute;

#[test]
fn paths_with_an_id() {
    for (path, want) in [
        ("/v1/embeddings", Some("/v1/embeddings")),
        ("/v1/audio/transcriptions", Some("/v1/audio/{}")),
        ("/v1/files", Some("/v1/files")),
        ("/v1/files/file-abc_1.2:3", Some("/v1/files/{}")),
        ("/v1/files/file-abc/content", Some("/v1/files/{}/content")),
        ("/v1/messages/batches/msgbatch_1/results", Some("/v1/messages/batches/{}/results")),
        ("/v1/files/", None),
        ("/v1/files/a/b", None),
        ("/v1/embeddings/", None),
        ("/v1/embeddings/x", None),
    ] {
        assert_eq!(PassedRoute::find(path).map(|route| route.path), want, "{path}");
    }
}

/// Proves that a client cannot leave the paths of the table, however it writes
/// them.
#[test]
fn no_path_leads_elsewhere() {
    for id in ["..", ".", "...", "%2e%2e", "a%2fb", "a%2Fb", "a\\b", "a;b", "a b", "é", "a?b"] {
        for path in [format!("/v1/files/{id}"), format!("/v1/files/{id}/content")] {
            assert_eq!(PassedRoute::find(&path), None, "{path}");
        }
    }
    assert_eq!(PassedRoute::find(&format!("/v1/files/{}", "a".repeat(257))), None);
}
