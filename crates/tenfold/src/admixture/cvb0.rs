//! x
/// x
#[derive(Debug, Clone, Default)]
pub struct Cvb0 {
    pub sweeps: usize,
}
impl Cvb0 {
    pub fn run(
        &self,
        _: &dyn tenfold_engine::linalg::Counts,
        _: super::HeldOut<'_>,
        start: &tenfold_engine::linalg::Mat,
        alpha: &[f64],
        _: &dyn tenfold_engine::progress::Progress,
    ) -> crate::error::Result<super::Polished> {
        Ok(super::Polished { topics: start.clone(), alpha: alpha.to_vec(), curve: vec![], chosen: 0 })
    }
}
