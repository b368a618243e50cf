// A B through workgroup memory: a tile of PANEL_ROWS by PANEL_COLUMNS times four in steps of DEPTH
// along k. Each lane fetches one block of four by four, of A or of B, for the next step while the
// products of this one are added up. `left_block`, `right_block`, `Sums`, `add_step` and
// `store_sums` are unrolled for the tile. Layers of the grid beyond the batch take later parts of k.
const QUADS = DEPTH / 4u;
const LEFT_SIZE = DEPTH * PANEL_ROWS;
const RIGHT_SIZE = DEPTH * PANEL_COLUMNS;
const LEFT_BLOCKS = QUADS * PANEL_ROWS;

alias Block = array<Element4, 4>;

var<workgroup> left_tile: array<Element4, BUFFERS * LEFT_SIZE>;
var<workgroup> right_tile: array<Element4, BUFFERS * RIGHT_SIZE>;

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let group = workgroup + vec3<u32>(params.first_x, params.first_y, params.first_z);
  let matrices = batch_starts(group.z % params.batches);
  let begin = group.z / params.batches * params.part;
  let end = min(begin + params.part, params.k);
  let is_left = lane < LEFT_BLOCKS;
  let place = select(
    place_of(lane - LEFT_BLOCKS, PANEL_COLUMNS, RIGHT_BY_DEPTH),
    place_of(lane, PANEL_ROWS, LEFT_BY_DEPTH),
    is_left,
  );
  let across = (select(group.x * PANEL_COLUMNS, group.y * PANEL_ROWS, is_left) + place.x) * 4u;
  let start = select(matrices.y, matrices.x, is_left);
  var sums: Sums;
  var buffer = 0u;
  // One round more than there are steps: each adds up what the one before has kept.
  for (var k = begin; k < end + DEPTH; k += DEPTH) {
    let block = fetch(is_left, across, k + place.y * 4u, start);
    if (k > begin) {
      for (var step = 0u; step < DEPTH; step++) {
        add_step(&sums, local, buffer, step);
      }
      if (IS_LONG) {
        if (ends_block()) {
          keep_block(sums);
          sums = Sums();
        }
      }
    }
    if (BUFFERS == 1u) {
      workgroupBarrier();
    }
    buffer = BUFFERS - 1u - buffer;
    keep(is_left, block, place, buffer);
    workgroupBarrier();
  }
  if (IS_LONG) {
    sums = join_blocks(sums);
  }
  store_sums(&sums, group.yx * vec2<u32>(PANEL_ROWS, PANEL_COLUMNS) * 4u, local, group.z);
}

// Which block of a panel a lane fetches, across and along k: neighbours in memory by neighbours.
fn place_of(lane: u32, panel: u32, by_depth: bool) -> vec2<u32> {
  return select(
    vec2<u32>(lane % panel, lane / panel),
    vec2<u32>(lane / QUADS, lane % QUADS),
    by_depth,
  );
}

fn fetch(is_left: bool, across: u32, k: u32, start: u32) -> Block {
  if (k >= params.k) {
    return Block();
  }
  if (is_left) {
    return left_block(across, k, start);
  }
  return right_block(across, k, start);
}

// Where a vector of a row of k is: shuffled, so that blocks along k go to different banks.
fn swizzled(across: u32, quad: u32) -> u32 {
  return across ^ (quad * 2u);
}

fn keep(is_left: bool, block: Block, place: vec2<u32>, buffer: u32) {
  let at = swizzled(place.x, place.y);
  let row = place.y * 4u;
  if (is_left) {
    let first = buffer * LEFT_SIZE + row * PANEL_ROWS + at;
    left_tile[first] = block[0];
    left_tile[first + PANEL_ROWS] = block[1];
    left_tile[first + 2u * PANEL_ROWS] = block[2];
    left_tile[first + 3u * PANEL_ROWS] = block[3];
  } else {
    let first = buffer * RIGHT_SIZE + row * PANEL_COLUMNS + at;
    right_tile[first] = block[0];
    right_tile[first + PANEL_COLUMNS] = block[1];
    right_tile[first + 2u * PANEL_COLUMNS] = block[2];
    right_tile[first + 3u * PANEL_COLUMNS] = block[3];
  }
}
