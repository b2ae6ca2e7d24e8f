//! `tenfold motifs`: what its subcommands share.

#[allow(dead_code, reason = "for the subcommands that read signals")]
mod reading;

#[expect(unused_imports, reason = "for the subcommands that read signals")]
pub use reading::ReadArgs;

use tenfold::motifs::Extent;

/// `64`, or `32x48` for rows and columns.
pub fn parse_extent(text: &str) -> Result<Extent, String> {
    let side = |text: &str| match text.trim().parse::<usize>() {
        Ok(side) if (1..=1 << 32).contains(&side) => Ok(side),
        _ => Err("a number of samples such as 64, or rows and columns such as 32x32, is needed".to_owned()),
    };
    match text.split_once(['x', '×']) {
        None => Ok(Extent::line(side(text)?)),
        Some((rows, columns)) => Ok(Extent::plane(side(rows)?, side(columns)?)),
    }
}

/// The extent as it is given.
pub fn shown(extent: Extent) -> String {
    if extent.is_plane() { format!("{}x{}", extent.rows, extent.columns) } else { extent.columns.to_string() }
}
