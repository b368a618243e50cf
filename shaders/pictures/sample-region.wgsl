// Samples a region of a picture, turned at any angle, as elements of a tensor in float32.
struct Region {
  // In pixels: the point of the first element, and the ways to the next column and row.
  begin: vec2<f32>,
  across: vec2<f32>,
  down: vec2<f32>,
  // For levels from 0 to 1.
  factor: f32,
  shift: f32,
  columns: u32,
  rows: u32,
  is_black_outside: u32,
  is_last: u32,
  // Whether the picture has linear light, as textures of sRGB have when they are read.
  is_linear: u32,
}

@group(0) @binding(0) var<uniform> region: Region;
@group(0) @binding(1) var picture: texture_2d<f32>;
@group(0) @binding(2) var<storage, read_write> tensor: array<f32>;

@compute @workgroup_size(8, 8)
fn sample_region(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= region.columns || id.y >= region.rows) {
    return;
  }
  let at = region.begin + f32(id.x) * region.across + f32(id.y) * region.down;
  let extent = vec2<f32>(textureDimensions(picture));
  var colour = vec3<f32>(0.0);
  let is_outside = any(at < vec2<f32>(0.0)) || any(at >= extent);
  if (region.is_black_outside == 0u || !is_outside) {
    colour = colour_at(at - 0.5);
  }
  let element = colour * region.factor + region.shift;
  let pixel = id.y * region.columns + id.x;
  let plane = region.columns * region.rows;
  let first = select(pixel, pixel * 3u, region.is_last == 1u);
  let step = select(plane, 1u, region.is_last == 1u);
  tensor[first] = element.r;
  tensor[first + step] = element.g;
  tensor[first + 2u * step] = element.b;
}

// Between four pixels, whose middles have whole coordinates here.
fn colour_at(at: vec2<f32>) -> vec3<f32> {
  let corner = floor(at);
  let part = at - corner;
  let first = vec2<i32>(corner);
  let above = mix(pixel_at(first), pixel_at(first + vec2<i32>(1, 0)), part.x);
  let below = mix(pixel_at(first + vec2<i32>(0, 1)), pixel_at(first + vec2<i32>(1, 1)), part.x);
  return mix(above, below, part.y);
}

fn pixel_at(at: vec2<i32>) -> vec3<f32> {
  let last = vec2<i32>(textureDimensions(picture)) - 1;
  let inside = clamp(at, vec2<i32>(0), last);
  let colour = clamp(textureLoad(picture, inside, 0).rgb, vec3<f32>(0.0), vec3<f32>(1.0));
  if (region.is_linear == 0u) {
    return colour;
  }
  let curve = 1.055 * pow(colour, vec3<f32>(1.0 / 2.4)) - 0.055;
  return select(curve, colour * 12.92, colour <= vec3<f32>(0.0031308));
}
