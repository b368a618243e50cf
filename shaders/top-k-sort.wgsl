// Sorts each row by merging ever longer runs of indices, one row per invocation, from one half of
// its candidates to the other and back.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = id.x + id.y * params.row_length;
  if (row >= params.count) {
    return;
  }
  var source = row * 2u * params.size;
  var target_half = source + params.size;
  for (var i = 0u; i < params.size; i++) {
    store_candidates(source + i, i);
  }
  for (var width = 1u; width < params.size; width *= 2u) {
    for (var begin = 0u; begin < params.size; begin += 2u * width) {
      merge_runs(row, vec2<u32>(source, target_half), begin, width);
    }
    let sorted = target_half;
    target_half = source;
    source = sorted;
  }
  for (var place = 0u; place < params.k; place++) {
    store_place(row, place, load_candidates(source + place));
  }
}

fn merge_runs(row: u32, halves: vec2<u32>, begin: u32, width: u32) {
  let middle = min(begin + width, params.size);
  let end = min(begin + 2u * width, params.size);
  var left = begin;
  var right = middle;
  var left_index = load_candidates(halves.x + left);
  var left_key = key_at(row, left_index);
  var right_index = NOWHERE;
  var right_key = left_key;
  if (right < end) {
    right_index = load_candidates(halves.x + right);
    right_key = key_at(row, right_index);
  }
  for (var at = begin; at < end; at++) {
    if (comes_before(left_key, left_index, right_key, right_index)) {
      store_candidates(halves.y + at, left_index);
      left++;
      left_index = NOWHERE;
      if (left < middle) {
        left_index = load_candidates(halves.x + left);
        left_key = key_at(row, left_index);
      }
    } else {
      store_candidates(halves.y + at, right_index);
      right++;
      right_index = NOWHERE;
      if (right < end) {
        right_index = load_candidates(halves.x + right);
        right_key = key_at(row, right_index);
      }
    }
  }
}
