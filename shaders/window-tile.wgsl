// Windows over the planes of images, one plane for each plane of the result: poolings and depthwise
// convolutions. Every invocation makes a block of TILE_ROWS rows of four pixels. `window_tile`, written
// out in the source before this one, loads the patch below the block once; `store_four` is in
// lib/store-four-*.wgsl.
struct Place {
  x_start: u32,
  start: u32,
  channel: u32,
  lane: u32,
  y: u32,
  x: u32,
  y0: i32,
  x0: i32,
}

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x + id.y * params.row_length;
  let given = i / params.plane_blocks;
  let block = i - given * params.plane_blocks;
  // No branches, so that lanes may exchange weights: what lies beyond the planes is not stored.
  let plane = min(given, params.planes - 1u);
  let block_y = block / params.blocks_w;
  let y = select(params.out_h, block_y * TILE_ROWS, given == plane);
  let x = (block - block_y * params.blocks_w) * 4u;
  window_tile(Place(
    plane / params.group_out_channels * params.in_h * params.in_w,
    (plane * params.out_h + y) * params.out_w + x,
    plane % params.out_channels,
    id.x & 3u,
    y,
    x,
    i32(y * params.stride_h) - params.pad_h,
    i32(x * params.stride_w) - params.pad_w,
  ));
}

// A row or column of the image, the nearest one inside.
struct Line {
  at: u32,
  is_inside: bool,
}

fn row_at(place: Place, offset: i32) -> Line {
  let y = place.y0 + offset;
  let near = clamp(y, 0, i32(params.in_h) - 1);
  return Line(place.x_start + u32(near) * params.in_w, y == near);
}

fn column_at(place: Place, offset: i32) -> Line {
  let x = place.x0 + offset;
  let near = clamp(x, 0, i32(params.in_w) - 1);
  return Line(u32(near), x == near);
}

fn take(row: Line, column: Line, outside: Element) -> Element {
  return select(outside, load_x(row.at + column.at), row.is_inside & column.is_inside);
}

fn give(place: Place, row: u32, pixels: Element4) {
  if (place.y + row < params.out_h) {
    store_four(place.start + row * params.out_w, place.x, pixels);
  }
}
