// The list of a row in the order of the updates, by merging ever longer runs of it (S. Tatham, "Mergesort for
// linked lists"), or the last of its updates.
fn last_of(first: u32) -> u32 {
  var last = first;
  for (var node = first; node != 0u; node = load_next(node - 1u)) {
    last = max(last, node);
  }
  return last;
}

fn sorted(first: u32) -> u32 {
  var list = first;
  for (var size = 1u; ; size *= 2u) {
    var left = list;
    var tail = 0u;
    var merges = 0u;
    list = 0u;
    while (left != 0u) {
      merges++;
      var right = left;
      var left_size = 0u;
      while (left_size < size && right != 0u) {
        left_size++;
        right = load_next(right - 1u);
      }
      var right_size = size;
      while (left_size > 0u || (right_size > 0u && right != 0u)) {
        var node = left;
        if (left_size == 0u || (right_size > 0u && right != 0u && right < left)) {
          node = right;
          right = load_next(right - 1u);
          right_size--;
        } else {
          left = load_next(left - 1u);
          left_size--;
        }
        if (tail == 0u) {
          list = node;
        } else {
          store_next(tail - 1u, node);
        }
        tail = node;
      }
      left = right;
    }
    store_next(tail - 1u, 0u);
    if (merges <= 1u) {
      break;
    }
  }
  return list;
}
