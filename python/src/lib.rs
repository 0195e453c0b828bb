//! The native half of the Python package `lpf`; everything a user sees is in `python/lpf`.
//!
//! | file | what it holds |
//! |---|---|
//! | `work` | long work without the interpreter's lock, which Ctrl-C ends |
//! | `errors` | errors of the library as Python exceptions |
//! | `rows` | NumPy columns as the rows of a log |
//! | `audit` | audits, and what their reports say |
//! | `calibrate` | calibration maps and prediction sets |
//! | `evidence` | factors combined, records answered |
//! | `spn` | sum-product networks |
//! | `monitor` | predictions watched as outcomes arrive |

mod audit;
mod calibrate;
mod errors;
mod evidence;
mod monitor;
mod rows;
mod spn;
mod work;

use pyo3::prelude::*;

/// The command `lpf` with the arguments of the process; its exit code.
///
/// It takes over the signals of the process, as a program does, so it is for the script `lpf` alone.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    let code = py.detach(|| lpf::cli::main_with(arguments));
    (0..2).find(|n| code == (*n).into()).unwrap_or(2)
}

#[pymodule]
fn _lpf(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("MAX_BINS", lpf::calibration::MAX_BINS)?;
    module.add_class::<rows::Rows>()?;
    module.add_class::<audit::Report>()?;
    module.add_class::<calibrate::Map>()?;
    module.add_class::<monitor::Monitor>()?;
    module.add_class::<spn::Builder>()?;
    module.add_class::<spn::Network>()?;
    module.add_function(wrap_pyfunction!(audit::audit, module)?)?;
    module.add_function(wrap_pyfunction!(audit::checks, module)?)?;
    module.add_function(wrap_pyfunction!(rows::columns, module)?)?;
    module.add_function(wrap_pyfunction!(evidence::aggregate, module)?)?;
    module.add_function(wrap_pyfunction!(evidence::infer, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    Ok(())
}
