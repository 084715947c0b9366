use tokio::net::TcpListener;

use super::*;

#[tokio::test]
async fn socket_options() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (stream, _) = listener.accept().await.unwrap();
    set_socket_options(&stream, Duration::from_secs(7));
    let socket = SockRef::from(&stream);
    assert!(socket.tcp_nodelay().unwrap() && socket.keepalive().unwrap());
    #[cfg(target_os = "linux")]
    {
        assert_eq!(socket.tcp_keepalive_time().unwrap(), KEEPALIVE);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(Duration::from_secs(7)));
    }
}
