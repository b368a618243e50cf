// Rows are whole groups of four elements.
fn load_four(start: u32, group: u32) -> vec4<f32> {
  return load_x4(start / 4u + group);
}

fn store_four(start: u32, group: u32, values: vec4<f32>) {
  store4(start / 4u + group, values);
}

fn load_one(at: u32) -> f32 {
  return 0.0;
}

fn store_one(at: u32, value: f32) {}
