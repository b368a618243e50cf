// The last step of a Winograd convolution: 36 products become 4 x 4 pixels of a channel.
// `transform` is written out in the source before this one; `main` is in lib/winograd-tile.wgsl,
// `store_four` in lib/store-four-*.wgsl.
struct Place {
  element: u32,
  start: u32,
  y: u32,
  x: u32,
  bias: Element,
}

fn place_of(image: u32, channel: u32, corner: vec2<u32>, element: u32) -> Place {
  var bias = Element();
  if (HAS_BIAS) {
    bias = load_bias(params.first_channel + channel);
  }
  let row = (image * params.out_channels + params.first_channel + channel) * params.out_h + corner.y;
  return Place(element, row * params.out_w + corner.x, corner.y, corner.x, bias);
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
