//! x
/// x
pub struct Cvb0;
