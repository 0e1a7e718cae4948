// SPDX-License-Identifier: Apache-2.0
//! Predicts with a model file, and prints the class names and the outputs: predict MODEL.
//!   rustc -L PREFIX/lib -l linnet predict.rs
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_void};
use std::ptr::{null, null_mut};

extern "C" {
    fn linnet_model_load(path: *const c_char, options: *const c_char, model: *mut *mut c_void) -> i32;
    fn linnet_model_free(model: *mut c_void);
    fn linnet_model_classes(model: *const c_void, count: *mut i32) -> i32;
    fn linnet_model_class_name(model: *const c_void, label: i32, name: *mut *const c_char) -> i32;
    fn linnet_predict(model: *const c_void, samples: i64, inputs: *const f32, inputs_floats: usize,
                      outputs: *mut f32, outputs_floats: usize) -> i32;
    fn linnet_last_error() -> *const c_char;
}

/// A text of the library, copied.
unsafe fn text(of: *const c_char) -> String {
    CStr::from_ptr(of).to_string_lossy().into_owned()
}

fn check(code: i32) -> Result<(), String> {
    if code == 0 { Ok(()) } else { Err(unsafe { text(linnet_last_error()) }) }
}

/// A model that is freed with its owner. Predictions may run on several threads at once.
struct Model(*mut c_void);

unsafe impl Send for Model {}
unsafe impl Sync for Model {}

impl Model {
    fn load(path: &str) -> Result<Model, String> {
        let path = CString::new(path).map_err(|error| error.to_string())?;
        let options = CString::new("{\"threads\": 1}").unwrap();
        let mut model = null_mut();
        check(unsafe { linnet_model_load(path.as_ptr(), options.as_ptr(), &mut model) })?;
        Ok(Model(model))
    }
    fn classes(&self) -> Result<Vec<String>, String> {
        let mut count = 0;
        check(unsafe { linnet_model_classes(self.0, &mut count) })?;
        (0..count)
            .map(|label| {
                let mut name = null();
                check(unsafe { linnet_model_class_name(self.0, label, &mut name) })?;
                Ok(unsafe { text(name) })
            })
            .collect()
    }
    fn predict(&self, count: i64, inputs: &[f32], outputs: &mut [f32]) -> Result<(), String> {
        check(unsafe {
            linnet_predict(self.0, count, inputs.as_ptr(), inputs.len(), outputs.as_mut_ptr(), outputs.len())
        })
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        unsafe { linnet_model_free(self.0) }
    }
}

fn main() -> Result<(), String> {
    let model = Model::load(&std::env::args().nth(1).ok_or("expected a model file")?)?;
    for name in model.classes()? {
        println!("{name}");
    }
    let samples: Vec<f32> = (0..12).map(|i| 0.125 * (i * 7 % 11 - 5) as f32).collect();
    let mut outputs = [0.0; 9];
    model.predict(3, &samples, &mut outputs)?;
    for number in outputs {
        println!("{number:?}");
    }
    Ok(())
}
