// Draws elements of a tensor as the colours of a picture.
struct Picture {
  begins: vec3<u32>,
  width: u32,
  factors: vec3<f32>,
  pixel_step: u32,
  shifts: vec3<f32>,
  // 4, 2 or 1: float32, float16 or uint8.
  element_size: u32,
  has_sigmoid: u32,
  is_opacity: u32,
}

@group(0) @binding(0) var<uniform> picture: Picture;
@group(0) @binding(1) var<storage, read> words: array<u32>;

// One triangle that covers everything.
@vertex
fn cover(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
  return vec4<f32>(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn paint(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {
  let at = (u32(place.y) * picture.width + u32(place.x)) * picture.pixel_step;
  var colour = vec3<f32>(
    element(at + picture.begins.x),
    element(at + picture.begins.y),
    element(at + picture.begins.z),
  );
  if (picture.has_sigmoid == 1u) {
    colour = 1.0 / (1.0 + exp(-colour));
  }
  colour = clamp(colour * picture.factors + picture.shifts, vec3<f32>(0.0), vec3<f32>(1.0));
  if (picture.is_opacity == 1u) {
    return vec4<f32>(0.0, 0.0, 0.0, colour.x);
  }
  return vec4<f32>(colour, 1.0);
}

fn element(i: u32) -> f32 {
  if (picture.element_size == 4u) {
    return bitcast<f32>(words[i]);
  }
  if (picture.element_size == 2u) {
    return unpack2x16float(words[i / 2u] >> (i % 2u * 16u)).x;
  }
  return f32((words[i / 4u] >> (i % 4u * 8u)) & 255u);
}
