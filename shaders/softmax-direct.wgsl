// Softmax or its logarithm along one axis, one row per invocation. The maximum so far and the sum of
// exponentials relative to it come from one pass: M. Milakov, N. Gimelshein, "Online normalizer
// calculation for softmax" (2018). WGSL's max and exp may lose a NaN; differences keep it, also that
// of two infinities.
fn compute_at(i: u32) {
  let inner = params.inner;
  let outer = i / inner;
  let start = outer * inner * params.size + (i - outer * inner);
  var largest = -3.4028234663852886e38;
  var sum = 0.0;
  var bits = 0u;
  let groups = params.size / 4u;
  for (var group = 0u; group < groups; group++) {
    let x = load_four(start, group);
    let next = max(max(max(x.x, x.y), max(x.z, x.w)), largest);
    let below = next - x;
    let below_bits = magnitude_bits(below);
    bits = max(bits, max(max(below_bits.x, below_bits.y), max(below_bits.z, below_bits.w)));
    let e = exp(-below);
    sum = sum * exp(largest - next) + ((e.x + e.y) + (e.z + e.w));
    largest = next;
    if (IS_LONG) {
      let part = after_round(Part(largest, sum));
      largest = part.x;
      sum = part.y;
    }
  }
  if (HAS_TAIL) {
    for (var k = groups * 4u; k < params.size; k++) {
      let x = load_one(start + k * inner);
      let next = max(x, largest);
      bits = max(bits, bitcast<u32>(next - x) & 0x7fffffffu);
      sum = sum * exp(largest - next) + exp(x - next);
      largest = next;
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
  for (var group = 0u; group < groups; group++) {
    let x = load_four(start, group) - largest;
    if (IS_LOG) {
      store_four(start, group, x - scale);
    } else {
      store_four(start, group, exp(x) * scale);
    }
  }
  if (HAS_TAIL) {
    for (var k = groups * 4u; k < params.size; k++) {
      let at = start + k * inner;
      let x = load_one(at) - largest;
      if (IS_LOG) {
        store_one(at, x - scale);
      } else {
        store_one(at, exp(x) * scale);
      }
    }
  }
}
