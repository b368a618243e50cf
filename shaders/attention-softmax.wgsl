// The weights of attention from its scores, in their place, one row per invocation, without the keys
// that a query does not see. Maximum and sum as in softmax-direct. `four_scores` and `store_quad`
// depend on how rows lie in memory.
const LOWEST = -3.4028234663852886e38;

fn compute_at(i: u32) {
  let start = i * params.keys;
  var end = params.keys;
  if (IS_CAUSAL) {
    end = min(end, params.first + i % params.queries + 1u);
  }
  var largest = LOWEST;
  var sum = 0.0;
  for (var k = 0u; k < end; k += 4u) {
    let x = seen(four_scores(start + k), LOWEST, k, end);
    let next = max(max(max(x.x, x.y), max(x.z, x.w)), largest);
    let e = seen(exp(x - next), 0.0, k, end);
    sum = sum * exp(largest - next) + ((e.x + e.y) + (e.z + e.w));
    largest = next;
  }
  // A query that sees no key attends to nothing.
  let scale = select(0.0, 1.0 / sum, sum > 0.0);
  for (var k = 0u; k < params.keys; k += 4u) {
    var e = vec4<f32>();
    if (k < end) {
      e = seen(exp(four_scores(start + k) - largest) * scale, 0.0, k, end);
    }
    store_quad(start + k, params.keys - k, e);
  }
}

// What is there for four keys, of which those from the end on are not seen.
fn seen(x: vec4<f32>, otherwise: f32, k: u32, end: u32) -> vec4<f32> {
  if (IS_WHOLE) {
    return x;
  }
  return select(vec4<f32>(otherwise), x, vec4<u32>(k, k + 1u, k + 2u, k + 3u) < vec4<u32>(end));
}
