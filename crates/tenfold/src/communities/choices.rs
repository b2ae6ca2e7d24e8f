//! What a fit may be asked for.

/// How edges are turned into samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Views {
    /// Every node is a hub, and its neighbours are its leaves.
    All,
    /// The thesis's way: nodes are dealt into X, A, B and C, and hubs in X are seen from the other three, so many times.
    Partition(usize),
}

/// What an edge says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// By the share of pairs that are joined.
    Auto,
    /// Many pairs are joined: least squares on the simplex, where the noise of an edge is p(1 − p).
    Dense,
    /// Few are: shares are a start for the Poisson likelihood.
    Sparse,
}

/// What follows the moments in a sparse graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polish {
    /// Climb the Poisson likelihood with a background.
    Likelihood,
    /// Nothing: the answer of the moments.
    None,
}
