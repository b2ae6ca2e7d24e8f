//! Devices by their names.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use tenfold::engine::device::Device;

/// `cpu`, `auto`, `auto:N`, `gpu` or `gpu:N`; Python has checked the form.
pub fn opened(name: &str) -> PyResult<Device> {
    if name == "cpu" {
        return Ok(Device::default());
    }
    let index = match name.split_once(':') {
        None => None,
        Some((_, number)) => Some(number.parse().map_err(|_| {
            PyValueError::new_err(format!(
                "device = {name:?} is not known: it may be 'gpu:0', 'gpu:1' and so on"
            ))
        })?),
    };
    let required = !name.starts_with("auto");
    match card(index) {
        Ok(gpu) => Ok(gpu(required)),
        Err(why) if !required => {
            let device = Device::default();
            // It comes back as a note of the verdict.
            device.notice(format!("the processor is used: {why}"));
            Ok(device)
        }
        Err(why) => Err(PyRuntimeError::new_err(why)),
    }
}

/// The card, as a device that is required or only allowed.
#[cfg(feature = "gpu")]
fn card(index: Option<usize>) -> Result<impl FnOnce(bool) -> Device, String> {
    use crate::errors::in_python;
    use std::sync::Arc;
    let gpu = tenfold_gpu::Gpu::open(index, tenfold_gpu::Options::default())
        .map_err(|why| in_python(&why.to_string()))?;
    Ok(move |required| {
        let gpu = Arc::new(gpu);
        if required { Device::required(gpu) } else { Device::preferred(gpu) }
    })
}

#[cfg(not(feature = "gpu"))]
fn card(_index: Option<usize>) -> Result<impl FnOnce(bool) -> Device, String> {
    let why = "this tenfold was built without graphics cards; build it with `MATURIN_PEP517_ARGS='--features gpu' pip \
               install .`, or take device='cpu'";
    Err::<fn(bool) -> Device, _>(why.to_owned())
}
