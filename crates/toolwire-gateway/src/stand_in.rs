//! A stand-in with the shape of the gateway's server, until that is merged.

use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use toolwire::{Options, Protocol, translate};

use crate::config::Config;

pub type Source = Arc<dyn Fn() -> Result<Config, String> + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("{0} can be reached from other machines, and no key protects it")]
    Unprotected(IpAddr),
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error("the address to listen on cannot change without a restart")]
    Moved,
}

pub struct Setup {
    pub source: Option<Source>,
    pub log: Box<dyn Write + Send>,
}

impl Default for Setup {
    fn default() -> Self {
        Self { source: None, log: Box::new(std::io::stderr()) }
    }
}

pub struct Gateway {
    address: SocketAddr,
    handle: Handle,
    accepting: JoinHandle<()>,
}

#[derive(Clone)]
pub struct Handle {
    stop: watch::Sender<bool>,
    config: Arc<std::sync::Mutex<Config>>,
}

pub async fn serve(config: Config, _: Setup) -> Result<Gateway, StartError> {
    if crate::config::exposed(config.listen) && config.keys.is_empty() {
        return Err(StartError::Unprotected(config.listen.ip()));
    }
    let cannot = |source| StartError::Listen { address: config.listen, source };
    let listener = TcpListener::bind(config.listen).await.map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let (stop, mut stopped) = watch::channel(false);
    let config = Arc::new(std::sync::Mutex::new(config));
    let shared = Arc::clone(&config);
    let accepting = tokio::spawn(async move {
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    if let Ok((stream, _)) = accepted {
                        tokio::spawn(answer(stream, Arc::clone(&shared)));
                    }
                }
                _ = stopped.changed() => return,
            }
        }
    });
    Ok(Gateway { address, handle: Handle { stop, config }, accepting })
}

impl Gateway {
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    pub async fn stopped(self) {
        let _ = self.accepting.await;
    }
}

impl Handle {
    pub fn reload(&self, config: Config) -> Result<(), StartError> {
        let Ok(mut old) = self.config.lock() else { return Ok(()) };
        if old.listen != config.listen {
            return Err(StartError::Moved);
        }
        *old = config;
        Ok(())
    }

    pub fn drain(&self, _: Duration) {
        self.stop();
    }

    pub fn stop(&self) {
        self.stop.send_replace(true);
    }
}

async fn answer(mut stream: TcpStream, config: Arc<std::sync::Mutex<Config>>) -> Option<()> {
    let mut bytes = Vec::new();
    let (head, start) = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8(bytes.clone()).ok()?;
        if let Some(end) = text.find("\r\n\r\n") {
            break (text.get(..end)?.to_owned(), end + 4);
        }
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    while bytes.len() < start + length.unwrap_or_default() {
        stream.read_buf(&mut bytes).await.ok()?;
    }
    let body = bytes.get(start..)?;
    let path = head.split(' ').nth(1)?;
    let client = match path {
        "/v1/chat/completions" => Some(Protocol::Chat),
        "/v1/responses" => Some(Protocol::Responses),
        "/v1/messages" => Some(Protocol::Messages),
        _ => None,
    };
    let (status, answer) = match client {
        Some(client) => {
            let options = Options::default();
            let up = translate::request(client, Protocol::Chat, body, &options).ok()?;
            let given = crate::demo::answer(Protocol::Chat, &up.body);
            let whole = given.chunks.concat();
            let down =
                translate::response(Protocol::Chat, client, &whole, Some(body), &options).ok()?;
            (given.status, down.body)
        }
        None if path == "/readyz" => (200, b"ready\n".to_vec()),
        None => {
            let model = path.strip_prefix("/v1/models/")?;
            let served =
                config.lock().ok()?.upstreams.iter().any(|upstream| upstream.serves(model));
            (if served { 200 } else { 404 }, b"{}".to_vec())
        }
    };
    let head = format!(
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.len()
    );
    stream.write_all(head.as_bytes()).await.ok()?;
    stream.write_all(&answer).await.ok()
}
