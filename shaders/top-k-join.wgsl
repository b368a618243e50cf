// Merges pairs of sorted runs of indices, a part of the result per invocation. Where its part begins in
// both runs is found by halving (O. Green, R. McColl, D. Bader, "GPU merge path").
fn compute_at(i: u32) {
  let row = i / params.parts;
  let first = (i - row * params.parts) * params.part_size;
  let begin = first - first % (2u * params.width);
  let middle = min(begin + params.width, params.size);
  let end = min(begin + 2u * params.width, params.size);
  let source = (2u * row + params.from_half) * params.size;
  let target_half = (2u * row + 1u - params.from_half) * params.size;
  let before = first - begin;
  var low = before - min(before, end - middle);
  var high = min(before, middle - begin);
  while (low < high) {
    let left = (low + high) / 2u;
    let left_index = load_candidates(source + begin + left);
    let right_index = load_candidates(source + middle + before - left - 1u);
    if (comes_before(key_at(row, left_index), left_index, key_at(row, right_index), right_index)) {
      low = left + 1u;
    } else {
      high = left;
    }
  }
  let stop = min(first + params.part_size, end);
  let part = Part(begin + low, middle, middle + before - low, end, first, stop);
  merge_part(row, vec2<u32>(source, target_half), part);
  if (params.is_last != 0u) {
    for (var place = first; place < min(stop, params.k); place++) {
      store_place(row, place, load_candidates(target_half + place));
    }
  }
}
