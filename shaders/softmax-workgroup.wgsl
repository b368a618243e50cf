// Softmax or its logarithm along one axis, LANES invocations for each row. Maximum and sum come from one
// pass, as in softmax-direct. A sum that is NaN stays NaN.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_index) index: u32,
  @builtin(workgroup_id) group: vec3<u32>,
) {
  let lane = index % LANES;
  let row = ((group.x + group.y * params.row_length) * WORKGROUP_SIZE_X + index) / LANES;
  let i = min(row, params.count - 1u);
  let inner = params.inner;
  let outer = i / inner;
  let start = outer * inner * params.size + (i - outer * inner);
  var part = Part(-3.4028234663852886e38, 0.0);
  var bits = 0u;
  var k = lane;
  for (; k + 3u * LANES < params.size; k += 4u * LANES) {
    let at = start + k * inner;
    let step = LANES * inner;
    let x = vec4<f32>(load_x(at), load_x(at + step), load_x(at + 2u * step), load_x(at + 3u * step));
    let largest = max(part.x, max(max(x.x, x.y), max(x.z, x.w)));
    let below = largest - x;
    let below_bits = magnitude_bits(below);
    bits = max(bits, max(max(below_bits.x, below_bits.y), max(below_bits.z, below_bits.w)));
    let e = exp(-below);
    part = Part(largest, part.y * exp(part.x - largest) + ((e.x + e.y) + (e.z + e.w)));
    if (IS_LONG) {
      part = after_round(part);
    }
  }
  for (; k < params.size; k += LANES) {
    let x = load_x(start + k * inner);
    part = joined(part, Part(x, 1.0));
    bits = max(bits, bitcast<u32>(part.x - x) & 0x7fffffffu);
  }
  part = join_blocks(part);
  if (bits > 0x7f800000u) {
    part.y = bitcast<f32>(bits | 0x7fc00000u);
  }
  part = join_lanes(index, part);
  var scale = select(1.0 / part.y, log(part.y), IS_LOG);
  bits = bitcast<u32>(part.y) & 0x7fffffffu;
  if (bits > 0x7f800000u || bits == 0u) {
    scale = bitcast<f32>(bits | 0x7fc00000u);
  }
  if (row >= params.count) {
    return;
  }
  for (k = lane; k < params.size; k += LANES) {
    let at = start + k * inner;
    let x = load_x(at) - part.x;
    if (IS_LOG) {
      store(at, x - scale);
    } else {
      store(at, exp(x) * scale);
    }
  }
}
