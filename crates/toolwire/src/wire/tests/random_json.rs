//! Documents that are made at random, the same ones every time.

pub(super) struct RandomJson(u64);

impl RandomJson {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) % limit as u64) as usize
    }

    pub(super) fn one_of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }

    /// A list of one value.
    pub(super) fn list(&mut self) -> String {
        let mut text = "[".to_owned();
        self.value(0, &mut text);
        text.push(']');
        text
    }

    fn value(&mut self, depth: usize, out: &mut String) {
        match if depth > 6 { self.below(3) } else { self.below(6) } {
            0 => out.push_str(self.one_of(&["12.5e3", "-0", "0.25E-7", "123456789012345678901"])),
            1 => out.push_str(self.one_of(&["null", "true", "false"])),
            2 | 3 => self.string(out),
            open => {
                let (open, close) = if open == 4 { ('[', ']') } else { ('{', '}') };
                out.push(open);
                self.space(out);
                for index in 0..self.below(5) {
                    if index > 0 {
                        out.push(',');
                        self.space(out);
                    }
                    if open == '{' {
                        self.string(out);
                        self.space(out);
                        out.push(':');
                        self.space(out);
                    }
                    self.value(depth + 1, out);
                    self.space(out);
                }
                out.push(close);
            }
        }
    }

    fn space(&mut self, out: &mut String) {
        out.push_str(self.one_of(&["", "", "", " ", "\n\t", "\r\n    "]));
    }

    fn string(&mut self, out: &mut String) {
        out.push('"');
        let parts = [
            "\\\"", "\\\\", "{", "]", "x", "é", "\\u0022", "[", "}", ",", " ", "\\n", ":", "😀",
            "\\ud83d\\ude00", "plain words",
        ];
        let longest = [2, 12, 80][self.below(3)];
        for _ in 0..self.below(longest) {
            out.push_str(self.one_of(&parts));
        }
        out.push('"');
    }
}
