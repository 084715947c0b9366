//! What every writer of a codec needs to know.

use crate::ledger::Ledger;
use crate::model::Protocol;
use crate::profile::Profile;
use crate::protocol::Conventions;
use crate::wire::Extra;
use crate::wire::names::Names;

/// One document on its way into another protocol.
pub(crate) struct EncodeContext<'c> {
    /// The protocol it was read from, never the one it is written in: within
    /// one protocol the bytes pass.
    pub(crate) origin: Protocol,
    /// What the target accepts.
    pub(crate) profile: &'c Profile,
    /// The names of the tools toward the target.
    pub(crate) names: &'c Names,
    /// What cannot be carried.
    pub(crate) ledger: &'c mut Ledger,
    /// How many cache markers have been written.
    pub(crate) cache_markers: usize,
    /// Whether the target can search deferred tools in this request.
    pub(crate) tool_search: bool,
}

impl<'c> EncodeContext<'c> {
    /// A document of which nothing has been written.
    pub(crate) fn new(
        origin: Protocol,
        profile: &'c Profile,
        names: &'c Names,
        ledger: &'c mut Ledger,
    ) -> Self {
        Self { origin, profile, names, ledger, cache_markers: 0, tool_search: false }
    }

    /// Whether both protocols are of one vendor, which keeps one store of files
    /// and knows the same cache markers.
    pub(crate) fn same_vendor(&self) -> bool {
        self.origin.same_vendor(self.profile.protocol)
    }

    /// What the document means without saying it.
    pub(crate) fn conventions(&self) -> &'static Conventions {
        self.origin.conventions()
    }

    /// Reports members that only the document's own protocol has.
    pub(crate) fn lose(&mut self, extra: &[Extra<'_>]) {
        self.ledger.only(extra);
    }
}
