use pyo3::prelude::*;
#[pymodule]
fn _lpf(_m: &Bound<'_, PyModule>) -> PyResult<()> { Ok(()) }
