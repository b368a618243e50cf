// Softmax or its logarithm of rows of whole groups of four elements, four groups or more, one row per
// invocation. As softmax-direct.wgsl, but four groups an iteration: SwiftShader takes as long to carry
// variables round a loop as to load a group. A row's last block overlaps the one before it.
fn top(x: vec4<f32>) -> f32 {
  return max(max(x.x, x.y), max(x.z, x.w));
}

fn top_bits(x: vec4<u32>) -> u32 {
  return max(max(x.x, x.y), max(x.z, x.w));
}

fn exp_sum(x: vec4<f32>) -> f32 {
  let e = exp(x);
  return (e.x + e.y) + (e.z + e.w);
}

fn finished(x: vec4<f32>, scale: f32) -> vec4<f32> {
  if (IS_LOG) {
    return x - scale;
  }
  return exp(x) * scale;
}

fn compute_at(i: u32) {
  let groups = params.size / 4u;
  let start = i * groups;
  var largest = -3.4028234663852886e38;
  var sum = 0.0;
  var bits = 0u;
  for (var k = 0u; k < groups; k += 4u) {
    let first = min(k, groups - 4u);
    let at = start + first;
    let x0 = load_x4(at);
    let x1 = load_x4(at + 1u);
    let x2 = load_x4(at + 2u);
    let x3 = load_x4(at + 3u);
    let next = max(top(max(max(x0, x1), max(x2, x3))), largest);
    let below0 = next - x0;
    let below1 = next - x1;
    let below2 = next - x2;
    let below3 = next - x3;
    let bits0 = max(magnitude_bits(below0), magnitude_bits(below1));
    let bits2 = max(magnitude_bits(below2), magnitude_bits(below3));
    bits = max(bits, top_bits(max(bits0, bits2)));
    let sum0 = select(0.0, exp_sum(-below0), first >= k);
    let sum1 = select(0.0, exp_sum(-below1), first + 1u >= k);
    let sum2 = select(0.0, exp_sum(-below2), first + 2u >= k);
    sum = sum * exp(largest - next) + ((sum0 + sum1) + (sum2 + exp_sum(-below3)));
    largest = next;
    if (IS_LONG) {
      let part = after_round(Part(largest, sum));
      largest = part.x;
      sum = part.y;
    }
  }
  if (IS_LONG) {
    let part = join_blocks(Part(largest, sum));
    largest = part.x;
    sum = part.y;
  }
  var scale = select(1.0 / sum, log(sum), IS_LOG);
  if (bits > 0x7f800000u || sum == 0.0) {
    scale = bitcast<f32>(bits | 0x7fc00000u);
  }
  for (var k = 0u; k < groups; k += 4u) {
    let at = start + min(k, groups - 4u);
    let x0 = load_x4(at) - largest;
    let x1 = load_x4(at + 1u) - largest;
    let x2 = load_x4(at + 2u) - largest;
    let x3 = load_x4(at + 3u) - largest;
    store4(at, finished(x0, scale));
    store4(at + 1u, finished(x1, scale));
    store4(at + 2u, finished(x2, scale));
    store4(at + 3u, finished(x3, scale));
  }
}
