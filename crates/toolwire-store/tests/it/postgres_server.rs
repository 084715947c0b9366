//! A Postgres of the test's own, started from the installed package in a
//! temporary folder, and gone when the test process is.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio_postgres::NoTls;

/// A running server.
pub(crate) struct PostgresServer {
    folder: String,
    port: u16,
    pid: u32,
    _guardian: Child,
    /// The server stops when this is closed, whatever ends the test.
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// Whether somebody said that there is no Postgres on this machine.
pub(crate) fn is_left_out() -> bool {
    std::env::var_os("TOOLWIRE_WITHOUT_POSTGRES").is_some()
}

impl PostgresServer {
    /// The server that the tests of this process share.
    pub(crate) fn shared() -> &'static Self {
        static SERVER: OnceLock<PostgresServer> = OnceLock::new();
        SERVER.get_or_init(Self::start)
    }

    /// A server that a test may hurt.
    pub(crate) fn start() -> Self {
        Self::start_on("", PORT)
    }

    /// A server that also listens on this port of the machine.
    pub(crate) fn start_on(host: &str, port: u16) -> Self {
        let mut command = as_unprivileged_user();
        let mut guardian = command
            .args(["sh", "-c", SCRIPT, "sh"])
            .arg(programs())
            .args([host, &port.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the shell starts");
        let orders = guardian.stdin.take().unwrap();
        let answers = BufReader::new(guardian.stdout.take().unwrap());
        let mut server =
            Self { folder: String::new(), port, pid: 0, _guardian: guardian, orders, answers };
        server.wait_until_ready();
        server
    }

    /// Starts the server again after it was killed.
    pub(crate) fn start_again(&mut self) {
        self.orders.write_all(b"again\n").unwrap();
        self.wait_until_ready();
    }

    fn wait_until_ready(&mut self) {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let (pid, folder) = line.trim().split_once(' ').expect("Postgres starts");
        (self.pid, self.folder) = (pid.parse().unwrap(), folder.to_owned());
    }

    /// Sends a signal to the server and all its processes. The server itself
    /// comes first, so that there are no others afterwards.
    pub(crate) fn signal(&self, name: &str) {
        let server = self.pid.to_string();
        kill(name, &server);
        let children = Command::new("ps").args(["-o", "pid=", "--ppid", &server]).output().unwrap();
        for child in String::from_utf8(children.stdout).unwrap().split_whitespace() {
            kill(name, child);
        }
    }

    /// The address of a database of this server.
    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgresql://toolwire@/{database}?host={}&port={}", self.folder, self.port)
    }

    /// Makes an empty database, and returns its address.
    pub(crate) async fn new_database(&self) -> String {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", LAST.fetch_add(1, Ordering::Relaxed));
        self.execute("postgres", &format!("CREATE DATABASE {name}")).await;
        self.url(&name)
    }

    /// Runs statements in a database.
    pub(crate) async fn execute(&self, database: &str, statements: &str) {
        execute(&self.url(database), statements).await;
    }
}

/// A process may be gone already.
fn kill(signal: &str, pid: &str) {
    let mut kill = Command::new("kill");
    let _ = kill.args([&format!("-{signal}"), pid]).stderr(Stdio::null()).status().unwrap();
}

/// Runs statements in a database.
pub(crate) async fn execute(url: &str, statements: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(statements).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}

/// The number that a query gives.
pub(crate) async fn number(url: &str, query: &str) -> i64 {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let number = client.query_one(query, &[]).await.unwrap().get(0);
    drop(client);
    connection.await.unwrap().unwrap();
    number
}

/// Waits until a query gives this number.
pub(crate) async fn wait_for_number(url: &str, query: &str, expected: i64) {
    let start = Instant::now();
    loop {
        let found = number(url, query).await;
        if found == expected {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "{found} instead of {expected}: {query}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until nobody else is connected to a database.
pub(crate) async fn wait_for_connections_to_end(url: &str) {
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = \
                  'client backend' AND pid <> pg_backend_pid()";
    wait_for_number(url, others, 0).await;
}

/// How many calls of stores wait for a lock in a database.
pub(crate) const WAITING: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND \
                                  application_name = 'toolwire' AND wait_event_type = 'Lock'";

/// How long something may take on a machine that is busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Postgres refuses to run as root.
fn as_unprivileged_user() -> Command {
    let user = Command::new("id").arg("-u").output().unwrap().stdout;
    if user != b"0\n" {
        return Command::new("env");
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    command
}

/// The folder with the programs of the newest installed version.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions.map(|version| version.path()).max_by_key(number);
    let newest = newest.map(|version| version.join("bin"));
    newest.filter(|folder| folder.join("initdb").exists()).expect(
        "Postgres is installed: `sudo apt-get install postgresql` installs it, `cargo xtask test` \
         does so by itself, and TOOLWIRE_WITHOUT_POSTGRES=1 leaves its tests out",
    )
}

/// The port of a server that only has a socket. It is part of the socket's name.
const PORT: u16 = 5432;

/// Prints the process id and the folder when the server is ready, and stops the
/// server when standard input ends.
const SCRIPT: &str = r#"
set -eu
programs=$1 host=$2 port=$3
folder=$(mktemp -d /tmp/toolwire-postgres-XXXXXX)
cd "$folder"
"$programs/initdb" --pgdata=data --username=toolwire --auth=trust --no-sync --encoding=UTF8 \
    --locale=C >/dev/null
serve() {
    while :; do
        "$programs/postgres" -D data -k "$folder" -h "$host" -p "$port" -c fsync=off -c shared_buffers=16MB \
            -c max_connections=200 >>log 2>&1 &
        pid=$!
        until "$programs/pg_isready" --quiet --host="$folder" --port="$port" --username=toolwire; do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.05
        done
        # After a crash, processes of the server before may still be ending.
        if kill -0 "$pid" 2>/dev/null; then return; fi
        sleep 0.1
    done
}
serve
echo "$pid $folder"
while read -r order; do
    wait "$pid" || true
    serve
    echo "$pid $folder"
done
kill -s CONT "$pid" $(ps -o pid= --ppid "$pid") 2>/dev/null || true
kill -s QUIT "$pid" 2>/dev/null || true
wait "$pid" 2>/dev/null || true
rm -rf "$folder"
"#;
