use socket2::SockRef;
use tokio::net::TcpListener;

use super::*;

#[tokio::test]
async fn socket_options() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let connected = Connector::plain(Duration::from_secs(5)).call(uri).await.unwrap();
    let MaybeHttpsStream::Http(stream) = connected else { panic!("not plain") };
    let socket = SockRef::from(stream.io.inner());
    assert!(socket.tcp_nodelay().unwrap() && socket.keepalive().unwrap());
    #[cfg(target_os = "linux")]
    {
        assert_eq!(socket.tcp_keepalive_time().unwrap(), KEEPALIVE);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(USER_TIMEOUT));
    }
}
