// A reduction over up to four groups of adjacent axes. An invocation computes an item, one output or
// four adjacent ones, or of it the part that one of several pieces of the innermost axes makes.
alias Part = Item;

fn joined(a: Part, b: Part) -> Part {
  return combine_items(a, b);
}

fn compute_at(i: u32) {
  let output = i / params.pieces;
  let start = kept_offset(output);
  let first = (i - output * params.pieces) * params.piece_size;
  let end = min(first + params.piece_size, params.reduced3);
  let stride = params.reduced_stride3;
  var result = first_item();
  for (var r0 = 0u; r0 < params.reduced0; r0++) {
    for (var r1 = 0u; r1 < params.reduced1; r1++) {
      for (var r2 = 0u; r2 < params.reduced2; r2++) {
        let row = start + r0 * params.reduced_stride0 + r1 * params.reduced_stride1
          + r2 * params.reduced_stride2;
        var r3 = first;
        if (IS_LONG) {
          while (r3 + 4u * BLOCK <= end) {
            for (var round = 0u; round < BLOCK; round++) {
              let at = row + r3 * stride;
              let a = combine_items(item(at), item(at + stride));
              let b = combine_items(item(at + 2u * stride), item(at + 3u * stride));
              result = combine_items(result, combine_items(a, b));
              r3 += 4u;
            }
            keep_block(result);
            result = no_part();
          }
        }
        for (; r3 + 4u <= end; r3 += 4u) {
          let at = row + r3 * stride;
          let a = combine_items(item(at), item(at + stride));
          let b = combine_items(item(at + 2u * stride), item(at + 3u * stride));
          result = combine_items(result, combine_items(a, b));
        }
        for (; r3 < end; r3++) {
          result = combine_items(result, item(row + r3 * stride));
        }
        if (IS_LONG) {
          rounds += end - first;
          if (rounds >= 4u * BLOCK) {
            keep_block(result);
            result = no_part();
            rounds = 0u;
          }
        }
      }
    }
  }
  finish_item(i, join_blocks(result));
}
