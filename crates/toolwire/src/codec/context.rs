//! What every writer of a codec needs to know.

use crate::ledger::Ledger;
use crate::model::Protocol;
use crate::profile::Profile;
use crate::protocol::Conventions;
use crate::wire::names::Names;

/// One document on its way into another protocol.
pub struct EncodeContext<'c> {
    /// The protocol it was read from, never the one it is written in: within
    /// one protocol the bytes pass.
    pub origin: Protocol,
    /// What the target accepts.
    pub profile: &'c Profile,
    /// The names of the tools toward the target.
    pub names: &'c Names,
    /// What cannot be carried.
    pub ledger: &'c mut Ledger,
    /// How many cache markers have been written.
    pub cache_markers: usize,
    /// Whether the target can search deferred tools in this request.
    pub tool_search: bool,
    /// Whether the request makes the model think.
    pub thinks: bool,
}

impl<'c> EncodeContext<'c> {
    /// A document of which nothing has been written.
    pub fn new(
        origin: Protocol,
        profile: &'c Profile,
        names: &'c Names,
        ledger: &'c mut Ledger,
    ) -> Self {
        Self { origin, profile, names, ledger, cache_markers: 0, tool_search: false, thinks: false }
    }

    /// Whether both protocols are of one vendor, which keeps one store of files
    /// and knows the same cache markers.
    pub fn same_vendor(&self) -> bool {
        self.origin.same_vendor(self.profile.protocol)
    }

    /// What the document means without saying it.
    pub fn conventions(&self) -> &'static Conventions {
        self.origin.conventions()
    }
}
