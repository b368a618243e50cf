// Sorts blocks of candidates by a bitonic network and keeps the first of each block.
const BLOCK = 1024u;

var<workgroup> keys: array<vec2<u32>, BLOCK>;
var<workgroup> indices: array<u32, BLOCK>;

fn exchange(low: u32, high: u32) {
  let low_index = indices[low];
  let high_index = indices[high];
  let low_key = keys[low];
  let high_key = keys[high];
  if (comes_before(high_key, high_index, low_key, low_index)) {
    indices[low] = high_index;
    indices[high] = low_index;
    keys[low] = high_key;
    keys[high] = low_key;
  }
}

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_index) lane: u32,
  @builtin(workgroup_id) group: vec3<u32>,
) {
  let i = group.x + group.y * params.row_length;
  if (i >= params.count) {
    return;
  }
  let row = i / params.blocks;
  let block = i - row * params.blocks;
  for (var at = lane; at < BLOCK; at += WORKGROUP_SIZE_X) {
    let candidate = block * BLOCK + at;
    var index = NOWHERE;
    if (candidate < params.candidates) {
      if (params.is_first != 0u) {
        index = candidate;
      } else {
        index = load_candidates(row * params.candidates + candidate);
      }
    }
    indices[at] = index;
    if (index != NOWHERE) {
      keys[at] = key_at(row, index);
    }
  }
  for (var size = 2u; size <= BLOCK; size *= 2u) {
    for (var stride = size / 2u; stride > 0u; stride /= 2u) {
      workgroupBarrier();
      for (var pair = lane; pair < BLOCK / 2u; pair += WORKGROUP_SIZE_X) {
        let begin = pair / stride * stride * 2u;
        let low = begin + pair % stride;
        // At first the second half is read backwards, so that both halves may ascend.
        let mirrored = begin + 2u * stride - 1u - pair % stride;
        exchange(low, select(low + stride, mirrored, stride == size / 2u));
      }
    }
  }
  workgroupBarrier();
  for (var at = lane; at < params.keep; at += WORKGROUP_SIZE_X) {
    let place = block * params.keep + at;
    if (params.is_last == 0u) {
      store_candidates(row * params.blocks * params.keep + place, indices[at]);
    } else if (place < params.k) {
      store_place(row, place, indices[at]);
    }
  }
}
