// The weights of attention from its scores, in their place, one row per invocation: what is added to
// scores, and which keys a query does not see, is found here. Maximum and sum as in softmax-direct.
// `four_scores`, `four_biases` and `store_quad` depend on how rows lie in memory.
const LOWEST = -3.4028234663852886e38;

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x + id.y * params.row_length;
  if (i >= params.count) {
    return;
  }
  let head = i / params.queries;
  let query = i - head * params.queries;
  let start = i * params.keys;
  var end = params.keys;
  if (IS_CAUSAL) {
    end = min(end, params.first + query + 1u);
  }
  let bias = bias_start(head, query);
  var largest = LOWEST;
  var sum = 0.0;
  for (var k = 0u; k < end; k += 4u) {
    let is_seen = vec4<u32>(k, k + 1u, k + 2u, k + 3u) < vec4<u32>(end);
    let x = select(vec4<f32>(LOWEST), scores(start, k, bias), is_seen);
    let next = max(max(max(x.x, x.y), max(x.z, x.w)), largest);
    let e = select(vec4<f32>(), exp(x - next), is_seen);
    sum = sum * exp(largest - next) + ((e.x + e.y) + (e.z + e.w));
    largest = next;
  }
  // A query that sees no key attends to nothing.
  let scale = select(0.0, 1.0 / sum, sum > 0.0);
  for (var k = 0u; k < params.keys; k += 4u) {
    var e = vec4<f32>();
    if (k < end) {
      let is_seen = vec4<u32>(k, k + 1u, k + 2u, k + 3u) < vec4<u32>(end);
      e = select(e, exp(scores(start, k, bias) - largest) * scale, is_seen);
    }
    store_quad(start + k, params.keys - k, e);
  }
}

fn scores(start: u32, k: u32, bias: u32) -> vec4<f32> {
  var x = capped(four_scores(start + k));
  if (HAS_BIAS) {
    x += four_biases(bias, k);
  }
  return x;
}
