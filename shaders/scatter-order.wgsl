// Brings the list of each row into the order of the updates, by merging ever longer runs of it
// (S. Tatham, "Mergesort for linked lists"). Where only the last update counts, it alone remains.
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

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = id.x + id.y * params.row_length;
  if (row >= params.rows) {
    return;
  }
  let first = load_head(row);
  if (first == 0u || load_next(first - 1u) == 0u) {
    return;
  }
  if (ONLY_LAST) {
    store_head(row, last_of(first));
  } else {
    store_head(row, sorted(first));
  }
}
