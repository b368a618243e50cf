// A lane takes one tile of 4 x 4 pixels of a channel through the step of a Winograd convolution
// that `transform` is; `place_of` tells it where.
@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let tile = params.first_tile + id.x;
  if (tile >= params.last_tile || id.y >= params.channels) {
    return;
  }
  let row = tile / params.tiles_w;
  let image = row / params.tiles_h;
  let corner = vec2<u32>(tile - row * params.tiles_w, row - image * params.tiles_h) * 4u;
  transform(place_of(image, id.y, corner, id.y * params.tiles + id.x));
}
