// A 64 x 64 tile of a matrix product by 16 x 16 invocations, 4 x 4 elements each, through workgroup
// memory in steps of 16 along k. The shader before it gives:
//   fn load_left(row: u32, k: u32) -> Element, zero outside of the matrix;
//   fn load_right(k: u32, column: u32) -> Element4, four columns from `column`;
//   fn store_row(row: u32, column: u32, sums: Element4), which checks the bounds.
const TILE_SIZE = 64u;
const TILE_DEPTH = 16u;
// One vector more per row of k, so that invocations that differ in k write to different banks.
const LEFT_STRIDE = 17u;

var<workgroup> left_tile: array<Element4, TILE_DEPTH * LEFT_STRIDE>;
var<workgroup> right_tile: array<Element4, TILE_DEPTH * 16u>;

fn multiply_tile(group: vec3<u32>, local: vec3<u32>, depth: u32) {
  let row0 = group.y * TILE_SIZE;
  let column0 = group.x * TILE_SIZE;
  var sums0 = Element4();
  var sums1 = Element4();
  var sums2 = Element4();
  var sums3 = Element4();
  for (var k0 = 0u; k0 < depth; k0 += TILE_DEPTH) {
    let row = row0 + local.y * 4u;
    let k = k0 + local.x;
    left_tile[local.x * LEFT_STRIDE + local.y] = Element4(
      load_left(row, k),
      load_left(row + 1u, k),
      load_left(row + 2u, k),
      load_left(row + 3u, k),
    );
    right_tile[local.y * 16u + local.x] = load_right(k0 + local.y, column0 + local.x * 4u);
    workgroupBarrier();
    for (var step = 0u; step < TILE_DEPTH; step++) {
      let left = left_tile[step * LEFT_STRIDE + local.y];
      let right = right_tile[step * 16u + local.x];
      sums0 += left.x * right;
      sums1 += left.y * right;
      sums2 += left.z * right;
      sums3 += left.w * right;
    }
    workgroupBarrier();
  }
  let row = row0 + local.y * 4u;
  let column = column0 + local.x * 4u;
  store_row(row, column, sums0);
  store_row(row + 1u, column, sums1);
  store_row(row + 2u, column, sums2);
  store_row(row + 3u, column, sums3);
}
