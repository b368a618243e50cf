// Rows are whole groups of four elements.
fn load_four(at: u32) -> vec4<f32> {
  return load_x4(at / 4u);
}

fn store_four(at: u32, values: vec4<f32>) {
  store4(at / 4u, values);
}

fn load_one(at: u32) -> f32 {
  return 0.0;
}

fn store_one(at: u32, value: f32) {}
