//! What the tests of the card share.

use tenfold_engine::linalg::Mat;
use tenfold_gpu::{Gpu, Options, adapters};

/// The first adapter, software Vulkan included; without one the test says that it is skipped.
pub fn gpu(options: Options) -> Option<Gpu> {
    if adapters().is_empty() {
        println!("skipped: there is no adapter; on Debian, mesa-vulkan-drivers brings software Vulkan");
        return None;
    }
    Some(Gpu::open(Some(0), options).expect("an adapter that is listed can be opened"))
}

/// max |a − b| / max |b|.
#[allow(dead_code)]
pub fn distance(a: &Mat, b: &Mat) -> f64 {
    assert_eq!((a.rows(), a.cols()), (b.rows(), b.cols()));
    let mut gap = a.clone();
    gap.add_scaled(-1.0, b);
    gap.max_abs() / b.max_abs().max(f64::MIN_POSITIVE)
}
