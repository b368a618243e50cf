// The weights of attention from its scores, in their place, one row per invocation, without the keys
// that a query does not see. Where `IS_CUT`, there are none but for keys that some query of the batch sees. Maximum and sum as in softmax-direct. `four_scores` and `store_quad`
// depend on how rows lie in memory.
const LOWEST = -3.4028234663852886e38;

fn compute_at(i: u32) {
  let start = i * params.keys;
  var begin = 0u;
  var end = params.keys;
  var first = 0u;
  var last = params.keys;
  if (IS_CAUSAL) {
    let ends = ends_of(i / params.rows, vec4<u32>(i % params.queries, 0u, params.queries - 1u, 0u));
    end = min(end, ends.x);
    if (IS_CUT) {
      last = min(last, ends.z);
    }
    if (HAS_WINDOW) {
      let begins = begins_of(ends);
      begin = begins.x;
      first = begins.y / 4u * 4u;
    }
  }
  var largest = LOWEST;
  var sum = 0.0;
  for (var k = begin / 4u * 4u; k < end; k += 4u) {
    let x = seen(four_scores(start + k), LOWEST, k, begin, end);
    let next = max(max(max(x.x, x.y), max(x.z, x.w)), largest);
    let e = seen(exp(x - next), 0.0, k, begin, end);
    sum = sum * exp(largest - next) + ((e.x + e.y) + (e.z + e.w));
    largest = next;
  }
  // A query that sees no key attends to nothing.
  let scale = select(0.0, 1.0 / sum, sum > 0.0);
  for (var k = first; k < last; k += 4u) {
    var e = vec4<f32>();
    if (k < end) {
      e = seen(exp(four_scores(start + k) - largest) * scale, 0.0, k, begin, end);
    }
    store_quad(start + k, params.keys - k, e);
  }
}

// What is there for four keys, of which those before the begin and from the end on are not seen.
fn seen(x: vec4<f32>, otherwise: f32, k: u32, begin: u32, end: u32) -> vec4<f32> {
  if (IS_WHOLE) {
    return x;
  }
  let keys = vec4<u32>(k, k + 1u, k + 2u, k + 3u);
  let before = select(vec4<f32>(otherwise), x, keys < vec4<u32>(end));
  if (HAS_WINDOW) {
    return select(vec4<f32>(otherwise), before, keys >= vec4<u32>(begin));
  }
  return before;
}
