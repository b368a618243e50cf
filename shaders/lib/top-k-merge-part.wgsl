// Writes the elements of two sorted runs in order, from place `at` up to `stop`. The left run goes on from
// `left` to `middle`, the right one from `right` to `end`.
struct Part {
  left: u32,
  middle: u32,
  right: u32,
  end: u32,
  at: u32,
  stop: u32,
}

fn merge_part(row: u32, halves: vec2<u32>, part: Part) {
  var left = part.left;
  var right = part.right;
  var left_index = NOWHERE;
  var left_key = vec2<u32>();
  if (left < part.middle) {
    left_index = load_candidates(halves.x + left);
    left_key = key_at(row, left_index);
  }
  var right_index = NOWHERE;
  var right_key = vec2<u32>();
  if (right < part.end) {
    right_index = load_candidates(halves.x + right);
    right_key = key_at(row, right_index);
  }
  for (var at = part.at; at < part.stop; at++) {
    if (comes_before(left_key, left_index, right_key, right_index)) {
      store_candidates(halves.y + at, left_index);
      left++;
      left_index = NOWHERE;
      if (left < part.middle) {
        left_index = load_candidates(halves.x + left);
        left_key = key_at(row, left_index);
      }
    } else {
      store_candidates(halves.y + at, right_index);
      right++;
      right_index = NOWHERE;
      if (right < part.end) {
        right_index = load_candidates(halves.x + right);
        right_key = key_at(row, right_index);
      }
    }
  }
}
