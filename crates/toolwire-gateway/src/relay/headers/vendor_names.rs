//! The names of vendors' headers, parsed once. A name that is looked up by its
//! text is parsed and hashed for every request.

use std::borrow::Cow;
use std::sync::LazyLock;

use hyper::header::{HeaderName, HeaderValue};
use toolwire::Protocol;
use toolwire::protocol::Vendor;

/// The headers of one vendor.
#[derive(Clone)]
pub(super) struct VendorNames {
    pub(super) vendor: &'static Vendor,
    /// The header in which SDKs look for the id of a request.
    pub(super) request_id: HeaderName,
    /// The header for the caller's own id of a request.
    pub(super) client_request_id: Option<HeaderName>,
    /// The header with the version of the API, and its default.
    pub(super) version: Option<(HeaderName, HeaderValue)>,
    /// The header that switches features on.
    pub(super) features: HeaderName,
    /// Headers that choose an account that belongs to the key.
    pub(super) accounts: Vec<HeaderName>,
}

impl VendorNames {
    /// The headers of a vendor. Those of a protocol that is not built in are
    /// parsed each time.
    pub(super) fn of(vendor: &'static Vendor) -> Cow<'static, Self> {
        match Self::all().iter().find(|known| known.vendor == vendor) {
            Some(known) => Cow::Borrowed(known),
            None => Cow::Owned(Self::parse(vendor)),
        }
    }

    /// Those of all protocols, each once.
    pub(super) fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<VendorNames>> =
            LazyLock::new(|| vendors().map(VendorNames::parse).collect());
        &ALL
    }

    /// Whether a header belongs to the vendor's features or accounts.
    pub(super) fn lists(&self, name: &HeaderName) -> bool {
        self.features == *name || self.accounts.contains(name)
    }

    fn parse(vendor: &'static Vendor) -> Self {
        let name = HeaderName::from_static;
        Self {
            vendor,
            request_id: name(vendor.request_id),
            client_request_id: vendor.client_request_id.map(name),
            version: vendor
                .version
                .map(|(header, default)| (name(header), HeaderValue::from_static(default))),
            features: name(vendor.feature_header),
            accounts: vendor.account_headers.iter().copied().map(name).collect(),
        }
    }
}

/// The vendors of all protocols, each once.
pub(super) fn vendors() -> impl Iterator<Item = &'static Vendor> {
    let mut all = Protocol::ALL.map(|protocol| protocol.describe().vendor);
    all.reverse();
    let is_first = move |index: &usize| {
        let mut before = all.iter().take(*index);
        !before.any(|earlier| Some(earlier) == all.get(*index))
    };
    (0..all.len()).filter(is_first).filter_map(move |index| all.get(index).copied())
}
