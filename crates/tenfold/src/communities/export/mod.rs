//! What a model found, for other programs: tables of members, covers, and networks for Gephi.
//!
//! Every file is written whole or not at all. Rows, nodes and edges are written as they are made, so that a graph of
//! millions of nodes is not held a second time.

mod cover;
mod gexf;
mod gml;
mod network;
mod table;

pub use cover::{check_cover_ids, write_cover};
pub use gexf::write_gexf;
pub use gml::write_gml;
pub use table::{check_members_path, write_connectivity, write_members};
