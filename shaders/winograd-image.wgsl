// The second step of a Winograd convolution: a 6 x 6 patch of a channel, which is what 4 x 4 pixels
// of the result depend on, becomes 36 elements of as many matrices (channels, tiles).
// `transform` is written out in the source before this one; `main` is in lib/winograd-tile.wgsl.
struct Place {
  plane: u32,
  y: i32,
  x: i32,
  element: u32,
}

fn place_of(image: u32, channel: u32, corner: vec2<u32>, element: u32) -> Place {
  let plane = (image * params.channels + channel) * params.in_h * params.in_w;
  return Place(plane, i32(corner.y) - params.pad_h, i32(corner.x) - params.pad_w, element);
}

// A row or column of the image, the nearest one inside; what is outside reads as zero.
struct Line {
  at: u32,
  is_inside: bool,
}

fn row_at(place: Place, row: u32) -> Line {
  let y = place.y + i32(row);
  let near = clamp(y, 0, i32(params.in_h) - 1);
  return Line(place.plane + u32(near) * params.in_w, y == near);
}

fn column_at(place: Place, column: u32) -> Line {
  let x = place.x + i32(column);
  let near = clamp(x, 0, i32(params.in_w) - 1);
  return Line(u32(near), x == near);
}

fn take(row: Line, column: Line) -> Element {
  return select(Element(), load_x(row.at + column.at), row.is_inside & column.is_inside);
}

fn give(place: Place, index: u32, value: Element) {
  store_image(index * params.channels * params.tiles + place.element, value);
}
