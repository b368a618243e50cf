// The maximum of each cell of a grid laid over a region of an image, one cell per invocation.
fn compute_at(i: u32) {
  let row = i / params.out_w;
  let plane = row / params.out_h;
  let region = plane / params.channels;
  let channel = plane - region * params.channels;
  let rows = cell(region * 5u + 2u, vec3<u32>(row - plane * params.out_h, params.out_h, params.in_h));
  let columns = cell(region * 5u + 1u, vec3<u32>(i - row * params.out_w, params.out_w, params.in_w));
  let image = u32(clamp(i32(load_rois(region * 5u)), 0, i32(params.batch) - 1));
  let start = (image * params.channels + channel) * params.in_h * params.in_w;
  var result = select(0.0, params.lowest, rows.x < rows.y && columns.x < columns.y);
  for (var y = rows.x; y < rows.y; y++) {
    for (var x = columns.x; x < columns.y; x++) {
      result = max(result, load_x(start + u32(y) * params.in_w + u32(x)));
    }
  }
  store(i, Element(result));
}

// Along one axis: where a cell begins and ends. `corner` is where the region's first corner stands;
// `axis` is the cell's index, the number of cells and the size of the image.
fn cell(corner: u32, axis: vec3<u32>) -> vec2<i32> {
  let first = rounded(load_rois(corner) * params.scale);
  let last = rounded(load_rois(corner + 2u) * params.scale);
  let size = max(last - first + 1, 1);
  let cells = i32(axis.y);
  let begin = i32(axis.x) * size / cells;
  let end = ((i32(axis.x) + 1) * size + cells - 1) / cells;
  return clamp(vec2<i32>(begin, end) + first, vec2<i32>(), vec2<i32>(i32(axis.z)));
}

// Halves away from zero.
fn rounded(value: f32) -> i32 {
  return i32(sign(value) * floor(abs(value) + 0.5));
}
