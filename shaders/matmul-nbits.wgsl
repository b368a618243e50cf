// Few rows times a matrix of codes of BITS bits: WORKGROUP_SIZE_X lanes share a column, whose words
// they read one after the other, and add up what each has. A word of four bytes holds codes of one
// block. `zero_point` gives the code that stands for zero.
const CODES = 32u / BITS;
const MASK = (1u << BITS) - 1u;

var<workgroup> partial_sums: array<Element4, WORKGROUP_SIZE_X * WORKGROUP_SIZE_Y>;

@compute @workgroup_size(WORKGROUP_SIZE_X, WORKGROUP_SIZE_Y, WORKGROUP_SIZE_Z)
fn main(
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let group = workgroup + vec3<u32>(params.first_x, params.first_y, params.first_z);
  let column = group.x * WORKGROUP_SIZE_Y + local.y;
  let row = group.y * 4u;
  let inside = min(column, params.n - 1u);
  var sums = Element4();
  for (var word = local.x; word < params.words; word += WORKGROUP_SIZE_X) {
    sums += word_products(inside, row, word);
  }
  if (WORKGROUP_SIZE_X > 1u) {
    let first = local.y * WORKGROUP_SIZE_X;
    partial_sums[first + local.x] = sums;
    workgroupBarrier();
    if (local.x > 0u) {
      return;
    }
    for (var lane = 1u; lane < WORKGROUP_SIZE_X; lane++) {
      sums += partial_sums[first + lane];
    }
  }
  if (column >= params.n) {
    return;
  }
  for (var i = 0u; i < 4u; i++) {
    if (row + i < params.m) {
      store((row + i) * params.n + column, sums[i]);
    }
  }
}

// Codes beyond the last column of A are filling.
fn word_products(column: u32, row: u32, word: u32) -> Element4 {
  let first = word * CODES;
  let block = first / params.block_size;
  let bytes = load_codes4(column * params.words + word);
  let zero = zero_point(column, block);
  var products = Element4();
  for (var i = 0u; i < 4u; i++) {
    var codes = bytes[i];
    for (var j = 0u; j < 8u / BITS; j++) {
      let k = first + i * (8u / BITS) + j;
      if (k < params.k) {
        products += (Element(codes & MASK) - zero) * load_rows(row, k);
      }
      codes >>= BITS;
    }
  }
  return products * load_scale(column * params.blocks + block);
}

fn load_rows(row: u32, k: u32) -> Element4 {
  let start = row * params.k + k;
  if (ONE_ROW) {
    return Element4(load_a(start), 0, 0, 0);
  }
  let last = (params.m - 1u) * params.k + k;
  return Element4(
    load_a(start),
    load_a(min(start + params.k, last)),
    load_a(min(start + 2u * params.k, last)),
    load_a(min(start + 3u * params.k, last)),
  );
}
