// Elements along an axis lie `inner` apart.
fn load_four(start: u32, group: u32) -> vec4<f32> {
  let at = start + 4u * group * params.inner;
  return vec4<f32>(
    load_x(at),
    load_x(at + params.inner),
    load_x(at + 2u * params.inner),
    load_x(at + 3u * params.inner),
  );
}

fn store_four(start: u32, group: u32, values: vec4<f32>) {
  let at = start + 4u * group * params.inner;
  store(at, values.x);
  store(at + params.inner, values.y);
  store(at + 2u * params.inner, values.z);
  store(at + 3u * params.inner, values.w);
}

fn load_one(at: u32) -> f32 {
  return load_x(at);
}

fn store_one(at: u32, value: f32) {
  store(at, value);
}
