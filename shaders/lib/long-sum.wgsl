// Of a long sum some rounds at a time are added up by themselves, and these blocks in pairs, as a binary counter
// carries: level l has the sum of 2^l blocks. The shader around it gives `Part`, `joined` and `no_part`.
const LEVELS = 14u;
var<private> block_sums: array<Part, LEVELS>;
var<private> block_count: u32;
var<private> rounds: u32;

fn has_level(blocks: u32, level: u32) -> bool {
  let left = blocks >> level;
  return (left & 1u) == 1u || (left > 0u && level == LEVELS - 1u);
}

// To be called after each round: true if a block ends with it.
fn ends_block() -> bool {
  rounds++;
  return rounds % BLOCK == 0u;
}

fn keep_block(part: Part) {
  let blocks = block_count;
  block_count++;
  var sum = part;
  var level = 0u;
  while (has_level(blocks, level)) {
    sum = joined(block_sums[level], sum);
    if (level == LEVELS - 1u) {
      break;
    }
    level++;
  }
  block_sums[level] = sum;
}

// To be called after each round: the part of the sum that the next one adds to.
fn after_round(part: Part) -> Part {
  if (!ends_block()) {
    return part;
  }
  keep_block(part);
  return no_part();
}

// All blocks so far, and a part beside them.
fn join_blocks(part: Part) -> Part {
  var sum = part;
  for (var level = 0u; level < LEVELS; level++) {
    if (has_level(block_count, level)) {
      sum = joined(block_sums[level], sum);
    }
  }
  return sum;
}
