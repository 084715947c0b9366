//! How a gateway proves to other programs of its user that it is theirs.
//!
//! Any program can listen on a gateway's port and answer as one does, and would
//! get the user's prompts and keys. A gateway therefore has two random texts that
//! only its user can read. Who asks sends the first, and a gateway that was given
//! both answers with the second. A program that took over the port has seen at
//! most the first.

use std::fmt;

use subtle::ConstantTimeEq;

/// The two texts of one gateway.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    challenge: String,
    proof: String,
}

impl Identity {
    /// Makes a new one. Without a source of randomness there is none.
    pub fn generate() -> Option<Self> {
        Some(Self { challenge: random_text()?, proof: random_text()? })
    }

    /// Reads one that was written with [`Identity::to_text`].
    pub fn from_text(text: &str) -> Option<Self> {
        let (challenge, proof) = text.trim_end().split_once('\n')?;
        let is_valid = |text: &str| {
            text.len() == 2 * RANDOM_BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let identity = Self { challenge: challenge.to_owned(), proof: proof.to_owned() };
        (is_valid(challenge) && is_valid(proof)).then_some(identity)
    }

    /// Both texts, for a file that only the user can read.
    pub fn to_text(&self) -> String {
        format!("{}\n{}\n", self.challenge, self.proof)
    }

    /// What to send to a gateway, in the header [`CHALLENGE`].
    pub fn challenge(&self) -> &str {
        &self.challenge
    }

    /// Whether a gateway's answer, in the header [`PROOF`], is the right one.
    pub fn accepts(&self, proof: &str) -> bool {
        self.proof.as_bytes().ct_eq(proof.as_bytes()).into()
    }

    /// The answer to a challenge, if it is the right one.
    pub(crate) fn answer(&self, challenge: &[u8]) -> Option<&str> {
        let is_right: bool = self.challenge.as_bytes().ct_eq(challenge).into();
        is_right.then_some(&self.proof)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

fn random_text() -> Option<String> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The header of `GET /readyz` that asks for a proof.
pub const CHALLENGE: &str = "toolwire-challenge";

/// The header of its response that holds the proof.
pub const PROOF: &str = "toolwire-proof";

const RANDOM_BYTES: usize = 32;
