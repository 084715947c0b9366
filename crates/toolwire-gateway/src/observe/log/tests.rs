use std::io;
use std::sync::mpsc::{Receiver, Sender};

use super::*;

/// Standard error that nobody reads until the gate opens.
struct Gate {
    open: Receiver<()>,
    reached: Sender<()>,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.reached.send(());
        // An error means that the gate stays open.
        let _ = self.open.recv();
        self.written.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_log_that_nobody_reads_drops_lines_and_says_how_many() {
    for (format, notice) in
        [(LogFormat::Text, "N lines lost because"), (LogFormat::Json, "{\"lost_lines\":N}")]
    {
        let (opener, open) = std::sync::mpsc::channel();
        let (reached, is_reached) = std::sync::mpsc::channel();
        let written = Arc::default();
        let log = Log::new(Box::new(Gate { open, reached, written: Arc::clone(&written) }));
        let line = vec![b'x'; 4095].into_iter().chain([b'\n']).collect::<Vec<u8>>();
        log.write_line(&line, format);
        is_reached.recv().unwrap();
        for _ in 0..100_000 {
            log.write_line(&line, format);
        }
        let lost = log.lost_lines();
        assert_eq!(lost, 100_001 - (QUEUE_BYTES / line.len()) as u64, "memory does not grow");
        drop(opener);
        log.flush();
        let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        assert_eq!(log.queue.lock().unwritten, 0);
        let want = notice.replace('N', &lost.to_string());
        assert_eq!(text.matches(&want).count(), 1, "{want}");
        assert_eq!(
            text.lines().filter(|line| line.starts_with('x')).count() as u64 + lost,
            100_001
        );
        log.write_line(&line, format);
        log.flush();
        assert_eq!(log.lost_lines(), lost);
    }
}
