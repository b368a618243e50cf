// Sorts parts of rows by merging ever longer runs of indices, one part per invocation, from one half of
// a row's candidates to the other and back.
fn compute_at(i: u32) {
  let row = i / params.parts;
  let first = (i - row * params.parts) * params.part_size;
  let last = min(first + params.part_size, params.size);
  var source = row * 2u * params.size;
  var target_half = source + params.size;
  for (var k = first; k < last; k++) {
    store_candidates(source + k, k);
  }
  for (var width = 1u; width < params.part_size; width *= 2u) {
    for (var begin = first; begin < last; begin += 2u * width) {
      let middle = min(begin + width, last);
      let end = min(begin + 2u * width, last);
      merge_part(row, vec2<u32>(source, target_half), Part(begin, middle, middle, end, begin, end));
    }
    let sorted = target_half;
    target_half = source;
    source = sorted;
  }
  if (params.parts == 1u) {
    for (var place = 0u; place < params.k; place++) {
      store_place(row, place, load_candidates(source + place));
    }
  }
}
