// Resizes a picture by weights in integers, as Pillow does, and writes it as elements of a tensor.
struct Steps {
  source_width: u32,
  source_height: u32,
  resized_width: u32,
  resized_height: u32,
  frame_left: i32,
  frame_top: i32,
  frame_width: u32,
  frame_height: u32,
  padded_width: u32,
  padded_height: u32,
  // Of the tables in `numbers`: where the parts begin.
  row_weights: u32,
  row_taps: u32,
  column_first: u32,
  column_weights: u32,
  column_taps: u32,
  levels: u32,
  // Red, green and blue, 8 bits each, around the picture in its frame.
  fill: u32,
  // The colours of up to three channels, 8 bits each.
  order: u32,
  channel_count: u32,
  is_last: u32,
  is_grey: u32,
  // 4, 2 or 1: float32, float16 or uint8.
  element_size: u32,
  // The word of the tensor where the picture begins, and how many it has.
  first_word: u32,
  word_count: u32,
  // Whether the picture has linear light, as textures of sRGB have when they are read.
  is_linear: u32,
}

// Bits behind the point of weights.
const WEIGHT_BITS = 22u;
const HALF = 1 << 21u;
const WORKGROUP = 64u;

@group(0) @binding(0) var<uniform> steps: Steps;
@group(0) @binding(1) var<storage, read> numbers: array<i32>;
@group(0) @binding(2) var picture: texture_2d<f32>;
// Rows that have their width: three levels in a word.
@group(0) @binding(3) var<storage, read_write> rows: array<u32>;
@group(0) @binding(4) var<storage, read_write> tensor: array<u32>;

@compute @workgroup_size(64)
fn resize_rows(@builtin(global_invocation_id) id: vec3<u32>) {
  let x = id.x;
  let y = id.y;
  if (x >= steps.resized_width) {
    return;
  }
  let first = numbers[x];
  var sum = vec3<i32>(HALF);
  for (var k = 0u; k < steps.row_taps; k++) {
    let weight = numbers[steps.row_weights + x * steps.row_taps + k];
    // Behind the last pixel of the row weights are 0.
    let column = min(u32(first) + k, steps.source_width - 1u);
    sum += levels_at(column, y) * weight;
  }
  let level = vec3<u32>(clamp(sum >> vec3<u32>(WEIGHT_BITS), vec3<i32>(0), vec3<i32>(255)));
  rows[y * steps.resized_width + x] = level.x | (level.y << 8u) | (level.z << 16u);
}

// Levels of a pixel of the picture; for grey its luma, as Pillow's convert('L') has it.
fn levels_at(x: u32, y: u32) -> vec3<i32> {
  var colour = clamp(textureLoad(picture, vec2<u32>(x, y), 0).rgb, vec3<f32>(0.0), vec3<f32>(1.0));
  if (steps.is_linear == 1u) {
    let curve = 1.055 * pow(colour, vec3<f32>(1.0 / 2.4)) - 0.055;
    colour = select(curve, colour * 12.92, colour <= vec3<f32>(0.0031308));
  }
  let level = vec3<i32>(round(colour * 255.0));
  if (steps.is_grey == 0u) {
    return level;
  }
  return vec3<i32>((level.r * 19595 + level.g * 38470 + level.b * 7471 + 0x8000) >> 16u);
}

@compute @workgroup_size(64)
fn write_elements(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let word = id.y * groups.x * WORKGROUP + id.x;
  if (word >= steps.word_count) {
    return;
  }
  let count = 4u / steps.element_size;
  var bits = 0u;
  for (var i = 0u; i < count; i++) {
    bits |= element_at(word * count + i) << (i * steps.element_size * 8u);
  }
  tensor[steps.first_word + word] = bits;
}

// The bits of an element of the picture.
fn element_at(i: u32) -> u32 {
  var channel: u32;
  var pixel: u32;
  if (steps.is_last == 1u) {
    channel = i % steps.channel_count;
    pixel = i / steps.channel_count;
  } else {
    let plane = steps.padded_width * steps.padded_height;
    channel = i / plane;
    pixel = i % plane;
  }
  let x = pixel % steps.padded_width;
  let y = pixel / steps.padded_width;
  if (x >= steps.frame_width || y >= steps.frame_height) {
    return 0u;
  }
  let colour = (steps.order >> (channel * 8u)) & 255u;
  let level = level_in_frame(i32(x) - steps.frame_left, i32(y) - steps.frame_top, colour);
  return u32(numbers[steps.levels + channel * 256u + level]);
}

fn level_in_frame(x: i32, y: i32, colour: u32) -> u32 {
  if (x < 0 || y < 0 || x >= i32(steps.resized_width) || y >= i32(steps.resized_height)) {
    return (steps.fill >> (colour * 8u)) & 255u;
  }
  let first = u32(numbers[steps.column_first + u32(y)]);
  var sum = HALF;
  for (var k = 0u; k < steps.column_taps; k++) {
    let weight = numbers[steps.column_weights + u32(y) * steps.column_taps + k];
    let row = min(first + k, steps.source_height - 1u);
    let level = (rows[row * steps.resized_width + u32(x)] >> (colour * 8u)) & 255u;
    sum += i32(level) * weight;
  }
  return u32(clamp(sum >> WEIGHT_BITS, 0, 255));
}
