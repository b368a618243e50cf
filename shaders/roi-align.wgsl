// Pooling of samples between the pixels of a region, one cell of its grid per invocation.
fn compute_at(i: u32) {
  let row = i / params.out_w;
  let plane = row / params.out_h;
  let region = plane / params.channels;
  let rows = samples(region * 4u + 1u, row - plane * params.out_h, params.out_h);
  let columns = samples(region * 4u, i - row * params.out_w, params.out_w);
  let image = u32(clamp(load_images(region), 0, i32(params.batch) - 1));
  let start = (image * params.channels + plane - region * params.channels) * params.in_h * params.in_w;
  var sum = 0.0;
  var largest = params.lowest;
  for (var b = 0; b < rows.count; b++) {
    let y = rows.begin + (f32(b) + 0.5) * rows.step;
    for (var a = 0; a < columns.count; a++) {
      let parts = weighted(start, y, columns.begin + (f32(a) + 0.5) * columns.step);
      sum += parts.x + parts.y + parts.z + parts.w;
      largest = max(largest, max(max(parts.x, parts.y), max(parts.z, parts.w)));
    }
  }
  let count = rows.count * columns.count;
  if (IS_MAX) {
    store(i, Element(select(0.0, largest, count > 0)));
  } else {
    store(i, Element(sum / f32(max(count, 1))));
  }
}

struct Samples {
  begin: f32,
  step: f32,
  count: i32,
}

// Along one axis: where a cell begins, and its samples.
fn samples(corner: u32, cell: u32, cells: u32) -> Samples {
  let begin = load_rois(corner) * params.scale - params.offset;
  let end = load_rois(corner + 2u) * params.scale - params.offset;
  let size = max(end - begin, params.smallest);
  let parts = f32(cells);
  var count = f32(params.sampling);
  if (count == 0.0) {
    // A quotient may be a little off; products of small whole numbers are not.
    count = clamp(ceil(size / parts), 0.0, 4096.0);
    count -= select(0.0, 1.0, (count - 1.0) * parts >= size && count > 0.0);
    count += select(0.0, 1.0, count * parts < size);
  }
  let extent = size / parts;
  return Samples(begin + f32(cell) * extent, extent / max(count, 1.0), i32(count));
}

// The four pixels around a place times their weights; nothing further than 1 outside of the image.
fn weighted(start: u32, y: f32, x: f32) -> vec4<f32> {
  let size = vec2<f32>(f32(params.in_h), f32(params.in_w));
  if (y < -1.0 || y > size.x || x < -1.0 || x > size.y) {
    return vec4<f32>();
  }
  let at = clamp(vec2<f32>(y, x), vec2<f32>(), size - 1.0);
  let low = floor(at);
  let high = min(low + 1.0, size - 1.0);
  let after = at - low;
  let before = 1.0 - after;
  let top = start + u32(low.x) * params.in_w;
  let bottom = start + u32(high.x) * params.in_w;
  let pixels = vec4<f32>(
    load_x(top + u32(low.y)),
    load_x(top + u32(high.y)),
    load_x(bottom + u32(low.y)),
    load_x(bottom + u32(high.y)),
  );
  return pixels * vec4<f32>(before.x * before.y, before.x * after.y, after.x * before.y, after.x * after.y);
}
