// Attention without its scores in memory: four rows of queries times WORKGROUP_SIZE_Y against blocks
// of keys, of which sums relative to the largest score so far are kept: T. Dao et al.,
// "FlashAttention" (2022). Heads that share keys are rows of one. Layers of the grid take parts of
// the keys, whose sums attention-merge brings together: T. Dao et al., "Flash-Decoding" (2023).
// `Sums`, `Scores` and the functions that take them are unrolled; `load_keys` and `load_values` bring
// a block into `tile`, zeros behind the last key that some row sees.
const LANES = WORKGROUP_SIZE_X * WORKGROUP_SIZE_Y;
const BLOCK = 32u;
// Neighbouring rows begin in different banks.
const STRIDE = QUADS + 1u;
const LOWEST = -3.4028234663852886e38;

var<workgroup> query_tile: array<vec4<f32>, QUADS * 4u * WORKGROUP_SIZE_Y>;
var<workgroup> tile: array<vec4<f32>, BLOCK * STRIDE>;
var<workgroup> weights: array<vec4<f32>, BLOCK * WORKGROUP_SIZE_Y>;
var<workgroup> partial: array<vec4<f32>, LANES>;

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let group = workgroup + vec3<u32>(params.first_x, params.first_y, params.first_z);
  let first_row = group.x * WORKGROUP_SIZE_Y * 4u;
  let key_quads = (params.size + 3u) / 4u;
  for (var i = lane; i < key_quads * WORKGROUP_SIZE_Y; i += LANES) {
    let y = i % WORKGROUP_SIZE_Y;
    let d = i / WORKGROUP_SIZE_Y;
    let rows = min(vec4<u32>(first_row + y * 4u) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(params.rows - 1u));
    let starts = (group.y * params.rows + rows) * params.size;
    let four = transpose(mat4x4<f32>(
      query_four(starts.x, d),
      query_four(starts.y, d),
      query_four(starts.z, d),
      query_four(starts.w, d),
    ));
    let at = d * 4u * WORKGROUP_SIZE_Y + y;
    query_tile[at] = four[0] * params.scale;
    query_tile[at + WORKGROUP_SIZE_Y] = four[1] * params.scale;
    query_tile[at + 2u * WORKGROUP_SIZE_Y] = four[2] * params.scale;
    query_tile[at + 3u * WORKGROUP_SIZE_Y] = four[3] * params.scale;
  }
  let row = first_row + local.y * 4u;
  let rows = vec4<u32>(row, row + 1u, row + 2u, row + 3u);
  let positions = rows % params.queries;
  let begin = group.z * params.part;
  var end = min(begin + params.part, params.keys);
  var seen = Seen(vec4<u32>(), vec4<u32>(params.keys));
  var start = begin;
  if (IS_CAUSAL) {
    let last_row = min(first_row + WORKGROUP_SIZE_Y * 4u, params.rows) - 1u;
    let is_one_head = first_row / params.queries == last_row / params.queries;
    let last = select(params.queries - 1u, last_row % params.queries, is_one_head);
    let ends = ends_of(group.y, positions);
    seen.ends = min(seen.ends, ends);
    end = min(end, ends_of(group.y, vec4<u32>(last)).x);
    if (HAS_WINDOW) {
      seen.begins = begins_of(ends);
      let first = select(0u, first_row % params.queries, is_one_head);
      start = max(begin, begins_of(ends_of(group.y, vec4<u32>(first))).x / BLOCK * BLOCK);
    }
  }
  let bias = bias_starts(group.y * params.group + rows / params.queries, positions);
  var largest = vec4<f32>(LOWEST);
  var total = vec4<f32>();
  var sums = Sums();
  for (var key = start; key < end; key += BLOCK) {
    load_keys(lane, group.y, key, end);
    workgroupBarrier();
    // Not left to the declaration, which was seen to keep what the round before had.
    var scores = Scores();
    for (var d = 0u; d < key_quads; d++) {
      add_scores(&scores, local, d);
    }
    partial[lane] = finish_scores(&scores, key + local.x, seen, bias);
    workgroupBarrier();
    var next = largest;
    for (var x = 0u; x < WORKGROUP_SIZE_X; x++) {
      next = max(next, partial[lane - local.x + x]);
    }
    let factor = exp(largest - next);
    largest = next;
    total = total * factor + store_weights(&scores, local, key + local.x, seen, largest);
    scale_sums(&sums, factor);
    load_values(lane, group.y, key, end);
    workgroupBarrier();
    for (var k = 0u; k < BLOCK; k++) {
      add_values(&sums, weights[k * WORKGROUP_SIZE_Y + local.y], k * STRIDE + local.x);
    }
    workgroupBarrier();
  }
  partial[lane] = total;
  workgroupBarrier();
  total = vec4<f32>();
  for (var x = 0u; x < WORKGROUP_SIZE_X; x++) {
    total += partial[lane - local.x + x];
  }
  let result = Result(group.y * params.rows + row, params.rows - min(row, params.rows), group.z, largest, total);
  store_sums(&sums, local.x, result);
}

// The keys that four rows see.
struct Seen {
  begins: vec4<u32>,
  ends: vec4<u32>,
}

fn is_seen(key: u32, seen: Seen) -> vec4<bool> {
  let is_before = vec4<u32>(key) < seen.ends;
  if (HAS_WINDOW) {
    return is_before & (vec4<u32>(key) >= seen.begins);
  }
  return is_before;
}

struct Result {
  row: u32,
  // Rows from there on.
  count: u32,
  part: u32,
  largest: vec4<f32>,
  total: vec4<f32>,
}

// What is added to the scores of four rows begins there.
fn bias_starts(heads: vec4<u32>, queries: vec4<u32>) -> vec4<u32> {
  return vec4<u32>(
    bias_start(heads.x, queries.x),
    bias_start(heads.y, queries.y),
    bias_start(heads.z, queries.z),
    bias_start(heads.w, queries.w),
  );
}

fn finished(x: vec4<f32>, key: u32, seen: Seen, bias: vec4<u32>) -> vec4<f32> {
  var y = capped(x);
  if (HAS_BIAS) {
    let at = bias + key * params.bias_key;
    y += vec4<f32>(load_bias(at.x), load_bias(at.y), load_bias(at.z), load_bias(at.w));
  }
  return select(vec4<f32>(LOWEST), y, is_seen(key, seen));
}

fn store_four(i: u32, column: u32, sums: vec4<f32>, result: Result) {
  if (i >= result.count) {
    return;
  }
  let row = result.row + i;
  let quads = (params.value_size + 3u) / 4u;
  if (IS_PART) {
    let at = (result.part * params.all_rows + row) * (quads + 1u);
    if (column < quads) {
      store_partial4(at + column, sums);
    }
    if (column == 0u) {
      store_partial4(at + quads, vec4<f32>(result.largest[i], result.total[i], 0.0, 0.0));
    }
  } else if (column < quads) {
    let scale = select(0.0, 1.0 / result.total[i], result.total[i] > 0.0);
    store_quad(row * params.value_size + column * 4u, params.value_size - column * 4u, sums * scale);
  }
}
