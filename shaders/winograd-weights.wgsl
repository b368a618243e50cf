// The first step of a Winograd convolution: 36 products' worth of each 3 x 3 window of weights.
// `transform` is written out in the source before this one.
struct Place {
  start: u32,
  element: u32,
}

fn compute_at(i: u32) {
  transform(Place((params.first + i) * 9u, i));
}

fn row_at(place: Place, row: u32) -> u32 {
  return place.start + row * 3u;
}

fn column_at(place: Place, column: u32) -> u32 {
  return column;
}

fn take(row: u32, column: u32) -> Element {
  return load_w(row + column);
}

fn give(place: Place, index: u32, value: Element) {
  store_weights(index * params.count + place.element, value);
}
