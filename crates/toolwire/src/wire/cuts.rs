//! Parts of a document to leave out, so that what is left is still JSON.

use std::ops::Range;

/// The byte ranges to leave out of a document.
#[derive(Clone, Debug, Default)]
pub struct Cuts {
    ranges: Vec<Range<usize>>,
}

impl Cuts {
    /// Begins a list or an object of which some members are left out.
    pub fn container(&mut self) -> ContainerCuts<'_> {
        ContainerCuts { cuts: self, kept_until: None, leading: None }
    }

    /// The ranges in the order of the document.
    pub fn into_ranges(mut self) -> Vec<Range<usize>> {
        self.ranges.sort_unstable_by_key(|range| range.start);
        self.ranges
    }
}

/// The members of one list or object, each of them kept or cut, in the order of
/// the document. The range of an object's member begins with its key.
///
/// Every member that is cut takes one comma with it: the one before it or, if
/// no member before it is kept, the one behind it.
pub struct ContainerCuts<'c> {
    cuts: &'c mut Cuts,
    /// Where the last member ends, if one up to it is kept.
    kept_until: Option<usize>,
    /// The members that are cut before the first one that is kept.
    leading: Option<Range<usize>>,
}

impl ContainerCuts<'_> {
    /// Begins a list or an object inside the next member.
    pub fn container(&mut self) -> ContainerCuts<'_> {
        self.cuts.container()
    }

    /// Keeps a member, except for what was cut inside it.
    pub fn keep(&mut self, member: Range<usize>) {
        if let Some(leading) = self.leading.take() {
            self.cuts.ranges.push(leading.start..member.start);
        }
        self.kept_until = Some(member.end);
    }

    /// Cuts a member.
    pub fn cut(&mut self, member: Range<usize>) {
        // What was cut inside this member came last.
        while self.cuts.ranges.pop_if(|last| last.end > member.start).is_some() {}
        match &mut self.kept_until {
            Some(until) => self.cuts.ranges.push(std::mem::replace(until, member.end)..member.end),
            None => {
                let start = self.leading.as_ref().map_or(member.start, |leading| leading.start);
                self.leading = Some(start..member.end);
            }
        }
    }

    /// Ends the container and says whether any of its members is kept.
    pub fn finish(self) -> bool {
        self.cuts.ranges.extend(self.leading);
        self.kept_until.is_some()
    }
}

/// A document without the given ranges, which are in order.
pub fn without(source: &str, cuts: &[Range<usize>]) -> String {
    let mut rest = String::with_capacity(source.len());
    let mut from = 0;
    for cut in cuts {
        rest.push_str(source.get(from..cut.start).unwrap_or_default());
        from = cut.end;
    }
    rest.push_str(source.get(from..).unwrap_or_default());
    rest
}
