//! Communities in graphs: who belongs together, and who to several groups at once.
//!
//! A [`Graph`] is undirected, directed or bipartite, with or without weights; [`read`] brings it in from files of every
//! usual kind, [`GraphBuilder`] from a program. Nodes keep the ids they came with.
//!
//! # Example
//! ```
//! use tenfold::communities::{GraphBuilder, Kind};
//! let mut builder = GraphBuilder::new(Some(Kind::Undirected));
//! builder.edge("ann", "bob").edge("bob", "cem").edge("cem", "ann").node("eve");
//! let graph = builder.finish()?;
//! assert_eq!((graph.nodes(), graph.edges()), (4, 3));
//! assert_eq!(graph.ids().get(1), "bob");
//! # Ok::<(), tenfold::Error>(())
//! ```

mod data;
pub mod read;

pub use data::{Attribute, Attributes, Graph, GraphBuilder, Ids, Kind};
