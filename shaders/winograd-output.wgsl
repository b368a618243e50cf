// The last step of a Winograd convolution: 36 products become 4 x 4 pixels of a channel.
// `transform` is written out in the source before this one; `store_four` is in
// lib/store-four-*.wgsl.
struct Place {
  element: u32,
  start: u32,
  y: u32,
  x: u32,
  bias: Element,
}

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let tile = params.first_tile + id.x;
  if (tile >= params.last_tile || id.y >= params.channels) {
    return;
  }
  let row = tile / params.tiles_w;
  let image = row / params.tiles_h;
  var bias = Element();
  if (HAS_BIAS) {
    bias = load_bias(id.y);
  }
  let y = (row - image * params.tiles_h) * 4u;
  let x = (tile - row * params.tiles_w) * 4u;
  let start = ((image * params.channels + id.y) * params.out_h + y) * params.out_w + x;
  transform(Place(id.y * params.tiles + id.x, start, y, x, bias));
}

fn row_at(place: Place, row: u32) -> u32 {
  return row * 6u * params.channels * params.tiles + place.element;
}

fn column_at(place: Place, column: u32) -> u32 {
  return column * params.channels * params.tiles;
}

fn take(row: u32, column: u32) -> Element {
  return load_product(row + column);
}

fn give(place: Place, row: u32, pixels: Element4) {
  if (place.y + row < params.out_h) {
    store_four(place.start + row * params.out_w, place.x, pixels + place.bias);
  }
}
